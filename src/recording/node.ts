/** Recordings in folders and zip files, for Node: the file system, and zlib in place of the portable codec. */

import { once } from 'node:events';
import { closeSync, createWriteStream, existsSync, openSync, readSync, writevSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import { BadInput } from './bad-input.ts';
import { useCodec } from './codec.ts';
import type { Manifest } from './manifest.ts';
import { type OpenOptions, Recording } from './recording.ts';
import { Budget, type ByteSource, type Store, type WritableStore } from './source.ts';
import { RecordingWriter, type WriterOptions } from './writer.ts';
import { ZipBuilder, zipStore } from './zip.ts';

/** Newer versions of Node 20 have crc32, Node 22.15 has zstd. */
const native: {
  crc32?: (bytes: Uint8Array, before: number) => number;
  zstdCompressSync?: (bytes: Uint8Array) => Uint8Array;
  zstdDecompressSync?: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;
} = zlib;

const { crc32, zstdCompressSync, zstdDecompressSync } = native;

useCodec({
  // Of no bytes, Node's function forgets what came before.
  ...(crc32 ? { crc32: (bytes, before = 0) => (bytes.length === 0 ? before : crc32(bytes, before)) } : {}),
  ...(zstdCompressSync ? { zstd: zstdCompressSync } : {}),
  inflateRaw: async (bytes, size) => {
    // One byte of room beyond the declared size, so that a stream that goes on is seen as too long, and never grows.
    let out: Buffer;
    try {
      out = zlib.inflateRawSync(bytes, { chunkSize: Math.max(64, size + 1), maxOutputLength: size + 1 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
        throw new BadInput('unpacks to more bytes than its directory declares');
      throw new BadInput('the compressed data is damaged or cut off');
    }
    if (out.length !== size) throw new BadInput(`unpacks to ${out.length} bytes where its directory declares ${size}`);
    return own(out);
  },
  gunzipWhole: (bytes, size) => zlib.gunzipSync(bytes, { maxOutputLength: size + 1 }),
  ...(zstdDecompressSync ? { unzstd: (bytes, size) => zstdDecompressSync(bytes, { maxOutputLength: size + 1 }) } : {}),
  deflateRaw: async (bytes) => zlib.deflateRawSync(bytes, { level: 6 }),
  gzip: async (bytes) => zlib.gzipSync(bytes, { level: 6 }),
  async *gunzip(pieces) {
    try {
      for await (const piece of Readable.from(pieces).pipe(zlib.createGunzip())) yield piece as Uint8Array;
    } catch (error) {
      if (error instanceof BadInput) throw error;
      throw new BadInput('the compressed data is damaged or cut off');
    }
  },
});

/** The same bytes as a view of an ArrayBuffer that starts with them. */
function own(buffer: Buffer): Uint8Array<ArrayBuffer> {
  if (buffer.byteOffset === 0) return new Uint8Array(buffer.buffer as ArrayBuffer, 0, buffer.length);
  return Uint8Array.from(buffer);
}

export async function fileSource(path: string): Promise<ByteSource> {
  const { size } = await stat(path);
  return {
    name: path,
    size,
    read: async (start, end) => {
      const buffer = Buffer.allocUnsafeSlow(end - start);
      const file = openSync(path, 'r');
      try {
        let at = 0;
        while (at < buffer.length) {
          const got = readSync(file, buffer, at, buffer.length - at, start + at);
          if (got === 0) throw new BadInput('the file ended early; it was cut off while it was read', { file: path });
          at += got;
        }
      } finally {
        closeSync(file);
      }
      return own(buffer);
    },
  };
}

export function folderStore(folder: string): WritableStore {
  const list = async (below: string): Promise<string[]> => {
    const names: string[] = [];
    if (!existsSync(join(folder, below))) return names;
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      // A name with a leading dot is a file still being written, or none of ours.
      if (entry.name.startsWith('.')) continue;
      const path = below ? `${below}/${entry.name}` : entry.name;
      if (entry.isDirectory()) names.push(...(below.split('/').length < 4 ? await list(path) : []));
      else if (entry.isFile()) names.push(path);
    }
    return names;
  };
  return {
    name: folder,
    list: async () => (await list('')).sort(),
    open: (path) => fileSource(join(folder, path)),
    write: async (path, parts) => writeWhole(join(folder, path), parts),
    remove: async (path) => rm(join(folder, path), { force: true }),
  };
}

/** Writes under a temporary name beside the file and renames it: readers see the old file or the new one, never a part. */
export async function writeWhole(path: string, parts: readonly Uint8Array[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  // Two programs that write the same file, each its own whole one, must not meet in the temporary one.
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  const file = openSync(temporary, 'w');
  try {
    for (let i = 0; i < parts.length; i += 256) writeAll(file, parts.slice(i, i + 256));
  } finally {
    closeSync(file);
  }
  await rename(temporary, path);
}

function writeAll(file: number, parts: Uint8Array[]): void {
  let rest = parts.filter((part) => part.length > 0);
  while (rest.length > 0) {
    let written = writevSync(file, rest);
    while (rest.length > 0 && written >= rest[0].length) {
      written -= rest[0].length;
      rest = rest.slice(1);
    }
    if (written > 0) rest = [rest[0].subarray(written), ...rest.slice(1)];
  }
}

export async function openStore(path: string, options: OpenOptions = {}): Promise<Store> {
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new BadInput('there is no such file or folder', { file: path });
  if (found.isDirectory()) return folderStore(path.endsWith(sep) ? path.slice(0, -1) : path);
  const source = await fileSource(path);
  return zipStore(source, new Budget(options.maxSize));
}

/** Opens a recording: a folder, or the zip of one. */
export async function openRecording(path: string, options: OpenOptions = {}): Promise<Recording> {
  return Recording.open(await openStore(path, options), options);
}

/** Starts a recording in a folder, or goes on with one (`resume`). */
export async function createRecording(
  folder: string,
  manifest: Manifest,
  options: WriterOptions = {},
): Promise<RecordingWriter> {
  await mkdir(folder, { recursive: true });
  return RecordingWriter.create(folderStore(folder), manifest, options);
}

/** Packs the files of a store into one zip file, as they are; text is deflated, chunks are kept as they come. */
export async function packZip(
  store: Store,
  path: string,
  progress?: (done: number, all: number) => void,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  const out = createWriteStream(temporary);
  const zip = new ZipBuilder();
  const push = async (parts: Uint8Array[]) => {
    for (const part of parts) if (!out.write(part)) await once(out, 'drain');
  };
  const paths = await store.list();
  for (const [i, name] of paths.entries()) {
    const source = await store.open(name);
    const bytes = await source.read(0, source.size);
    await push(await zip.entry(name, [bytes], /\.(json|jsonl)$/.test(name)));
    progress?.(i + 1, paths.length);
  }
  await push(zip.end());
  out.end();
  await once(out, 'finish');
  await rename(temporary, path);
}
