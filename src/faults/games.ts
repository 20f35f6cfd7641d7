/** A game seen through other glasses: its observations or rewards are changed on their way out, and its rules know nothing of it. */
import type { Game } from '../games/game.ts';

export interface Glasses {
  /** One entry of an observation, and its place in it. */
  observation?: (value: number, entry: number) => number;
  reward?: (value: number, place: number) => number;
}

export function wrapGame(game: Game, { observation, reward }: Glasses): Game {
  const seen = observation ? new Float32Array(game.observation.length) : game.observation;
  const paid = reward ? new Float32Array(game.reward.length) : game.reward;
  const width = game.shape.observation;
  const refresh = () => {
    if (observation) for (let i = 0; i < seen.length; i++) seen[i] = observation(game.observation[i], i % width);
    if (reward) for (let place = 0; place < paid.length; place++) paid[place] = reward(game.reward[place], place);
  };
  const { name, settings, shape, worlds, acting, count, candidates, legal, features } = game;
  const { terminated, truncated, state, over } = game;
  const same = { name, settings, shape, worlds, acting, count, candidates, legal, features, terminated, truncated };
  const wrapped: Game = {
    ...same,
    state,
    over,
    observation: seen,
    reward: paid,
    reset(world, stream) {
      game.reset(world, stream);
      refresh();
    },
    step(actions) {
      game.step(actions);
      refresh();
    },
    save: (world) => game.save(world),
    load(world, saved) {
      game.load(world, saved);
      refresh();
    },
  };
  return game.extras ? { ...wrapped, extras: game.extras } : wrapped;
}
