/** The gradient of the critic's last bias, one number, recomputed from values and returns. It serves where the actor's cannot be recomputed, as with continuous actions, and shows whether a step's gradient is its own rows' alone. */

import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import type { Finding, Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { listOf } from '../../evidence/keys.ts';
import type { Run } from '../../evidence/run.ts';
import { stepKey } from '../../evidence/steps/step-key.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Accumulated } from '../../transforms/loss/accumulated.ts';
import { ClipScales } from './clip-scales.ts';
import { merge } from './wiring.ts';

export const criticGradient: Check = {
  id: 'critic-gradient',
  group: 'gradient',
  question: [
    "Is the gradient of the critic's bias that of the step's rows?",
    '价值网络偏置的梯度是该步数据行的梯度吗？',
  ],
  needs: [['tensors.grad_norm'], ['replays.value'], ['replays.return']],
  causes: ['gradients-accumulate'],
  start: (run) => new CriticPass(run),
};

/** What a row's error pulls with: by its square, or no harder than 1. */
const pulls = [(error: number) => error, (error: number) => Math.max(-1, Math.min(1, error))] as const;
/** Slope of a loss by its error: of a square, and of half a square or Huber's. */
const slopes = [1, 2];
const slack = limits.lossRelative.value;

interface Row {
  error: number;
  weight: number;
}

interface Step {
  norm: number;
  scale: number;
  rows: Row[];
}

/** What becomes of the steps of a policy where its gradients are read in one way. */
interface Reading {
  told: number;
  own: number;
  added: number;
  proof: ProofStore;
}

class CriticPass implements Pass {
  /** Policy to the tensor that is its critic's last bias. */
  private readonly bias = new Map<number, number>();
  /** Steps of each policy one after the other, as long as none is missing. */
  private readonly steps = new Map<number, Step[]>();
  private next = 0;

  constructor(private readonly run: Run) {
    run.tensors.forEach(({ role, size, policy, name }, tensor) => {
      if (role === 'critic' && /bias/i.test(name) && size === 1) this.bias.set(policy, tensor);
    });
  }

  iteration(iteration: Iteration): void {
    const { replays, tensors } = iteration;
    const gradient = tensors?.column('grad_norm');
    const value = replays?.column('value');
    const target = replays?.column('return');
    if (iteration.number !== this.next || iteration.probed || !replays || !tensors || !gradient || !value || !target)
      return;
    this.next++;
    if ([...this.steps.values()].some(({ length }) => length >= budgets.criticSteps)) return;
    const tensor = tensors.column('tensor')!;
    const [epochs, minibatches] = [tensors.column('epoch')!, tensors.column('minibatch')!];
    const scales = new ClipScales(this.run, iteration);
    const found = new Map<number, Step>();
    for (let i = 0; i < tensors.rows; i++) {
      const policy = this.run.tensors[tensor[i]]?.policy;
      if (policy === undefined || this.bias.get(policy) !== tensor[i]) continue;
      const key = stepKey(epochs[i], minibatches[i], policy);
      const step = { norm: gradient[i], scale: scales.of(key) ?? Number.NaN, rows: [] };
      found.set(key, step);
      listOf(this.steps, policy).push(step);
    }
    const [epoch, minibatch] = [replays.column('epoch')!, replays.column('minibatch')!];
    const [policy, weight] = [replays.column('policy'), replays.column('weight')];
    let [latest, step]: [number, Step | undefined] = [Number.NaN, undefined];
    for (let i = 0; i < replays.rows; i++) {
      const key = stepKey(epoch[i], minibatch[i], policy ? policy[i] : 0);
      // Rows of one step mostly follow one another.
      if (key !== latest) [latest, step] = [key, found.get(key)];
      const w = weight && !Number.isNaN(weight[i]) ? weight[i] : 1;
      if (step && w !== 0) step.rows.push({ error: value[i] - target[i], weight: w });
    }
  }

  finish(): Outcome {
    const findings: Finding[] = [];
    const measured: Outcome['measured'] = {};
    const expected = { added_up: 0 };
    let steady = false;
    let doubted = 0;
    for (const [policy, steps] of this.steps) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      const readings = this.readings(steps);
      const read = readings.reduce((best, one) =>
        Math.max(one.own, one.added) > Math.max(best.own, best.added) ? one : best,
      );
      const clear = readings.every(({ own, told }) => own <= limits.most.value * told);
      // Where neither a single gradient nor a sum gives most steps, the loss is another.
      steady ||= Math.max(read.own, read.added) > limits.most.value * read.told;
      measured[`${name}.steps`] = read.told;
      measured[`${name}.own`] = read.own;
      measured[`${name}.added_up`] = read.added;
      if (!clear || read.added < 2 || read.added < limits.formulaExact.value * read.told) continue;
      // Few steps tell where most were clipped and their length before is not known: enough to doubt the run, not to name the cause.
      const doubt = read.added < limits.fewestSteps.value;
      if (doubt)
        doubted += Math.round((read.added * steps.reduce((sum, { rows }) => sum + rows.length, 0)) / steps.length);
      findings.push({
        cause: 'gradients-accumulate',
        confidence: doubt
          ? limits.candidate.value
          : confidence(read.added / read.told, read.added * limits.perStep.value),
        agents: this.run.agentsOf(policy),
        onset: 0,
        rows: read.added,
        transform: new Accumulated(),
        ...read.proof.prove(
          "length of the critic's bias gradient",
          'as recorded',
          "that of the step's own rows",
          new Accumulated(),
        ),
        summary: `The gradient of ${name}'s critic is that of the step's rows and of all steps before it: on ${read.added} of ${read.told} steps that tell it agrees only when they are added up.`,
        evidence: [{ check: 'critic-gradient', measured, expected }],
      });
    }
    if (!steady)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings,
        note: told(
          'the value loss is none whose gradient is known, or no step tells sums of gradients from single ones',
          '价值损失的梯度未知，或没有哪一步能区分单步梯度与累加的梯度',
        ),
      };
    const proved = findings.some((finding) => finding.confidence > limits.candidate.value);
    return {
      status: proved ? 'fail' : findings.length > 0 ? 'warn' : 'pass',
      measured,
      expected,
      findings: merge(findings),
      ...(findings.length > 0 && !proved
        ? {
            open: { rows: doubted, share: 1, onset: 0, agents: findings.flatMap(({ agents }) => agents) },
            note: told(
              'pass grad_norm, the length before clipping, to be sure',
              '请传入 grad_norm（裁剪前的长度）以确定',
            ),
          }
        : {}),
    };
  }

  /** By every way in which errors may pull and be averaged, and every weight that a value loss may have. */
  private readings(steps: readonly Step[]): Reading[] {
    const summed = this.run.text('loss_reduction') === 'sum';
    const declared = this.run.number('value_coefficient');
    const weights = Number.isFinite(declared) ? [declared] : budgets.valueWeights;
    return pulls.flatMap((pull) =>
      (summed ? [1] : [1, 2]).flatMap((parts) => {
        const own = steps.map(({ rows }) => averaged(rows, pull, summed, parts));
        return weights.flatMap((weight) =>
          slopes.map((slope) =>
            read(
              steps,
              own.map((one) => weight * slope * one),
            ),
          ),
        );
      }),
    );
  }
}

/** The pull of some rows: their sum, their mean, or the mean of two halves' means where gradients are gathered over two passes. */
function averaged(rows: readonly Row[], pull: (error: number) => number, summed: boolean, parts: number): number {
  const size = Math.ceil(rows.length / parts);
  let mean = 0;
  for (let from = 0; from < rows.length; from += size) {
    let [sum, total] = [0, 0];
    for (const { error, weight } of rows.slice(from, from + size)) {
      sum += weight * pull(error);
      total += weight;
    }
    mean += sum / (summed ? 1 : total * parts);
  }
  return mean;
}

/** How many steps tell a gradient of their own rows from a sum, and which of the two they follow. */
function read(steps: readonly Step[], own: readonly number[]): Reading {
  const found = { told: 0, own: 0, added: 0, proof: new ProofStore() };
  const longest = steps.map(({ norm }) => norm).sort((a, b) => b - a);
  // Clipped entry by entry, several steps have the same length, and none a greater.
  const clipped = longest[1] >= (1 - limits.rounding.value) * longest[0];
  const most = clipped ? longest[0] : Number.POSITIVE_INFINITY;
  let sum = 0;
  for (const [i, { norm, scale }] of steps.entries()) {
    const noise = limits.valueFormula.value * scale * (Math.abs(sum) + Math.abs(own[i]));
    sum = Math.max(-most, Math.min(most, scale * (sum + own[i])));
    if (!Number.isFinite(sum)) break;
    const added = Math.abs(sum);
    const alone = Math.min(most, Math.abs(scale * own[i]));
    const fits = (value: number) => Math.abs(norm - value) <= slack * value + noise;
    // At the limit any larger gradient looks the same.
    if (norm >= (1 - limits.rounding.value) * most) continue;
    if (Math.abs(added - alone) <= limits.apartFormulas.value * (slack * Math.max(added, alone) + noise)) continue;
    found.told++;
    if (fits(alone)) found.own++;
    if (!fits(added)) continue;
    found.added++;
    found.proof.step(norm, alone, added);
  }
  return found;
}
