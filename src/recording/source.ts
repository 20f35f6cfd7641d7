/** Where bytes come from and go to, in Node and in a page alike: a source is one file read by ranges, a store is a folder of them. */
import { told } from '../language/language.ts';
import { BadInput } from './bad-input.ts';

export interface ByteSource {
  /** Shown in messages. */
  readonly name: string;
  readonly size: number;
  /** What it takes where it is stored, if that is not its size: 0 inside an archive, which was counted itself. */
  readonly stored?: number;
  /** The bytes from `start` up to, not including, `end`, in a buffer of their own. */
  read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
}

export interface Store {
  readonly name: string;
  /** What its archive may expand to, where it is one; what lies in it shares that. */
  readonly budget?: Budget;
  /** Paths of all files, relative and with forward slashes, sorted. */
  list(): Promise<string[]>;
  open(path: string): Promise<ByteSource>;
}

export interface WritableStore extends Store {
  /** Writes a whole file, so that it is there under its name either whole or not at all. */
  write(path: string, parts: readonly Uint8Array[]): Promise<void>;
  remove(path: string): Promise<void>;
}

/** No honest recording expands more than this; a small one may, because it is small. */
const mostRatio = 100;
const mostSmall = 2 ** 28;
const mostAtOnce = 8 * 2 ** 30;
/** What lies on the disk anyhow may expand as arrays of numbers do, however much it is: tables are read a chunk at a time. */
const mildRatio = 10;

/**
 * What the files of one recording may expand to in memory, all together; a file counts once however often it is read. Without a limit that was
 * asked for, it is a hundred times what the files themselves hold, up to 8 GiB, and ten times
 * beyond: more than that is a bomb.
 */
export class Budget {
  private readonly claims = new Map<string, number>();
  private total = 0;
  private stored = 0;

  constructor(readonly asked?: number) {}

  get limit(): number {
    if (this.asked !== undefined) return this.asked;
    return Math.max(mostSmall, Math.min(mostAtOnce, mostRatio * this.stored), mildRatio * this.stored);
  }

  /** `source` is counted when it is first seen. */
  claim(name: string, bytes: number, source?: Pick<ByteSource, 'size' | 'stored'>): void {
    if (!this.claims.has(name)) this.stored += source ? (source.stored ?? source.size) : 0;
    this.total += bytes - (this.claims.get(name) ?? 0);
    this.claims.set(name, bytes);
    if (!(this.total <= this.limit)) {
      throw new BadInput(
        told(
          `expands to more than ${formatBytes(this.limit)}, the limit for ${this.asked === undefined ? 'files of this size' : 'one recording'}; raise it with --max-size if the file is trusted`,
          `展开后超过 ${formatBytes(this.limit)}，即${this.asked === undefined ? '这种大小的文件' : '一份记录'}的上限；如果信任该文件，请用 --max-size 提高`,
        ),
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
      if (!blob) throw new BadInput(told('there is no such file', '没有这个文件'), { file: `${name}/${path}` });
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
      if (!bytes) throw new BadInput(told('there is no such file', '没有这个文件'), { file: `${name}/${path}` });
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
