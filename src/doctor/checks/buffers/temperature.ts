/** Does the temperature of a soft target move the right way? It rises where actions have less entropy than is wanted, and falls where they have more; whether its loss is of alpha or of its logarithm makes no difference to that. */
import { told } from '../../../language/language.ts';
import { minibatchesOf } from '../../buffers/minibatches.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';

const check = 'temperature';

export const temperature: Check = {
  id: check,
  group: 'gradient',
  question: ['Does the temperature move towards the entropy that is wanted?', '温度是否朝期望的熵调整？'],
  needs: [['targets.temperature'], ['targets.next_logp']],
  causes: ['entropy-temperature-sign'],
  of: 'targets',
  start: (run) => new TemperaturePass(run),
};

class TemperaturePass implements Pass {
  private last: { step: number; alpha: number; wanted: number } | null = null;
  private agreeing = 0;
  private against = 0;
  private readonly proof = new ProofStore();

  constructor(private readonly run: Run) {}

  iteration({ targets, number }: Iteration): void {
    const [alpha, logp] = [targets?.column('temperature'), targets?.column('next_logp')];
    const target = this.run.number('target_entropy');
    if (!targets || !alpha || !logp || Number.isNaN(target)) return;
    let count = 0;
    for (const [from, to] of minibatchesOf(targets)) {
      let sum = 0;
      for (let row = from; row < to; row++) sum += logp[row];
      this.step(number + count++ / targets.rows, alpha[from], sum / (to - from) + target);
    }
  }

  private step(step: number, alpha: number, wanted: number): void {
    const { last } = this;
    this.last = { step, alpha, wanted };
    // Only where the entropy is clearly off what is wanted, on the same side twice.
    if (!last || step - last.step > 1 || alpha === last.alpha) return;
    if (Math.min(Math.abs(wanted), Math.abs(last.wanted)) < limits.clearlyOff.value || wanted * last.wanted < 0) return;
    if ((alpha - last.alpha) * last.wanted > 0) this.agreeing++;
    else {
      this.against++;
      this.proof.step(alpha - last.alpha, last.alpha - alpha, Number.NaN);
    }
  }

  finish(): Outcome {
    const steps = this.agreeing + this.against;
    const measured: Outcome['measured'] = { steps, against: this.against };
    const expected = { against: 0 };
    if (steps < limits.decidingRows.value)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told(
          'the temperature is fixed, settings.target_entropy is not declared, or the entropy is near it',
          '温度固定，或未声明 settings.target_entropy，或熵已接近它',
        ),
      };
    if (this.against < limits.formShare.value * steps)
      return {
        status: 'pass',
        measured,
        expected,
        findings: [],
        ...(this.agreeing >= limits.formShare.value * steps
          ? {
              cleared: [
                {
                  symptom: told(
                    "the temperature's loss is negative, or is taken of its logarithm",
                    '温度的损失为负，或对其对数求得',
                  ),
                  why: told(
                    `in ${this.agreeing} of ${steps} steps the temperature moves towards the entropy that is wanted; the sign of its loss says nothing, and alpha and its logarithm have gradients of the same sign`,
                    `${steps} 步中有 ${this.agreeing} 步温度朝期望的熵移动；其损失的符号不说明任何问题，alpha 与其对数的梯度同号`,
                  ),
                },
              ],
            }
          : {}),
      };
    const finding: Finding = {
      cause: 'entropy-temperature-sign',
      confidence: confidence(1, steps),
      agents: [],
      onset: 0,
      rows: this.against,
      // How far it should have moved nobody can say, so no transform is claimed to undo it.
      ...this.proof.prove('step of the temperature', 'as it was', 'towards the wanted entropy'),
      told: true,
      summary: told(
        `In ${this.against} of ${steps} steps the temperature moves away from the entropy that is wanted (${figure(this.run.number('target_entropy'))}): it falls where actions have too little, or rises where they have too much.`,
        `${steps} 步中有 ${this.against} 步温度远离期望的熵（${figure(this.run.number('target_entropy'))}）：熵太小时它下降，或熵太大时它上升。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}
