/** One iteration as the checks see it: its rows, and what is computed from them once for all checks. `before` marks replays that precede every optimiser step of their policy. */

import {
  advantages,
  type CreditFigures,
  type CreditInputs,
  type EndRule,
  type Flow,
  flow,
} from '../../math/advantages.ts';
import { buildChains, type Chains } from '../../math/chains.ts';
import { budgets } from '../budgets.ts';
import { clipsInUse } from './clip-in-use.ts';
import { type Ahead, statsOf } from './reading/ahead.ts';
import type { Slice } from './reading/stream.ts';
import { type Folded, unfolded } from './rewards/folded-rewards.ts';
import { markedBy, type Numbers, type Rows } from './rows.ts';
import type { Run } from './run.ts';
import type { Replayed } from './run-policies.ts';
import { givenCredit, leftOut } from './steps/left-out.ts';
import { logCounts } from './steps/log-counts.ts';
import { movedWithin } from './steps/slices.ts';
import { policyOfStep, stepKey, stride } from './steps/step-key.ts';
import { declaredClip, type StepStat, type StepStats, stepStats } from './steps/step-stats.ts';

export class Iteration {
  readonly number: number;
  samples: Rows | null;
  /** What the recording's own policies give on these rows, where they were run. */
  replayed: Replayed | null = null;
  readonly responses: Rows | null;
  replays: Rows | null;
  readonly targets: Rows | null;
  readonly copies: Rows | null;
  readonly steps: Rows | null;
  readonly tensors: Rows | null;
  private keptChains: Chains | null | undefined;
  private keptBefore: Uint8Array | null | undefined;
  private keptOwn: Uint8Array | null = null;
  private keptLeftOut: Uint8Array | null | undefined;
  private keptFirst: Int32Array | null = null;
  private readonly passes = new Map<number, Int32Array>();
  private keptCredit: CreditInputs | null | undefined;
  private keptFolded: Folded | null | undefined;
  private keptPairs: Map<number, number[]> | null = null;
  private keptStats: StepStats | null = null;
  private ahead: Ahead | null = null;
  private keptUnweighed: Map<number, StepStat> | null | undefined;
  private keptHalves: Map<number, StepStat> | null = null;
  /** Per policy, the clip range in use where a schedule moved it away from the declared one. */
  clips: ReadonlyMap<number, number> = new Map();
  private keptClips: Map<number, number> | null = null;
  private keptLogCount: Float64Array | null | undefined;
  private readonly flows = new Map<EndRule, Flow>();

  constructor(
    readonly run: Run,
    slice: Slice,
  ) {
    this.number = slice.number;
    this.samples = slice.tables.samples ?? null;
    this.responses = slice.tables.responses ?? null;
    this.replays = slice.tables.replays ?? null;
    this.targets = slice.tables.targets ?? null;
    this.copies = slice.tables.copies ?? null;
    this.steps = slice.tables.steps ?? null;
    this.tensors = slice.tables.tensors ?? null;
    if (slice.ahead) this.adopt(slice.ahead);
    const all = [this.samples, this.responses, this.replays, this.targets, this.copies, this.steps, this.tensors];
    for (const rows of all) {
      for (const name of rows?.known() ?? []) run.seen.add(`${rows!.table}.${name}`);
      if (rows) run.rows[rows.table] = (run.rows[rows.table] ?? 0) + rows.rows;
    }
    const agent = this.samples?.column('agent');
    // A number beyond all agents is damage, which the judge of rows tells; tables by agent must not grow with it.
    for (let i = 0; agent && i < agent.length; i++)
      if (agent[i] >= run.agentCount && agent[i] < budgets.agentNumbers) run.agentCount = agent[i] + 1;
  }

  /** Takes what was computed of the same rows where they were read. */
  private adopt(ahead: Ahead): void {
    this.ahead = ahead;
    this.keptOwn = ahead.own;
    this.keptBefore = ahead.before;
    this.keptLogCount = ahead.logCount;
  }

  /** Takes the policies' own logits in place of those that were not recorded. */
  adoptLogits(lists: readonly ArrayLike<number>[]): void {
    this.samples = this.samples!.withLists('logits', lists);
    [this.ahead, this.keptLogCount] = [null, undefined];
    this.run.seen.add('samples.logits');
  }

  /** Goes by these rows in place of those that `sample` points at. Asked before anything else is computed. */
  renumber(sample: Int32Array): void {
    this.replays = this.replays!.withNumbers('sample', sample);
    [this.ahead, this.keptOwn, this.keptFirst] = [null, null, null];
  }

  /** Goes by these columns in place of those that were recorded. Asked before the checks look. */
  replaceSamples(columns: Record<string, ArrayLike<number>>): void {
    for (const [name, values] of Object.entries(columns)) this.samples = this.samples!.withNumbers(name, values);
    [this.keptChains, this.keptCredit, this.keptFolded, this.keptPairs] = [undefined, undefined, undefined, null];
    this.ahead = null;
    this.flows.clear();
  }

  /** A deliberate diagnostic change was in force. */
  get probed(): boolean {
    return this.steps?.texts('probe')?.some((name) => name !== '') ?? false;
  }

  /** Figures of every optimiser step, recomputed from its rows; by `stepKey`. */
  get stats(): Map<number, StepStat> {
    return this.bothStats.whole;
  }

  private get bothStats(): StepStats {
    if (!this.keptStats && this.ahead) [this.keptStats, this.clips] = [statsOf(this.ahead), this.ahead.clips];
    if (!this.keptStats) {
      const declared = stepStats(this);
      this.clips = clipsInUse(this, declared);
      this.keptStats = this.clips.size > 0 ? stepStats(this, this.clips) : declared;
    }
    return this.keptStats;
  }

  /** The same where a step's readings are means of its two halves' means. */
  get halves(): Map<number, StepStat> {
    this.keptHalves ??= this.bothStats.halves();
    return this.keptHalves;
  }

  /** The same over all rows alike, where some have no weight; else null. */
  get unweighed(): Map<number, StepStat> | null {
    if (this.keptUnweighed !== undefined) return this.keptUnweighed;
    const some = this.replays?.column('weight')?.includes(0) ?? false;
    this.keptUnweighed = some && this.stats.size > 0 ? stepStats(this, this.clips, false).whole : null;
    return this.keptUnweighed;
  }

  /** The clip range of a step: what the step says, or else what was found to be in use, or is declared. */
  clipOf(key: number, clips = this.clips): number {
    this.keptClips ??= clipsOf(this.steps);
    return this.keptClips.get(key) ?? clips.get(policyOfStep(key)) ?? declaredClip(this);
  }

  /** Whether the step itself says where it clips. */
  tellsClip(key: number): boolean {
    this.keptClips ??= clipsOf(this.steps);
    return this.keptClips.has(key);
  }

  /** Per sample, the logarithm of how many candidates could be chosen. */
  get logCount(): Float64Array | null {
    if (this.keptLogCount === undefined) this.keptLogCount = this.samples && logCounts(this.samples);
    return this.keptLogCount;
  }

  get chains(): Chains | null {
    if (this.keptChains !== undefined) return this.keptChains;
    const episode = this.samples?.column('episode');
    const t = this.samples?.column('t');
    const agent = this.samples?.column('agent');
    this.keptChains = episode && t && agent ? buildChains(episode, t, agent, this.samples!.column('env')) : null;
    return this.keptChains;
  }

  /** What follows a time limit taken out of the rewards, where the program has added it to them; else null. */
  get folded(): Folded | null {
    if (this.keptFolded === undefined)
      this.keptFolded = this.samples && unfolded(this.samples, this.run.number('gamma'));
    return this.keptFolded;
  }

  get credit(): CreditInputs | null {
    if (this.keptCredit !== undefined) return this.keptCredit;
    const { samples, chains } = this;
    const value = samples?.column('value');
    const reward = this.folded?.reward ?? samples?.column('reward');
    const terminated = samples?.column('terminated');
    const truncated = samples?.column('truncated') ?? null;
    // Declared so, a time limit is an end like any other, under every rule.
    const alike = terminated && truncated && this.run.setting('truncation_bootstraps') === false;
    this.keptCredit =
      samples && chains && reward && value && terminated
        ? {
            chains,
            reward,
            value,
            terminated: alike
              ? Int32Array.from(terminated, (flag, i) => (flag === 1 || truncated[i] === 1 ? 1 : 0))
              : terminated,
            truncated: alike ? null : truncated,
            nextValue: this.folded?.next ?? samples.column('next_value'),
          }
        : null;
    return this.keptCredit;
  }

  /**
   * Advantages under an end rule. Where a bootstrap was not recorded it is taken from the recorded advantage, so the row itself proves
   * nothing but the rows before it do. `reward` stands in for the recorded rewards.
   */
  advantages(rule: EndRule, figures: CreditFigures, reward?: ArrayLike<number>): Float64Array | null {
    if (!this.credit) return null;
    const credit = { ...this.credit, ...(reward ? { reward } : {}) };
    // Credit reaches a row that enters no loss only where an end before it is misread.
    if (rule !== 'asRecorded') credit.given = givenCredit(this);
    const out = new Float64Array(credit.chains.rows);
    const kept = this.flow(rule)!;
    const recorded = this.samples!.column('advantage');
    const { gamma } = figures;
    if (!recorded || gamma === 0) return advantages(credit, kept, figures, out);
    let boot = kept.boot;
    for (let i = 0; i < boot.length; i++) {
      if (!Number.isNaN(boot[i])) continue;
      if (boot === kept.boot) boot = boot.slice();
      boot[i] = (recorded[i] - credit.reward[i] + credit.value[i]) / gamma;
    }
    return advantages(credit, { carry: kept.carry, boot }, figures, out);
  }

  /** Which row's credit every row carries under an end rule, and what it bootstraps; null where columns are missing. */
  flow(rule: EndRule): Flow | null {
    if (!this.credit) return null;
    const kept = this.flows.get(rule) ?? flow(this.credit, rule);
    this.flows.set(rule, kept);
    return kept;
  }

  /** Rows of other agents at the same (episode, t). */
  others(row: number): number[] {
    const episode = this.samples!.column('episode')!;
    const t = this.samples!.column('t')!;
    if (!this.keptPairs) {
      this.keptPairs = new Map();
      for (let i = 0; i < this.samples!.rows; i++) {
        const key = episode[i] * 1048576 + t[i];
        const list = this.keptPairs.get(key);
        if (list) list.push(i);
        else this.keptPairs.set(key, [i]);
      }
    }
    return (this.keptPairs.get(episode[row] * 1048576 + t[row]) ?? []).filter((other) => other !== row);
  }

  /** 1 for every replay of a sample that is here: rows of an earlier iteration are not. */
  get own(): Uint8Array {
    if (this.keptOwn) return this.keptOwn;
    const rows = this.replays?.rows ?? 0;
    const own = new Uint8Array(rows);
    const sample = this.replays?.column('sample');
    const source = this.replays?.column('source_iteration');
    const samples = this.samples?.rows ?? 0;
    for (let i = 0; sample && i < rows; i++)
      if (sample[i] < samples && !(source && source[i] !== this.number && !Number.isNaN(source[i]))) own[i] = 1;
    this.keptOwn = own;
    return own;
  }

  /** Samples that enter no loss; null where all do. */
  get leftOut(): Uint8Array | null {
    if (this.keptLeftOut === undefined) this.keptLeftOut = leftOut(this);
    return this.keptLeftOut;
  }

  /** 1 for every replay that no optimiser step of its policy precedes in this iteration. */
  get before(): Uint8Array | null {
    if (this.keptBefore !== undefined) return this.keptBefore;
    const { replays } = this;
    this.keptBefore = null;
    if (!replays) return null;
    const epoch = replays.column('epoch')!;
    const minibatch = replays.column('minibatch')!;
    const policy = replays.column('policy');
    const weight = replays.column('weight');
    const first = this.firstSteps(epoch, minibatch, policy, weight);
    // Rows of several passes share a place, and which of them precede the first step is not recorded: none is vouched for.
    for (const who of movedWithin(this.run, this.tensors, first)) first.set(who, -1);
    const before = new Uint8Array(replays.rows);
    let [latest, last] = [Number.NaN, 0];
    for (let i = 0; i < before.length; i++) {
      const who = policy ? policy[i] : 0;
      // Rows of one policy mostly follow one another.
      if (who !== latest) [latest, last] = [who, first.get(who) ?? 0];
      before[i] = epoch[i] * stride + minibatch[i] <= last ? 1 : 0;
    }
    this.keptBefore = before;
    return before;
  }

  /** Numbers of the replays that no optimiser step of their policy precedes and whose sample is here. */
  get first(): Int32Array {
    this.keptFirst ??= this.before ? markedBy(this.before, this.own) : new Int32Array(0);
    return this.keptFirst;
  }

  /** Numbers of the replays of one pass over the batch that entered the loss and whose sample is here. */
  pass(number: number): Int32Array {
    const kept = this.passes.get(number);
    if (kept) return kept;
    const { own } = this;
    const [epoch, weight] = [this.replays?.column('epoch'), this.replays?.column('weight')];
    const rows = new Int32Array(own.length);
    let count = 0;
    for (let row = 0; epoch && row < rows.length; row++)
      if (epoch[row] === number && own[row] === 1 && !(weight && weight[row] === 0)) rows[count++] = row;
    this.passes.set(number, rows.slice(0, count));
    return this.passes.get(number)!;
  }

  /** Per policy, the first step that moved something: the ones before it were skipped. */
  private firstSteps(
    epoch: Numbers,
    minibatch: Numbers,
    policy: Numbers | null,
    weight: Numbers | null,
  ): Map<number, number> {
    const used = new Map<number, number>();
    const note = (key: number, at: number) => used.set(key, Math.min(at, used.get(key) ?? Number.POSITIVE_INFINITY));
    const skipped = this.steps?.column('skipped');
    const stepEpoch = this.steps?.column('epoch');
    const stepMinibatch = this.steps?.column('minibatch');
    if (skipped && stepEpoch && stepMinibatch) {
      const stepPolicy = this.steps!.column('policy');
      for (let i = 0; i < skipped.length; i++)
        if (skipped[i] !== 1) note(stepPolicy ? stepPolicy[i] : 0, stepEpoch[i] * stride + stepMinibatch[i]);
      if (used.size === 0) for (let i = 0; i < epoch.length; i++) used.set(policy ? policy[i] : 0, Number.MAX_VALUE);
    } else {
      for (let i = 0; i < epoch.length; i++)
        if (weight?.[i] !== 0) note(policy ? policy[i] : 0, epoch[i] * stride + minibatch[i]);
    }
    return used;
  }
}

function clipsOf(steps: Rows | null): Map<number, number> {
  const found = new Map<number, number>();
  const clip = steps?.column('clip');
  if (!steps || !clip) return found;
  const [epoch, minibatch, policy] = [steps.column('epoch')!, steps.column('minibatch')!, steps.column('policy')];
  for (let i = 0; i < steps.rows; i++)
    // A schedule may end at 0, where every ratio but 1 is clipped.
    if (clip[i] >= 0) found.set(stepKey(epoch[i], minibatch[i], policy ? policy[i] : 0), clip[i]);
  return found;
}
