/** Diagnosis beside reading: the time that the doctor takes over the columns it reads, and the memory that a long recording takes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '../src/cli/main.ts';
import { threadedReading } from '../src/cli/reading/thread.ts';
import { diagnose } from '../src/doctor/diagnose.ts';
import { streamed } from '../src/doctor/evidence/reading/stream.ts';
import { createEngine } from '../src/net/engine.ts';
import type { Chunk, Column } from '../src/recording/column.ts';
import { createRecording, openRecording } from '../src/recording/node.ts';
import type { Recording } from '../src/recording/recording.ts';
import { Trainer } from '../src/training/trainer.ts';
import { onePass } from './doctor/one-pass.ts';
import { type Figure, figure, interleaved, output, peakMemory } from './support.ts';

/** `hundred-million` is measured only where it is asked for: it fills 30 GB of disk for some minutes. */
export const parts = ['reading', 'memory', 'hundred-million'] as const;
type Part = (typeof parts)[number];

export interface DoctorBenchSizes {
  /** Decisions of the run that is diagnosed beside reading. */
  rows: number;
  /** Rows of the long recording. */
  long: number;
  rounds: number;
}

const full: DoctorBenchSizes = { rows: 1e6, long: 1e7, rounds: 3 };

export async function bench(
  say: (line: string) => void,
  sizes = full,
  wanted: readonly Part[] = ['reading', 'memory'],
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-bench-'));
  try {
    say(`training ${sizes.rows} decisions ...`);
    const [run, long] = [join(folder, 'run'), join(folder, 'long')];
    await record(run, sizes.rows);
    const figures: Figure[] = [];
    if (wanted.includes('reading')) figures.push(...(await beside(say, run, sizes.rounds)));
    if (wanted.includes('memory')) figures.push(...longRun(say, run, long, sizes.long, { MiB: 1536 }));
    if (wanted.includes('hundred-million')) figures.push(...longRun(say, run, long, 1e8, { MiB: 1024, seconds: 120 }));
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A healthy run of four agents with ragged and masked lists, every iteration kept whole. */
export async function record(folder: string, rows: number): Promise<void> {
  const engine = await createEngine({ kernel: 'simd', threads: 1 });
  const trainer = new Trainer(
    {
      game: 'echo',
      gameSettings: { seats: 4 },
      worlds: 64,
      rollout: 64,
      steps: rows,
      guard: 'off',
      recording: { record: 'all' },
      network: { hidden: [16] },
    },
    { engine },
  );
  const writer = await createRecording(folder, trainer.manifest());
  trainer.record(writer);
  while (!trainer.done) await trainer.iterate();
  await writer.close();
  engine.dispose();
}

async function readAll(recording: Recording): Promise<number> {
  let rows = 0;
  for (const table of streamed)
    for await (const chunk of recording.chunks(table)) if (table === 'samples') rows += chunk.rows;
  return rows;
}

/** In processor time, which other programs at work lengthen least; compiling and collecting garbage beside it count. With a thread that reads ahead, the clock counts. */
async function beside(say: (line: string) => void, run: string, rounds: number): Promise<Figure[]> {
  say('diagnosing beside reading ...');
  let [rows, verdict] = [0, ''];
  const clock = { reading: Infinity, diagnosing: Infinity };
  const timed = async (what: keyof typeof clock, work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    clock[what] = Math.min(clock[what], (performance.now() - begun) / 1e3);
  };
  let gap = Number.NaN;
  const [reading, diagnosing, , passing] = await interleaved(rounds, [
    () => processorTime(() => timed('reading', async () => (rows = await readAll(await openRecording(run))))),
    () => processorTime(async () => (verdict = (await diagnose(await openRecording(run))).verdict)),
    () => processorTime(() => timed('diagnosing', () => inThread(run))),
    () => processorTime(async () => (gap = await onePass(await openRecording(run)))),
  ]);
  const what = `diagnosis of ${rows} rows with replays, over reading its columns, in processor time`;
  return [
    figure(what, diagnosing / reading, 'x', { most: 2 }),
    figure('the same with a thread that reads ahead, by the clock', clock.diagnosing / clock.reading, 'x', {
      most: 1.2,
    }),
    figure(
      'one pass that computes log-probabilities, credit and gradient and asks nothing else, over reading',
      passing / reading,
      'x',
      undefined,
      `largest gap ${gap.toExponential(0)}`,
    ),
    figure('reading', reading, 's'),
    figure('diagnosis', diagnosing, 's', undefined, verdict),
    figure('diagnosis with a thread that reads ahead, by the clock', clock.diagnosing, 's'),
  ];
}

async function inThread(run: string): Promise<unknown> {
  const recording = await openRecording(run);
  const read = await threadedReading(recording, run, {});
  return diagnose(recording, { ...(read ? { read } : {}) });
}

async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** The run again and again, later and later, until there are so many rows; updates are kept of the first round only, as a recorder's cadence would. */
async function lengthen(run: string, long: string, wanted: number): Promise<number> {
  const recording = await openRecording(run);
  const writer = await createRecording(long, recording.manifest);
  let rows = 0;
  for (let round = 0; rows < wanted; round++) {
    for (const table of round === 0 ? recording.tables : ['samples'])
      for await (const chunk of recording.chunks(table)) {
        await writer.appendChunk(table, { rows: chunk.rows, columns: shifted(chunk, round) });
        if (table === 'samples') rows += chunk.rows;
      }
  }
  await writer.close();
  return rows;
}

function shifted({ columns }: Chunk, round: number): Map<string, Column> {
  const later = new Map(columns);
  for (const name of ['iteration', 'episode']) {
    const column = columns.get(name);
    if (!column || column.kind === 'text') continue;
    const values = Int32Array.from(column.values as Int32Array, (value) => Number(value) + round * 10_000_000);
    later.set(name, { kind: 'int', rows: column.rows, values });
  }
  return later;
}

function longRun(
  say: (line: string) => void,
  run: string,
  long: string,
  rows: number,
  most: { MiB: number; seconds?: number },
): Figure[] {
  say(`diagnosing ${rows} rows in a process of its own ...`);
  const self = new URL(import.meta.url).pathname;
  const child = (work: string) =>
    JSON.parse(
      output(process.execPath, [
        '--input-type=module',
        '-e',
        `const m = await import(${JSON.stringify(self)}); await m.${work};`,
      ])
        .trim()
        .split('\n')
        .at(-1)!,
    ) as { rows: number; peak: number; status: number; seconds: number; processor: number };
  const written = child(`writeLong(${JSON.stringify(run)}, ${JSON.stringify(long)}, ${rows})`);
  const { peak, status, seconds, processor } = child(`diagnoseLong(${JSON.stringify(long)})`);
  rmSync(long, { recursive: true });
  const what = `trueline diagnose on ${written.rows} rows`;
  return [
    figure(`${what}, exit status`, status, '', { most: 0 }),
    figure(`${what}, peak memory`, peak / 2 ** 20, 'MiB', { most: most.MiB }),
    figure(
      `${what}, by the clock`,
      seconds,
      's',
      most.seconds === undefined ? undefined : { most: most.seconds },
      `${processor.toFixed(0)} s of processor time`,
    ),
  ];
}

const tell = (told: object) => process.stdout.write(`\n${JSON.stringify(told)}\n`);

/** Run in processes of their own, so that their memory is theirs. */
export async function writeLong(run: string, long: string, rows: number): Promise<void> {
  tell({ rows: await lengthen(run, long, rows), peak: peakMemory() });
}

export async function diagnoseLong(long: string): Promise<void> {
  const begun = performance.now();
  await main(['diagnose', long]);
  const status = process.exitCode ?? 0;
  process.exitCode = 0;
  const { user, system } = process.cpuUsage();
  const seconds = (performance.now() - begun) / 1000;
  tell({ peak: peakMemory(), status, seconds, processor: (user + system) / 1e6 });
}
