/** Advantages recomputed from rewards, values and ends, against those that the trainer computed. */
import { advantages, type EndRule, flow } from '../../math/advantages.ts';
import { lagged } from '../../math/chains.ts';
import { type Check, confidence, fewestRows, noticedShare, type Pass } from '../check.ts';
import { Cover, type Hypothesis } from '../cover.ts';
import { type CreditRule, creditSlack, findCreditRule } from '../credit-rule.ts';
import { type Finding, figure, type Outcome } from '../diagnosis.ts';
import { groupKeys } from '../groups.ts';
import type { Iteration } from '../iteration.ts';
import { near } from '../replay-transforms.ts';
import type { Run } from '../run.ts';

export const endRules: readonly { rule: EndRule; cause: string; transform: string }[] = [
  {
    rule: 'truncationTerminates',
    cause: 'truncation-treated-as-termination',
    transform: 'truncations read as terminations',
  },
  {
    rule: 'cutTerminates',
    cause: 'truncation-treated-as-termination',
    transform: "the rollout's end read as a termination",
  },
  {
    rule: 'allTerminate',
    cause: 'truncation-treated-as-termination',
    transform: 'truncations and the rollout end read as terminations',
  },
  { rule: 'lateWithin', cause: 'done-time-shifted', transform: 'ends one step late within (episode, agent)' },
  { rule: 'earlyWithin', cause: 'done-time-shifted', transform: 'ends one step early within (episode, agent)' },
  { rule: 'late', cause: 'done-time-shifted', transform: 'ends one step late' },
  { rule: 'early', cause: 'done-time-shifted', transform: 'ends one step early' },
  { rule: 'ignored', cause: 'return-crosses-episodes', transform: 'ends ignored' },
  { rule: 'carryIgnored', cause: 'return-crosses-episodes', transform: 'credit carried across ends' },
  {
    rule: 'valueIgnored',
    cause: 'return-crosses-episodes',
    transform: "the next episode's value bootstrapped at ends",
  },
  {
    rule: 'terminationBootstraps',
    cause: 'return-crosses-episodes',
    transform: 'terminations bootstrapped like truncations',
  },
];

export const lags = [-1, 1, -2, 2, -3, 3, -4, 4];

const hypotheses: readonly Hypothesis[] = [
  ...endRules.map(({ cause, transform }) => ({ cause, transform })),
  ...lags
    .slice(0, 4)
    .map((lag) => ({ cause: 'reward-time-shifted', transform: `rewards at lag ${lag} within (episode, agent)` })),
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: `lag ${lag} within (episode, agent)` })),
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: `lag ${lag} within the (env, agent) stream` })),
  { cause: 'advantage-agent-swapped', transform: 'another agent at the same (episode, t)' },
  { cause: 'advantage-sign-flipped', transform: 'sign' },
  { cause: 'return-inconsistent', transform: "the earlier iteration's advantages" },
  { cause: 'value-scale-mismatch', transform: 'affine map of the values' },
  { cause: 'advantage-group-demeaned', transform: 'mean per action' },
  { cause: 'advantage-group-demeaned', transform: "mean per place in the row's list" },
  { cause: 'advantage-group-demeaned', transform: 'mean per group' },
  { cause: 'advantage-degenerate', transform: 'constant' },
  { cause: 'advantage-shuffled', transform: 'a permutation of the rows' },
];

export const credit: Check = {
  id: 'credit',
  group: 'credit',
  question: 'Are advantages what rewards, values and ends give?',
  needs: [['samples.reward'], ['samples.value'], ['samples.terminated'], ['samples.advantage']],
  causes: [...new Set(hypotheses.map(({ cause }) => cause))],
  start: (run) => new CreditPass(run),
};

const triedRows = 4096;

class CreditPass implements Pass {
  private looked = 0;
  private disagreeing = 0;
  private noticed = 0;
  private before = 0;
  private total = 0;
  private rule: CreditRule | null = null;
  private earlier: Float64Array | null = null;
  private searched = 0;
  private readonly cover = new Cover(hypotheses);

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const recorded = iteration.samples?.column('advantage');
    if (!recorded || !iteration.credit) return;
    if (!this.rule)
      this.rule = findCreditRule(this.run, iteration, ['asRecorded', ...endRules.map(({ rule }) => rule)]);
    if (!this.rule) return;
    const truth = iteration.advantages('asRecorded', this.rule.gamma, this.rule.lambda)!;
    const slack = creditSlack(iteration, truth);
    const agent = iteration.samples!.column('agent')!;
    const cells = new Map<number, { looked: number; wrong: number[] }>();
    for (let i = 0; i < truth.length; i++) {
      const gap = Math.abs(truth[i] - recorded[i]);
      if (!Number.isFinite(gap)) continue;
      const cell = cells.get(agent[i]) ?? { looked: 0, wrong: [] };
      cells.set(agent[i], cell);
      cell.looked++;
      if (gap > slack) cell.wrong.push(i);
      this.before += Math.min(gap, 1e6 * slack) ** 2;
      this.total += truth[i] ** 2;
    }
    const rows: number[] = [];
    for (const { looked, wrong } of cells.values()) {
      this.looked += looked;
      this.disagreeing += wrong.length;
      // Ends are rare, so a moved end may touch few rows; what is exact needs no large share.
      if (wrong.length >= Math.min(noticedShare * looked, fewestRows)) for (const row of wrong) rows.push(row);
    }
    this.noticed += rows.length;
    if (rows.length > 0 && this.searched < 12) {
      this.searched++;
      this.explain(iteration, rows, truth, recorded, slack);
    }
    this.earlier = truth;
  }

  private explain(
    iteration: Iteration,
    wrong: number[],
    truth: Float64Array,
    recorded: ArrayLike<number>,
    slack: number,
  ): void {
    const { gamma, lambda } = this.rule!;
    const stride = Math.max(1, Math.ceil(wrong.length / triedRows));
    const rows = wrong.filter((_, i) => i % stride === 0);
    const vectors = alternatives(iteration, truth, gamma, lambda, this.earlier, recorded);
    const sorted = Float64Array.from(truth)
      .filter((value) => !Number.isNaN(value))
      .sort();
    const agent = iteration.samples!.column('agent')!;
    const groups = (['action', 'place', 'group'] as const)
      .map((by) => groupKeys(iteration, by))
      .map((keys) => (keys ? groupOffsets(keys, truth, recorded, slack) : null));
    const matches = new Uint8Array(hypotheses.length);
    for (const row of rows) {
      matches.fill(0);
      let h = 0;
      for (const vector of vectors) {
        const gap = vector ? Math.abs(vector[row] - recorded[row]) : Number.POSITIVE_INFINITY;
        matches[h++] = Number.isNaN(gap) ? 1 : gap <= slack ? 2 : 0;
      }
      for (const offsets of groups)
        matches[h++] = offsets && Math.abs(recorded[row] - truth[row] - offsets[row]) <= slack ? 2 : 0;
      matches[h++] = recorded[row] === recorded[rows[0]] ? 2 : 0;
      matches[h] = near(sorted, recorded[row], 1e-2 * slack) ? 2 : 0;
      this.cover.add(matches, agent[row], iteration.number);
    }
  }

  finish(): Outcome {
    const share = this.disagreeing / Math.max(1, this.looked);
    const measured = {
      rows: this.looked,
      disagreeing: this.disagreeing,
      share: figure(share),
      gamma: figure(this.rule?.gamma ?? Number.NaN),
      lambda: figure(this.rule?.lambda ?? Number.NaN),
      as_declared: this.rule?.declared ?? false,
    };
    const expected = { share: 0 };
    if (this.looked === 0)
      return { status: 'not-checked', measured, expected, findings: [], note: 'no row has all it needs' };
    if (this.noticed < fewestRows)
      return { status: this.disagreeing > 0 ? 'warn' : 'pass', measured, expected, findings: [] };
    const residual = Math.sqrt(this.before / Math.max(this.total, 1e-300));
    const { found, open } = this.cover.explain();
    const findings: Finding[] = [];
    for (const { hypothesis, rows, share: fit, agents, onset } of found) {
      if (fit < 0.4) continue;
      if (rows < fewestRows || rows < 0.05 * this.cover.rows) continue;
      findings.push({
        cause: hypothesis.cause,
        confidence: confidence(fit, rows),
        agents,
        onset,
        rows,
        transform: hypothesis.transform,
        before: residual,
        after: residual * Math.sqrt(Math.max(0, 1 - fit)),
        summary: `${figure(100 * share)} % of the advantages are not what rewards, values and ends give; ${figure(100 * fit)} % of those agree with: ${hypothesis.transform}.`,
        evidence: [{ check: 'credit', measured, expected }],
      });
    }
    const note =
      findings.length === 0 || open > 0.5 * this.cover.rows
        ? 'some advantages are reproduced by no transform that is known'
        : undefined;
    return { status: findings.length > 0 ? 'fail' : 'warn', measured, expected, findings, ...(note ? { note } : {}) };
  }
}

/** One vector per hypothesis, in their order, up to the group means; null where the recording cannot tell. */
function alternatives(
  iteration: Iteration,
  truth: Float64Array,
  gamma: number,
  lambda: number,
  earlier: Float64Array | null,
  recorded: ArrayLike<number>,
): (Float64Array | null)[] {
  const chains = iteration.chains!;
  const credit = iteration.credit!;
  return [
    ...endRules.map(({ rule }) => iteration.advantages(rule, gamma, lambda)),
    ...lags.slice(0, 4).map((lag) => {
      const moved = lagged(credit.reward, chains.next, chains.previous, lag).map((value) =>
        Number.isNaN(value) ? 0 : value,
      );
      const kept = iteration.credit!.reward;
      credit.reward = moved;
      const found = iteration.advantages('asRecorded', gamma, lambda);
      credit.reward = kept;
      return found;
    }),
    ...lags.map((lag) => lagged(truth, chains.next, chains.previous, lag)),
    ...lags.map((lag) => lagged(truth, chains.streamNext, chains.streamPrevious, lag)),
    otherAgent(iteration, truth, recorded),
    truth.map((value) => -value),
    earlier ? truth.map((_, row) => earlier[row] ?? Number.NaN) : null,
    affineValues(iteration, gamma, lambda, recorded),
  ];
}

/** The other agent's advantage that comes nearest, row by row. */
export function otherAgent(
  iteration: Iteration,
  truth: ArrayLike<number>,
  target: ArrayLike<number>,
): Float64Array | null {
  if (iteration.run.agentCount === 1) return null;
  const out = new Float64Array(truth.length).fill(Number.NaN);
  for (let i = 0; i < truth.length; i++)
    for (const other of iteration.others(i))
      if (!(Math.abs(out[i] - target[i]) <= Math.abs(truth[other] - target[i]))) out[i] = truth[other];
  return out;
}

/** Credit is linear in the values: recorded = rewards' part + a values' part + b constants' part, with a and b by least squares. */
export function affineValues(
  iteration: Iteration,
  gamma: number,
  lambda: number,
  recorded: ArrayLike<number>,
): Float64Array | null {
  const credit = iteration.credit!;
  const { reward, value, nextValue } = credit;
  const rows = value.length;
  const solve = (r: ArrayLike<number>, v: ArrayLike<number>, n: ArrayLike<number> | null) => {
    const part = { ...credit, reward: r, value: v, nextValue: n };
    const out = new Float64Array(rows);
    return partCredit(part, gamma, lambda, out);
  };
  const zero = new Float64Array(rows);
  const one = new Float64Array(rows).fill(1);
  const base = solve(reward, zero, zero);
  const values = solve(zero, value, nextValue);
  const constants = solve(zero, one, one);
  let [vv, vc, cc, vy, cy] = [0, 0, 0, 0, 0];
  for (let i = 0; i < rows; i++) {
    const y = recorded[i] - base[i];
    if (!Number.isFinite(y + values[i] + constants[i])) continue;
    vv += values[i] ** 2;
    vc += values[i] * constants[i];
    cc += constants[i] ** 2;
    vy += values[i] * y;
    cy += constants[i] * y;
  }
  const determinant = vv * cc - vc * vc;
  if (!(Math.abs(determinant) > 1e-12 * vv * cc)) return null;
  const a = (vy * cc - cy * vc) / determinant;
  const b = (cy * vv - vy * vc) / determinant;
  return base.map((value, i) => value + a * values[i] + b * constants[i]);
}

function partCredit(
  inputs: NonNullable<Iteration['credit']>,
  gamma: number,
  lambda: number,
  out: Float64Array,
): Float64Array {
  return advantages(inputs, flow(inputs, 'asRecorded'), gamma, lambda, out);
}

/** Per row, the median difference within its group, where groups have enough rows; NaN elsewhere. */
function groupOffsets(
  keys: Float64Array,
  truth: ArrayLike<number>,
  recorded: ArrayLike<number>,
  slack: number,
): Float64Array | null {
  const byGroup = new Map<number, number[]>();
  for (let i = 0; i < keys.length; i++) {
    const gap = recorded[i] - truth[i];
    if (!Number.isFinite(gap)) continue;
    const list = byGroup.get(keys[i]);
    if (list) list.push(gap);
    else byGroup.set(keys[i], [gap]);
  }
  if (byGroup.size < 2) return null;
  const middle = new Map<number, number>();
  for (const [key, gaps] of byGroup) {
    if (gaps.length < 6) continue;
    gaps.sort((a, b) => a - b);
    middle.set(key, gaps[gaps.length >> 1]);
  }
  const offsets = [...middle.values()];
  if (Math.max(...offsets) - Math.min(...offsets) <= slack) return null;
  return keys.map((key) => middle.get(key) ?? Number.NaN);
}
