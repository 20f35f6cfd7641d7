/** Self-play and few-shot adaptation of HOP, HOP+, PPO and MAPPO on the dilemmas of the paper: every algorithm's agent, as it was trained, beside scripted partners and the others' agents, with intervals over seeds. Takes hours in full. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '../src/net/engine.ts';
import type { Engine } from '../src/net/types.ts';
import { interval, playMatch } from '../src/training/lineup/match.ts';
import { readOrigins, trainInto } from '../src/training/node.ts';
import { mergeSettings, recommendedSettings } from '../src/training/recommended.ts';
import { readSettings } from '../src/training/settings.ts';
import { type Figure, figure } from './support.ts';

const algorithms = ['hop-planner', 'hop', 'ppo', 'mappo'] as const;

const partners: Record<string, readonly string[]> = {
  'stag-hunt': ['nearest-stag', 'nearest-hare', 'random'],
  snowdrift: ['cooperate', 'defect', 'random'],
};

export interface AdaptSizes {
  games: readonly string[];
  seeds: readonly number[];
  /** Decisions of training, by algorithm; a search learns more from each. */
  steps: (algorithm: string) => number;
  settings: Record<string, unknown>;
  /** Lives with each kind of partner, and episodes of each. */
  lives: number;
  episodes: number;
}

export const fullAdapt: AdaptSizes = {
  games: ['stag-hunt/4x4-4h1s', 'stag-hunt/4x4-4h2s', 'snowdrift'],
  seeds: [1, 2, 3, 4, 5],
  steps: (algorithm) => (algorithm === 'hop-planner' ? 400_000 : 2_000_000),
  settings: {},
  lives: 200,
  episodes: 10,
};

export async function bench(say: (line: string) => void, sizes: AdaptSizes = fullAdapt): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hop-adapt-'));
  const engine = await createEngine({ kernel: 'simd' });
  try {
    const figures: Figure[] = [];
    for (const game of sizes.games) figures.push(...(await measure(say, engine, folder, game, sizes)));
    return figures;
  } finally {
    engine.dispose();
    rmSync(folder, { recursive: true });
  }
}

async function measure(say: (line: string) => void, engine: Engine, folder: string, game: string, sizes: AdaptSizes) {
  const runOf = (algorithm: string, seed: number) => join(folder, `${game.replace('/', '-')}-${algorithm}-${seed}`);
  const settingsOf = (algorithm: string, seed: number) =>
    mergeSettings(recommendedSettings(game) as Record<string, unknown>, sizes.settings, {
      game,
      algorithm,
      seed,
      kernel: 'simd',
      steps: sizes.steps(algorithm),
      recording: { record: 'off' },
    });
  for (const algorithm of algorithms)
    for (const seed of sizes.seeds) {
      say(`${game}: ${algorithm}, seed ${seed} ...`);
      (await trainInto(runOf(algorithm, seed), settingsOf(algorithm, seed), { engine })).dispose();
    }
  const figures: Figure[] = [];
  const meet = async (algorithm: string, partner: (seed: number) => string, label: string) => {
    const returns: number[] = [];
    for (const seed of sizes.seeds) {
      const settings = readSettings(settingsOf(algorithm, seed));
      const players = [`frozen ${runOf(algorithm, seed)}`, ...Array.from({ length: 3 }, () => partner(seed))];
      const origins = await readOrigins({ ...settings, players });
      const options = { worlds: sizes.lives, episodes: sizes.episodes, seed: 1000 + seed };
      const results = playMatch(engine, settings, players, origins, options);
      returns.push(results.means(4)[0].mean);
    }
    const { mean, halfWidth } = interval(returns);
    const note = `+- ${halfWidth.toFixed(3)} over ${returns.length} seeds`;
    figures.push(figure(`${game}: ${algorithm} ${label}`, mean, '', undefined, note));
  };
  for (const algorithm of algorithms) {
    await meet(algorithm, (seed) => `frozen ${runOf(algorithm, seed)}`, 'in self-play');
    for (const partner of partners[game.split('/')[0]]) await meet(algorithm, () => partner, `beside three ${partner}`);
    for (const other of algorithms)
      if (other !== algorithm) await meet(algorithm, (seed) => `frozen ${runOf(other, seed)}`, `beside three ${other}`);
  }
  return figures;
}
