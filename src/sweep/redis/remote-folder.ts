/**
 * A run's folder kept in Redis, for machines that share no disk: a hash of gzipped pieces. Files of a recording never change once they are written, so
 * only what is new is sent; the list of what is whole is written last, and who reads it sees the folder as it was at one checkpoint.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { Redis } from 'ioredis';
import { BadInput } from '../../recording/bad-input.ts';
import { folderStore, writeWhole } from '../../recording/node.ts';

interface Entry {
  pieces: number;
  size: number;
  /** Names the pieces; a file that is sent anew gets another. */
  token: string;
}

type Index = Record<string, Entry>;

const pieceSize = 1 << 20;
/** Columns repeat bytes more than words: runs of bytes are found in two thirds of the time that words take. */
const packing = { level: 1, memLevel: 9, strategy: constants.Z_RLE };
const indexField = 'index';
/** Seconds after which a run that nobody fetched is forgotten. */
const kept = 14 * 24 * 3600;

export class RemoteFolder {
  private sent: Index = {};
  /** When the files that were sent or fetched were written: whatever is replaced gets another time. */
  private written: Record<string, bigint> = {};

  constructor(
    private readonly redis: Redis,
    private readonly key: string,
  ) {}

  /** Sends what is new below a folder. */
  async push(folder: string): Promise<void> {
    const index: Index = {};
    const written: Record<string, bigint> = {};
    const sending: Promise<unknown>[] = [];
    for (const path of await folderStore(folder).list()) {
      const file = join(folder, path);
      const time = await timeOf(file);
      if (time !== undefined && time === this.written[path]) index[path] = this.sent[path];
      else {
        const bytes = await readFile(file).catch(() => null);
        // A checkpoint that was replaced while we looked.
        if (!bytes || time === undefined) continue;
        const token = randomUUID();
        const pieces = Math.max(1, Math.ceil(bytes.length / pieceSize));
        index[path] = { pieces, size: bytes.length, token };
        for (let i = 0; i < pieces; i++) {
          const piece = await pack(bytes.subarray(i * pieceSize, (i + 1) * pieceSize), packing);
          sending.push(this.redis.hset(this.key, pieceField(token, i), piece));
        }
      }
      written[path] = time;
    }
    await Promise.all(sending);
    await this.redis.hset(this.key, indexField, JSON.stringify(index));
    for (const [path, { token, pieces }] of Object.entries(this.sent)) {
      if (index[path]?.token === token) continue;
      await this.redis.hdel(this.key, ...Array.from({ length: pieces }, (_, i) => pieceField(token, i)));
    }
    await this.redis.expire(this.key, kept);
    this.sent = index;
    this.written = written;
  }

  /** Fetches the folder as it was last sent, in place of what is there; false where nothing was. */
  async pull(folder: string, seen?: string): Promise<boolean> {
    const text = await this.redis.hget(this.key, indexField);
    // The second time round: its pieces are gone and nobody sent others, so there is nothing whole.
    if (text === null || text === seen) return false;
    const index = JSON.parse(text) as Index;
    const written: Record<string, bigint> = {};
    const incoming = join(
      dirname(folder),
      `.${process.pid}.${createHash('sha256').update(folder).digest('hex').slice(0, 12)}.incoming`,
    );
    await rm(incoming, { recursive: true, force: true });
    for (const [path, { pieces, size, token }] of Object.entries(index)) {
      checkPath(path);
      const packed = await Promise.all(
        Array.from({ length: pieces }, (_, i) => this.redis.hgetBuffer(this.key, pieceField(token, i))),
      );
      // Replaced by a later checkpoint while we read: what that one says is whole by now.
      if (packed.includes(null)) return this.pull(folder, text);
      const damaged = () => new BadInput('was damaged on its way through Redis; run the job again', { file: path });
      // Every piece carries a checksum of its own.
      const parts = await Promise.all(
        (packed as Buffer[]).map((piece) => unpack(piece, { maxOutputLength: pieceSize })),
      ).catch(() => {
        throw damaged();
      });
      if (parts.reduce((sum, part) => sum + part.length, 0) !== size) throw damaged();
      await writeWhole(join(incoming, path), parts);
    }
    await mkdir(incoming, { recursive: true });
    await rm(folder, { recursive: true, force: true });
    await rename(incoming, folder);
    for (const path of Object.keys(index)) {
      const time = await timeOf(join(folder, path));
      if (time !== undefined) written[path] = time;
    }
    this.sent = index;
    this.written = written;
    return true;
  }

  async remove(): Promise<void> {
    await this.redis.del(this.key);
  }
}

const pack = promisify(gzip);
const unpack = promisify(gunzip);
const pieceField = (token: string, i: number) => `${token}:${i}`;

/** Nanoseconds, because a file may be replaced twice in a millisecond. */
async function timeOf(file: string): Promise<bigint | undefined> {
  return stat(file, { bigint: true }).then(
    ({ mtimeNs }) => mtimeNs,
    () => undefined,
  );
}

/** Names from Redis are as little trusted as names from anywhere. */
function checkPath(path: string): void {
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part.startsWith('.') || part.includes('\\') || part.includes('\0')))
    throw new BadInput(`a run that came through Redis holds a file called ${JSON.stringify(path)}, which is refused`);
}
