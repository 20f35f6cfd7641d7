/** A thread of the studio's server that reads runs: curves, what a list shows, diagnoses. What was read of a growing run is kept, so that the next look costs what is new. */
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { secondsWritten } from '../../recording/claim/node.ts';
import { folderStore, openRecording } from '../../recording/node.ts';
import { Recording } from '../../recording/recording.ts';
import { type Curve, CurveReader } from '../../report/studio/curves.ts';
import { examine } from '../../report/studio/examined.ts';
import { type ShortVerdict, shortVerdict } from '../../report/studio/examined-short.ts';
import { type RunRow, runRow } from '../../report/studio/row.ts';
import { SeenChunks } from '../../report/studio/seen.ts';
import { type Cut, encodeSummary, summarise } from '../../report/studio/summary.ts';
import { type ComparedGroup, compareRuns } from '../../sweep/compare.ts';
import { readRuns } from '../../sweep/node.ts';

export interface ReaderMethods {
  curves(folder: string, cut: Cut): Promise<Uint8Array<ArrayBuffer>>;
  row(folder: string): Promise<RunRow>;
  /** What `trueline compare` finds. */
  compare(folders: string[]): Promise<ComparedGroups>;
  /** The diagnosis as JSON in both languages, and what a list shows of it. */
  examine(folder: string, unfinished: boolean): Promise<{ text: string; short: ShortVerdict }>;
}

export interface ComparedGroups {
  groups: Pick<ComparedGroup, 'label' | 'games' | 'improvement'>[];
  repeats: number;
  level: number;
}

interface Held {
  reader: CurveReader;
  seen: SeenChunks;
  list: Curve[];
}

/** Points that are held of all runs together, some 32 bytes each. */
const mostHeld = 3_000_000;
const held = new Map<string, Held>();

/** The curves of a run with everything that was written up to now. */
async function read(folder: string): Promise<Curve[]> {
  const store = folderStore(folder);
  let own = held.get(folder);
  let rest = await own?.seen.rest(store);
  if (!own || !rest) {
    own = { reader: new CurveReader((await Recording.open(store)).manifest), seen: new SeenChunks(), list: [] };
    rest = store;
  }
  const recording = await Recording.open(rest);
  const prefix = `${folder}/`;
  let fresh = own.list.length === 0;
  await own.reader.read(recording, (file) => {
    fresh = true;
    own.seen.add(file.startsWith(prefix) ? file.slice(prefix.length) : file);
  });
  if (fresh) own.list = own.reader.list();
  // The run that was asked for last is the last to be forgotten.
  held.delete(folder);
  held.set(folder, own);
  let sum = [...held.values()].reduce((all, { reader }) => all + reader.points, 0);
  for (const [name, { reader }] of held) {
    if (sum <= mostHeld || held.size === 1) break;
    held.delete(name);
    sum -= reader.points;
  }
  return own.list;
}

const methods: ReaderMethods = {
  curves: async (folder, cut) => encodeSummary(summarise(await read(folder), cut)),
  row: async (folder) => {
    const row = runRow(await read(folder));
    return { ...row, seconds: row.seconds ?? (await secondsWritten(folder)) };
  },
  compare: async (folders) => {
    const { groups, repeats, level } = compareRuns(await readRuns(folders));
    return { groups: groups.map(({ label, games, improvement }) => ({ label, games, improvement })), repeats, level };
  },
  examine: async (folder, unfinished) => {
    const recording = await openRecording(folder);
    const examined = await examine(recording, { pictures: true, unfinished });
    return { text: JSON.stringify(examined), short: shortVerdict(examined) };
  },
};

export interface ReaderCall {
  id: number;
  method: keyof ReaderMethods;
  args: unknown[];
}

export type ReaderAnswer = { id: number; value: unknown } | { id: number; error: string };

// On Linux this is a thread's own; elsewhere it would be the whole server's.
if ((workerData as { background?: boolean } | null)?.background && process.platform === 'linux' && getPriority() < 10)
  setPriority(10);

// Beside the calls of a page there is nothing to do here, so each is answered before the next is begun.
let last: Promise<void> = Promise.resolve();
parentPort?.on('message', ({ id, method, args }: ReaderCall) => {
  last = last.then(async () => {
    let answer: ReaderAnswer;
    try {
      answer = { id, value: await (methods[method] as (...args: unknown[]) => Promise<unknown>)(...args) };
    } catch (error) {
      answer = { id, error: (error as Error).message };
    }
    parentPort?.postMessage(answer);
  });
});
