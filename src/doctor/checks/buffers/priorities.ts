/** Do importance weights undo the priorities? Within a minibatch the logarithm of a weight falls along a line with that of the probability; its slope is minus beta. Any beta from 0 to 1 and any normaliser are healthy. */
import { told } from '../../../language/language.ts';
import { lineThrough } from '../../../math/linear.ts';
import { minibatchesOf } from '../../buffers/minibatches.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Permutation } from '../../transforms/credit/permutation.ts';
import { Sign } from '../../transforms/credit/sign.ts';

const check = 'priorities';

export const priorities: Check = {
  id: check,
  group: 'gradient',
  question: ['Do importance weights undo the priorities?', '重要性权重是否抵消了优先级？'],
  needs: [['targets.weight'], ['targets.probability', 'targets.priority']],
  causes: ['priority-weight-wrong'],
  of: 'targets',
  start: (run) => new PrioritiesPass(run),
};

class PrioritiesPass implements Pass {
  private steps = 0;
  private readonly kinds = { right: 0, rising: 0, flat: 0, permuted: 0, other: 0 };
  private slope = 0;
  private readonly proof = new ProofStore();

  constructor(private readonly run: Run) {}

  iteration({ targets }: Iteration): void {
    const weight = targets?.column('weight');
    const chance = targets?.column('probability') ?? targets?.column('priority');
    if (!targets || !weight || !chance) return;
    for (const [from, to] of minibatchesOf(targets)) this.step(chance.subarray(from, to), weight.subarray(from, to));
  }

  private step(chance: ArrayLike<number>, weight: ArrayLike<number>): void {
    const x = Array.from(chance, Math.log);
    const y = Array.from(weight, Math.log);
    const range = Math.max(...x) - Math.min(...x);
    // Equal priorities say nothing.
    if (x.length < fewestRows || !(range > limits.priorityRange.value) || !y.every(Number.isFinite)) return;
    this.steps++;
    const line = lineThrough(x, y);
    if (Math.max(...y) - Math.min(...y) <= limits.weightExact.value) this.kinds.flat++;
    else if (line.error <= limits.weightExact.value * range) {
      this.kinds[line.slope > 0 ? 'rising' : 'right']++;
      this.slope += line.slope;
      if (line.slope > 0)
        for (let i = 0; i < x.length; i++) this.proof.step(y[i], line.at(2 * line.middle - x[i]), line.at(x[i]));
    } else {
      const sorted = lineThrough(
        [...x].sort((a, b) => a - b),
        [...y].sort((a, b) => b - a),
      );
      this.kinds[sorted.slope < 0 && sorted.error <= limits.weightExact.value * range ? 'permuted' : 'other']++;
    }
  }

  finish(): Outcome {
    const { kinds, steps } = this;
    const measured: Outcome['measured'] = { steps, ...kinds };
    const expected = { rising: 0, permuted: 0 };
    if (steps === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('priorities hardly differ', '优先级几乎没有差别'),
      };
    const most = (count: number) => count >= fewestRows && count >= limits.formShare.value * steps;
    const beta = this.run.number('priority_beta');
    const found: [string, string, Finding['transform']] | null = most(kinds.rising)
      ? [
          `Importance weights grow with the probability that a row is drawn with (its power is ${figure(this.slope / kinds.rising)}), where they should undo it.`,
          `重要性权重随抽取概率增大（幂为 ${figure(this.slope / kinds.rising)}），而它本应抵消它。`,
          new Sign(),
        ]
      : most(kinds.permuted)
        ? [
            'Importance weights are those of other rows of the minibatch.',
            '重要性权重属于小批中的其他行。',
            new Permutation(),
          ]
        : most(kinds.flat) && beta > 0
          ? [
              `Importance weights are all equal, although rows are drawn by priority and a beta of ${figure(beta)} is declared.`,
              `重要性权重全部相等，尽管按优先级抽取且声明了 beta 为 ${figure(beta)}。`,
              undefined,
            ]
          : null;
    if (!found && kinds.other > limits.most.value * steps)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('weights are no power of the probabilities', '权重不是概率的幂'),
      };
    if (!found) return { status: 'pass', measured, expected, findings: [] };
    const finding: Finding = {
      cause: 'priority-weight-wrong',
      confidence: confidence(1, steps * limits.perStep.value),
      agents: [],
      onset: 0,
      rows: steps,
      ...(found[2] ? { transform: found[2] } : {}),
      ...(found[2] instanceof Sign
        ? this.proof.prove('logarithm of the weight', 'as used', 'falling with the probability', found[2])
        : {}),
      told: true,
      summary: told(found[0], found[1]),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}
