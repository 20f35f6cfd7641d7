/** Does an actor that follows critics go up or down what they say? Read off the derivative of its loss by the values of its own actions, so that what else is in the loss does not matter. */
import { told } from '../../../language/language.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Sign } from '../../transforms/credit/sign.ts';

const check = 'actor-push';

export const actorPush: Check = {
  id: check,
  group: 'gradient',
  question: ['Does the actor go up what its critics say?', '策略网络是否朝评论家给出的价值上升？'],
  needs: [['steps.push']],
  causes: ['advantage-sign-flipped'],
  of: 'targets',
  start: () => new PushPass(),
};

class PushPass implements Pass {
  private steps = 0;
  private down = 0;
  private sum = 0;
  private onset = -1;
  private readonly proof = new ProofStore();

  iteration({ steps, number }: Iteration): void {
    const push = steps?.column('push');
    for (let i = 0; push && i < push.length; i++) {
      if (!Number.isFinite(push[i])) continue;
      this.steps++;
      if (!(push[i] > 0)) continue;
      if (this.onset < 0) this.onset = number;
      this.down++;
      this.sum += push[i];
      this.proof.step(push[i], -push[i], push[i]);
    }
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = { steps: this.steps, down: this.down };
    const expected = { down: 0 };
    if (this.steps === 0) return { status: 'not-checked', measured, expected, findings: [] };
    if (this.down < Math.max(fewestRows, limits.most.value * this.steps))
      return { status: 'pass', measured, expected, findings: [] };
    const transform = new Sign();
    const finding: Finding = {
      cause: 'advantage-sign-flipped',
      confidence: confidence(1, this.down * limits.perStep.value),
      agents: [],
      onset: this.onset,
      rows: this.down,
      transform,
      ...this.proof.prove("derivative of the actor's loss by its values", 'as it was', 'as it should be', transform),
      told: true,
      summary: told(
        `In ${this.down} of ${this.steps} steps the actor's loss rises with the values of its actions (by ${figure(this.sum / this.down)}, where -1 raises their mean): it goes down what its critics say.`,
        `${this.steps} 步中有 ${this.down} 步，策略的损失随其动作的价值上升（${figure(this.sum / this.down)}，而 -1 才使均值上升）：它朝评论家所说的反方向走。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}
