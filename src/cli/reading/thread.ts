/** Reading in a thread of its own, for recordings so large that the checks would wait for their rows. */
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Reading, ReadingOptions } from '../../doctor/evidence/reading/judged.ts';
import { type Slice, type StreamedTable, streamed } from '../../doctor/evidence/reading/stream.ts';
import { Rows } from '../../doctor/evidence/rows.ts';
import { spokenLanguage } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import type { OpenOptions, Recording } from '../../recording/recording.ts';
import type { ReaderNews, ReaderOrder } from './reader.ts';

/** Bytes; what is smaller is read before a thread has begun. */
const worthAThread = 2 ** 24;

/** How `diagnose` is to read what was opened from a path; undefined where a thread would not be worth it. */
export async function threadedReading(
  recording: Recording,
  path: string,
  open: OpenOptions,
  least = worthAThread,
): Promise<((recording: Recording, options: ReadingOptions) => Reading) | undefined> {
  if (availableParallelism() < 2) return undefined;
  const size = async (file: string) => (await stat(file).catch(() => null))?.size ?? 0;
  const files = streamed.flatMap((table) => recording.chunkFiles(table));
  // The path of a zip is a file itself, and so are none of those within.
  const sizes = await Promise.all([path, ...files.map((file) => join(path, file))].map(size));
  if (sizes.reduce((sum, own) => sum + own, 0) < least) return undefined;
  return ({ manifest }, reading) =>
    begin({ path, open, settings: manifest.settings ?? {}, reading, language: spokenLanguage() });
}

function begin(order: ReaderOrder): Reading {
  const worker = new Worker(new URL('./reader.js', import.meta.url), { execArgv: [], workerData: order });
  const news: ReaderNews[] = [];
  let lost: Error | undefined;
  let wake = () => {};
  const heard = (change: () => void) => {
    change();
    wake();
  };
  worker.on('message', (own: ReaderNews) => heard(() => news.push(own)));
  worker.on('error', (error) => heard(() => (lost ??= error)));
  worker.on('exit', () => heard(() => (lost ??= new Error('the thread that was reading ended'))));
  const next = async (): Promise<ReaderNews> => {
    for (;;) {
      const own = news.shift();
      if (own?.kind === 'bad') throw new BadInput(own.what, own.place);
      if (own) return own;
      if (lost) throw lost;
      await new Promise<void>((done) => (wake = done));
    }
  };
  let problems: readonly string[] = [];
  async function* slices(): AsyncGenerator<Slice> {
    try {
      for (;;) {
        const own = await next();
        if (own.kind === 'problems') problems = own.problems;
        if (own.kind !== 'slice') return;
        const tables: Slice['tables'] = {};
        for (const [table, chunk] of Object.entries(own.slice.chunks))
          tables[table as StreamedTable] = new Rows(table as StreamedTable, chunk);
        yield { ...own.slice, tables };
        worker.postMessage('seen');
      }
    } finally {
      await worker.terminate();
    }
  }
  return { slices: slices(), problems: async () => problems };
}
