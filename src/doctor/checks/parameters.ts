/** Whether parameters change by the gradient step alone: within the optimiser's bound, continuous from step to step, and not pulled by decay. */
import { median } from '../../math/statistics.ts';
import { type Check, confidence, type Pass } from '../check.ts';
import { type Finding, figure, type Outcome } from '../diagnosis.ts';
import type { Iteration } from '../iteration.ts';
import type { Run } from '../run.ts';
import { merge } from './wiring.ts';

export const parameters: Check = {
  id: 'parameters',
  group: 'gradient',
  question: 'Do parameters change by the gradient step alone?',
  needs: [
    ['tensors.delta_norm', 'tensors.delta'],
    ['tensors.norm', 'tensors.learning_rate'],
  ],
  causes: ['parameters-overwritten', 'weight-decay-pull'],
  start: (run) => new ParametersPass(run),
};

/** Adam moves no entry by more than (1 - beta1) / sqrt(1 - beta2) = 3.2 rates in one step; three times that is another hand. */
const farAbove = 10;
/** From this share of the change on, decay rules. */
const rules = 0.5;

interface Tensor {
  norm: number;
  deltaNorm: number;
  iteration: number;
  first: number;
  radial: number[];
  decayShare: number[];
}

class ParametersPass implements Pass {
  private readonly tensors = new Map<number, Tensor>();
  private steps = 0;
  private readonly jumps: { tensor: number; iteration: number; ratio: number; kind: string }[] = [];

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { tensors } = iteration;
    if (!tensors) return;
    const tensor = tensors.column('tensor')!;
    const delta = tensors.column('delta');
    const deltaNorm = tensors.column('delta_norm');
    const gradient = tensors.column('grad_norm');
    const norm = tensors.column('norm');
    const rate = tensors.column('learning_rate');
    const decay = tensors.column('weight_decay');
    for (let i = 0; i < tensors.rows; i++) {
      const info = this.run.tensors[tensor[i]];
      if (!info) continue;
      this.steps++;
      const weight = norm ? norm[i] : 0;
      const pulled = decay && rate ? decay[i] * rate[i] * weight : 0;
      if (rate && rate[i] > 0 && info.size > 0) {
        const most =
          this.bound(rate[i], info.size, gradient ? gradient[i] : Number.NaN, delta !== null) +
          pulled * Math.sqrt(info.size);
        const found = delta ? delta[i] : deltaNorm ? deltaNorm[i] : Number.NaN;
        // Single precision cannot change a parameter by less than its own rounding.
        const floor = 1e-6 * weight * Math.sqrt(info.size);
        if (found > farAbove * most + floor && !iteration.probed)
          this.jumps.push({ tensor: tensor[i], iteration: iteration.number, ratio: found / most, kind: 'bound' });
      }
      if (norm && deltaNorm)
        this.follow(
          iteration,
          tensor[i],
          norm[i],
          deltaNorm[i],
          pulled,
          decay ? decay[i] * weight : 0,
          gradient ? gradient[i] : Number.NaN,
        );
    }
  }

  /** How far one step can move a tensor: the sum of absolute changes, or their length. */
  private bound(rate: number, size: number, gradient: number, sum: boolean): number {
    const name = String(this.run.optimizer('name') ?? '').toLowerCase();
    const adam = rate * (sum ? size : Math.sqrt(size));
    const plain = rate * (Number.isFinite(gradient) ? gradient : 0) * (sum ? Math.sqrt(size) : 1);
    if (name.startsWith('adam')) return adam;
    if (name === 'sgd') return Math.max(plain, 1e-300);
    return Math.max(adam, plain);
  }

  private follow(
    iteration: Iteration,
    index: number,
    norm: number,
    deltaNorm: number,
    pulled: number,
    coupled: number,
    gradient: number,
  ): void {
    const known = this.tensors.get(index);
    if (known && !iteration.probed) {
      const adjacent = iteration.number <= known.iteration + 1;
      const jump = Math.abs(norm - known.norm);
      const most = Math.max(deltaNorm, known.deltaNorm);
      if (adjacent && Number.isFinite(jump) && jump > 2 * most + 1e-4 * Math.max(norm, known.norm))
        this.jumps.push({ tensor: index, iteration: iteration.number, ratio: jump / most, kind: 'jump' });
      if (iteration.number === known.iteration && deltaNorm > 0) known.radial.push((known.norm - norm) / deltaNorm);
    }
    const own = known ?? { norm, deltaNorm, iteration: iteration.number, first: norm, radial: [], decayShare: [] };
    this.tensors.set(index, own);
    own.norm = norm;
    own.deltaNorm = deltaNorm;
    own.iteration = iteration.number;
    if (deltaNorm > 0 && pulled > 0) {
      // Coupled decay is added to the gradient inside the optimiser; decoupled decay is a part of the change itself.
      const decoupled = this.run.optimizer('decoupled_decay') !== false;
      own.decayShare.push(decoupled ? pulled / deltaNorm : coupled / (coupled + gradient));
    }
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = { tensor_steps: this.steps, jumps: this.jumps.length };
    const expected = { jumps: 0, decay_share: 0 };
    if (this.steps === 0) return { status: 'not-checked', measured, expected, findings: [] };
    const findings: Finding[] = [...this.pulls(measured), ...this.overwritten(measured)];
    for (const finding of findings) finding.evidence = [{ check: 'parameters', measured, expected }];
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings) };
  }

  private overwritten(measured: Outcome['measured']): Finding[] {
    if (this.jumps.length === 0) return [];
    const worst = this.jumps.reduce((a, b) => (b.ratio > a.ratio ? b : a));
    measured.largest_jump = figure(worst.ratio);
    const policies = new Set(this.jumps.map(({ tensor }) => this.run.tensors[tensor].policy));
    return [
      {
        cause: 'parameters-overwritten',
        confidence: confidence(1, this.jumps.length * 4),
        agents: [...policies].flatMap((policy) => this.run.agentsOf(policy)),
        onset: Math.min(...this.jumps.map(({ iteration }) => iteration)),
        rows: this.jumps.length,
        before: worst.ratio,
        summary: `${this.run.tensors[worst.tensor].name} changed ${figure(worst.ratio)} times more than its step can account for, in iteration ${worst.iteration}.`,
        evidence: [],
      },
    ];
  }

  private pulls(measured: Outcome['measured']): Finding[] {
    const findings: Finding[] = [];
    for (const policy of new Set(this.run.tensors.map(({ policy: own }) => own))) {
      // Biases are short and may be 0; weights tell.
      const own = [...this.tensors].filter(([index, { first }]) => {
        const info = this.run.tensors[index];
        return (
          info.policy === policy &&
          (info.role === 'trunk' || info.role === 'head' || info.role === 'shared') &&
          first > 0
        );
      });
      const largest = own.filter(([index]) => this.run.tensors[index].size >= 8);
      if (largest.length === 0) continue;
      const shares = largest.map(([, tensor]) => median(tensor.decayShare));
      const declared = median(shares);
      const shrinking = largest.filter(([, { norm, first }]) => norm < first).length >= 0.5 * largest.length;
      const radial = median(
        largest.map(([, tensor]) => (tensor.radial.length >= 4 ? median(tensor.radial) : Number.NaN)),
      );
      if (Number.isFinite(declared)) measured[`${this.run.policies[policy] ?? policy}.decay_share`] = figure(declared);
      const byDecay = declared > rules && shrinking;
      if (!byDecay && !(radial > 0.7)) continue;
      findings.push({
        cause: 'weight-decay-pull',
        confidence: byDecay ? confidence(Math.min(1, declared), this.steps) : 0.7,
        agents: this.run.agentsOf(policy),
        onset: 0,
        rows: this.steps,
        before: byDecay ? declared : radial,
        summary: byDecay
          ? `Weight decay accounts for ${figure(100 * Math.min(1, declared))} % of how the actor's tensors change, and they shrink.`
          : `The actor's tensors change almost only by becoming shorter (${figure(100 * radial)} % of the change): something pulls them to 0.`,
        evidence: [],
      });
    }
    return findings;
  }
}
