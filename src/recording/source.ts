/** Where bytes come from and go to, in Node and in a page alike: a source is one file read by ranges, a store is a folder of them. */
import { BadInput } from './bad-input.ts';

export interface ByteSource {
  /** Shown in messages. */
  readonly name: string;
  readonly size: number;
  /** The bytes from `start` up to, not including, `end`, in a buffer of their own. */
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
}

export interface Store {
  readonly name: string;
  /** Paths of all files, relative and with forward slashes, sorted. */
  list(): Promise<string[]>;
  open(path: string): Promise<ByteSource>;
}

export interface WritableStore extends Store {
  /** Writes a whole file, so that it is there under its name either whole or not at all. */
  write(path: string, parts: readonly Uint8Array[]): Promise<void>;
  remove(path: string): Promise<void>;
}

/** What the archives of one recording may expand to, all together; a file counts once however often it is read. */
export class Budget {
  private readonly claims = new Map<string, number>();
  private total = 0;

  constructor(readonly limit = 8 * 2 ** 30) {}

  claim(name: string, bytes: number): void {
    this.total += bytes - (this.claims.get(name) ?? 0);
    this.claims.set(name, bytes);
    if (this.total > this.limit) {
      throw new BadInput(
        `expands to more than ${formatBytes(this.limit)}, the limit for one recording; raise it with --max-size if the file is trusted`,
        { file: name },
      );
    }
  }
}

export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    unit++;
  }
  return `${Number.isInteger(bytes) ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

export function bytesSource(name: string, bytes: Uint8Array): ByteSource {
  return {
    name,
    size: bytes.length,
    read: async (start, end) => Uint8Array.from(bytes.subarray(start, end)),
  };
}

export function blobSource(name: string, blob: Blob): ByteSource {
  return {
    name,
    size: blob.size,
    read: async (start, end) => new Uint8Array(await blob.slice(start, end).arrayBuffer()),
  };
}

/** The files of a dropped or chosen folder, by their paths below it. */
export function blobStore(name: string, files: Iterable<{ path: string; blob: Blob }>): Store {
  const byPath = new Map<string, Blob>();
  for (const { path, blob } of files) byPath.set(path, blob);
  return {
    name,
    list: async () => [...byPath.keys()].sort(),
    open: async (path) => {
      const blob = byPath.get(path);
      if (!blob) throw new BadInput('there is no such file', { file: `${name}/${path}` });
      return blobSource(`${name}/${path}`, blob);
    },
  };
}

/** A store in memory, for tests and for recordings made in a page. */
export function memoryStore(name: string): WritableStore {
  const files = new Map<string, Uint8Array>();
  return {
    name,
    list: async () => [...files.keys()].sort(),
    open: async (path) => {
      const bytes = files.get(path);
      if (!bytes) throw new BadInput('there is no such file', { file: `${name}/${path}` });
      return bytesSource(`${name}/${path}`, bytes);
    },
    write: async (path, parts) => void files.set(path, join(parts)),
    remove: async (path) => void files.delete(path),
  };
}

export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
