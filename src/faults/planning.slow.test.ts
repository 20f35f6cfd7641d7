import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordRun } from '../../test/support/tiny-runs.ts';
import { diagnose } from '../doctor/diagnose.ts';
import { createEngine } from '../net/engine.ts';
import type { Engine } from '../net/types.ts';
import type { SettingsInput } from '../training/settings.ts';
import { cleanStages } from '../training/stages.ts';
import { applyFault, planningFaults, whyNot } from './index.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

const games: Record<string, Record<string, unknown>> = {
  'stag-hunt': { horizon: 10 },
  snowdrift: { horizon: 10, width: 4, height: 4, drifts: 4 },
  'coin-game': { players: 4, horizon: 10 },
  cleanup: { horizon: 10 },
};

const settingsOf = (game: string, seed: number): SettingsInput => ({
  game,
  gameSettings: games[game],
  algorithm: 'hop-planner',
  seed,
  worlds: 6,
  rollout: 16,
  steps: 4 * 6 * 16 * 4,
  network: { hidden: [8] },
  ppo: { epochs: 2, minibatches: 2, learningRate: 3e-3 },
  planner: {
    simulations: 8,
    samples: 2,
    judged: 0.3,
    models: { hidden: [8], capacity: 256, window: 8, batch: 16, updates: 8 },
  },
  guard: 'off',
  recording: { record: 'all' },
});
const seeds = [1];

describe('faults of agents that plan', () => {
  it('are named first in at least 95 of 100 runs, and in no run wrongly', async () => {
    const missed: string[] = [];
    const wrong: string[] = [];
    let judged = 0;
    for (const fault of planningFaults)
      for (const game of Object.keys(games))
        for (const seed of seeds) {
          const input = settingsOf(game, seed);
          if (whyNot(fault, input)) continue;
          const { stages, settings } = applyFault(fault, seed, cleanStages, input);
          const { causes, verdict } = await diagnose(await recordRun(engine, settings, stages, 4));
          judged++;
          const found = `${fault.id}, ${game}, seed ${seed}: ${verdict} ${causes.map(({ id }) => id).join(' ')}`;
          if (causes[0]?.id === fault.cause) continue;
          (causes.length > 0 ? wrong : missed).push(found);
        }
    expect(judged).toBeGreaterThan(25);
    expect(wrong).toEqual([]);
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(0.05 * judged);
  }, 300_000);

  it('are not seen in healthy runs, with any part left out', async () => {
    for (const game of Object.keys(games))
      for (const without of [[], ['beliefs'], ['models']] as const) {
        const input = settingsOf(game, 4);
        const recording = await recordRun(
          engine,
          { ...input, planner: { ...input.planner, without } as never },
          cleanStages,
          4,
        );
        const { causes, unexplained, checks } = await diagnose(recording);
        expect(causes, `${game} without ${without}`).toEqual([]);
        expect(unexplained, `${game} without ${without}`).toEqual([]);
        expect(checks.find(({ id }) => id === 'search')?.status).toBe('pass');
      }
  }, 120_000);
});
