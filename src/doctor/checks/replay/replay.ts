/** Before a policy's first step of an iteration, new_logp must equal old_logp. Rows that disagree are explained by the transform that makes them agree. */
import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { absurdLogp, type Check, confidence, fewestRows, logpTolerance, noticedShare, type Pass } from '../../check.ts';
import { type Finding, figure, leaving, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { foundBy } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Cover, type Trial } from '../../pairing/cover.ts';
import { resolution, Scores } from '../../pairing/scoring.ts';
import { Composed } from '../../transforms/composed.ts';
import { OldLogp } from '../../transforms/replay/old-logp.ts';
import { type ReplayRow, ReplayRows } from '../../transforms/replay/replay-rows.ts';
import { fitTemperature, Temperature } from '../../transforms/replay/temperature.ts';
import { ByList } from './by-list.ts';
import { DrawnBy } from './drawn-by.ts';
import { besideTemperature, hypotheses, type ReplayHypothesis, singles } from './hypotheses.ts';
import { OtherLogits } from './other-logits.ts';
import { blank, tryOne } from './trial.ts';

/** What half precision adds to the distance of two numbers that are the same: such columns are compared as exactly as they were kept. */
const halfPrecision = (step: number, value: number) =>
  step > limits.halfPrecision.value ? limits.halfSteps.value * step * (1 + Math.abs(value)) : 0;

export const replay: Check = {
  id: 'replay',
  group: 'replay',
  question: ['Does the update replay the distribution that was sampled from?', '更新是否重放了采样时的分布？'],
  needs: [['replays.new_logp'], ['samples.old_logp', 'replays.old_logp']],
  causes: [...new Set(hypotheses.map(({ cause }) => cause)), 'recurrent-state-not-replayed', 'stale-samples'],
  start: (run) => new ReplayPass(run),
};

const unknownNumber = hypotheses.findIndex(
  ({ transform }) => transform instanceof OldLogp && transform.is === 'other-number',
);

class ReplayPass implements Pass {
  private looked = 0;
  private disagreeing = 0;
  /** Of those, the rows that entered the loss; a guard may leave the others out. */
  private kept = 0;
  private noticed = 0;
  private unexplained = {
    count: 0,
    sum: 0,
    squares: 0,
    agents: new Set<number>(),
    onset: Number.POSITIVE_INFINITY,
  };
  private largest = 0;
  private readonly cover = new Cover(hypotheses);
  private readonly others: OtherLogits;
  private readonly byList = new ByList();
  private readonly drawn = new DrawnBy();
  private againDiffers = 0;
  private againLooked = 0;
  /** Of the rows that were explained or not: those whose update had the row's own logits, and made something else of them. */
  private readonly tried = { rows: 0, ownLogits: 0 };

  constructor(private readonly run: Run) {
    this.others = new OtherLogits(run);
  }

  iteration(iteration: Iteration): void {
    const { samples, replays } = iteration;
    if (!samples || !replays || iteration.probed) return;
    const fresh = replays.measured('new_logp')!;
    const stored = samples.measured('old_logp')!;
    const used = replays.column('old_logp');
    const again = replays.column('again_logp');
    const entropy = replays.column('entropy');
    const action = samples.column('action');
    const agent = samples.column('agent')!;
    const policy = replays.column('policy');
    const weight = replays.column('weight');
    const sample = replays.column('sample')!;
    const sampled = new Scores(samples);
    const step = Math.max(
      resolution(fresh),
      resolution(stored),
      sampled.logits ? resolution(sampled.logits.values) : 0,
    );
    const tolerance = (value: number) => Math.max(logpTolerance, halfPrecision(step, value));
    const rows: ReplayRow[] = [];
    const looked: number[] = [];
    const cells = new Map<number, { looked: number; disagreeing: number }>();
    let latest = Number.NaN;
    let cell = { looked: 0, disagreeing: 0 };
    const drawn = { fresh: new Float64Array(samples.rows).fill(Number.NaN), by: new Int32Array(samples.rows) };
    for (const i of iteration.first) {
      const s = sample[i];
      const by = policy ? policy[i] : 0;
      // A row that was drawn twice before the first step went through the same network twice: a second pass that nobody had to make, where its list was the same.
      if (drawn.by[s] === by && Number.isFinite(drawn.fresh[s] + fresh[i]))
        this.others.repeat(Math.abs(drawn.fresh[s] - fresh[i]) <= tolerance(fresh[i]));
      drawn.fresh[s] = fresh[i];
      drawn.by[s] = by;
      const old = used && !Number.isNaN(used[i]) ? used[i] : stored[s];
      // What is not finite is another check's; minus infinity in the update, or what a mask of -1e9 makes, is an action that it cannot choose.
      if (!(Math.abs(old) < absurdLogp) || !(fresh[i] <= absurdLogp)) continue;
      if (agent[s] !== latest) {
        latest = agent[s];
        cell = cells.get(latest) ?? { looked: 0, disagreeing: 0 };
        cells.set(latest, cell);
      }
      cell.looked++;
      looked.push(s);
      if (again && Number.isFinite(again[i])) {
        this.againLooked++;
        if (Math.abs(again[i] - fresh[i]) > tolerance(fresh[i])) this.againDiffers++;
      }
      const gap = Math.abs(fresh[i] - old);
      if (gap <= tolerance(old) || fresh[i] === old) continue;
      cell.disagreeing++;
      if (weight?.[i] !== 0) this.kept++;
      if (gap < absurdLogp) this.largest = Math.max(this.largest, gap);
      rows.push({
        sample: s,
        replay: i,
        action: action ? action[s] : -1,
        used: old,
        stored: stored[s],
        fresh: fresh[i] < -absurdLogp ? Number.NEGATIVE_INFINITY : fresh[i],
        again: again ? again[i] : Number.NaN,
        entropy: entropy ? entropy[i] : Number.NaN,
      });
    }
    for (const cell of cells.values()) {
      this.looked += cell.looked;
      this.disagreeing += cell.disagreeing;
    }
    const noticed = rows.filter(({ sample: s }) => {
      const cell = cells.get(agent[s])!;
      return cell.disagreeing >= noticedShare * cell.looked;
    });
    this.noticed += noticed.length;
    this.others.see(iteration, looked, rows);
    this.byList.see(iteration, looked, rows);
    if (noticed.length > 0 && !this.cover.full) this.explain(iteration, noticed, agent, policy, step);
  }

  private explain(
    iteration: Iteration,
    noticed: ReplayRow[],
    agent: ArrayLike<number>,
    policy: ArrayLike<number> | null,
    step: number,
  ): void {
    const { replayExact: exact, replayRelated: related } = limits;
    const close = (a: number, b: number, gap: number) =>
      a === b ||
      Math.abs(a - b) <= Math.min(logpTolerance, Math.max(exact.value, related.value * gap)) + halfPrecision(step, a);
    const rows = new ReplayRows(iteration, close);
    const stride = Math.max(1, Math.ceil(noticed.length / budgets.replayRows));
    const tried = noticed.filter((_, i) => i % stride === 0);
    const foreign = (row: ReplayRow) => {
      const own = this.run.policyOf(agent[row.sample]);
      return policy !== null && own >= 0 && own !== policy[row.replay];
    };
    // Foreign rows are no fault of the agent that made them.
    const blamed = tried.map((row) =>
      foreign(row) ? (this.run.agentsOf(policy![row.replay])[0] ?? agent[row.sample]) : agent[row.sample],
    );
    const trials = tryAll(rows, tried);
    trials[0] = tried.some(foreign)
      ? { ...blank(tried), match: Uint8Array.from(tried, (row) => (foreign(row) ? 2 : 0)) }
      : null;
    this.cover.add(iteration.number, blamed, trials);
    this.tried.rows += tried.length;
    tried.forEach((row, i) => {
      if (rows.at(row).inOwnOrder) this.tried.ownLogits++;
      if (trials[unknownNumber]?.match[i] === 2) this.drawn.add(row.fresh - row.used);
      if (trials.some((trial) => trial?.match[i] === 2) || !Number.isFinite(row.fresh - row.used)) return;
      this.others.add(rows.at(row), agent[row.sample]);
      const open = this.unexplained;
      open.count++;
      open.sum += row.fresh - row.used;
      open.squares += (row.fresh - row.used) ** 2;
      open.agents.add(agent[row.sample]);
      open.onset = Math.min(open.onset, iteration.number);
    });
  }

  finish(): Outcome {
    const share = this.disagreeing / Math.max(1, this.looked);
    const measured = {
      rows: this.looked,
      disagreeing: this.disagreeing,
      share: figure(share),
      largest: figure(this.largest),
      again_differs: this.againDiffers,
    };
    const expected = { share: 0, tolerance: logpTolerance };
    if (this.looked === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('no replay precedes the first step', '第一步之前没有重放'),
      };
    if (this.noticed < fewestRows && this.againDiffers < fewestRows)
      return {
        ...(this.kept >= fewestRows
          ? { status: 'warn', open: leaving(this.disagreeing, this.looked) }
          : { status: 'pass' }),
        measured,
        expected,
        findings: [],
      };
    const { findings, rest } = this.explained(share, measured, expected);
    const open = this.cover.left(rest, this.disagreeing, this.looked);
    const { excluded, halved } = this.others;
    const note =
      open && halved
        ? told(
            'the two passes differ by no more than half precision in one of them gives',
            '两次前向的差别不超过其中一次用半精度所带来的',
          )
        : undefined;
    return {
      status: 'fail',
      measured,
      expected,
      findings,
      ...(open ? { open: { ...open, excluded } } : {}),
      ...(note ? { note } : {}),
    };
  }

  /** Two passes over the same rows with nothing changed in between differ, on more rows than rounding would, and not only in what was made of the same logits. */
  private get noisy(): boolean {
    const { rows, ownLogits } = this.tried;
    if (ownLogits > limits.most.value * rows) return false;
    return this.againDiffers >= Math.max(fewestRows, noticedShare * this.againLooked);
  }

  private explained(
    share: number,
    measured: Outcome['measured'],
    expected: Outcome['expected'],
  ): { findings: Finding[]; rest: number } {
    const { found, open } = this.cover.explain();
    let rest = open;
    const findings: Finding[] = [];
    const evidence = [{ check: 'replay', measured, expected }];
    for (const explained of found) {
      const { rows } = explained;
      if (rows < Math.min(fewestRows, this.cover.rows) || rows < limits.replayShare.value * this.cover.rows) {
        rest += rows;
        continue;
      }
      const wording = ({ transform }: ReplayHypothesis) => ({
        quantity: 'log-probability',
        ...(transform.explains === 'old'
          ? { target: 'old_logp, as stored', before: 'new_logp before the first step' }
          : { target: 'new_logp before the first step', before: 'old_logp, as stored' }),
        summary: (fit: string) =>
          `Before the first step ${percent(share)} of the rows have another log-probability in the update than when they were sampled; ${fit} of those agree with`,
        evidence,
      });
      findings.push(...foundBy(explained, wording).map((finding) => this.drawn.named(finding)));
    }
    if (findings.length === 0 || open > limits.most.value * this.cover.rows) {
      const noise = this.noise(share, evidence);
      if (noise) {
        findings.push(noise);
        rest -= noise.rows;
      }
      const other =
        noise || this.noisy ? null : (this.byList.finding(evidence) ?? this.others.finding(open, share, evidence));
      if (other) {
        findings.push(other);
        rest -= Math.min(rest, other.rows);
      }
    }
    if (findings.length === 0 && this.noisy) findings.push(this.noiseOnly(evidence));
    return { findings, rest };
  }

  /** No transform fits, and a second pass differs too: independent noise shifts the mean log-ratio by minus half its variance. */
  private noise(share: number, evidence: Finding['evidence']): Finding | null {
    const { count, sum, squares, agents, onset } = this.unexplained;
    if (count < fewestRows || !this.noisy) return null;
    const mean = sum / count;
    const variance = squares / count - mean * mean;
    const error = Math.sqrt(variance / count);
    if (Math.abs(mean + variance / 2) > Math.max(limits.sigmas.value * error, limits.most.value * variance))
      return null;
    return {
      cause: 'stochastic-forward',
      confidence: confidence(1, count),
      agents: [...agents].sort((a, b) => a - b),
      onset,
      rows: count,
      before: share,
      summary: `The log-ratio before the first step is noise (mean ${figure(mean)}, variance ${figure(variance)}) that no transform removes.`,
      evidence,
    };
  }

  private noiseOnly(evidence: Finding['evidence']): Finding {
    return {
      cause: 'stochastic-forward',
      confidence: confidence(1, this.againDiffers),
      agents: [],
      onset: 0,
      rows: this.againDiffers,
      summary: `A second forward pass with nothing changed gives other log-probabilities on ${this.againDiffers} of ${this.againLooked} rows.`,
      evidence,
    };
  }
}

/** A trial by hypothesis. Two faults at once are tried only where no single one explains half of the rows. */
function tryAll(rows: ReplayRows, tried: readonly ReplayRow[]): (Trial | null)[] {
  const stride = Math.max(1, Math.floor(tried.length / budgets.fitRows));
  const few = tried.filter((row, i) => i % stride === 0 && Number.isFinite(rows.at(row).ownLogp));
  const single = singles.map(({ transform }) => {
    const fitted = transform.fitted ? transform.fitted(rows, few) : transform;
    return fitted && tryOne(rows, tried, fitted);
  });
  const explained = tried.filter((_, i) => single.some((trial) => trial?.match[i] === 2)).length;
  const both = besideTemperature.map(({ transform }) => {
    const divisor =
      explained < limits.most.value * tried.length ? fitTemperature(rows, few, 'update', transform) : null;
    return divisor === null ? null : tryOne(rows, tried, new Composed([transform, new Temperature('update', divisor)]));
  });
  return [...single, ...both];
}
