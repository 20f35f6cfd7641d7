/** Diagnosis beside reading: the time that the doctor takes over the columns it reads, and the memory that a long recording takes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '../src/cli/main.ts';
import { diagnose } from '../src/doctor/diagnose.ts';
import { streamed } from '../src/doctor/evidence/stream.ts';
import { createEngine } from '../src/net/engine.ts';
import type { Chunk, Column } from '../src/recording/column.ts';
import { createRecording, openRecording } from '../src/recording/node.ts';
import type { Recording } from '../src/recording/recording.ts';
import { Trainer } from '../src/training/trainer.ts';
import { type Figure, figure, interleaved, output, peakMemory, timed } from './support.ts';

export async function bench(
  say: (line: string) => void,
  rows = 1_000_000,
  million = 10,
  rounds = 3,
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-bench-'));
  try {
    say(`training ${rows} decisions ...`);
    const run = join(folder, 'run');
    await record(run, rows);
    return [...(await beside(say, run, rounds)), memory(say, run, join(folder, 'long'), million * 1e6)];
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

async function beside(say: (line: string) => void, run: string, rounds: number): Promise<Figure[]> {
  say('diagnosing beside reading ...');
  let [rows, verdict] = [0, ''];
  const [reading, diagnosing] = await interleaved(rounds, [
    () => timed(async () => (rows = await readAll(await openRecording(run)))),
    () => timed(async () => (verdict = (await diagnose(await openRecording(run))).verdict)),
  ]);
  return [
    figure(`diagnosis of ${rows} rows with replays, over reading its columns`, diagnosing / reading, 'x', { most: 5 }),
    figure('reading', reading, 's'),
    figure('diagnosis', diagnosing, 's', undefined, verdict),
  ];
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

function memory(say: (line: string) => void, run: string, long: string, rows: number): Figure {
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
    ) as { rows?: number; peak: number; status?: number; seconds?: number };
  const written = child(`writeLong(${JSON.stringify(run)}, ${JSON.stringify(long)}, ${rows})`);
  const { peak, status, seconds } = child(`diagnoseLong(${JSON.stringify(long)})`);
  rmSync(long, { recursive: true });
  return figure(
    `peak memory of trueline diagnose on ${written.rows} rows`,
    peak / 2 ** 20,
    'MiB',
    { most: 1536 },
    `exit status ${status}, ${seconds?.toFixed(0)} s`,
  );
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
  tell({ peak: peakMemory(), status, seconds: (performance.now() - begun) / 1000 });
}
