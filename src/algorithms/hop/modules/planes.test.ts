import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeGame } from '../../../games/index.ts';
import { makePlayer } from '../../../games/players.ts';
import { RandomStream } from '../../../math/random.ts';
import { neighbours, Planes } from './planes.ts';

describe('planes', () => {
  it('are read and written back exactly, whatever the game, its size, its players and its view', () => {
    fc.assert(
      fc.property(
        fc.record({
          width: fc.integer({ min: 3, max: 17 }),
          height: fc.integer({ min: 3, max: 17 }),
          players: fc.integer({ min: 2, max: 4 }),
          viewRadius: fc.integer({ min: 0, max: 2 }),
          seed: fc.nat(),
        }),
        ({ seed, ...settings }) => {
          const game = makeGame('stag-hunt', { ...settings, stags: 1, hares: 2, obstacles: 2 }, 1);
          const { seats, observation, actions } = game.shape;
          const planes = new Planes(game.planes!, actions);
          expect(planes.observation).toBe(observation);
          const player = makePlayer('nearest-hare', game);
          const stream = RandomStream.of(seed, 'planes');
          game.reset(0, RandomStream.of(seed, 'world'));
          const state = planes.states(1);
          const again = new Float32Array(observation).fill(7);
          for (let step = 0; step < 6 && game.over[0] === 0; step++) {
            for (let seat = 0; seat < seats; seat++) {
              planes.parse(game.obs, seat * observation, state, 0);
              planes.write(state, 0, again, 0);
              expect([...again]).toEqual([...game.obs.subarray(seat * observation, (seat + 1) * observation)]);
            }
            game.step(
              Int32Array.from({ length: seats }, (_, seat) => (game.acting[seat] ? player.act(game, seat, stream) : 0)),
            );
          }
        },
      ),
      { numRuns: 30, seed: 1 },
    );
  });

  it('know what lies around a cell: kinds, obstacles and the edge', () => {
    const planes = new Planes({ width: 3, height: 3, players: 2, kinds: 2 }, 7);
    const state = planes.states(1);
    state[planes.firstCell + 1] = 2;
    state[planes.firstCell + 3] = planes.obstacle;
    const local = new Float32Array(planes.localWidth);
    planes.local(state, 0, 0, local, 0);
    const at = (i: number) => [...local.subarray(i * 4, i * 4 + 4)];
    // From the corner: the upper row and the left column are beyond the edge, the second kind to the right, an obstacle below.
    expect([0, 1, 2, 3, 6].map(at)).toEqual(Array.from({ length: 5 }, () => [0, 0, 0, 1]));
    expect(at(5)).toEqual([0, 1, 0, 0]);
    expect(at(7)).toEqual([0, 0, 1, 0]);
    expect(at(4)).toEqual([0, 0, 0, 0]);
    expect(planes.offset(0, 4)).toBe(8);
    expect(planes.offset(0, 8)).toBe(-1);
    expect(planes.around.length).toBe(9 * neighbours);
  });
});
