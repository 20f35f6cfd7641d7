import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import { playEpisodes } from '../play.ts';
import { makePlayer, randomPlayer } from '../players.ts';
import { type GridGame, obstacle, rotation, stay } from './grid.ts';
import { walker } from './players.ts';
import { randomPlay } from './random-play.ts';
import { clearDrift, Snowdrift, snowdriftSettings } from './snowdrift.ts';
import { huntHare, huntStag, StagHunt, stagHuntPresets, stagHuntSettings } from './stag-hunt.ts';

const stagHunt = (settings: object = {}, worlds = 1) => new StagHunt(stagHuntSettings.parse(settings), worlds);
const snowdrift = (settings: object = {}, worlds = 1) => new Snowdrift(snowdriftSettings.parse(settings), worlds);
const stream = (seed = 1) => RandomStream.of(seed, 'test');

/** Puts things and players where the test wants them. */
function arrange(game: GridGame, players: number[], things: Record<number, number>): void {
  game.reset(0, stream());
  game.thing.fill(0, 0, game.cells);
  for (const [cell, kind] of Object.entries(things)) game.thing[Number(cell)] = kind;
  game.remaining[0] = Object.keys(things).length;
  game.position.set(players);
  game.show(0);
}

describe('stag hunt', () => {
  it('pays a stag only to two or more who hunt it together, in equal shares, and they leave with it', () => {
    const game = stagHunt({ players: 4 });
    arrange(game, [0, 0, 0, 5], { 0: 1, 5: 2, 9: 2 });
    game.step(Int32Array.of(huntStag, stay, stay, stay));
    expect([...game.reward]).toEqual([0, 0, 0, 0]);
    expect([...game.acting]).toEqual([1, 1, 1, 1]);
    game.step(Int32Array.of(huntStag, huntStag, stay, huntHare));
    expect([...game.reward]).toEqual([5, 5, 0, 1]);
    expect([...game.terminated]).toEqual([1, 1, 0, 1]);
    expect([...game.acting]).toEqual([0, 0, 1, 0]);
    expect(game.thing[0]).toBe(0);
    // The third, on the stag's cell, can no longer hunt it.
    expect(game.legal[2 * 7 + huntStag]).toBe(0);
  });

  it('shares a hare among all who hunt it in the same step', () => {
    const game = stagHunt({ players: 3 });
    arrange(game, [6, 6, 6], { 6: 2, 15: 1 });
    game.step(Int32Array.of(huntHare, huntHare, huntHare));
    for (const reward of game.reward) expect(reward).toBe(Math.fround(1 / 3));
    expect([...game.over]).toEqual([1]);
  });

  it('terminates for all when no prey is left, and truncates at the horizon otherwise', () => {
    const game = stagHunt({ players: 2, horizon: 3 });
    arrange(game, [3, 8], { 3: 2 });
    game.step(Int32Array.of(huntHare, stay));
    expect([...game.terminated, ...game.truncated, ...game.over]).toEqual([1, 1, 0, 0, 1]);
    arrange(game, [3, 8], { 3: 2, 4: 1 });
    game.step(Int32Array.of(stay, stay));
    game.step(Int32Array.of(stay, stay));
    expect([...game.truncated, ...game.over]).toEqual([0, 0, 0]);
    game.step(Int32Array.of(huntHare, stay));
    expect([...game.terminated, ...game.truncated, ...game.over]).toEqual([1, 0, 0, 1, 1]);
  });

  it('forbids moves into walls and obstacles and hunts where the prey is not', () => {
    const game = stagHunt();
    arrange(game, [0, 15, 5, 6], { 5: 1, 6: 2 });
    const legal = (seat: number) => [...game.legal.slice(seat * 7, seat * 7 + 7)];
    expect(legal(0)).toEqual([0, 1, 0, 1, 1, 0, 0]);
    expect(legal(1)).toEqual([1, 0, 1, 0, 1, 0, 0]);
    expect(legal(2)).toEqual([1, 1, 1, 1, 1, 1, 0]);
    expect(legal(3)).toEqual([1, 1, 1, 1, 1, 0, 1]);
    expect(() => game.step(Int32Array.of(0, stay, stay, stay))).toThrow(
      /seat 0 of world 0 chose candidate 0, which is not legal/,
    );
  });

  it('shows every player itself first and the others in cyclic order', () => {
    const game = stagHunt();
    arrange(game, [1, 2, 3, 7], { 10: 1, 11: 2 });
    const plane = (seat: number, index: number) => game.obs.slice((seat * 8 + index) * 16, (seat * 8 + index + 1) * 16);
    for (let seat = 0; seat < 4; seat++) {
      rotation(seat, 4).forEach((other, index) => {
        const expected = new Float32Array(16);
        expected[game.position[other]] = 1;
        expect(plane(seat, index)).toEqual(expected);
      });
      expect(plane(seat, 4).indexOf(1)).toBe(10);
      expect(plane(seat, 5).indexOf(1)).toBe(11);
      expect([...plane(seat, 7).slice(0, 4)]).toEqual([1, 1, 1, 1]);
    }
  });

  it('hides what lies beyond the view radius, but not who is still there', () => {
    const game = stagHunt({ viewRadius: 1 });
    arrange(game, [0, 5, 15, 2], { 1: 2, 10: 1 });
    const own = game.obs.subarray(0, 8 * 16);
    expect(own[16 + 5]).toBe(1);
    expect(own[2 * 16 + 15]).toBe(0);
    expect(own[4 * 16 + 10]).toBe(0);
    expect(own[5 * 16 + 1]).toBe(1);
    expect([...own.slice(7 * 16, 7 * 16 + 4)]).toEqual([1, 1, 1, 1]);
  });

  it('starts with everything on distinct free cells and every free cell reachable', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 2, max: 8 }), fc.nat(12), (seed, players, obstacles) => {
        const game = stagHunt({ ...stagHuntPresets['8x8-4h1s'], players, obstacles });
        game.reset(0, RandomStream.of(seed, 'start'));
        const prey = [...game.thing.keys()].filter((cell) => game.thing[cell] === 1 || game.thing[cell] === 2);
        const stones = [...game.thing.keys()].filter((cell) => game.thing[cell] === obstacle);
        expect(prey.length).toBe(5);
        expect(stones.length).toBeLessThanOrEqual(obstacles);
        expect(new Set([...game.position, ...prey, ...stones]).size).toBe(players + 5 + stones.length);
        const reached = game.distances(0, game.position[0]);
        const unreached = [...reached.keys()].filter((cell) => reached[cell] < 0);
        expect(unreached).toEqual(stones);
      }),
      { numRuns: 60 },
    );
  });

  it('gives every seat the same under random play, at the mean of the rules (0.647)', () => {
    const played = randomPlay(stagHunt(), 40_000, 3);
    for (let seat = 0; seat < 4; seat++) {
      const mean = played.sum[seat] / played.episodes;
      const error = Math.sqrt((played.products[seat * 5] / played.episodes - mean * mean) / played.episodes);
      expect(Math.abs(mean - 0.647)).toBeLessThan(4.5 * error);
    }
  });

  it('plays at full speed exactly what the interface plays', () => {
    const seen: number[] = [];
    const game = stagHunt({ width: 3, height: 3 });
    randomPlay(game, 30, 5, { onEpisode: (_, returns) => seen.push(...returns) });
    const slow = stagHunt({ width: 3, height: 3 });
    const replayed: number[] = [];
    for (let episode = 0; episode < 30; episode++) {
      const own = RandomStream.of(5, 'random-play', episode);
      slow.reset(0, own);
      const returns = [0, 0, 0, 0];
      while (slow.over[0] === 0) {
        const actions = new Int32Array(4);
        for (let seat = 0; seat < 4; seat++) {
          if (slow.acting[seat] === 0) continue;
          const legal = [0, 1, 2, 3, 4, 5, 6].filter((action) => slow.legal[seat * 7 + action] === 1);
          actions[seat] = legal[Math.floor(own.uniform() * legal.length)];
        }
        slow.step(actions);
        for (let seat = 0; seat < 4; seat++) returns[seat] += slow.reward[seat];
      }
      replayed.push(...returns);
    }
    expect(seen).toEqual(replayed);
  });

  it.each([
    ['nearest-stag', 2.852, 3000],
    ['nearest-hare', 0.865, 3000],
  ])('is played by four %s players to a mean of about %f', (name, expected, episodes) => {
    const game = stagHunt({}, 8);
    const player = makePlayer(name, game);
    const { returns } = playEpisodes(game, [player, player, player, player], episodes, 1);
    const means = Array.from(
      { length: episodes },
      (_, e) => returns.subarray(e * 4, e * 4 + 4).reduce((a, b) => a + b) / 4,
    );
    const mean = means.reduce((a, b) => a + b) / episodes;
    const error = Math.sqrt(means.reduce((a, b) => a + (b - mean) ** 2, 0) / episodes / episodes);
    expect(Math.abs(mean - expected)).toBeLessThan(4.5 * error + 0.002);
  });
});

describe('snowdrift', () => {
  it('charges those who clear a drift in equal shares and pays everyone for each one cleared', () => {
    const game = snowdrift();
    arrange(game, [0, 0, 9, 20], { 0: 1, 9: 1, 30: 1 });
    game.step(Int32Array.of(clearDrift, clearDrift, clearDrift, stay));
    expect([...game.reward]).toEqual([10, 10, 8, 12]);
    expect(game.remaining[0]).toBe(1);
    expect([...game.acting]).toEqual([1, 1, 1, 1]);
  });

  it('terminates for all when the last drift is cleared', () => {
    const game = snowdrift();
    arrange(game, [30, 0, 9, 20], { 30: 1 });
    game.step(Int32Array.of(clearDrift, stay, stay, stay));
    expect([...game.reward]).toEqual([2, 6, 6, 6]);
    expect([...game.terminated, ...game.over]).toEqual([1, 1, 1, 1, 1]);
  });
});

describe('relabelling the seats of a grid game', () => {
  // Few cells, many players and a liking for hunting, so that shared catches are the rule.
  const eager = walker('eager', [(thing) => thing === 2, (thing) => thing === 1]);
  const games: [string, () => GridGame][] = [
    ['stag hunt', () => stagHunt({ width: 2, height: 3, players: 4, stags: 1, hares: 1, horizon: 8 })],
    [
      'stag hunt with a short view',
      () => stagHunt({ width: 3, height: 3, players: 3, viewRadius: 1, hares: 2, obstacles: 1, horizon: 8 }),
    ],
    ['snowdrift', () => snowdrift({ width: 2, height: 3, players: 4, drifts: 2, horizon: 8 })],
  ];

  it.each(games)('permutes every outcome of %s exactly, for every start and tie', (_name, make) => {
    const players = make().players;
    const permutations = fc.shuffledSubarray(
      Array.from({ length: players }, (_, i) => i),
      { minLength: players },
    );
    let ties = 0;
    fc.assert(
      fc.property(fc.integer(), permutations, fc.nat(3), (seed, permutation, when) => {
        const a = make();
        const b = make();
        const choices = RandomStream.of(seed, 'choices');
        a.reset(0, RandomStream.of(seed, 'start'));
        const act = (): Int32Array => {
          const actions = new Int32Array(players);
          for (let seat = 0; seat < players; seat++) {
            if (a.acting[seat] === 0) continue;
            const player =
              choices.below(3) === 0 ? randomPlayer : a.kinds === 1 ? makePlayer('nearest-drift', a) : eager;
            actions[seat] = player.act(a, seat, choices);
          }
          return actions;
        };
        for (let step = 0; step < when && a.over[0] === 0; step++) a.step(act());
        b.load(0, a.save(0));
        b.relabel(0, permutation);
        for (;;) {
          expect(differences(a, b, permutation)).toEqual([]);
          expect(b.over[0]).toBe(a.over[0]);
          if (a.over[0] === 1) break;
          const actions = act();
          a.step(actions);
          b.step(Int32Array.from(permutation, (was) => actions[was]));
          if (a.reward.filter((reward) => reward % 1 !== 0 || reward > 1).length > 1) ties++;
        }
      }),
      { numRuns: 500 },
    );
    expect(ties).toBeGreaterThan(20);
  });
});

/** What differs between a world and its relabelled copy, seat by seat. */
function differences(a: GridGame, b: GridGame, permutation: readonly number[]): string[] {
  const found: string[] = [];
  const same = (x: ArrayLike<number>, y: ArrayLike<number>) =>
    Array.prototype.every.call(x, (value, i) => value === y[i]);
  const { observation, actions } = a.shape;
  permutation.forEach((was, seat) => {
    for (const key of ['acting', 'reward', 'terminated', 'truncated', 'numActions', 'position', 'present'] as const) {
      if (b[key][seat] !== a[key][was]) found.push(`${key} of seat ${seat}`);
    }
    const seen = a.relabelObservation(a.obs.subarray(was * observation, (was + 1) * observation), was, permutation);
    if (!same(seen, b.obs.subarray(seat * observation))) found.push(`observation of seat ${seat}`);
    const legal = a.legal.subarray(was * actions, (was + 1) * actions);
    if (!same(legal, b.legal.subarray(seat * actions))) found.push(`legal mask of seat ${seat}`);
  });
  return found;
}
