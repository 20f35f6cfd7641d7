/** Recordings in folders and zip files, for Node: the file system, and zlib in place of the portable codec. */

import { closeSync, openSync, readSync } from 'node:fs';
import { readdir, realpath, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import { told } from '../language/language.ts';
import { BadInput } from './bad-input.ts';
import { makeFolder, removeFile, writeStream, writeWhole } from './disk/node.ts';
import { useCodec } from './files/codec.ts';
import { ZipBuilder, zipStore } from './files/zip.ts';
import type { Manifest } from './manifest.ts';
import { type OpenOptions, Recording } from './recording.ts';
import { isRunFile, timeFile } from './run-files.ts';
import { Budget, type ByteSource, type Store, type WritableStore } from './source.ts';
import { RecordingWriter, type WriterOptions } from './writer.ts';

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
        throw new BadInput(
          told('unpacks to more bytes than its directory declares', '解压后的字节数超过其目录所声明的'),
        );
      throw new BadInput(told('the compressed data is damaged or cut off', '压缩数据已损坏或被截断'));
    }
    if (out.length !== size)
      throw new BadInput(
        told(
          `unpacks to ${out.length} bytes where its directory declares ${size}`,
          `解压后有 ${out.length} 字节，而其目录声明的是 ${size}`,
        ),
      );
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
      throw new BadInput(told('the compressed data is damaged or cut off', '压缩数据已损坏或被截断'));
    }
  },
});

/** The same bytes as a view of an ArrayBuffer that starts with them. */
function own(buffer: Buffer): Uint8Array<ArrayBuffer> {
  if (buffer.byteOffset === 0) return new Uint8Array(buffer.buffer as ArrayBuffer, 0, buffer.length);
  return Uint8Array.from(buffer);
}

export async function fileSource(path: string): Promise<ByteSource> {
  const found = await stat(path);
  if (!found.isFile())
    throw new BadInput(told('is no file, but a device, a pipe or a folder', '不是文件，而是设备、管道或文件夹'), {
      file: path,
    });
  const { size } = found;
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
          if (got === 0)
            throw new BadInput(
              told('the file ended early; it was cut off while it was read', '文件提前结束；在读取时被截断'),
              { file: path },
            );
          at += got;
        }
      } finally {
        closeSync(file);
      }
      return own(buffer);
    },
  };
}

/** What is removed while it is looked at holds nothing: a question of `existsSync` would be old when the folder is read. */
function gone(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

export function folderStore(folder: string): WritableStore {
  const list = async (below: string): Promise<string[]> => {
    const names: string[] = [];
    for (const entry of await readdir(join(folder, below), { withFileTypes: true }).catch(gone)) {
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
    write: async (path, parts) => writeWhole(await within(folder, path), parts),
    remove: async (path) => removeFile(await within(folder, path)),
  };
}

export { writeWhole };

/** Where a path of a folder lies. A link may lead out of the folder, and nothing there is ours to write or remove. */
async function within(folder: string, path: string): Promise<string> {
  const file = join(folder, path);
  if (path.split('/').some((part) => part === '' || part.startsWith('.')))
    throw new BadInput(
      told(`${JSON.stringify(path)} is no path of a recording`, `${JSON.stringify(path)} 不是记录里的路径`),
      { file: folder },
    );
  await makeFolder(dirname(file));
  const [top, place] = await Promise.all([realpath(folder), realpath(dirname(file))]);
  if (relative(top, place) !== dirname(path).replace(/^\.$/, ''))
    throw new BadInput(
      told(
        'leads out of its folder; a recording is written only inside its own',
        '指到了文件夹之外；记录只写在自己的文件夹里',
      ),
      { file: dirname(file) },
    );
  return file;
}

/** Removes what a run has written, and the folders that are empty then; whatever else lies there stays. */
export async function removeRun(folder: string): Promise<void> {
  const store = folderStore(folder);
  const paths = (await store.list()).filter(isRunFile);
  if (!paths.includes('manifest.json') && !paths.includes('result.json')) return;
  for (const path of paths) await store.remove(path);
  await removeFile(join(folder, timeFile));
  for (const below of new Set(paths.map(dirname).filter((name) => name !== '.')))
    await rmdir(join(folder, below)).catch(() => undefined);
  await rmdir(folder).catch(() => undefined);
}

export async function openStore(path: string, options: OpenOptions = {}): Promise<Store> {
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new BadInput(told('there is no such file or folder', '没有这个文件或文件夹'), { file: path });
  if (found.isDirectory()) return folderStore(path.endsWith(sep) ? path.slice(0, -1) : path);
  const source = await fileSource(path);
  return zipStore(source, new Budget(options.maxSize));
}

/** Opens a recording: a folder, or the zip of one. */
export async function openRecording(path: string, options: OpenOptions = {}): Promise<Recording> {
  return Recording.open(await openStore(path, options), options);
}

/** Starts a recording in a folder that is new or empty, or goes on with one (`resume`). */
export async function createRecording(
  folder: string,
  manifest: Manifest,
  options: WriterOptions = {},
): Promise<RecordingWriter> {
  return RecordingWriter.create(folderStore(folder), manifest, options);
}

/** Packs the files of a store into one zip file, as they are; text is deflated, chunks are kept as they come. */
export async function packZip(
  store: Store,
  path: string,
  progress?: (done: number, all: number) => void,
): Promise<void> {
  await writeStream(path, async (write) => {
    const zip = new ZipBuilder();
    const paths = await store.list();
    for (const [i, name] of paths.entries()) {
      const source = await store.open(name);
      const bytes = await source.read(0, source.size);
      write(await zip.entry(name, [bytes], /\.(json|jsonl)$/.test(name)));
      progress?.(i + 1, paths.length);
    }
    write(zip.end());
  });
}
