/**
 * How cost grows: each size is doubled several times, and the exponent is the slope of time over size, both as logarithms. n log n shows as 1.1 to 1.15 over
 * such ranges, so that more is a miss. Processor time on one thread, the least of several turns: a busy machine can only add to it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diagnose } from '../src/doctor/diagnose.ts';
import { createEngine } from '../src/net/engine.ts';
import type { Engine } from '../src/net/types.ts';
import { createRecording, openRecording } from '../src/recording/node.ts';
import type { SettingsInput } from '../src/training/settings.ts';
import { Trainer } from '../src/training/trainer.ts';
import { type Figure, figure } from './support.ts';
import { ourUpdate } from './train/ours.ts';
import { updateFlops } from './train/sizes.ts';

/** Iterations before the clock starts, so that every function is compiled. */
const warmUp = 4;
const most = 1.15;

export interface ScalingSizes {
  turns: number;
  /** How often the smallest size is doubled. */
  doublings: number;
  /** Goals hold for the full sizes alone. */
  full: boolean;
}
export const fullScaling: ScalingSizes = { turns: 3, doublings: 5, full: true };

export async function bench(say: (line: string) => void, sizes: ScalingSizes = fullScaling): Promise<Figure[]> {
  const engine = await createEngine({ threads: 1 });
  const folder = mkdtempSync(join(tmpdir(), 'trueline-scaling-'));
  try {
    const base: SettingsInput = {
      game: 'echo',
      gameSettings: { seats: 4 },
      worlds: 16,
      rollout: 32,
      steps: 1e12,
      network: { hidden: [32] },
      recording: { record: 'off' },
    };
    const training = (settings: (size: number) => SettingsInput) => (size: number) =>
      iteration(engine, { ...base, ...settings(size) });
    const kinds: { what: string; first: number; make: (size: number) => Promise<() => unknown> | (() => unknown) }[] = [
      {
        what: 'an update, by the rows of its minibatch',
        first: 256,
        make: (rows) => ourUpdate(engine, rows, [64, 64], 4),
      },
      { what: 'an iteration of training, by worlds', first: 8, make: training((worlds) => ({ worlds })) },
      {
        what: 'an iteration of training, by agents with a policy each',
        first: 2,
        make: training((seats) => ({ gameSettings: { seats } })),
      },
      {
        what: 'an iteration of training, by agents that share a policy',
        first: 2,
        make: training((seats) => ({ gameSettings: { seats }, sharing: 'shared' })),
      },
      {
        what: 'a diagnosis, by the iterations that were recorded',
        first: 2,
        make: (count) => recorded(engine, join(folder, `${count}`), count, base),
      },
    ];
    const figures: Figure[] = [];
    for (const { what, first, make } of kinds) {
      say(`${what} ...`);
      const points = await measured(sizes, first, make);
      const note = points.map(({ size, seconds }) => `${size}: ${(seconds * 1000).toPrecision(3)} ms`).join(', ');
      figures.push(figure(`exponent of ${what}`, slope(points), '', sizes.full ? { most } : undefined, note));
    }
    say('an update, by the width of its networks ...');
    const wide = await measured(sizes, 16, (width) => ourUpdate(engine, 512, [width, width], 4));
    const work = wide.map(({ size, seconds }) => ({ size: updateFlops(512, [size, size]), seconds }));
    const note = wide.map(({ size, seconds }) => `${size}: ${(seconds * 1000).toPrecision(3)} ms`).join(', ');
    figures.push(
      figure('exponent of an update, by its operations (networks 16 wide to 512)', slope(work), '', goal(sizes), note),
    );
    return figures;
  } finally {
    engine.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

const goal = ({ full }: ScalingSizes) => (full ? { most } : undefined);

interface Point {
  size: number;
  seconds: number;
}

/** Sizes take turns, so that a slow moment hits all of them. */
async function measured(
  { turns, doublings }: ScalingSizes,
  first: number,
  make: (size: number) => Promise<() => unknown> | (() => unknown),
): Promise<Point[]> {
  const runs: { size: number; run: () => unknown; seconds: number }[] = [];
  for (let i = 0; i <= doublings; i++)
    runs.push({ size: first * 2 ** i, run: await make(first * 2 ** i), seconds: Number.POSITIVE_INFINITY });
  for (let turn = 0; turn <= turns; turn++)
    for (const one of runs) {
      const before = process.cpuUsage();
      await one.run();
      const { user, system } = process.cpuUsage(before);
      // The first turn only warms up.
      if (turn > 0) one.seconds = Math.min(one.seconds, (user + system) / 1e6);
    }
  return runs;
}

/** The least-squares slope of log time over log size, without the smallest size, in which what every call costs hides the rest. */
function slope(all: readonly Point[]): number {
  const points = all.slice(all.length > 3 ? 1 : 0).map(({ size, seconds }) => [Math.log(size), Math.log(seconds)]);
  const mean = (k: number) => points.reduce((sum, point) => sum + point[k], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const top = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return top / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

async function iteration(engine: Engine, settings: SettingsInput): Promise<() => Promise<unknown>> {
  const trainer = new Trainer(settings, { engine });
  for (let i = 0; i < warmUp; i++) await trainer.iterate();
  return () => trainer.iterate();
}

async function recorded(engine: Engine, folder: string, count: number, base: SettingsInput) {
  const trainer = new Trainer({ ...base, guard: 'off', recording: { record: 'all' } }, { engine });
  const writer = await createRecording(folder, trainer.manifest());
  trainer.record(writer);
  for (let i = 0; i < count; i++) await trainer.iterate();
  await writer.close();
  return async () => diagnose(await openRecording(folder));
}
