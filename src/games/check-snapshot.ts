/** What a world shows, as one list of numbers with names, so that two worlds can be compared exactly. Entries that nobody may read are left out. */
import { told } from '../language/language.ts';
import type { Game } from './game.ts';

/** With a permutation: what the world would show if its seats were permuted so. */
export function snapshot(game: Game, world: number, permutation?: readonly number[]): Float64Array {
  const { seats, observation, candidates, features, state } = game.shape;
  const perSeat = seatWidth(game);
  const shown = new Float64Array(seats * perSeat + 1 + state);
  for (let seat = 0; seat < seats; seat++) {
    const was = permutation ? permutation[seat] : seat;
    const place = world * seats + was;
    let at = seat * perSeat;
    const count = game.numActions[place];
    shown[at++] = game.acting[place];
    shown[at++] = count;
    shown[at++] = game.reward[place];
    shown[at++] = game.terminated[place];
    shown[at++] = game.truncated[place];
    // What a place sees after its end is nobody's business, but at its end it is.
    if (game.acting[place] === 1 || game.terminated[place] === 1 || game.truncated[place] === 1) {
      const seen = game.obs.subarray(place * observation, (place + 1) * observation);
      shown.set(permutation && game.relabelObservation ? game.relabelObservation(seen, was, permutation) : seen, at);
    }
    at += observation;
    for (let i = 0; i < count; i++) {
      shown[at + i] = game.subset[place * candidates + i];
      shown[at + candidates + i] = game.legal[place * candidates + i];
    }
    at += 2 * candidates;
    for (let i = 0; i < count * features; i++)
      shown[at + i] = game.candidateFeatures[place * candidates * features + i];
  }
  shown[seats * perSeat] = game.over[world];
  // How a joint state permutes is the game's own affair, so it is compared only where seats stay.
  if (permutation) shown.fill(Number.NaN, seats * perSeat + 1);
  else shown.set(game.state.subarray(world * state, (world + 1) * state), seats * perSeat + 1);
  return shown;
}

/** Where two snapshots differ first, in words; NaN stands for what is not compared. */
export function firstDifference(game: Game, a: Float64Array, b: Float64Array): string | undefined {
  for (let i = 0; i < a.length; i++) {
    if (a[i] === b[i] || Number.isNaN(a[i]) || Number.isNaN(b[i])) continue;
    const name = nameOf(game, i);
    const [short, other] = [a[i], b[i]].map((value) => Number(value.toPrecision(6)));
    const [one, two] = short === other ? [a[i], b[i]] : [short, other];
    return told(`${name} was ${one} in one and ${two} in the other`, `${name} 一边是 ${one}，另一边是 ${two}`);
  }
  return undefined;
}

function seatWidth(game: Game): number {
  const { observation, candidates, features } = game.shape;
  return 5 + observation + candidates * (2 + features);
}

function nameOf(game: Game, index: number): string {
  const { seats, observation, candidates, features } = game.shape;
  const perSeat = seatWidth(game);
  if (index === seats * perSeat) return 'over';
  if (index > seats * perSeat) {
    const entry = index - seats * perSeat - 1;
    return told(`entry ${entry} of the state`, `状态的第 ${entry} 项`);
  }
  const seat = Math.floor(index / perSeat);
  let at = index - seat * perSeat;
  const own = (en: string, zh = en) => told(`${en} of seat ${seat}`, `位置 ${seat} 的 ${zh}`);
  if (at < 5) return own(['acting', 'numActions', 'reward', 'terminated', 'truncated'][at]);
  at -= 5;
  if (at < observation) return own(`entry ${at} of the observation`, `观测第 ${at} 项`);
  at -= observation;
  if (at < candidates) return own(`candidate ${at}`, `候选 ${at}`);
  at -= candidates;
  if (at < candidates) return own(`the legal mask of candidate ${at}`, `候选 ${at} 的合法掩码`);
  at -= candidates;
  const [feature, candidate] = [at % features, Math.floor(at / features)];
  return own(`feature ${feature} of candidate ${candidate}`, `候选 ${candidate} 的特征 ${feature}`);
}
