/** The ways in which an update can miss the distribution that was sampled from, each tried on rows whose log-probabilities disagree. */
import type { Hypothesis } from './cover.ts';
import type { Iteration } from './iteration.ts';
import { Distribution, type Scores } from './scoring.ts';
import { FirstK } from './transforms/replay/first-k.ts';
import { ListOf } from './transforms/replay/list-of.ts';
import { Mask } from './transforms/replay/mask.ts';
import { OldLogp } from './transforms/replay/old-logp.ts';
import { Order } from './transforms/replay/order.ts';
import { OwnList } from './transforms/replay/own-list.ts';
import { Prefix } from './transforms/replay/prefix.ts';
import { SecondPass } from './transforms/replay/second-pass.ts';
import { Temperature } from './transforms/replay/temperature.ts';
import { OwnAgents } from './transforms/rows/own-agents.ts';

/** Specific before general: an earlier one wins where two explain the same rows. */
export const replayHypotheses = [
  { key: 'otherAgent', cause: 'trained-on-other-agent', transform: new OwnAgents() },
  { key: 'again', cause: 'stochastic-forward', transform: new SecondPass() },
  { key: 'maskUsed', cause: 'mask-not-replayed', transform: new Mask('update') },
  { key: 'unmasked', cause: 'mask-not-replayed', transform: new Mask('none') },
  { key: 'temperatureNew', cause: 'temperature-mismatch', transform: new Temperature('update', Number.NaN) },
  { key: 'temperatureOld', cause: 'temperature-mismatch', transform: new Temperature('sampling', Number.NaN) },
  { key: 'defaultCount', cause: 'num-actions-defaulted', transform: new FirstK(Number.NaN) },
  { key: 'sorted', cause: 'subset-not-replayed', transform: new Order('ascending') },
  { key: 'descending', cause: 'subset-not-replayed', transform: new Order('descending') },
  { key: 'reversed', cause: 'subset-not-replayed', transform: new Order('reversed') },
  { key: 'prefix', cause: 'subset-not-replayed', transform: new Prefix('update') },
  { key: 'prefixSampled', cause: 'subset-not-replayed', transform: new Prefix('sampling') },
  { key: 'borrowAgent', cause: 'subset-borrowed', transform: new ListOf('other-agent') },
  { key: 'borrowBefore', cause: 'subset-borrowed', transform: new ListOf('stored-before') },
  { key: 'borrowAfter', cause: 'subset-borrowed', transform: new ListOf('stored-after') },
  { key: 'borrowLag', cause: 'subset-borrowed', transform: new ListOf('neighbouring-step') },
  { key: 'borrowAny', cause: 'subset-borrowed', transform: new ListOf('any-row') },
  { key: 'reordered', cause: 'subset-not-replayed', transform: new Order('any') },
  { key: 'oldZero', cause: 'old-logp-wrong', transform: new OldLogp('zero') },
  { key: 'oldUniform', cause: 'old-logp-wrong', transform: new OldLogp('uniform') },
  { key: 'oldUnmasked', cause: 'old-logp-wrong', transform: new OldLogp('unmasked') },
  { key: 'oldOtherAction', cause: 'old-logp-wrong', transform: new OldLogp('other-action') },
  { key: 'oldOtherRow', cause: 'old-logp-wrong', transform: new OldLogp('other-row') },
  { key: 'oldAny', cause: 'old-logp-wrong', transform: new OldLogp('other-number') },
  { key: 'otherList', cause: 'subset-not-replayed', transform: new OwnList() },
] as const satisfies readonly (Hypothesis & { key: string })[];

export type ReplayKey = (typeof replayHypotheses)[number]['key'];
const index = Object.fromEntries(replayHypotheses.map(({ key }, i) => [key, i])) as Record<ReplayKey, number>;

/** One replay beside its sample. */
export interface ReplayRow {
  sample: number;
  replay: number;
  action: number;
  used: number;
  stored: number;
  fresh: number;
  again: number;
  entropy: number;
}

/** What is fitted once for all rows of an iteration. */
export interface Fitted {
  /** Temperature of the update's logits, or of the sampling ones, that makes rows agree; NaN where there is none. */
  update: number;
  sampling: number;
  /** The K that the update assumes; NaN where none fits. */
  count: number;
  /** Old log-probabilities of the iteration, sorted. */
  sortedOld: Float64Array;
  /** Rows by their list, for lists borrowed from anywhere. */
  lists: Map<string, number>;
}

export class Transforms {
  readonly matches = new Uint8Array(replayHypotheses.length);
  /** Whether the old log-probability of the row matched last is that of its recorded sampling logits. */
  oldIsOwn = false;
  private readonly own = new Distribution();
  private readonly other = new Distribution();

  constructor(
    private readonly iteration: Iteration,
    /** Lists of the samples; of the replays where the samples have no logits. */
    private readonly base: Scores,
    private readonly baseIsReplay: boolean,
    private readonly sampled: Scores,
    private readonly replayed: Scores,
    private readonly close: (a: number, b: number, gap: number) => boolean,
  ) {}

  private set(key: ReplayKey): void {
    this.matches[index[key]] = 2;
  }

  baseRow(row: ReplayRow): number {
    return this.baseIsReplay ? row.replay : row.sample;
  }

  /** The distribution of sampling, as recorded. */
  ownLogp(row: ReplayRow): number {
    if (!this.base.logits || row.action < 0) return Number.NaN;
    this.own.of(this.base, this.baseRow(row), this.temperature(row), true, this.sampled, row.sample);
    return this.own.logp(row.action);
  }

  get ownEntropy(): number {
    return this.own.entropy;
  }

  /** Under another temperature of the same logits. */
  tempered(row: ReplayRow, temperature: number): number {
    return this.other.of(this.base, this.baseRow(row), temperature, true, this.sampled, row.sample).logp(row.action);
  }

  truncatedList(row: ReplayRow, count: number): number {
    const found = this.other.of(
      this.base,
      this.baseRow(row),
      this.temperature(row),
      true,
      this.sampled,
      row.sample,
      count,
    );
    return found.logp(Math.min(row.action, found.count - 1));
  }

  temperature(row: ReplayRow): number {
    return this.sampled.temperatureOf(row.sample);
  }

  /** Fills `matches` for a row that disagrees. */
  match(row: ReplayRow, fitted: Fitted): Uint8Array {
    this.matches.fill(0);
    const { fresh, used, again, action } = row;
    const gap = Math.abs(fresh - used);
    const agrees = (a: number, b: number) => this.close(a, b, gap);
    if (Number.isFinite(again) && !agrees(again, fresh) && Math.abs(again - fresh) > 0.1 * gap) this.set('again');
    const own = this.ownLogp(row);
    const canScore = Number.isFinite(own) || own === Number.NEGATIVE_INFINITY;
    const freshIsOwn = canScore && agrees(fresh, own);
    const usedIsOwn = canScore && agrees(used, own);
    this.oldIsOwn = usedIsOwn && !this.baseIsReplay;
    // The update's logits stand in for those of sampling only where both scored the same candidates.
    const comparable =
      !this.baseIsReplay ||
      (this.sampled.sameList(row.sample, this.replayed, row.replay) &&
        this.sampled.sameMask(row.sample, this.replayed, row.replay));
    if (!usedIsOwn && comparable) this.matchOld(row, own, fitted, freshIsOwn, agrees);
    if (!freshIsOwn && (usedIsOwn || !canScore || this.baseIsReplay)) this.matchNew(row, fitted, agrees);
    if (freshIsOwn && !usedIsOwn && action >= 0 && comparable) this.set('oldAny');
    return this.matches;
  }

  private matchOld(
    row: ReplayRow,
    own: number,
    fitted: Fitted,
    freshIsOwn: boolean,
    agrees: (a: number, b: number) => boolean,
  ): void {
    const { used, action } = row;
    if (used === 0 && own !== 0) this.set('oldZero');
    if (freshIsOwn) {
      if (fitted.sampling > 0 && agrees(this.tempered(row, fitted.sampling), used)) this.set('temperatureOld');
      if (agrees(this.other.of(this.base, this.baseRow(row), this.temperature(row), false).logp(action), used))
        this.set('oldUnmasked');
      this.own.of(this.base, this.baseRow(row), this.temperature(row), true, this.sampled, row.sample);
      if (agrees(used, -Math.log(this.own.count))) this.set('oldUniform');
      for (let i = 0; i < this.own.count; i++)
        if (i !== action && agrees(this.own.logp(i), used)) this.set('oldOtherAction');
    }
    if (!agrees(row.stored, used) && near(fitted.sortedOld, used)) this.set('oldOtherRow');
  }

  private matchNew(row: ReplayRow, fitted: Fitted, agrees: (a: number, b: number) => boolean): void {
    const { fresh, action, sample, replay } = row;
    const { sampled, replayed } = this;
    const base = this.baseRow(row);
    const lists = replayed.subset !== null && sampled.subset !== null;
    const sameList = !lists || sampled.sameList(sample, replayed, replay);
    if (this.base.logits && !this.baseIsReplay && action >= 0) {
      const temperature = this.temperature(row);
      if (fitted.update > 0 && agrees(this.tempered(row, fitted.update), fresh)) this.set('temperatureNew');
      if (agrees(this.other.of(this.base, base, temperature, false).logp(action), fresh)) this.set('unmasked');
      if (replayed.legal && sameList && !sampled.sameMask(sample, replayed, replay)) {
        if (agrees(this.other.of(this.base, base, temperature, true, replayed, replay).logp(action), fresh))
          this.set('maskUsed');
      }
      this.matchOrder(row, agrees);
      if (fitted.count > 0 && agrees(this.truncatedList(row, fitted.count), fresh)) this.set('defaultCount');
    } else if (replayed.legal && sampled.legal && sameList && !sampled.sameMask(sample, replayed, replay))
      this.set('maskUsed');
    const length = replayed.count(replay);
    if (fitted.count > 0 && length > 0 && length === fitted.count) this.set('defaultCount');
    if (sameList && replayed.logits && sampled.subset && sampled.logits) this.matchSampledPrefix(row);
    if (lists && !sameList) this.matchLists(row, fitted);
    else if (!lists && replayed.logits && sampled.subset && sampled.logits) this.matchBorrowedLogits(row);
  }

  /** The same candidates in another order: which of them stands where the action points. */
  private matchOrder(row: ReplayRow, agrees: (a: number, b: number) => boolean): void {
    const { action, fresh, sample } = row;
    this.own.of(this.base, this.baseRow(row), this.temperature(row), true, this.sampled, sample);
    const { count } = this.own;
    if (count < 2) return;
    if (Number.isFinite(row.entropy) && Math.abs(row.entropy - this.own.entropy) > 1e-3) return;
    let below = 0;
    // The candidate at place `action` after sorting by id is the one with that many smaller ids.
    for (let i = 0; i < count; i++) {
      const logp = this.own.logp(i);
      if (i !== action && agrees(logp, fresh)) this.set('reordered');
      if (!this.sampled.subset) continue;
      below = 0;
      for (let j = 0; j < count; j++) if (this.sampled.id(sample, j) < this.sampled.id(sample, i)) below++;
      if (below === action && agrees(logp, fresh)) this.set('sorted');
      if (count - 1 - below === action && agrees(logp, fresh)) this.set('descending');
    }
    if (agrees(this.own.logp(count - 1 - action), fresh)) this.set('reversed');
  }

  /** The list that the update recorded, against lists of this and other rows. */
  private matchLists(row: ReplayRow, fitted: Fitted): void {
    const { sampled, replayed } = this;
    const { sample, replay } = row;
    const count = replayed.count(replay);
    this.set('otherList');
    let prefix = true;
    for (let i = 0; i < count; i++) if (replayed.id(replay, i) !== i) prefix = false;
    if (prefix) this.set('prefix');
    if (count === sampled.count(sample)) this.matchPermutation(row, count);
    this.matchNeighbours(row, (other) => replayed.sameList(replay, sampled, other));
    const found = fitted.lists.get(listKey(replayed, replay));
    if (found !== undefined && found !== sample) this.set('borrowAny');
  }

  private matchPermutation({ sample, replay }: ReplayRow, count: number): void {
    const own: number[] = [];
    const theirs: number[] = [];
    for (let i = 0; i < count; i++) {
      own.push(this.sampled.id(sample, i));
      theirs.push(this.replayed.id(replay, i));
    }
    const ascending = [...own].sort((a, b) => a - b);
    const same = (list: number[]) => list.every((id, i) => id === theirs[i]);
    if (same(ascending)) this.set('sorted');
    if (same([...ascending].reverse())) this.set('descending');
    if (same([...own].reverse())) this.set('reversed');
    const sortedTheirs = [...theirs].sort((a, b) => a - b);
    if (ascending.every((id, i) => id === sortedTheirs[i])) this.set('reordered');
  }

  /** Without a recorded list: ids that two lists share must have the same logits in the update as in sampling. */
  private matchBorrowedLogits(row: ReplayRow): void {
    const { sampled, replayed } = this;
    const count = replayed.count(row.replay);
    const fits = (id: (candidate: number) => number) => {
      let shared = 0;
      for (let i = 0; i < count; i++) {
        for (let j = 0; j < sampled.count(row.sample); j++) {
          if (sampled.id(row.sample, j) !== id(i)) continue;
          if (Math.abs(sampled.logit(row.sample, j) - replayed.logit(row.replay, i)) > 1e-4) return false;
          shared++;
        }
      }
      return shared > 0;
    };
    if (fits((candidate) => sampled.id(row.sample, candidate)) && count === sampled.count(row.sample)) return;
    if (fits((candidate) => candidate)) this.set('prefix');
    this.matchNeighbours(
      row,
      (other) => sampled.count(other) === count && fits((candidate) => sampled.id(other, candidate)),
    );
  }

  /** Sampling took the logits of ids 0, 1, 2 and so on: an id below K that the list names has the same logit in the update, at its place in the list. */
  private matchSampledPrefix({ sample, replay }: ReplayRow): void {
    const { sampled, replayed } = this;
    const count = sampled.count(sample);
    if (replayed.count(replay) !== count) return;
    let shared = 0;
    let moved = false;
    for (let place = 0; place < count; place++) {
      const id = sampled.id(sample, place);
      if (id !== place) moved = true;
      if (!(id >= 0 && id < count)) continue;
      if (Math.abs(sampled.logit(sample, id) - replayed.logit(replay, place)) > 1e-4) return;
      shared++;
    }
    if (!moved) return;
    // A list without such an id neither proves nor disproves it.
    if (shared > 0) this.set('prefixSampled');
    else this.matches[index.prefixSampled] = 1;
  }

  private matchNeighbours({ sample }: ReplayRow, fits: (other: number) => boolean): void {
    const rows = this.iteration.samples!.rows;
    const { chains } = this.iteration;
    if (this.iteration.others(sample).some(fits)) this.set('borrowAgent');
    if (sample > 0 && fits(sample - 1)) this.set('borrowBefore');
    if (sample + 1 < rows && fits(sample + 1)) this.set('borrowAfter');
    if (!chains) return;
    let forward = sample;
    let back = sample;
    for (let lag = 1; lag <= 4; lag++) {
      forward = forward >= 0 ? chains.next[forward] : -1;
      back = back >= 0 ? chains.previous[back] : -1;
      if ((forward >= 0 && fits(forward)) || (back >= 0 && fits(back))) this.set('borrowLag');
    }
  }
}

export function listKey(scores: Scores, row: number): string {
  let key = '';
  for (let i = 0; i < scores.count(row); i++) key += `${scores.id(row, i)},`;
  return key;
}

/** Whether a sorted array has the value, but for single-precision noise. */
export function near(sorted: Float64Array, value: number, tolerance = 1e-6): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value - tolerance) low = middle + 1;
    else high = middle;
  }
  return low < sorted.length && sorted[low] <= value + tolerance;
}
