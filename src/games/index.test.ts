import { describe, expect, it } from 'vitest';
import { inLanguage } from '../language/language.ts';
import { RandomStream } from '../math/random.ts';
import { dealSeats, seatedNames } from './dealt.ts';
import { describeGame, GameRefusal, gameNames, gameSettings, makeGame } from './index.ts';
import { animation, filmStrip, frame, framePicture, hasPictures, textFrame } from './picture.ts';
import { meanByPlayer, meanBySeat, playEpisodes } from './play.ts';
import { makePlayer, type Player, playerNames } from './players.ts';

describe('the registry of games', () => {
  it('makes every game by name with its default settings', () => {
    for (const name of gameNames()) {
      const game = makeGame(name, {}, 2);
      expect([game.name, game.worlds]).toEqual([name, 2]);
      expect(game.settings).toEqual(gameSettings(name));
    }
  });

  it('gives every setting a default and a sentence', () => {
    for (const name of gameNames()) {
      for (const { setting, default: value, meaning } of describeGame(name)) {
        expect(value, `${name} ${setting}`).toBeDefined();
        expect(meaning, `${name} ${setting}`).toMatch(/^[A-Z`].*\.$/);
      }
    }
  });

  it('takes a preset by alias or by setting, and lets single settings override it', () => {
    expect(makeGame('stag-hunt/8x8-4h1s').settings).toMatchObject({
      width: 8,
      height: 8,
      obstacles: 5,
      preset: '8x8-4h1s',
    });
    expect(makeGame('stag-hunt', { preset: '8x8-4h1s', hares: 2 }).settings).toMatchObject({ width: 8, hares: 2 });
    expect(makeGame('stag-hunt').settings).toMatchObject({
      width: 4,
      height: 4,
      players: 4,
      stags: 1,
      hares: 4,
      horizon: 35,
    });
  });

  it.each([
    ['chess', {}, /There is no game "chess"; the games are probe-value,.*city-dilemma\.$/],
    ['stag-hunt/9x9', {}, /has no preset "9x9"; its presets are 4x4-4h1s, 8x8-4h1s, 4x4-4h2s, 8x8-4h2s\.$/],
    ['echo/x', {}, /has no preset "x"; it has no presets/],
    ['stag-hunt', { deer: 1 }, /there is no setting "deer"; the settings are preset, width, height, players/],
    ['stag-hunt', { players: 9 }, /stag-hunt: players: /],
    ['stag-hunt', { players: 8, hares: 20 }, /must fit on distinct cells; make the grid larger/],
    ['echo', { most: 9 }, /fewest must be at most most/],
  ])('explains in a sentence what is wrong with %s %j', (name, settings, message) => {
    expect(() => makeGame(name, settings)).toThrow(message);
    expect(() => makeGame(name, settings)).toThrow(GameRefusal);
  });

  it('refuses a saved world of other settings', () => {
    const small = makeGame('stag-hunt');
    small.reset(0, RandomStream.of(1));
    const large = makeGame('stag-hunt/8x8-4h1s');
    expect(() => large.load(0, small.save(0))).toThrow(/load it into a game with the settings it was saved with/);
  });
});

describe('playing with names and seats', () => {
  it('refuses what a user may mistype, and does not dress up a fault of the program as that', () => {
    const game = makeGame('city');
    game.reset(0, RandomStream.of(1, 'world'));
    const illegal = () => game.step(Int32Array.of(1000, 1000));
    expect(illegal).toThrow(/is not legal there/);
    expect(illegal).not.toThrow(GameRefusal);
  });

  it('deals every name to every seat equally often', () => {
    const counts = new Int32Array(16);
    const stream = RandomStream.of(1, 'deal');
    for (let i = 0; i < 8000; i++) {
      const seats = dealSeats(stream, 4);
      for (let name = 0; name < 4; name++) counts[name * 4 + seats[name]]++;
    }
    expect([...seatedNames([2, 0, 3, 1])]).toEqual([1, 3, 0, 2]);
    for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(5 * Math.sqrt(8000 * 0.25 * 0.75));
  });

  it('keeps returns by seat and by player apart when seats are dealt', () => {
    // In seat 2 of this game of independent seats only the second player matches the cue.
    const right: Player = { name: 'right', act: (game, place) => (game.obs[place] > 0 ? 1 : 0) };
    const wrong: Player = { name: 'wrong', act: (game, place) => (game.obs[place] > 0 ? 0 : 1) };
    const game = makeGame('probe-observation-action', { seats: 2 }, 3);
    const played = playEpisodes(game, [wrong, right], 400, 1, { deal: true });
    expect(meanByPlayer(played).map((m) => m.mean)).toEqual([-1, 1]);
    for (const { mean } of meanBySeat(played)) expect(Math.abs(mean)).toBeLessThan(0.25);
  });

  it('gives the same returns with any number of worlds', () => {
    const returns = [1, 3, 7].map((worlds) => {
      const game = makeGame('stag-hunt', {}, worlds);
      const player = makePlayer('nearest-hare', game);
      return playEpisodes(game, [player, player, player, player], 20, 2).returns;
    });
    expect(returns[1]).toEqual(returns[0]);
    expect(returns[2]).toEqual(returns[0]);
  });

  it('explains which players a game has', () => {
    expect(playerNames(makeGame('echo'))).toEqual(['random']);
    expect(() => makePlayer('nearest-fox', makeGame('stag-hunt'))).toThrow(
      /stag-hunt has no player "nearest-fox"; its scripted players are random, nearest-stag, nearest-hare/,
    );
    const game = makeGame('stag-hunt');
    expect(() => playEpisodes(game, [makePlayer('random', game)], 1, 1)).toThrow(/has 4 seats and got 1 players/);
  });
});

describe('pictures', () => {
  const shown = gameNames().filter((name) => hasPictures(makeGame(name)));

  it.each(shown)('of %s are whole SVG with balanced tags and finite numbers', (name) => {
    const game = makeGame(name);
    const player = makePlayer('random', game);
    const frames: ReturnType<typeof framePicture>[] = [];
    playEpisodes(game, new Array(game.shape.seats).fill(player), 1, 3, {
      onStep: () => frames.push(framePicture(game, 0)),
    });
    for (const { svg } of [...frames, filmStrip(frames, 3), animation(frames)]) {
      expect(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg"')).toBe(true);
      expect(svg).not.toMatch(/NaN|undefined|Infinity/);
      const opened = svg.match(/<[a-z]+[^<>]*[^/]>/g)?.length;
      expect(svg.match(/<\/[a-z]+>/g)?.length).toBe(opened);
    }
  });

  it.each(shown)('of %s have no English word in Chinese, but for the names of companies', (name) => {
    const game = makeGame(name);
    game.reset(0, RandomStream.of(1));
    const svg = inLanguage('zh', () => frame(game, 0));
    const words = [...svg.matchAll(/>([^<>]+)<\/text>/g)].map(([, text]) => text);
    expect(words.filter((text) => /[a-z]{2}/i.test(text) && !['IND', 'EDU'].includes(text))).toEqual([]);
    expect(inLanguage('zh', () => textFrame(game, 0))).not.toMatch(/[a-z]{4}/);
  });

  it('show every player, prey and building, in letters too', () => {
    const game = makeGame('stag-hunt');
    game.reset(0, RandomStream.of(1));
    expect(textFrame(game, 0).match(/S/g)?.length).toBe(2);
    expect(textFrame(game, 0).match(/h/g)?.length).toBe(5);
    for (const seat of [1, 2, 3, 4]) expect(frame(game, 0)).toContain(`>${seat}</text>`);
    expect(() => frame(makeGame('echo'), 0)).toThrow(/echo has no pictures/);
  });
});
