import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import { assertGame } from '../check.ts';
import { makeGame } from '../index.ts';
import { meanBySeat, playEpisodes } from '../play.ts';
import { makePlayer, playerNames } from '../players.ts';
import { apple, Cleanup, clean, cleanupSettings, eat, waste } from './cleanup.ts';
import { CoinGame, coinGameSettings } from './coin-game.ts';
import { stay } from './grid.ts';

const [up, down, left, right] = [0, 1, 2, 3];
const coinGame = (settings: object = {}) => new CoinGame(coinGameSettings.parse(settings), 1);
const cleanup = (settings: object = {}) => new Cleanup(cleanupSettings.parse(settings), 1);

/** Mean return per player of scripted players, in a game of its own. */
function returns(name: string, players: string[], settings: object = {}, episodes = 400): number[] {
  const game = makeGame(name, { ...settings }, 32);
  const seated = players.map((player) => makePlayer(player, game));
  return meanBySeat(playEpisodes(game, seated, episodes, 1)).map(({ mean }) => mean);
}

describe.each([
  ['coin-game', {}],
  ['coin-game', { preset: 'four' }],
  ['coin-game/four', { viewRadius: 1 }],
  ['cleanup', {}],
  ['cleanup', { players: 2, viewRadius: 2 }],
])('%s %j', (name, settings) => {
  it('keeps every rule of a game, relabelling of the seats included', () => {
    assertGame((worlds) => makeGame(name, settings, worlds), { episodes: 4 });
  });
});

describe('the coin game', () => {
  /** Player 1 in the middle, player 2 in a corner, and a coin of the given owner above the middle. */
  function arranged(owner: number): CoinGame {
    const game = coinGame();
    game.reset(0, RandomStream.of(1, 'coin'));
    game.thing.fill(0);
    game.position.set([4, 8]);
    game.thing[1] = 1 + owner;
    game.show(0);
    return game;
  }

  it('pays one to whoever steps on a coin, and takes two from its owner where that is another', () => {
    const own = arranged(0);
    own.step(Int32Array.of(up, stay));
    expect([...own.reward]).toEqual([1, 0]);
    expect([...own.goal]).toEqual([0, -1]);
    const other = arranged(1);
    other.step(Int32Array.of(up, stay));
    expect([...other.reward]).toEqual([1, -2]);
    expect([...other.goal]).toEqual([1, -1]);
  });

  it('shares a coin among those who step on it at once, and its cost with it', () => {
    const game = arranged(0);
    game.position.set([4, 0]);
    game.step(Int32Array.of(up, right));
    expect([...game.reward]).toEqual([0.5 - 1, 0.5]);
  });

  it('always has as many coins as before, on cells without a player', () => {
    const game = coinGame({ preset: 'four', players: 4, coins: 3, width: 4, height: 4 });
    game.reset(0, RandomStream.of(2, 'coin'));
    const stream = RandomStream.of(3, 'moves');
    for (let step = 0; step < 40; step++) {
      const actions = Int32Array.from({ length: 4 }, (_, seat) => makePlayer('random', game).act(game, seat, stream));
      game.step(actions);
      expect(game.thing.filter((coin) => coin > 0).length).toBe(3);
    }
  });

  it('shows a player its own coins first', () => {
    const game = arranged(1);
    const plane = (seat: number, index: number) => [
      ...game.obs.slice((seat * 6 + index) * 9, (seat * 6 + index + 1) * 9),
    ];
    expect(plane(0, 3)[1]).toBe(1);
    expect(plane(1, 2)[1]).toBe(1);
    expect(plane(0, 2)[1]).toBe(0);
  });

  it('is a dilemma: taking every coin is best against anybody, and all who do so earn nothing', () => {
    const both = returns('coin-game', ['cooperate', 'cooperate']);
    const greedy = returns('coin-game', ['greedy', 'greedy']);
    const mixed = returns('coin-game', ['greedy', 'cooperate']);
    for (const mean of both) expect(mean).toBeGreaterThan(4);
    for (const mean of greedy) expect(Math.abs(mean)).toBeLessThan(0.6);
    expect(mixed[0]).toBeGreaterThan(both[0]);
    expect(mixed[1]).toBeLessThan(greedy[1] - 4);
  });

  it('has four players, too, whose total is nothing but harm where all are greedy', () => {
    const total = (players: string) =>
      returns('coin-game/four', Array(4).fill(players)).reduce((sum, mean) => sum + mean, 0);
    expect(total('cooperate')).toBeGreaterThan(10);
    // A coin is somebody else's in three cases of four, and then it costs 2 where it pays 1.
    expect(total('greedy')).toBeLessThan(-5);
  });
});

describe('cleanup', () => {
  it('pays for apples and for nothing else, and cleaning takes the waste away', () => {
    const game = cleanup({ pollution: 0, growth: 0, players: 2 });
    game.reset(0, RandomStream.of(1, 'cleanup'));
    game.position.set([0, 6]);
    game.thing[6] = apple;
    game.show(0);
    expect([...game.legal.slice(0, 7)]).toEqual([0, 1, 0, 1, 1, 1, 0]);
    game.step(Int32Array.of(clean, eat));
    expect([...game.reward]).toEqual([0, 1]);
    expect([...game.goal]).toEqual([0, 1]);
    expect([game.thing[0], game.thing[6]]).toEqual([0, 0]);
    game.step(Int32Array.of(down, left));
    expect([...game.goal]).toEqual([-1, -1]);
  });

  it('grows no apple while more of the river is dirty than the limit, and more the cleaner it is', () => {
    const grown = (share: number) => {
      const game = cleanup({ waste: share, pollution: 0, horizon: 30 });
      game.reset(0, RandomStream.of(4, 'grow'));
      for (let step = 0; step < 29; step++) game.step(Int32Array.of(stay, stay, stay, stay));
      return game.thing.filter((thing) => thing === apple).length;
    };
    expect(grown(1)).toBe(0);
    expect(grown(0.6)).toBe(0);
    expect(grown(0.3)).toBeGreaterThan(0);
    expect(grown(0)).toBeGreaterThan(grown(0.3));
  });

  it('ends without apples where nobody cleans, and feeds all where some do', () => {
    const nobody = returns('cleanup', Array(4).fill('defect'));
    const all = returns('cleanup', Array(4).fill('cooperate'));
    const one = returns('cleanup', ['fix', 'defect', 'defect', 'defect']);
    for (const mean of nobody) expect(mean).toBe(0);
    for (const mean of all) expect(mean).toBeGreaterThan(3);
    // Whoever cleans for the others gets nothing of it.
    expect(one[0]).toBe(0);
    expect(one[1]).toBeGreaterThan(2);
  });

  it('begins with a river as dirty as it is told', () => {
    const game = cleanup({ waste: 0.5 });
    game.reset(0, RandomStream.of(5, 'dirt'));
    expect(game.dirt(0)).toBe(0.5);
    expect(game.thing.filter((thing) => thing === waste).length).toBe(5);
  });
});

it('every dilemma has players that cooperate, defect, are greedy and do one thing only', () => {
  for (const name of ['stag-hunt', 'stag-hunt/4x4-4h2s', 'snowdrift', 'coin-game', 'cleanup'])
    expect(playerNames(makeGame(name))).toEqual(expect.arrayContaining(['cooperate', 'defect', 'greedy', 'fix']));
});
