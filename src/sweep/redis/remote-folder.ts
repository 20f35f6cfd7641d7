/**
 * A run's folder kept in Redis, for machines that share no disk: a hash of gzipped pieces. Files of a recording never change once they are written, so
 * only what is new is sent; the list of what is whole is written last, and who reads it sees the folder as it was at one checkpoint.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Redis } from 'ioredis';
import { BadInput } from '../../recording/bad-input.ts';
import { folderStore, writeWhole } from '../../recording/node.ts';

interface Entry {
  pieces: number;
  size: number;
  /** SHA-256 of the file. */
  sum: string;
}

type Index = Record<string, Entry>;

const pieceSize = 1 << 20;
const indexField = 'index';
/** Seconds after which a run that nobody fetched is forgotten. */
const kept = 14 * 24 * 3600;

export class RemoteFolder {
  private sent: Index = {};

  constructor(
    private readonly redis: Redis,
    private readonly key: string,
  ) {}

  /** Sends what is new below a folder. */
  async push(folder: string): Promise<void> {
    const index: Index = {};
    const sending: Promise<unknown>[] = [];
    for (const path of await folderStore(folder).list()) {
      const bytes = await readFile(join(folder, path)).catch(() => null);
      // A checkpoint that was replaced while we looked.
      if (!bytes) continue;
      const sum = createHash('sha256').update(bytes).digest('hex');
      const pieces = Math.max(1, Math.ceil(bytes.length / pieceSize));
      index[path] = { pieces, size: bytes.length, sum };
      if (this.sent[path]?.sum === sum) continue;
      for (let i = 0; i < pieces; i++) {
        const piece = gzipSync(bytes.subarray(i * pieceSize, (i + 1) * pieceSize), { level: 1 });
        sending.push(this.redis.hset(this.key, pieceField(sum, i), piece));
      }
    }
    await Promise.all(sending);
    const gone = Object.entries(this.sent).filter(([path, { sum }]) => index[path]?.sum !== sum);
    await this.redis.hset(this.key, indexField, JSON.stringify(index));
    const still = new Set(Object.values(index).map(({ sum }) => sum));
    for (const [, { sum, pieces }] of gone) {
      if (still.has(sum)) continue;
      await this.redis.hdel(this.key, ...Array.from({ length: pieces }, (_, i) => pieceField(sum, i)));
    }
    await this.redis.expire(this.key, kept);
    this.sent = index;
  }

  /** Fetches the folder as it was last sent, in place of what is there; false where nothing was. */
  async pull(folder: string): Promise<boolean> {
    const text = await this.redis.hget(this.key, indexField);
    if (text === null) return false;
    const index = JSON.parse(text) as Index;
    const incoming = join(
      dirname(folder),
      `.${process.pid}.${createHash('sha256').update(folder).digest('hex').slice(0, 12)}.incoming`,
    );
    await rm(incoming, { recursive: true, force: true });
    for (const [path, { pieces, size, sum }] of Object.entries(index)) {
      checkPath(path);
      const parts: Buffer[] = [];
      for (let i = 0; i < pieces; i++) {
        const piece = await this.redis.hgetBuffer(this.key, pieceField(sum, i));
        // Replaced by a later checkpoint while we read: what that one says is whole by now.
        if (!piece) return this.pull(folder);
        parts.push(gunzipSync(piece, { maxOutputLength: pieceSize }));
      }
      const bytes = Buffer.concat(parts);
      if (bytes.length !== size || createHash('sha256').update(bytes).digest('hex') !== sum)
        throw new BadInput('was damaged on its way through Redis; run the job again', { file: path });
      await writeWhole(join(incoming, path), [bytes]);
    }
    await mkdir(incoming, { recursive: true });
    await rm(folder, { recursive: true, force: true });
    await rename(incoming, folder);
    this.sent = index;
    return true;
  }

  async remove(): Promise<void> {
    await this.redis.del(this.key);
  }
}

const pieceField = (sum: string, i: number) => `${sum}:${i}`;

/** Names from Redis are as little trusted as names from anywhere. */
function checkPath(path: string): void {
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part.startsWith('.') || part.includes('\\') || part.includes('\0')))
    throw new BadInput(`a run that came through Redis holds a file called ${JSON.stringify(path)}, which is refused`);
}
