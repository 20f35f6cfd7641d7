/** Whether the return is advantage plus value, or a return of another lambda; anything else belongs to other rows or other values. */

import { Pairs, spread } from '../../../math/statistics.ts';
import { type Check, confidence, creditTolerance, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { gather } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Affine } from '../../transforms/rows/affine.ts';

export const returns: Check = {
  id: 'returns',
  group: 'credit',
  question: ['Is the return the advantage plus the value?', '回报等于优势加价值吗？'],
  needs: [['samples.return'], ['samples.advantage'], ['samples.value']],
  causes: ['return-inconsistent', 'value-scale-mismatch'],
  start: (run) => new ReturnsPass(run),
};

class ReturnsPass implements Pass {
  private looked = 0;
  private wrong = 0;
  private affine = 0;
  private onset = Number.POSITIVE_INFINITY;
  private readonly agents = new Set<number>();
  private slope = Number.NaN;
  private shift = 0;
  private readonly proof = new ProofStore();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples } = iteration;
    const target = samples?.column('return');
    const advantage = samples?.column('advantage');
    const value = samples?.column('value');
    if (!samples || !target || !advantage || !value) return;
    const agent = samples.column('agent')!;
    const slack =
      creditTolerance * spread(target).std + limits.roundedSum.value * spread(value).std + limits.rounding.value;
    const [own, left, right] = ['return', 'advantage', 'value'].map((name) => samples.grain(name));
    const wrong: number[] = [];
    let looked = 0;
    for (let i = 0; i < samples.rows; i++) {
      const gap = Math.abs(target[i] - advantage[i] - value[i]);
      if (!Number.isFinite(gap)) continue;
      looked++;
      const rounded = own * Math.abs(target[i]) + left * Math.abs(advantage[i]) + right * Math.abs(value[i]);
      if (gap > slack + limits.roundedSum.value * Math.abs(target[i]) + rounded) wrong.push(i);
    }
    this.looked += looked;
    if (wrong.length < Math.max(2, noticedShare * looked) || this.otherLambda(iteration, target, wrong, slack)) return;
    this.wrong += wrong.length;
    this.onset = Math.min(this.onset, iteration.number);
    for (const row of wrong) this.agents.add(agent[row]);
    const line = new Pairs();
    for (const row of wrong) line.add(value[row], target[row] - advantage[row]);
    if (
      line.count >= fewestRows &&
      line.correlation ** 2 > 1 - limits.returnLine.value &&
      // Units have no sign: a value that is taken off twice is another formula.
      line.slope > 0 &&
      Math.abs(line.slope - 1) > limits.returnSlope.value
    ) {
      this.affine += wrong.length;
      this.slope = line.slope;
      this.shift = (line.intercept + (line.slope - 1) * line.meanX) / Math.max(line.spreadY, limits.vanishing.value);
    } else if (
      line.count >= fewestRows &&
      Math.abs(line.slope - 1) <= limits.returnSlope.value &&
      line.correlation ** 2 > 1 - limits.returnLine.value
    )
      this.affine += wrong.length;
    const plain = Float64Array.from(wrong, (row) => advantage[row] + value[row]);
    const mapped = Float64Array.from(wrong, (row) => advantage[row] + line.slope * value[row] + line.intercept);
    this.proof.rows(iteration.number, gather(target, wrong), plain, mapped);
  }

  /** Some trainers learn returns of another lambda, 1 most often; that is no fault. */
  private otherLambda(iteration: Iteration, target: ArrayLike<number>, wrong: number[], slack: number): boolean {
    const gamma = this.run.number('gamma');
    const value = iteration.credit?.value;
    if (!value || !Number.isFinite(gamma)) return false;
    for (const lambda of [1, 0, this.run.number('lambda')]) {
      if (!Number.isFinite(lambda)) continue;
      const truth = iteration.advantages('asRecorded', { gamma, lambda })!;
      const right = wrong.filter((row) => !(Math.abs(truth[row] + value[row] - target[row]) > slack)).length;
      if (right >= limits.exactly.value * wrong.length) return true;
    }
    return false;
  }

  finish(): Outcome {
    const share = this.wrong / Math.max(1, this.looked);
    const measured = { rows: this.looked, disagreeing: this.wrong, share: figure(share), slope: figure(this.slope) };
    const expected = { share: 0 };
    if (this.looked === 0) return { status: 'not-checked', measured, expected, findings: [] };
    if (this.wrong < fewestRows) return { status: 'pass', measured, expected, findings: [] };
    const scaled = this.affine >= limits.nearlyAll.value * this.wrong;
    const transform = scaled ? new Affine('value', Number(figure(this.slope)), Number(figure(this.shift))) : undefined;
    const finding: Finding = {
      cause: scaled ? 'value-scale-mismatch' : 'return-inconsistent',
      confidence: confidence(scaled ? this.affine / this.wrong : 1, this.wrong),
      agents: [...this.agents].sort((a, b) => a - b),
      onset: this.onset,
      rows: this.wrong,
      ...(transform ? { transform } : {}),
      ...this.proof.prove('return', 'recorded return', 'advantage + value', transform),
      summary: scaled
        ? `Return minus advantage is the value in other units (slope ${figure(this.slope)}) on ${this.wrong} rows.`
        : `The return is not advantage + value on ${percent(share)} of the rows.`,
      evidence: [{ check: 'returns', measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}
