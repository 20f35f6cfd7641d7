import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import { assertGame, makeGame } from '../index.ts';
import { playEpisodes } from '../play.ts';
import { makePlayer } from '../players.ts';
import type { City } from './game.ts';
import { cityExport } from './plan.ts';

const map = {
  river: Array.from({ length: 12 }, (_, y) => [5, y]),
  hubs: [
    [2, 3],
    [9, 8],
    [9, 2],
  ],
  slots: Array.from({ length: 6 * 12 }, (_, i) => [6 + (i % 6), Math.floor(i / 6)]).filter(
    ([x, y]) => !(x === 9 && (y === 8 || y === 2)),
  ),
};

describe("a city's map", () => {
  it('can be given: water and hubs lie where it says, and only slots are built on', () => {
    const game = makeGame('city', { map, months: 8 }, 2) as City;
    const player = makePlayer('random', game);
    playEpisodes(game, [player, player], 2, 1);
    const made = cityExport(game, 0);
    expect(made.river).toEqual(map.river);
    expect(made.hubs).toHaveLength(3);
    expect(made.finished).toBe(true);
    expect(made.buildings.length).toBeGreaterThan(0);
    for (const { parcels } of made.buildings) for (const [x] of parcels) expect(x).toBeGreaterThanOrEqual(6);
  });

  it('is the same game otherwise', () => {
    assertGame((worlds) => makeGame('city', { map, months: 4 }, worlds));
  });

  it('is what an exported city is built on', () => {
    const game = makeGame('city', { months: 3 }, 1) as City;
    game.reset(0, RandomStream.of(4, 'city'));
    const made = JSON.parse(JSON.stringify(cityExport(game, 0)));
    const again = makeGame('city', { map: made, months: 3 }, 1) as City;
    again.reset(0, RandomStream.of(5, 'another'));
    expect([...again.city.ground]).toEqual([...game.city.ground]);
    expect([...again.city.distance]).toEqual([...game.city.distance]);
  });

  it('is refused in a sentence where a parcel is named twice or lies outside', () => {
    expect(() => makeGame('city', { map: { river: [[2, 3]], hubs: [[2, 3]] } }, 1)).toThrow(
      /named twice, in river and in hubs/,
    );
    expect(() => makeGame('city', { map: { river: [], hubs: [[12, 3]] } }, 1)).toThrow(/map/);
  });
});
