/** What the trainer must learn: every probe game and echo, with both heads, for five seeds of five, judged by sampled play on fresh episodes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gameOptimum } from '../../src/games/index.ts';
import { probes } from '../../src/games/probes.ts';
import { createEngine } from '../../src/net/engine.ts';
import type { Engine } from '../../src/net/types.ts';
import { train } from '../../src/training/run.ts';
import type { SettingsInput } from '../../src/training/settings.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine();
});
afterAll(() => engine.dispose());

const seeds = [1, 2, 3, 4, 5];
const episodes = 2000;

async function learn(settings: SettingsInput) {
  const said: string[] = [];
  const result = await train(settings, { engine, onNotice: (sentence) => said.push(sentence) });
  expect(said).toEqual([]);
  return { ...result, returns: result.evaluate(episodes, 1000).map((agent) => agent.mean) };
}

describe('PPO comes within 5 % of the optimum of each probe game', () => {
  const quick: SettingsInput = { worlds: 16, rollout: 32, steps: 25_000, network: { hidden: [16] } };
  for (const name of Object.keys(probes) as (keyof typeof probes)[]) {
    it.each(seeds)(`${name}, seed %i`, async (seed) => {
      const { returns, trainer } = await learn({ ...quick, game: name, seed });
      expect(returns[0]).toBeGreaterThan(0.95 * probes[name].optimum);
      // Where there is nothing to choose, the critic is what must have learnt.
      const { gamma } = trainer.settings.ppo;
      const seen = probes[name].cue ? [-1, 1] : Array.from({ length: probes[name].steps }, (_, step) => step);
      const values = new Float32Array(seen.length);
      trainer.stages.values(trainer.learners[0], Float32Array.from(seen), seen.length, values);
      for (const [i, observation] of seen.entries())
        expect(Math.abs(values[i] - probes[name].value(observation, gamma))).toBeLessThan(0.05);
    });
  }
});

describe('PPO comes within 5 % of the optimum of echo, with random subsets and masks', () => {
  for (const head of ['fixed', 'pointer'] as const) {
    it.each(seeds)(`${head} head, seed %i`, async (seed) => {
      const { returns } = await learn({ game: 'echo', seed, steps: 80_000, network: { head } });
      expect(returns[0]).toBeGreaterThan(0.95 * gameOptimum('echo')!);
    });
  }
});

describe('MAPPO comes within 5 % of the optimum of echo for two seats', () => {
  it.each(['separate', 'shared'] as const)('%s policies', async (sharing) => {
    const settings: SettingsInput = {
      game: 'echo',
      gameSettings: { seats: 2 },
      algorithm: 'mappo',
      sharing,
      steps: 160_000,
    };
    const { returns } = await learn(settings);
    for (const mean of returns) expect(mean).toBeGreaterThan(0.95 * gameOptimum('echo')!);
  });
});
