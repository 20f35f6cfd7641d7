/** Asymmetry faults of the game and of its bookkeeping: one seat or one name is better off, or rewards are filed under the wrong agent. */

import type { Batch } from '../../batch/batch.ts';
import { GridGame } from '../../games/grid/grid.ts';
import type { Stages } from '../../training/stages.ts';
import { between, type Fault, rounded, type Strength } from '../fault.ts';
import { type Glasses, wrapGame } from '../games.ts';
import { rowsOfOther } from '../row-order.ts';
import { chance } from '../scope.ts';

type Stream = Parameters<Fault['make']>[0];

/** A fault of the game that belongs to its seats. */
function seatFault(
  of: Pick<Fault, 'id' | 'sentence' | 'shows' | 'needs'>,
  draw: (stream: Stream, seats: number) => { strength: Strength; glasses: (seats: number) => Glasses },
): Fault {
  return {
    ...of,
    cause: 'environment-seat-bias',
    stage: 'game',
    make(stream, { traits }) {
      const { strength, glasses } = draw(stream, traits.seats);
      return {
        strength,
        stages: (clean) => ({
          game(game) {
            const inner = clean.game(game);
            return wrapGame(inner, glasses(inner.shape.seats));
          },
        }),
      };
    },
  };
}

/** Splits what several hunters of one cell were paid in the same step; `split` gets their places in order of seat and what they share. */
function sharing(
  split: (places: readonly number[], whole: number, rewards: Float32Array, game: GridGame) => void,
): Glasses {
  return {
    settle(game, rewards) {
      if (!(game instanceof GridGame)) return;
      const { seats } = game.shape;
      for (let world = 0; world < game.worlds; world++) {
        const hunters = new Map<number, number[]>();
        for (let place = world * seats; place < (world + 1) * seats; place++)
          if (game.terminated[place] === 1 && rewards[place] !== 0)
            hunters.set(game.position[place], [...(hunters.get(game.position[place]) ?? []), place]);
        for (const places of hunters.values())
          if (places.length > 1)
            split(
              places,
              places.reduce((sum, place) => sum + rewards[place], 0),
              rewards,
              game,
            );
      }
    },
  };
}

const seats: readonly Fault[] = [
  seatFault(
    {
      id: 'prey-to-lowest-seat',
      sentence: 'Where several catch the same prey in one step, the one in the lowest seat is paid all of it.',
      shows: ['samples.env_reward'],
      needs: ['stag-hunt'],
    },
    () => ({
      strength: {},
      glasses: () =>
        sharing((places, whole, rewards) => {
          places.forEach((place, i) => {
            rewards[place] = i === 0 ? whole : 0;
          });
        }),
    }),
  ),
  seatFault(
    {
      id: 'hare-to-lowest-seat',
      sentence:
        'Where several catch the same hare in one step, the one in the lowest seat is paid all of it; stags are shared.',
      shows: ['samples.env_reward'],
      needs: ['stag-hunt'],
    },
    () => ({
      strength: {},
      glasses: () =>
        sharing((places, whole, rewards, game) => {
          if (Math.abs(whole - Number(game.settings.hareReward)) > 1e-4) return;
          places.forEach((place, i) => {
            rewards[place] = i === 0 ? whole : 0;
          });
        }),
    }),
  ),
  seatFault(
    {
      id: 'prey-shared-unequally',
      sentence: 'Where several catch the same prey in one step, the one in the lowest seat gets a larger share.',
      shows: ['samples.env_reward'],
      needs: ['stag-hunt'],
    },
    (stream) => {
      const more = rounded(between(stream, 0.1, 0.5));
      return {
        strength: { more },
        glasses: () =>
          sharing((places, whole, rewards) => {
            const equal = whole / places.length;
            places.forEach((place, i) => {
              rewards[place] = i === 0 ? equal * (1 + more) : equal * (1 - more / (places.length - 1));
            });
          }),
      };
    },
  ),
  seatFault(
    {
      id: 'view-smaller',
      sentence: 'One seat sees only part of its observation.',
      shows: ['samples.obs'],
      needs: ['agents'],
    },
    (stream, count) => {
      const seat = stream.below(count);
      const blind = rounded(between(stream, 0.4, 0.9));
      const salt = stream.int32();
      return {
        strength: { seat, blind },
        glasses: (seatCount) => ({
          observation: (value, entry, place) =>
            place % seatCount === seat && chance(salt, entry, 0) < blind ? 0 : value,
        }),
      };
    },
  ),
  seatFault(
    {
      id: 'seat-paid-more',
      sentence: 'One seat is paid more for the same.',
      shows: ['samples.env_reward'],
      needs: ['agents'],
    },
    (stream, count) => {
      const seat = stream.below(count);
      const factor = rounded(between(stream, 1.1, 2));
      return {
        strength: { seat, factor },
        glasses: (seatCount) => ({
          reward: (reward, place) => (place % seatCount === seat ? reward * factor : reward),
        }),
      };
    },
  ),
  {
    id: 'starts-nearer',
    cause: 'environment-seat-bias',
    stage: 'game',
    sentence: 'Whoever starts nearest to prey is put into the first seat.',
    shows: ['samples.obs'],
    needs: ['stag-hunt'],
    make: () => ({
      strength: {},
      stages: (clean) => ({
        game(game) {
          const inner = clean.game(game);
          const wrapped = wrapGame(inner, {});
          if (!(inner instanceof GridGame)) return wrapped;
          return {
            ...wrapped,
            reset(world, stream) {
              wrapped.reset(world, stream);
              wrapped.relabel?.(world, nearestFirst(inner, world));
            },
          };
        },
      }),
    }),
  },
];

/** The seats with the one that is nearest to any prey exchanged into the first place. */
function nearestFirst(game: GridGame, world: number): number[] {
  const way = Array.from({ length: game.players }, (_, seat) => {
    const distances = game.distances(world, game.position[world * game.players + seat]);
    let least = Infinity;
    for (let cell = 0; cell < game.cells; cell++) {
      const thing = game.thing[world * game.cells + cell];
      if (thing >= 1 && thing <= game.kinds && distances[cell] >= 0) least = Math.min(least, distances[cell]);
    }
    return least;
  });
  const nearest = way.indexOf(Math.min(...way));
  const order = way.map((_, seat) => seat);
  [order[0], order[nearest]] = [order[nearest], order[0]];
  return order;
}

/** A fault of the game that belongs to a name, wherever it sits. */
function nameFault(
  id: string,
  sentence: string,
  draw: (stream: Stream) => { strength: Strength; pay: (reward: number) => number },
): Fault {
  return {
    id,
    cause: 'environment-name-bias',
    stage: 'game',
    sentence,
    shows: ['samples.env_reward'],
    needs: ['agents'],
    make(stream, { traits }) {
      const agent = traits.learning[stream.below(traits.learning.length)];
      const { strength, pay } = draw(stream);
      let agentAt: Int32Array | null = null;
      return {
        strength: { agent, ...strength },
        stages: (clean) => ({
          collect(collector, batch) {
            agentAt = collector.agentAt;
            clean.collect(collector, batch);
          },
          game: (game) =>
            wrapGame(clean.game(game), {
              reward: (reward, place) => (agentAt?.[place] === agent ? pay(reward) : reward),
            }),
        }),
      };
    },
  };
}

const names: readonly Fault[] = [
  nameFault('name-paid-more', 'The game pays one name more for the same, wherever it sits.', (stream) => {
    const factor = rounded(between(stream, 1.1, 2));
    return { strength: { factor }, pay: (reward) => reward * factor };
  }),
  nameFault('name-fined', 'The game takes a part of what one name earns, wherever it sits.', (stream) => {
    const factor = rounded(between(stream, 0.4, 0.9));
    return { strength: { factor }, pay: (reward) => reward * factor };
  }),
];

/** Rewards are stored otherwise than the game paid them. */
function bookkeepingFault(
  id: string,
  sentence: string,
  draw: (
    stream: Stream,
    learning: readonly number[],
  ) => { strength: Strength; file: (batch: Batch, iteration: number) => void },
): Fault {
  return {
    id,
    cause: 'reward-bookkeeping',
    stage: 'collect',
    sentence,
    shows: ['samples.reward'],
    needs: ['agents'],
    make(stream, { traits }) {
      const { strength, file } = draw(stream, traits.learning);
      return {
        strength,
        stages: (clean: Stages) => ({
          collect(collector, batch) {
            const { iteration } = collector;
            clean.collect(collector, batch);
            file(batch, iteration);
          },
        }),
      };
    },
  };
}

const forAgent = (batch: Batch, agent: number, reward: (row: number) => number) => {
  for (let row = 0; row < batch.rows; row++) if (batch.agent[row] === agent) batch.reward[row] = reward(row);
};

const bookkeeping: readonly Fault[] = [
  bookkeepingFault(
    'rewards-filed-under-first',
    "Everyone's rewards are stored with the first agent's rows.",
    (_, learning) => ({
      strength: { agent: learning[0] },
      file(batch) {
        const first = rowsOfOther(batch, () => learning[0]);
        for (let row = 0; row < batch.rows; row++) {
          if (batch.agent[row] === learning[0] || first[row] < 0) continue;
          batch.reward[first[row]] += batch.reward[row];
          batch.reward[row] = 0;
        }
      },
    }),
  ),
  bookkeepingFault('reward-of-one-scaled', "One agent's rewards are stored scaled.", (stream, learning) => {
    const agent = learning[stream.below(learning.length)];
    const factor = rounded(stream.uniform() < 0.5 ? between(stream, 0.2, 0.8) : between(stream, 1.3, 3));
    return {
      strength: { agent, factor },
      file: (batch) => forAgent(batch, agent, (row) => batch.reward[row] * factor),
    };
  }),
  bookkeepingFault('reward-of-one-dropped', "Now and then one agent's reward is not stored.", (stream, learning) => {
    const agent = learning[stream.below(learning.length)];
    const share = rounded(between(stream, 0.2, 0.8));
    const salt = stream.int32();
    return {
      strength: { agent, share },
      file: (batch, iteration) =>
        forAgent(batch, agent, (row) => (chance(salt, iteration, row) < share ? 0 : batch.reward[row])),
    };
  }),
  bookkeepingFault(
    'rewards-of-two-exchanged',
    "Two agents' rewards are stored with each other's rows.",
    (stream, learning) => {
      const first = stream.below(learning.length);
      const pair = [learning[first], learning[(first + 1) % learning.length]];
      return {
        strength: { pair: pair.join(' ') },
        file(batch) {
          const other = rowsOfOther(batch, (agent) => (agent === pair[0] ? pair[1] : pair[0]));
          const paid = batch.reward.slice();
          for (let row = 0; row < batch.rows; row++)
            if (pair.includes(batch.agent[row]) && other[row] >= 0) batch.reward[row] = paid[other[row]];
        },
      };
    },
  ),
];

export const gameAsymmetries: readonly Fault[] = [...seats, ...names, ...bookkeeping];
