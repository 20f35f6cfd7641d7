import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import { playEpisodes } from '../play.ts';
import { type Player, randomPlayer } from '../players.ts';
import { City } from './game.ts';
import { citySettings } from './rules.ts';

describe('a city that nobody looks at', () => {
  const city = (worlds: number) => new City('city', citySettings.parse({ months: 12 }), worlds);

  it('plays the same episodes as one that shows everything', () => {
    const looking: Player = { name: 'looking', act: (game, place, stream) => randomPlayer.act(game, place, stream) };
    const hidden = playEpisodes(city(3), [randomPlayer, randomPlayer], 12, 5);
    const shown = playEpisodes(city(3), [looking, looking], 12, 5);
    expect(hidden).toEqual(shown);
    expect(new Set(hidden.returns).size).toBeGreaterThan(12);
  });

  it('records the same figures of every decision', () => {
    const [shown, hidden] = [city(1), city(1)];
    hidden.showing = false;
    for (const game of [shown, hidden]) game.reset(0, RandomStream.of(1, 'world'));
    const stream = RandomStream.of(1, 'picks');
    let steps = 0;
    for (; shown.over[0] === 0; steps++) {
      const place = shown.turn[0];
      const actions = Int32Array.of(0, 0).fill(randomPlayer.act(shown, place, stream), place, place + 1);
      for (const game of [shown, hidden]) game.step(actions);
      expect(hidden.extras.map(({ values }) => values[place])).toEqual(shown.extras.map(({ values }) => values[place]));
      expect(hidden.legal).toEqual(shown.legal);
    }
    expect(steps).toBeGreaterThan(20);
    expect(hidden.candidateFeatures.every((value) => value === 0)).toBe(true);
  });

  it('shows again once play is over', () => {
    const game = city(2);
    playEpisodes(game, [randomPlayer, randomPlayer], 2, 1);
    expect(game.showing).toBe(true);
  });
});
