/** The update scored the row's own list with another row's input: its logits are those that the other row was sampled from. Before the first step both passes have the same parameters, so equal logits mean equal inputs. */

import { told } from '../../../language/language.ts';
import { firstPlace } from '../../../math/statistics.ts';
import { limits } from '../../limits.ts';
import type { Match } from '../../pairing/cover.ts';
import type { Chain } from '../credit/lag.ts';
import type { ReplayRow, ReplayRows, ReplayTransform } from './replay-rows.ts';

const same = limits.sameInput.value;

export class InputOf implements ReplayTransform {
  readonly id = 'input-of';

  constructor(
    /** Steps later in the chain; `any` for a row anywhere in the rollout. */
    readonly steps: number | 'any',
    readonly within: Chain | 'storage' = 'episode',
  ) {}

  fitted(rows: ReplayRows, few: readonly ReplayRow[]): InputOf | null {
    if (!rows.sampled.logits || !rows.replayed.logits || rows.baseIsReplay) return null;
    if (this.steps !== 'any') return this;
    // Rows with lists of their own are compared where their lists meet, which by chance many would.
    if (rows.sampled.subset) return null;
    let [found, made] = [0, 0];
    for (const row of few) {
      if (rowWith(rows, row, 0) >= 0) found++;
      if (rowWith(rows, row, limits.madeUpShift.value * same) >= 0) made++;
    }
    return found > 0 && made <= limits.madeUpInput.value * few.length ? this : null;
  }

  match(rows: ReplayRows): Match {
    const { row } = rows;
    if (!rows.canScore || !rows.usedIsOwn || !rows.sameList || !rows.replayed.logits) return 0;
    const other = this.other(rows);
    if (other < 0) return this.steps === 'any' ? 0 : 1;
    if (rows.sampled.subset) return sharedAlike(rows, other);
    // Neighbours whose inputs are the same, as of an agent that waits, tell nothing.
    return other !== row.sample && alike(rows, row.replay, other, 0) && !alike(rows, row.replay, row.sample, 0) ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    const other = this.other(rows);
    if (other < 0 || rows.row.action < 0) return Number.NaN;
    const { sampled, row } = rows;
    // The other row has no logits for candidates that only this one lists; the update's own stand in for them.
    if (sampled.subset) return sharedAlike(rows, other) === 2 ? rows.recordedScore : Number.NaN;
    return rows.scoreWith(sampled, other, row.action);
  }

  private other(rows: ReplayRows): number {
    const { chains } = rows.iteration;
    if (this.steps === 'any') return rowWith(rows, rows.row, 0);
    if (this.within === 'storage') {
      const at = rows.row.sample + this.steps;
      return at < rows.iteration.samples!.rows ? at : -1;
    }
    if (!chains) return -1;
    const stream = this.within === 'stream';
    const [next, previous] = stream ? [chains.streamNext, chains.streamPrevious] : [chains.next, chains.previous];
    let at = rows.row.sample;
    for (let i = 0; i < Math.abs(this.steps) && at >= 0; i++) at = this.steps > 0 ? next[at] : previous[at];
    return at;
  }

  describe(): string {
    if (this.steps === 'any') return told('the input of another row of the rollout', '采样段中另一行的输入');
    if (this.within === 'storage')
      return told(
        `the input of the row stored ${this.steps < 0 ? 'before' : 'after'}`,
        `存储顺序中${this.steps < 0 ? '前' : '后'}一行的输入`,
      );
    const stream = this.within === 'stream';
    return told(
      `the input at lag ${this.steps} within ${stream ? 'the (env, agent) stream' : '(episode, agent)'}`,
      `在${stream ? '同一环境和智能体的序列' : '同一回合和智能体'}内平移 ${this.steps} 步的输入`,
    );
  }
}

/** Whether the update's logits, less a shift of the first one, are those that a row was sampled from; a constant in all of them changes nothing. */
function alike({ sampled, replayed }: ReplayRows, replay: number, sample: number, shift: number): boolean {
  const count = replayed.count(replay);
  if (count < 2 || sampled.count(sample) !== count) return false;
  const last = count - 1;
  for (let i = 0; i < last; i++) {
    const ours = replayed.logit(replay, i) - replayed.logit(replay, last) + (i === 0 ? shift : 0);
    const theirs = sampled.logit(sample, i) - sampled.logit(sample, last);
    if (!(Math.abs(ours - theirs) <= same * (1 + Math.abs(theirs)))) return false;
  }
  return true;
}

/** The same of rows with lists of their own, for the candidates that both list; nothing is said where they share fewer than two. */
function sharedAlike({ sampled, replayed, row }: ReplayRows, other: number): Match {
  const places = new Map<number, number>();
  for (let i = 0; i < sampled.count(other); i++) places.set(sampled.id(other, i), i);
  const id = (i: number) => (replayed.subset ? replayed.id(row.replay, i) : sampled.id(row.sample, i));
  let first = Number.NaN;
  let shared = 0;
  for (let i = 0; i < replayed.count(row.replay); i++) {
    const place = places.get(id(i));
    if (place === undefined) continue;
    const theirs = sampled.logit(other, place);
    const apart = replayed.logit(row.replay, i) - theirs;
    if (shared++ === 0) first = apart;
    else if (!(Math.abs(apart - first) <= same * (1 + Math.abs(theirs)))) return 0;
  }
  return shared < 2 ? 1 : 2;
}

/** Samples by the difference of their first and last logit, so that those with equal ones lie together. */
const indices = new WeakMap<ReplayRows, { keys: Float64Array; order: Int32Array }>();

/** A row that was sampled from the update's logits; -1 where there is none, and the row itself where it is one. */
function rowWith(rows: ReplayRows, { replay, sample }: ReplayRow, shift: number): number {
  if (alike(rows, replay, sample, shift)) return sample;
  const { keys, order } = indices.get(rows) ?? indexed(rows);
  const { replayed } = rows;
  const wanted = replayed.logit(replay, 0) - replayed.logit(replay, replayed.count(replay) - 1) + shift;
  const reach = 2 * same * (1 + Math.abs(wanted));
  const low = firstPlace(keys.length, (place) => !(keys[place] < wanted - reach));
  for (let i = low; i < keys.length && keys[i] <= wanted + reach; i++)
    if (alike(rows, replay, order[i], shift)) return order[i];
  return -1;
}

function indexed(rows: ReplayRows) {
  const { sampled } = rows;
  const count = rows.iteration.samples!.rows;
  const key = (row: number) => sampled.logit(row, 0) - sampled.logit(row, sampled.count(row) - 1);
  const order = Int32Array.from({ length: count }, (_, i) => i).sort((a, b) => key(a) - key(b));
  const made = { keys: Float64Array.from(order, key), order };
  indices.set(rows, made);
  return made;
}
