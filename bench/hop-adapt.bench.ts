/**
 * Self-play and few-shot adaptation of HOP, HOP+, PPO and MAPPO on the dilemmas of the paper: every algorithm's agent, as it was trained, beside
 * scripted partners and the others' agents, with intervals over seeds. In full it takes hours, so every run and every match is kept in
 * runs/hop-adapt: it can be stopped at any time, goes on where it was, and tells after each seed what is known so far.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createEngine } from '../src/net/engine.ts';
import type { Engine } from '../src/net/types.ts';
import { writeWhole } from '../src/recording/node.ts';
import { interval, playMatch } from '../src/training/lineup/match.ts';
import { readOrigins, trainInto } from '../src/training/node.ts';
import { mergeSettings, recommendedSettings } from '../src/training/recommended.ts';
import { readSettings } from '../src/training/settings.ts';
import { type Figure, figure } from './support.ts';

const algorithms = ['hop-planner', 'hop', 'ppo', 'mappo'] as const;
type Algorithm = (typeof algorithms)[number];

const partners: Record<string, readonly string[]> = {
  'stag-hunt': ['nearest-stag', 'nearest-hare', 'random'],
  snowdrift: ['cooperate', 'defect', 'random'],
};

export interface AdaptSizes {
  seeds: readonly number[];
  /** Decisions of training, by algorithm; a search learns more from each. */
  steps: (algorithm: string) => number;
  settings: Record<string, unknown>;
  /** Lives with each kind of partner, and episodes of each. */
  lives: number;
  episodes: number;
}

const games = { '4h1s': 'stag-hunt/4x4-4h1s', '4h2s': 'stag-hunt/4x4-4h2s', snowdrift: 'snowdrift' } as const;
type Part = keyof typeof games;
/** What can be run by itself. */
export const parts = Object.keys(games) as Part[];

export const fullAdapt: AdaptSizes = {
  seeds: [1, 2, 3, 4, 5],
  steps: (algorithm) => (algorithm === 'hop-planner' ? 100_000 : 1_000_000),
  settings: {},
  lives: 40,
  episodes: 10,
};

const home = join(process.cwd(), 'runs', 'hop-adapt');

export async function bench(
  say: (line: string) => void,
  sizes: AdaptSizes = fullAdapt,
  wanted: readonly Part[] = parts,
  folder = home,
): Promise<Figure[]> {
  const engine = await createEngine({ kernel: 'simd' });
  try {
    // Seeds outside, so that a table over few of them is there early.
    for (const seed of sizes.seeds)
      for (const part of wanted) {
        const one = new Meeting(say, engine, folder, part, seed, sizes);
        for (const algorithm of algorithms) await one.train(algorithm);
        for (const algorithm of algorithms)
          for (const label of labels(part, algorithm)) await one.meet(algorithm, label);
      }
    return wanted.flatMap((part) => known(folder, part, sizes));
  } finally {
    engine.dispose();
  }
}

/** Whom an algorithm's agent meets: its own kind, scripted players, the others' agents. */
const labels = (part: Part, algorithm: Algorithm): string[] => [
  algorithm,
  ...partners[games[part].split('/')[0]],
  ...algorithms.filter((other) => other !== algorithm),
];

const resultOf = (folder: string, part: Part, algorithm: string, label: string, seed: number) =>
  join(folder, `${part}-${algorithm}-beside-${label}-${seed}.json`);

/** What the results that are kept say. */
function known(folder: string, part: Part, sizes: AdaptSizes): Figure[] {
  return algorithms.flatMap((algorithm) =>
    labels(part, algorithm).flatMap((label) => {
      const files = sizes.seeds
        .map((seed) => resultOf(folder, part, algorithm, label, seed))
        .filter((file) => existsSync(file));
      if (files.length === 0) return [];
      const returns = files.map((file) => (JSON.parse(readFileSync(file, 'utf8')) as { return: number }).return);
      const { mean, halfWidth } = interval(returns);
      const what = label === algorithm ? 'in self-play' : `beside three ${label}`;
      const note = `+- ${halfWidth.toFixed(3)} over ${returns.length} seeds`;
      return [figure(`${part}: ${algorithm} ${what}`, mean, '', undefined, note)];
    }),
  );
}

/** One game and seed. */
class Meeting {
  constructor(
    private readonly say: (line: string) => void,
    private readonly engine: Engine,
    private readonly folder: string,
    private readonly part: Part,
    private readonly seed: number,
    private readonly sizes: AdaptSizes,
  ) {}

  private runOf(algorithm: string): string {
    return join(this.folder, `${this.part}-${algorithm}-${this.seed}`);
  }

  private settingsOf(algorithm: string) {
    const game = games[this.part];
    return mergeSettings(recommendedSettings(game, algorithm) as Record<string, unknown>, this.sizes.settings, {
      game,
      algorithm,
      seed: this.seed,
      kernel: 'simd',
      steps: this.sizes.steps(algorithm),
      recording: { record: 'off' },
    });
  }

  async train(algorithm: Algorithm): Promise<void> {
    const run = this.runOf(algorithm);
    if (existsSync(`${run}.whole`)) return;
    this.say(`${this.part}: ${algorithm}, seed ${this.seed} ...`);
    // What was stopped half-way is begun anew.
    rmSync(run, { recursive: true, force: true });
    (await trainInto(run, this.settingsOf(algorithm), { engine: this.engine })).dispose();
    await writeWhole(`${run}.whole`, []);
  }

  async meet(algorithm: Algorithm, label: string): Promise<void> {
    const file = resultOf(this.folder, this.part, algorithm, label, this.seed);
    if (existsSync(file)) return;
    const { lives, episodes } = this.sizes;
    const partner = (algorithms as readonly string[]).includes(label) ? `frozen ${this.runOf(label)}` : label;
    const settings = readSettings(this.settingsOf(algorithm));
    const players = [`frozen ${this.runOf(algorithm)}`, partner, partner, partner];
    const origins = await readOrigins({ ...settings, players });
    const options = { worlds: lives, episodes, seed: 1000 + this.seed };
    const [{ mean }] = playMatch(this.engine, settings, players, origins, options).means(4);
    await writeWhole(file, [new TextEncoder().encode(`${JSON.stringify({ return: mean, lives, episodes })}\n`)]);
  }
}
