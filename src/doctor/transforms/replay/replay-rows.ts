/** What transforms of a distribution work on: one iteration's replays beside their samples, with a cursor on one row. Scoring a row again under an altered view is all that they do. */

import type { Iteration } from '../../evidence/iteration.ts';
import { scoresOf } from '../../evidence/temperature.ts';
import type { Match } from '../../pairing/cover.ts';
import { Distribution, type Scores } from '../../pairing/scoring.ts';
import { updateScores } from '../../pairing/update-scores.ts';
import type { Transform } from '../transform.ts';

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

/** How a row is scored: by which temperature and mask, over how many of its candidates, and which of them the action points at. */
export interface View {
  temperature: number;
  mask: 'own' | 'none' | 'update';
  /** The sample whose mask it is, where that is not the row's own. */
  maskRow?: number;
  limit?: number;
  place: number;
}

export interface ReplayTransform extends Transform {
  /** Which of the two log-probabilities is the odd one; the update's where it does not say. `either`: it is tried on every row. */
  readonly explains?: 'old' | 'either';
  /** Parameters that are the same for all rows of an iteration; null where none fit. */
  fitted?(rows: ReplayRows, few: readonly ReplayRow[]): ReplayTransform | null;
  /** Whether the row under the cursor is explained, where that can be told by other means than its score. */
  match?(rows: ReplayRows): Match;
  /** The log-probability that the transform gives to the row under the cursor; NaN where the columns cannot tell. */
  score?(rows: ReplayRows): number;
}

/** Rows of one minibatch, and the logarithms of their sums place by place, as far as they were asked for. */
interface Span {
  from: number;
  to: number;
  totals: number[];
}

export class ReplayRows {
  /** Lists of the samples; of the replays where the samples have no logits. */
  readonly sampled: Scores;
  readonly replayed: Scores;
  readonly base: Scores;
  readonly baseIsReplay: boolean;
  readonly own = new Distribution();
  private readonly other = new Distribution();
  private sortedOld: Float64Array | null = null;
  private lists: Map<string, number> | null = null;
  private span: Span | null = null;
  row!: ReplayRow;
  /** The log-probability of sampling, recomputed; NaN without logits. */
  ownLogp = Number.NaN;
  freshIsOwn = false;
  usedIsOwn = false;
  /** Which of the two numbers is to be explained. */
  oldIsOdd = false;
  newIsOdd = false;

  constructor(
    readonly iteration: Iteration,
    /** Whether two log-probabilities are the same, given how far the row's two are apart. */
    readonly close: (a: number, b: number, gap: number) => boolean,
  ) {
    this.sampled = scoresOf(iteration, 'samples');
    this.replayed = updateScores(iteration);
    this.baseIsReplay = !this.sampled.logits && this.replayed.logits !== null;
    this.base = this.baseIsReplay ? this.replayed : this.sampled;
  }

  /** Puts the cursor on a row. */
  at(row: ReplayRow): this {
    this.row = row;
    this.ownLogp =
      this.base.logits && row.action >= 0 ? this.distribution(this.view, this.own).logp(row.action) : Number.NaN;
    const canScore = !Number.isNaN(this.ownLogp);
    this.freshIsOwn = canScore && this.agrees(row.fresh, this.ownLogp);
    this.usedIsOwn = canScore && this.agrees(row.used, this.ownLogp);
    this.oldIsOdd = !this.usedIsOwn && this.comparable;
    this.newIsOdd = !this.freshIsOwn && (this.usedIsOwn || !canScore || this.baseIsReplay);
    return this;
  }

  agrees(a: number, b: number): boolean {
    return this.close(a, b, Math.abs(this.row.fresh - this.row.used));
  }

  /** The row as it was sampled. */
  get view(): View {
    return { temperature: this.sampled.temperatureOf(this.row.sample), mask: 'own', place: this.row.action };
  }

  score(view: View): number {
    const found = this.distribution(view, this.other);
    return found.logp(view.limit === undefined ? view.place : Math.min(view.place, found.count - 1));
  }

  /** The sampling logits were recorded, so that a view of them can be scored. */
  get canScore(): boolean {
    return this.base.logits !== null && !this.baseIsReplay && this.row.action >= 0;
  }

  /** The update's logits stand in for those of sampling only where both scored the same candidates. */
  get comparable(): boolean {
    return !this.baseIsReplay || (this.sameList && this.sameMask);
  }

  get hasLists(): boolean {
    return this.replayed.subset !== null && this.sampled.subset !== null;
  }

  get sameList(): boolean {
    return !this.hasLists || this.sampled.sameList(this.row.sample, this.replayed, this.row.replay);
  }

  get sameMask(): boolean {
    return this.sampled.sameMask(this.row.sample, this.replayed, this.row.replay);
  }

  /** What the lists and logits that the update recorded give; NaN where it recorded none. */
  get recordedScore(): number {
    if (!this.replayed.logits || this.row.action < 0) return Number.NaN;
    const found = this.recorded(this.row.replay);
    return found.logp(Math.min(this.row.action, found.count - 1));
  }

  /** The distribution of a row of the update, by the logits and the mask that it recorded. */
  recorded(replay: number): Distribution {
    return this.other.of(this.replayed, replay, this.replayed.temperatureOf(replay), true);
  }

  /** The update's logits are the row's own in their own order, and yet its log-probability is another: it scored another action. */
  get inOwnOrder(): boolean {
    const { recordedScore, ownLogp, row } = this;
    return this.canScore && this.agrees(recordedScore, ownLogp) && !this.agrees(recordedScore, row.fresh);
  }

  /** What a row of a table gives to a place of its list, under the cursor's own mask and temperature. */
  scoreWith(scores: Scores, row: number, place: number): number {
    const { sample } = this.row;
    return this.other.of(scores, row, this.view.temperature, true, this.sampled, sample).logp(place);
  }

  /** Old log-probabilities of the iteration, sorted. */
  get olds(): Float64Array {
    this.sortedOld ??= Float64Array.from(this.iteration.samples!.measured('old_logp')!).sort();
    return this.sortedOld;
  }

  /** The rows of the update that entered one minibatch with the row under the cursor, as they lie in the table. */
  get minibatch(): Span {
    const { replay } = this.row;
    if (this.span && replay >= this.span.from && replay < this.span.to) return this.span;
    const { replays } = this.iteration;
    const keys = ['epoch', 'minibatch', 'policy'].map((name) => replays!.column(name));
    const together = (i: number) => keys.every((key) => !key || key[i] === key[replay]);
    let [from, to] = [replay, replay + 1];
    while (from > 0 && together(from - 1)) from--;
    while (to < replays!.rows && together(to)) to++;
    this.span = { from, to, totals: [] };
    return this.span;
  }

  /** The logarithm of what the logits of one place sum up to over the rows of the minibatch. */
  totalOver(place: number): number {
    const { from, to, totals } = this.minibatch;
    if (totals[place] === undefined) {
      const scores = this.replayed;
      const logits: number[] = [];
      for (let i = from; i < to; i++)
        if (place < scores.count(i) && scores.isLegal(i, place))
          logits.push(scores.logit(i, place) / scores.temperatureOf(i));
      const top = logits.reduce((most, logit) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
      totals[place] = top + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0));
    }
    return totals[place];
  }

  /** A sample with the list that the update used; undefined where none has it. */
  get rowWithList(): number | undefined {
    if (!this.lists) {
      this.lists = new Map();
      for (let i = this.iteration.samples!.rows - 1; i >= 0; i--) this.lists.set(listKey(this.sampled, i), i);
    }
    return this.lists.get(listKey(this.replayed, this.row.replay));
  }

  private distribution(view: View, into: Distribution): Distribution {
    const { sample, replay } = this.row;
    const row = this.baseIsReplay ? replay : sample;
    const [mask, maskRow] = view.mask === 'update' ? [this.replayed, replay] : [this.sampled, view.maskRow ?? sample];
    return into.of(this.base, row, view.temperature, view.mask !== 'none', mask, maskRow, view.limit);
  }
}

function listKey(scores: Scores, row: number): string {
  let key = '';
  for (let i = 0; i < scores.count(row); i++) key += `${scores.id(row, i)},`;
  return key;
}
