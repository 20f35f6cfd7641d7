/** Does the memory forget where episodes end, and does the update run it over the rows as they were lived, from the states that acting had? Judged by the states themselves, so a program that carries its memory on purpose has to declare `memory_across_episodes`. */
import { told } from '../../../language/language.ts';
import { type Check, confidence, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { States } from '../../memory/states.ts';
import { StateOf } from '../../transforms/memory/state-of.ts';

const check = 'memory';

export const memory: Check = {
  id: check,
  group: 'replay',
  question: [
    'Does the memory forget where episodes end, and does the update replay its states in their order?',
    '记忆是否在回合结束处清空，更新是否按原顺序重放其状态？',
  ],
  needs: [['samples.state_in', 'samples.state_hash', 'samples.state_norm', 'replays.sequence']],
  causes: ['recurrent-state-not-reset', 'recurrent-state-stale', 'recurrent-state-not-replayed', 'sequences-shuffled'],
  start: (run) => new MemoryPass(run),
};

type FindingMaker = (
  cause: string,
  rows: number,
  at: string,
  is: ConstructorParameters<typeof StateOf>[0] | null,
  summary: string,
  proof?: ProofStore,
) => Finding;

/** Rows that were looked at, and those that are wrong. */
interface Tally {
  looked: number;
  wrong: number;
}
const tally = (): Tally => ({ looked: 0, wrong: 0 });
const mostly = ({ looked, wrong }: Tally) => wrong >= fewestRows && wrong >= limits.most.value * looked;
const note = (own: Tally, wrong: boolean) => {
  own.looked++;
  if (wrong) own.wrong++;
};

class MemoryPass implements Pass {
  /** First rows of episodes in which acting remembers something, by how the episode before them ended; second rows that remember nothing after such. */
  private readonly starts = { terminated: tally(), truncated: tally() };
  private readonly second = tally();
  /** The update's states: where sequences begin, where episodes begin inside of them, and which other state the first ones are. */
  private readonly first = tally();
  private readonly inside = tally();
  private readonly is = { next: 0, previous: 0, earlier: 0 };
  /** Rows of a sequence that do not come after the one before them. */
  private readonly order = tally();
  private looked = 0;
  private disagreeing = 0;
  private misrecorded = false;
  private known = false;
  private before: States | null = null;
  private readonly onset = new Map<string, number>();
  private readonly proofs = {
    reset: new ProofStore(),
    inside: new ProofStore(),
    order: new ProofStore(),
    next: new ProofStore(),
    previous: new ProofStore(),
    earlier: new ProofStore(),
  };

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples, replays } = iteration;
    if (!samples) return;
    const states = new States(samples);
    if (states.there) this.acting(iteration, states);
    if (replays) this.update(iteration, states);
    this.before = states.there ? states : null;
  }

  private struck(what: string, { number }: Iteration): void {
    if (!this.onset.has(what)) this.onset.set(what, number);
  }

  /** Where only hashes are known there is nothing to draw. */
  private keep(what: keyof MemoryPass['proofs'], target: number, before: number, after = Number.NaN): void {
    if (!Number.isNaN(target) && !Number.isNaN(before)) this.proofs[what].step(target, before, after);
  }

  private acting(iteration: Iteration, states: States): void {
    const { samples, chains } = iteration;
    const [t, terminated, truncated] = ['t', 'terminated', 'truncated'].map((name) => samples!.column(name));
    if (!chains || !t) return;
    // The very first rows of the run have no episode before them: what they hold is the initial state, or else the states were noted after the step.
    const begin = firstRow(chains.rows, (row) => t[row] === 0 && chains.streamPrevious[row] < 0 && states.knows(row));
    if (!this.known && begin >= 0) {
      this.known = true;
      for (let row = 0; row < chains.rows; row++)
        if (t[row] === 0 && chains.streamPrevious[row] < 0 && !states.same(row, states, begin)) this.misrecorded = true;
      if (states.isZero(begin) === false && !this.learned(states, begin, chains.rows)) this.misrecorded = true;
    }
    if (this.misrecorded || begin < 0) return;
    for (let row = 0; row < chains.rows; row++) {
      const last = chains.streamPrevious[row];
      if (t[row] !== 0 || last < 0 || !states.knows(row)) continue;
      const remembers = states.isZero(row) !== true && !states.same(row, states, begin);
      const kind = terminated?.[last] === 1 ? 'terminated' : truncated?.[last] === 1 ? 'truncated' : null;
      if (!kind) continue;
      note(this.starts[kind], remembers);
      if (!remembers) continue;
      this.struck('reset', iteration);
      this.keep('reset', states.size(row), states.size(begin));
      const after = chains.next[row];
      if (after >= 0) note(this.second, states.isZero(after) === true || states.same(after, states, begin));
    }
  }

  /** An initial state that is learned is the same in several rows. */
  private learned(states: States, begin: number, rows: number): boolean {
    let same = 0;
    for (let row = 0; row < rows; row++) if (states.same(row, states, begin)) same++;
    return same > 1;
  }

  private update(iteration: Iteration, states: States): void {
    const { replays, chains, samples } = iteration;
    const updated = new States(replays);
    const [sample, sequence] = [replays!.column('sample')!, replays!.column('sequence')];
    const [epoch, minibatch] = [replays!.column('epoch')!, replays!.column('minibatch')!];
    const [fresh, stored, t] = [replays!.measured('new_logp')!, samples!.measured('old_logp')!, samples!.column('t')];
    if (!chains || !t) return;
    const latest = new Map<number, number>();
    for (const i of iteration.first) {
      const row = sample[i];
      this.looked++;
      if (Math.abs(fresh[i] - stored[row]) > limits.logp.value) this.disagreeing++;
      const key = sequence
        ? (epoch[i] * limits.mostSequences.value + minibatch[i]) * limits.mostSequences.value + sequence[i]
        : Number.NaN;
      const last = latest.get(key);
      if (!Number.isNaN(key)) latest.set(key, row);
      if (last !== undefined) {
        // Rows that were left out leave gaps; rows of another stream, or earlier ones, do not.
        note(this.order, !comesAfter(chains, last, row));
        if (!comesAfter(chains, last, row)) {
          this.struck('order', iteration);
          if (chains.streamNext[last] >= 0) this.keep('order', row, chains.streamNext[last]);
        }
      }
      if (!states.there || !updated.there || !updated.knows(i) || !states.knows(row)) continue;
      const differs = !updated.same(i, states, row);
      if (t[row] === 0 && chains.streamPrevious[row] >= 0) {
        note(this.inside, differs && updated.isZero(i) === false);
        if (differs) {
          this.struck('inside', iteration);
          this.keep('inside', updated.size(i), states.size(row));
        }
        continue;
      }
      // Where both remember nothing there is nothing to replay.
      if (!sequence || last !== undefined || (!differs && states.isZero(row) === true)) continue;
      note(this.first, differs);
      if (!differs) continue;
      this.struck('first', iteration);
      const others = [
        ['next', states, chains.streamNext[row]],
        ['previous', states, chains.streamPrevious[row]],
        ['earlier', this.before, this.before?.knows(row) ? row : -1],
      ] as const;
      const other = others.find(([, table, at]) => table && at >= 0 && updated.same(i, table, at));
      if (!other) continue;
      const [is, table, at] = other;
      this.is[is]++;
      this.keep(is, updated.size(i), states.size(row), table!.size(at));
    }
  }

  finish(): Outcome {
    const { starts, first, inside, order } = this;
    const measured: Outcome['measured'] = {
      rows: this.looked,
      starts: starts.terminated.looked + starts.truncated.looked,
      not_reset: starts.terminated.wrong + starts.truncated.wrong,
      first_states: first.looked,
      other_first_states: first.wrong,
      out_of_order: order.wrong,
    };
    const expected = { not_reset: 0, other_first_states: 0, out_of_order: 0 };
    const evidence = [{ check, measured, expected }];
    if (this.misrecorded)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told(
          'the first states of the run differ from environment to environment: they seem to be noted after the step, and state_in is the state before it',
          '运行最初的状态在各环境间不同：它们似乎是在该步之后记下的，而 state_in 是该步之前的状态',
        ),
      };
    const finding: FindingMaker = (cause, rows, at, is, summary, proof) => {
      const transform = is ? new StateOf(is) : null;
      const [quantity, used, own] =
        at === 'order'
          ? ['row', 'in the update', 'as it was lived']
          : [
              'length of the hidden state',
              at === 'reset' ? 'as an episode begins' : 'in the update',
              'as it should be',
            ];
      return {
        cause,
        confidence: confidence(1, rows),
        agents: [],
        onset: this.onset.get(at) ?? 0,
        rows,
        ...(transform ? { transform, ...proof?.prove(quantity, used, own, transform) } : {}),
        summary,
        told: true,
        evidence,
      };
    };
    const findings: Finding[] = [];
    const reset = this.notReset(finding);
    if (reset) findings.push(reset);
    const off = this.disagreeing >= Math.max(fewestRows, noticedShare * this.looked);
    if (off && order.wrong >= Math.max(fewestRows, noticedShare * order.looked))
      findings.push(
        finding(
          'sequences-shuffled',
          order.wrong,
          'order',
          'other-order',
          told(
            `The update runs the memory over rows in another order than they were lived: ${order.wrong} of ${order.looked} steps within sequences lead to another stream or back in time.`,
            `更新让记忆以与经历不同的顺序通过各行：序列内 ${order.looked} 步中有 ${order.wrong} 步通向另一条流或回到过去。`,
          ),
          this.proofs.order,
        ),
      );
    else if (off && first.wrong >= limits.fewestStates.value && first.wrong >= limits.most.value * first.looked)
      findings.push(this.otherFirst(finding));
    else if (off && !reset && mostly(inside))
      findings.push(
        finding(
          'recurrent-state-not-reset',
          inside.wrong,
          'inside',
          'episode-before',
          told(
            `The update goes on with the hidden state of the episode before on ${inside.wrong} of ${inside.looked} first rows of episodes, where acting had forgotten it.`,
            `在 ${inside.looked} 个回合首行中，更新有 ${inside.wrong} 行沿用了上一回合的隐藏状态，而行动时已清空。`,
          ),
          this.proofs.inside,
        ),
      );
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings };
  }

  private notReset(finding: FindingMaker): Finding | null {
    const { terminated, truncated } = this.starts;
    if (this.run.setting('memory_across_episodes') === true) return null;
    const [a, b] = [mostly(terminated), mostly(truncated)];
    if (!a && !b) return null;
    const clean = ({ looked, wrong }: Tally) => looked >= fewestRows && wrong <= noticedShare * looked;
    const late = mostly(this.second);
    const is = late
      ? 'late'
      : a && clean(truncated)
        ? 'after-termination'
        : b && clean(terminated)
          ? 'after-truncation'
          : 'episode-before';
    const rows = terminated.wrong + truncated.wrong;
    return finding(
      'recurrent-state-not-reset',
      rows,
      'reset',
      is,
      told(
        `Acting enters ${rows} of ${terminated.looked + truncated.looked} episodes with a hidden state that is not the initial one: ${new StateOf(is).describe()}.`,
        `行动进入 ${terminated.looked + truncated.looked} 个回合中的 ${rows} 个时，隐藏状态不是初始状态：${new StateOf(is).describe()}。`,
      ),
      this.proofs.reset,
    );
  }

  private otherFirst(finding: FindingMaker): Finding {
    const { first } = this;
    const kinds = [
      ['next-row', this.is.next, 'next'],
      ['previous-row', this.is.previous, 'previous'],
      ['earlier-iteration', this.is.earlier, 'earlier'],
    ] as const;
    const [is, rows, key] = kinds.reduce((best, kind) => (kind[1] > best[1] ? kind : best));
    if (rows >= Math.max(limits.fewestStates.value, limits.most.value * first.wrong))
      return finding(
        'recurrent-state-stale',
        rows,
        'first',
        is,
        told(
          `The update starts ${rows} of ${first.looked} sequences from a hidden state of another time than the row's own: ${new StateOf(is).describe()}.`,
          `更新的 ${first.looked} 个序列中有 ${rows} 个从另一时刻的隐藏状态开始：${new StateOf(is).describe()}。`,
        ),
        this.proofs[key],
      );
    return finding(
      'recurrent-state-not-replayed',
      first.wrong,
      'first',
      null,
      told(
        `The update starts ${first.wrong} of ${first.looked} sequences from another hidden state than acting had at their first row (share ${figure(first.wrong / first.looked)}).`,
        `更新的 ${first.looked} 个序列中有 ${first.wrong} 个没有从行动在其首行时的隐藏状态开始（占 ${figure(first.wrong / first.looked)}）。`,
      ),
    );
  }
}

function firstRow(rows: number, wanted: (row: number) => boolean): number {
  for (let row = 0; row < rows; row++) if (wanted(row)) return row;
  return -1;
}

/** Whether a row comes later in the same stream, at most a few rows on. */
function comesAfter({ streamNext }: { streamNext: ArrayLike<number> }, last: number, row: number): boolean {
  let at = streamNext[last];
  for (let i = 0; i < limits.sequenceGap.value && at >= 0; i++) {
    if (at === row) return true;
    at = streamNext[at];
  }
  return false;
}
