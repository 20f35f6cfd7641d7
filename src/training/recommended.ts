/** Settings that fit a game better than the general defaults. What a user sets himself always wins. */
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import type { SettingsInput } from './settings.ts';

const small = { steps: 60_000, worlds: 32, rollout: 32 };

/** Pay-off comes thirty months late, so nothing is discounted and credit trusts rewards; whole episodes keep every month equally represented. */
const city: SettingsInput = {
  steps: 450_000,
  collect: 'episodes',
  worlds: 32,
  rollout: 1,
  ppo: { gamma: 1, lambda: 0.98, learningRate: 2e-3, anneal: true, entropyCoefficient: 0.003 },
  network: { hidden: [32, 32], criticHidden: [64, 64] },
};

const recommended: Readonly<Record<string, SettingsInput>> = {
  'probe-value': small,
  'probe-observation': small,
  'probe-discount': small,
  'probe-action': small,
  'probe-observation-action': small,
  'stag-hunt': {
    steps: 2_000_000,
    worlds: 256,
    rollout: 32,
    ppo: { gamma: 0.95 },
    // Imagined rows cost half as much time again, and no measured return or number of steps was better for them (docs/hop-table.md).
    hop: { without: ['world-model'] },
  },
  city,
  'city-dilemma': city,
  snowdrift: { steps: 2_000_000, worlds: 256, rollout: 32 },
  'coin-game': { steps: 1_000_000, worlds: 128, rollout: 32, ppo: { gamma: 0.95 }, hop: { without: ['world-model'] } },
  cleanup: { steps: 2_000_000, worlds: 128, rollout: 32, hop: { without: ['world-model'] } },
};

/** A search learns more from a move and costs more, so planners want small batches and many of them. */
const planners: SettingsInput = { steps: 200_000, worlds: 32, rollout: 16 };

/** The general defaults are not repeated here; an empty object means that they fit. */
export function recommendedSettings(game: string, algorithm?: unknown): SettingsInput {
  const own = recommended[game.split('/')[0]] ?? {};
  return algorithm === 'hop-planner' ? { ...own, ...planners } : own;
}

/** Later ones win, field by field; lists are taken whole. */
export function mergeSettings(...layers: readonly Record<string, unknown>[]): Record<string, unknown> {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const merged: Record<string, unknown> = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer)) {
      if (key === '__proto__')
        throw new BadInput(told('there is no setting "__proto__"; remove it', '没有设置 "__proto__"；请删除它'));
      if (value === undefined) continue;
      const before = merged[key];
      merged[key] = isObject(before) && isObject(value) ? mergeSettings(before, value) : value;
    }
  }
  return merged;
}
