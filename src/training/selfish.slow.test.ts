import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CoinGame } from '../games/grid/coin-game.ts';
import { gameMaker } from '../games/index.ts';
import { createEngine } from '../net/engine.ts';
import type { Engine } from '../net/types.ts';
import { evaluate } from './collect/evaluate.ts';
import { Trainer } from './trainer.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd' });
});
afterAll(() => engine.dispose());

/** Coins of one's own colour, and of the other's, that are taken in fresh episodes. */
function taken(trainer: Trainer): { own: number; other: number } {
  const counts = [0, 0];
  const make = gameMaker('coin-game');
  const stages = {
    ...trainer.stages,
    game: (game: ReturnType<typeof make>) => {
      const coin = game as CoinGame;
      const step = coin.step.bind(coin);
      coin.step = (actions) => {
        step(actions as Int32Array);
        for (const goal of coin.goal) if (goal >= 0) counts[goal]++;
      };
      return coin;
    },
  };
  evaluate(trainer, make, { episodes: 64, seed: 5, worlds: 64, stages });
  return { own: counts[0], other: counts[1] };
}

it('selfish learners of the coin game take coins of either colour alike, and far more of them than at first', async () => {
  const settings = { game: 'coin-game', worlds: 64, rollout: 32, ppo: { gamma: 0.9 }, network: { hidden: [32] } };
  const trainer = new Trainer({ ...settings, recording: { record: 'off' }, guard: 'off' }, { engine });
  const before = taken(trainer);
  for (let i = 0; i < 40; i++) await trainer.iterate();
  const after = taken(trainer);
  expect(after.own + after.other).toBeGreaterThan(1.5 * (before.own + before.other));
  // Half of all coins are one's own: whoever looked at the colour would take more than half of its own.
  const share = after.own / (after.own + after.other);
  expect(Math.abs(share - 0.5)).toBeLessThan(0.06);
}, 120_000);
