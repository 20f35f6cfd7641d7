/** A thread that reads a recording ahead of the checks: files are unpacked, columns decoded and rows judged while the checks look at the iteration before. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ReadingOptions, read } from '../../doctor/evidence/reading/judged.ts';
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
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

/** So many iterations are read ahead; each takes memory until the checks have seen it. */
const ahead = 2;

/** Buffers that belong to nobody else change hands; what is a part of one is copied. */
function handOver({ number, last, chunks }: Slice): [Omit<Slice, 'tables'>, ArrayBuffer[]] {
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
  return [{ number, last, chunks }, [...buffers]];
}

async function work({ path, open, settings, reading, language }: ReaderOrder): Promise<void> {
  const port = parentPort!;
  speak(language);
  let room = ahead;
  let wake = () => {};
  port.on('message', () => {
    room++;
    wake();
  });
  const tell = (news: ReaderNews, transfer: ArrayBuffer[] = []) => port.postMessage(news, transfer);
  try {
    const { slices, problems } = read((await openRecording(path, open)).declaring(settings), reading);
    for await (const slice of slices) {
      while (room === 0) await new Promise<void>((done) => (wake = done));
      room--;
      const [own, buffers] = handOver(slice);
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
