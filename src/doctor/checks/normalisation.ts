/** Mean and spread of the advantages that entered the loss. Without declared normalisation only a constant, or a scale far from 1, is a fault. */
import { spread } from '../../math/statistics.ts';
import { type Check, confidence, fewestRows, type Pass } from '../check.ts';
import { cellsOf } from '../consensus.ts';
import { type Finding, figure, type Outcome } from '../diagnosis.ts';
import type { Iteration } from '../iteration.ts';
import { stepKey } from '../iteration.ts';
import type { Run } from '../run.ts';

export const normalisation: Check = {
  id: 'normalisation',
  group: 'credit',
  question: 'Do advantages in the loss have a sane mean and spread?',
  needs: [['replays.advantage']],
  causes: ['advantage-degenerate', 'advantage-not-normalised'],
  start: (run) => new NormalisationPass(run),
};

/** How far the mean may be from 0 and the spread from 1 where normalisation is declared. */
const meanSlack = 0.05;
const stdSlack = 0.1;
/** Undeclared: a spread beyond these, in reward units, makes the step follow the scale of the rewards. */
const widest = 30;
const narrowest = 1e-3;

class NormalisationPass implements Pass {
  private updates = 0;
  private constant = 0;
  private oneSided = 0;
  private unnormalised = 0;
  private wild = 0;
  private rows = 0;
  private onset = {
    constant: Number.POSITIVE_INFINITY,
    oneSided: Number.POSITIVE_INFINITY,
    unnormalised: Number.POSITIVE_INFINITY,
  };
  private latest = { mean: Number.NaN, std: Number.NaN };
  private readonly policies = new Set<number>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { replays, samples } = iteration;
    const used = replays?.column('advantage');
    if (!replays || !used || iteration.probed) return;
    const weight = replays.column('weight');
    const policy = replays.column('policy');
    const sample = replays.column('sample')!;
    const epoch = replays.column('epoch')!;
    const minibatch = replays.column('minibatch')!;
    const agent = samples?.column('agent');
    const rows: number[] = [];
    for (let i = 0; i < replays.rows; i++)
      if (weight?.[i] !== 0 && epoch[i] === 0 && Number.isFinite(used[i])) rows.push(i);
    const of = (row: number) => (policy ? policy[row] : 0);
    const figures = (key: (row: number) => number, fewest: number) =>
      cellsOf(rows, key, fewest).lists.map((list) => spread(Float64Array.from(list, (row) => used[row])));
    for (const list of cellsOf(rows, of, fewestRows).lists) {
      const whole = spread(Float64Array.from(list, (row) => used[row]));
      this.updates++;
      this.rows += list.length;
      this.latest = whole;
      if (whole.std <= 1e-6 * Math.max(1e-3, Math.abs(whole.mean))) this.note('constant', iteration, of(list[0]));
      else if (Math.abs(whole.mean) > 3 * whole.std && this.declared && oneSign(used, list))
        this.note('oneSided', iteration, of(list[0]));
      else if (this.declared) {
        const inside = (key: (row: number) => number) => {
          const cells = figures((row) => (of(row) === of(list[0]) ? key(row) : Number.NaN), 4);
          const right = cells.filter(
            ({ mean, std }) => Math.abs(mean) <= meanSlack && (Math.abs(std - 1) <= stdSlack || std < 1e-6),
          );
          return cells.length > 0 && right.length >= 0.9 * cells.length;
        };
        const who = (row: number) => (agent && sample[row] < agent.length ? agent[sample[row]] : 0);
        const levels = [
          () => 0,
          who,
          (row: number) => stepKey(0, minibatch[row], 0),
          (row: number) => stepKey(0, minibatch[row], who(row)),
        ];
        const small = list.length / Math.max(1, new Set(list.map((row) => minibatch[row])).size) < 8;
        if (!small && !levels.some(inside)) this.note('unnormalised', iteration, of(list[0]));
      } else if (!this.run.declares('advantage_normalisation') && (whole.std > widest || whole.std < narrowest))
        this.wild++;
    }
  }

  /** Whether the run says that it normalises. */
  private get declared(): boolean {
    const text = this.run.text('advantage_normalisation');
    return text !== null && text !== 'none' && text !== 'off';
  }

  private note(kind: 'constant' | 'oneSided' | 'unnormalised', iteration: Iteration, policy: number): void {
    this[kind]++;
    this.onset[kind] = Math.min(this.onset[kind], iteration.number);
    this.policies.add(policy);
  }

  finish(): Outcome {
    const measured = {
      updates: this.updates,
      constant: this.constant,
      one_sided: this.oneSided,
      not_normalised: this.unnormalised,
      latest_mean: figure(this.latest.mean),
      latest_spread: figure(this.latest.std),
    };
    const expected: Outcome['expected'] = this.declared ? { mean: 0, spread: 1 } : { constant: 0 };
    const findings: Finding[] = [];
    const add = (cause: string, count: number, onset: number, transform: string, summary: string, sure: number) =>
      findings.push({
        cause,
        confidence: Math.min(sure, confidence(count / this.updates, this.rows)),
        agents: [...this.policies].flatMap((policy) => this.run.agentsOf(policy)),
        onset,
        rows: Math.round((this.rows * count) / this.updates),
        transform,
        summary,
        evidence: [{ check: 'normalisation', measured, expected }],
      });
    const most = (count: number, onset: number) =>
      count > 0 && (count >= 0.5 * this.updates || (onset > 0 && count >= 2));
    if (most(this.constant, this.onset.constant))
      add(
        'advantage-degenerate',
        this.constant,
        this.onset.constant,
        'constant',
        'All advantages of an update are the same number: nothing tells a good action from a bad one.',
        1,
      );
    else if (most(this.oneSided, this.onset.oneSided))
      add(
        'advantage-degenerate',
        this.oneSided,
        this.onset.oneSided,
        'offset',
        `Advantages in the loss are all of one sign (mean ${figure(this.latest.mean)}, spread ${figure(this.latest.std)}).`,
        1,
      );
    if (most(this.unnormalised, this.onset.unnormalised))
      add(
        'advantage-not-normalised',
        this.unnormalised,
        this.onset.unnormalised,
        'mean 0 and spread 1',
        `Normalisation is declared, but advantages enter the loss with mean ${figure(this.latest.mean)} and spread ${figure(this.latest.std)}.`,
        1,
      );
    else if (this.wild > 0.5 * this.updates && this.updates > 0)
      add(
        'advantage-not-normalised',
        this.wild,
        0,
        'mean 0 and spread 1',
        `Advantages enter the loss with a spread of ${figure(this.latest.std)}: the step follows the scale of the rewards.`,
        0.7,
      );
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings };
  }
}

function oneSign(used: ArrayLike<number>, rows: Int32Array): boolean {
  let positive = 0;
  for (const row of rows) if (used[row] > 0) positive++;
  return positive >= 0.99 * rows.length || positive <= 0.01 * rows.length;
}
