/** What must hold of one world after every reset and step. The watch remembers who has decided and who has ended. */
import type { Game } from './game.ts';

export class EpisodeWatch {
  readonly decisions: Int32Array;
  readonly ended: Uint8Array;
  steps = 0;
  readonly used: Int32Array;

  constructor(
    private readonly game: Game,
    private readonly world: number,
  ) {
    this.decisions = new Int32Array(game.shape.seats);
    this.ended = new Uint8Array(game.shape.seats);
    this.used = new Int32Array(game.shape.actions).fill(-1);
  }

  /** Counts the decisions about to be taken. */
  decide(): void {
    this.steps++;
    const { seats } = this.game.shape;
    for (let seat = 0; seat < seats; seat++) this.decisions[seat] += this.game.acting[this.world * seats + seat];
  }
}

/** The first thing wrong with a world's outputs, or undefined. */
export function checkStep(game: Game, world: number, watch: EpisodeWatch): string | undefined {
  const { seats, horizon, state } = game.shape;
  let acting = 0;
  let ended = 0;
  for (let seat = 0; seat < seats; seat++) {
    const place = world * seats + seat;
    const where = `seat ${seat} of world ${world} after ${watch.steps} steps`;
    const terminated = game.terminated[place];
    const truncated = game.truncated[place];
    if (![game.acting[place], terminated, truncated].every((flag) => flag === 0 || flag === 1)) {
      return `ends: acting, terminated or truncated is neither 0 nor 1 at ${where}`;
    }
    if (terminated === 1 && truncated === 1) return `ends: ${where} is both terminated and truncated; choose one`;
    const ends = terminated === 1 || truncated === 1;
    if (watch.steps === 0 && ends) return `ends: ${where} has ended before its first step`;
    const reward = game.reward[place];
    if (!Number.isFinite(reward)) return `rewards: the reward of ${where} is ${reward}`;
    if (watch.ended[seat] === 1) {
      if (reward !== 0) return `ends: ${where} was paid ${reward} after its end`;
      if (ends) return `ends: ${where} ended a second time`;
      if (game.acting[place] === 1) return `ends: ${where} acts after its end`;
    } else if (reward !== 0 && watch.decisions[seat] === 0) {
      return `rewards: ${where} was paid ${reward} before its first decision, and no row can hold it; pay it with that decision`;
    }
    if (ends) {
      watch.ended[seat] = 1;
      if (game.acting[place] === 1) return `ends: ${where} ended and acts`;
    }
    ended += watch.ended[seat];
    acting += game.acting[place];
    if (game.acting[place] === 1 || ends) {
      const finding = finite(game.obs, place, game.shape.observation, `observation of ${where}`);
      if (finding) return finding;
    }
    if (game.acting[place] === 1) {
      if (watch.decisions[seat] >= horizon) {
        return `ends: ${where} acts again after ${watch.decisions[seat]} decisions, and shape.horizon is ${horizon}`;
      }
      const finding = checkCandidates(game, place, where, watch);
      if (finding) return finding;
    }
  }
  if (game.over[world] === 1 && ended < seats) {
    return `ends: world ${world} is over after ${watch.steps} steps, but ${seats - ended} of its seats were neither terminated nor truncated`;
  }
  if (game.over[world] === 0 && ended === seats)
    return `ends: every seat of world ${world} has ended, but it is not over`;
  if (game.over[world] === 0 && acting === 0)
    return `ends: nobody acts in world ${world} after ${watch.steps} steps, but it is not over`;
  return finite(game.state, world, state, `state of world ${world} after ${watch.steps} steps`);
}

function checkCandidates(game: Game, place: number, where: string, watch: EpisodeWatch): string | undefined {
  const { candidates, actions, features } = game.shape;
  const count = game.numActions[place];
  if (count < 1 || count > candidates) {
    return `legality: ${where} has ${count} candidates; shape.candidates allows 1 to ${candidates}`;
  }
  let legal = 0;
  const stamp = watch.steps * game.shape.seats + (place % game.shape.seats);
  for (let i = 0; i < count; i++) {
    const at = place * candidates + i;
    const id = game.subset[at];
    if (id < 0 || id >= actions)
      return `legality: candidate ${i} of ${where} is action ${id}; ids lie in 0 to ${actions - 1}`;
    if (watch.used[id] === stamp) return `legality: action ${id} is twice among the candidates of ${where}`;
    watch.used[id] = stamp;
    if (game.legal[at] > 1) return `legality: the legal mask of ${where} holds ${game.legal[at]}; it must be 0 or 1`;
    legal += game.legal[at];
  }
  if (legal === 0) return `legality: ${where} must act and has no legal candidate among ${count}`;
  return finite(
    game.candidateFeatures,
    place,
    candidates * features,
    `candidate features of ${where}`,
    count * features,
  );
}

function finite(array: Float32Array, block: number, width: number, what: string, used = width): string | undefined {
  for (let i = block * width; i < block * width + used; i++) {
    if (!Number.isFinite(array[i])) return `finite values: entry ${i - block * width} of the ${what} is ${array[i]}`;
  }
  return undefined;
}
