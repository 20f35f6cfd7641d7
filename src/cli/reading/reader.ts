/** A thread that reads a recording ahead of the checks: files are unpacked, columns decoded and rows judged while the checks look at the iteration before. */
import { parentPort, workerData } from 'node:worker_threads';
import { arraysOf } from '../../doctor/evidence/reading/ahead.ts';
import { type ReadingOptions, read } from '../../doctor/evidence/reading/judged.ts';
import { lookAhead } from '../../doctor/evidence/reading/look-ahead.ts';
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
import { Run } from '../../doctor/evidence/run.ts';
import { type Spoken, speak } from '../../language/language.ts';
import { BadInput, type Place } from '../../recording/bad-input.ts';
import type { Values } from '../../recording/column.ts';
import { openRecording } from '../../recording/node.ts';
import type { OpenOptions } from '../../recording/recording.ts';

export interface ReaderOrder {
  path: string;
  open: OpenOptions;
  settings: Readonly<Record<string, unknown>>;
  reading: ReadingOptions;
  language: Spoken;
}

/** One iteration without its tables, which are made of its chunks; then what is wrong with the recording. */
export type ReaderNews =
  | { kind: 'slice'; slice: Omit<Slice, 'tables'> }
  | { kind: 'problems'; problems: readonly string[] }
  | { kind: 'bad'; what: string; place: Place };

/** So much is read ahead: two iterations, and more up to so many bytes. A file holds several, and while it is unpacked the checks must not run out of them. */
const fewestAhead = 2;
const bytesAhead = 2 ** 26;

/** Buffers that belong to nobody else change hands; what is a part of one is copied. */
function handOver({ number, last, chunks, ahead }: Slice): [Omit<Slice, 'tables'>, ArrayBuffer[]] {
  const buffers = new Set<ArrayBuffer>();
  const own = <T extends Values>(part: T): T => {
    const whole = part.byteLength === part.buffer.byteLength ? part : (part.slice() as T);
    buffers.add(whole.buffer as ArrayBuffer);
    return whole;
  };
  for (const chunk of Object.values(chunks)) {
    for (const column of chunk.columns.values()) {
      if (column.kind === 'text') continue;
      column.values = own(column.values);
      if (column.offsets) column.offsets = own(column.offsets);
    }
  }
  for (const array of ahead ? arraysOf(ahead) : []) buffers.add(array.buffer as ArrayBuffer);
  return [{ number, last, chunks, ahead }, [...buffers]];
}

async function work({ path, open, settings, reading, language }: ReaderOrder): Promise<void> {
  const port = parentPort!;
  speak(language);
  /** Bytes of the iterations that the checks have not seen yet. */
  const waiting: number[] = [];
  const full = () => waiting.length >= fewestAhead && waiting.reduce((sum, own) => sum + own, 0) > bytesAhead;
  let wake = () => {};
  port.on('message', () => {
    waiting.shift();
    wake();
  });
  const tell = (news: ReaderNews, transfer: ArrayBuffer[] = []) => port.postMessage(news, transfer);
  try {
    const recording = (await openRecording(path, open)).declaring(settings);
    const { slices, problems } = read(recording, reading);
    const run = new Run(recording.manifest);
    for await (const slice of slices) {
      slice.ahead = lookAhead(run, slice);
      while (full()) await new Promise<void>((done) => (wake = done));
      const [own, buffers] = handOver(slice);
      waiting.push(buffers.reduce((sum, { byteLength }) => sum + byteLength, 0));
      tell({ kind: 'slice', slice: own }, buffers);
    }
    tell({ kind: 'problems', problems: await problems() });
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    tell({ kind: 'bad', what: error.what, place: error.place });
  } finally {
    port.close();
  }
}

await work(workerData as ReaderOrder);
