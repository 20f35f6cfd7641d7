/** A game seen through other glasses: its observations or rewards are changed on their way out, and its rules know nothing of it. */
import type { Game } from '../games/game.ts';

export interface Glasses {
  /** One entry of an observation, which entry it is, and whose. */
  observation?: (value: number, entry: number, place: number) => number;
  reward?: (value: number, place: number) => number;
  /** May change the rewards of a step all together, after `reward`. */
  settle?: (game: Game, rewards: Float32Array) => void;
}

export function wrapGame(game: Game, { observation, reward, settle }: Glasses): Game {
  const seen = observation ? new Float32Array(game.obs.length) : game.obs;
  const paid = reward || settle ? new Float32Array(game.reward.length) : game.reward;
  const width = game.shape.observation;
  const refresh = () => {
    if (observation)
      for (let i = 0; i < seen.length; i++) seen[i] = observation(game.obs[i], i % width, Math.floor(i / width));
    if (paid === game.reward) return;
    paid.set(game.reward);
    if (reward) for (let place = 0; place < paid.length; place++) paid[place] = reward(paid[place], place);
    settle?.(game, paid);
  };
  const { name, settings, shape, worlds, acting, numActions, subset, legal, candidateFeatures } = game;
  const { terminated, truncated, state, over } = game;
  const same = {
    name,
    settings,
    shape,
    worlds,
    acting,
    numActions,
    subset,
    legal,
    candidateFeatures,
    terminated,
    truncated,
  };
  const wrapped: Game = {
    ...same,
    state,
    over,
    obs: seen,
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
  // Seats are still exchanged as the game does it; whether the outcome then moves with them is what the glasses may have spoilt.
  if (game.relabel)
    wrapped.relabel = (world, permutation) => {
      game.relabel?.(world, permutation);
      refresh();
    };
  if (game.relabelObservation && !observation)
    wrapped.relabelObservation = (values, seat, permutation) => game.relabelObservation!(values, seat, permutation);
  return game.extras ? { ...wrapped, extras: game.extras } : wrapped;
}
