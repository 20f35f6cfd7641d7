/**
 * A run's folder kept in Redis, for machines that share no disk: a hash of gzipped pieces. Files of a recording never change once they are written, so
 * only what is new is sent; the list of what is whole is written last, and who reads it sees the folder as it was at one checkpoint.
 */

import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { replaceFolder } from '../../recording/disk/node.ts';
import { folderStore } from '../../recording/node.ts';
import { isRunFile } from '../../recording/run-files.ts';
import { Budget } from '../../recording/source.ts';

/** More than a run's folder may take on a worker's disk. */
const largestRun = 8 * 2 ** 30;

const pieceSize = 1 << 20;

/** What lies in Redis, as data of a stranger: only files that a run has, and no more pieces than their size takes. */
const indexSchema = z.record(
  z.string().refine(isRunFile, { error: ({ input }) => `${JSON.stringify(input)} is no file of a run` }),
  z.strictObject({
    size: z
      .int()
      .min(0)
      .max(2 ** 40),
    /** Names the pieces; a file that is sent anew gets another. */
    token: z.uuid(),
  }),
);

type Index = z.output<typeof indexSchema>;
/** No file is without a piece, so that one that is lost is missed. */
const piecesOf = (size: number) => Math.max(1, Math.ceil(size / pieceSize));
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
    for (const path of (await folderStore(folder).list()).filter(isRunFile)) {
      const file = join(folder, path);
      const time = await timeOf(file);
      if (time !== undefined && time === this.written[path]) index[path] = this.sent[path];
      else {
        const bytes = await readFile(file).catch(() => null);
        // A checkpoint that was replaced while we looked.
        if (!bytes || time === undefined) continue;
        const token = randomUUID();
        index[path] = { size: bytes.length, token };
        for (let i = 0; i < piecesOf(bytes.length); i++) {
          const piece = await pack(bytes.subarray(i * pieceSize, (i + 1) * pieceSize), packing);
          await this.redis.hset(this.key, pieceField(token, i), piece);
        }
      }
      written[path] = time;
    }
    await this.redis.hset(this.key, indexField, JSON.stringify(index));
    for (const [path, { token, size }] of Object.entries(this.sent)) {
      if (index[path]?.token === token) continue;
      await this.redis.hdel(this.key, ...Array.from({ length: piecesOf(size) }, (_, i) => pieceField(token, i)));
    }
    await this.redis.expire(this.key, kept);
    this.sent = index;
    this.written = written;
  }

  /** Fetches the folder as it was last sent, in place of the run that is there; false where nothing was. */
  async pull(folder: string, seen?: string): Promise<boolean> {
    const text = await this.redis.hget(this.key, indexField);
    // The second time round: its pieces are gone and nobody sent others, so there is nothing whole.
    if (text === null || text === seen) return false;
    const index = readIndex(text);
    const present = await folderStore(folder).list();
    const foreign = present.find((path) => !isRunFile(path));
    if (foreign !== undefined)
      throw new BadInput(
        told(
          `is no file of a run, and the run is to take the place of all that is there; move it away`,
          '不是训练的文件，而训练将取代那里的一切；请把它移走',
        ),
        {
          file: join(folder, foreign),
        },
      );
    let whole = true;
    const budget = new Budget(largestRun);
    await replaceFolder(folder, async (incoming) => {
      const store = folderStore(incoming);
      for (const [path, { size, token }] of Object.entries(index)) {
        budget.claim(path, size);
        const parts = await this.fetch(path, size, token);
        if (!parts) {
          whole = false;
          return false;
        }
        await store.write(path, parts);
      }
      return true;
    });
    // Replaced by a later checkpoint while we read: what that one says is whole by now.
    if (!whole) return this.pull(folder, text);
    this.written = {};
    for (const path of Object.keys(index)) {
      const time = await timeOf(join(folder, path));
      if (time !== undefined) this.written[path] = time;
    }
    this.sent = index;
    return true;
  }

  /** The pieces of a file; null where one is gone. */
  private async fetch(path: string, size: number, token: string): Promise<Uint8Array[] | null> {
    const damaged = () =>
      new BadInput(
        told('was damaged on its way through Redis; run the job again', '在经过 Redis 时损坏；请重新运行该任务'),
        { file: path },
      );
    const parts: Uint8Array[] = [];
    for (let i = 0; i < piecesOf(size); i++) {
      const packed = await this.redis.hgetBuffer(this.key, pieceField(token, i));
      if (packed === null) return null;
      // Every piece carries a checksum of its own.
      const part = await unpack(packed, { maxOutputLength: pieceSize }).catch(() => {
        throw damaged();
      });
      if (part.length !== Math.min(pieceSize, size - i * pieceSize)) throw damaged();
      parts.push(part);
    }
    return parts;
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

function readIndex(text: string): Index {
  try {
    return indexSchema.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? error.issues[0].message : (error as Error).message;
    throw new BadInput(
      told(
        `a run that came through Redis is refused: its list of files is damaged or forged (${why})`,
        `拒绝一个经过 Redis 的训练：它的文件列表已损坏或是伪造的（${why}）`,
      ),
    );
  }
}
