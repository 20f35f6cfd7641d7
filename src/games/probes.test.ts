import { describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { CartPole } from './cartpole.ts';
import { EchoGame, echoOptimum, echoSettings } from './echo.ts';
import { gameOptimum, makeGame } from './index.ts';
import { playEpisodes } from './play.ts';
import type { Player } from './players.ts';
import { type ProbeName, probes } from './probes.ts';

const names = Object.keys(probes) as ProbeName[];

/** The best play of each probe, written down independently of its rewards. */
const best: Record<ProbeName, Player> = {
  'probe-value': { name: 'only', act: () => 0 },
  'probe-observation': { name: 'only', act: () => 0 },
  'probe-discount': { name: 'only', act: () => 0 },
  'probe-action': { name: 'second', act: () => 1 },
  'probe-observation-action': { name: 'match', act: (game, place) => (game.obs[place] > 0 ? 1 : 0) },
};

describe('the probe games', () => {
  it.each(names)('%s pays its optimum to the best play, in every seat', (name) => {
    const game = makeGame(name, { seats: 2 }, 4);
    const episodes = 4000;
    const { returns } = playEpisodes(game, [best[name], best[name]], episodes, 1);
    for (let seat = 0; seat < 2; seat++) {
      let mean = 0;
      for (let episode = 0; episode < episodes; episode++) mean += returns[episode * 2 + seat] / episodes;
      expect(Math.abs(mean - gameOptimum(name)!)).toBeLessThan(4 * 0.5 * Math.sqrt(1 / episodes));
    }
  });

  it('probe-discount pays only at the end of its second step', () => {
    const game = makeGame('probe-discount');
    game.reset(0, RandomStream.of(1));
    expect(game.obs[0]).toBe(0);
    game.step(Int32Array.of(0));
    expect([game.obs[0], game.reward[0], game.terminated[0]]).toEqual([1, 0, 0]);
    game.step(Int32Array.of(0));
    expect([game.reward[0], game.terminated[0], game.over[0]]).toEqual([1, 1, 1]);
  });
});

describe('echo', () => {
  it.each([{}, { delay: 0 }, { delay: 5, symbols: 9, most: 9, fewest: 9 }, { illegal: 1, fewest: 1 }])(
    'always offers the right symbol legally, and it alone is paid: %j',
    (given) => {
      const settings = echoSettings.parse({ ...given, seats: 2 });
      const game = new EchoGame(settings, 1);
      game.reset(0, RandomStream.of(4));
      const cues: number[][] = [[], []];
      let total = 0;
      let positions = 0;
      for (let t = 0; game.over[0] === 0; t++) {
        const actions = new Int32Array(2);
        for (let seat = 0; seat < 2; seat++) {
          const seen = game.obs.subarray(seat * game.shape.observation, (seat + 1) * game.shape.observation);
          cues[seat].push(seen.subarray(0, settings.symbols).indexOf(1));
          const listed = [...game.subset.subarray(seat * settings.most, seat * settings.most + game.numActions[seat])];
          expect(game.numActions[seat]).toBeGreaterThanOrEqual(settings.fewest);
          const right =
            t >= settings.delay
              ? listed.indexOf(cues[seat][t - settings.delay])
              : game.legal.indexOf(1, seat * settings.most) - seat * settings.most;
          expect(game.legal[seat * settings.most + right]).toBe(1);
          positions |= 1 << right;
          actions[seat] = right;
        }
        game.step(actions);
        expect(game.reward[0]).toBe(t >= settings.delay ? 1 : 0);
        total += game.reward[0];
      }
      expect(total).toBe(echoOptimum(settings));
      if (settings.fewest > 1) expect(positions.toString(2).replaceAll('0', '').length).toBeGreaterThan(1);
    },
  );

  it('pays nothing for another symbol', () => {
    const game = new EchoGame(echoSettings.parse({ delay: 0, illegal: 0 }), 1);
    game.reset(0, RandomStream.of(2));
    const cue = game.obs.subarray(0, 6).indexOf(1);
    const wrong = [...game.subset.subarray(0, game.numActions[0])].findIndex((symbol) => symbol !== cue);
    game.step(Int32Array.of(wrong));
    expect(game.reward[0]).toBe(0);
  });
});

describe('cartpole', () => {
  it('follows the published dynamics for one step from rest', () => {
    const game = new CartPole({ seats: 1, horizon: 500 }, 1);
    game.reset(0, RandomStream.of(1));
    const saved = game.save(0);
    // over, then position, speed, angle, angular speed, steps.
    const start = [0, 0, 0.04, 0];
    start.forEach((value, i) => {
      saved[1 + i] = value;
    });
    game.load(0, saved);
    game.step(Int32Array.of(1));
    // Barto, Sutton and Anderson's equations without friction, worked out apart from the program.
    const [m, total, l, g, f, theta] = [0.1, 1.1, 0.5, 9.8, 10, 0.04];
    const alpha =
      (g * Math.sin(theta) - (Math.cos(theta) * f) / total) / (l * (4 / 3 - (m * Math.cos(theta) ** 2) / total));
    const acceleration = f / total - (m * l * alpha * Math.cos(theta)) / total;
    const expected = [0, 0.02 * acceleration, 0.04, 0.02 * alpha];
    expected.forEach((value, i) => {
      expect(game.obs[i]).toBeCloseTo(value, 6);
    });
  });

  it('terminates when the pole falls, and truncates at the horizon when it stands', () => {
    const pushes: Player = { name: 'right', act: () => 1 };
    const falling = playEpisodes(new CartPole({ seats: 1, horizon: 500 }, 1), [pushes], 5, 1);
    for (const length of falling.decisions) expect(length).toBeLessThan(15);
    // Pushing towards where the pole leans and turns keeps it up.
    const balances: Player = {
      name: 'balance',
      act: (game, place) => (game.obs[place * 4 + 2] + game.obs[place * 4 + 3] * 0.5 > 0 ? 1 : 0),
    };
    const game = new CartPole({ seats: 1, horizon: 120 }, 1);
    let truncated = 0;
    const standing = playEpisodes(game, [balances], 5, 1, { onStep: () => (truncated += game.truncated[0]) });
    expect([...standing.returns]).toEqual([120, 120, 120, 120, 120]);
    expect(truncated).toBe(5);
  });
});
