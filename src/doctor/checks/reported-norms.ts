/** The reported length of the gradients against those that the optimiser got. What clipping returns is the length before it, so it is never below what is left: a smaller one was taken of other parameters, or before the gradients were there, and then nothing is clipped. */
import { told } from '../../language/language.ts';
import { confidence } from '../check.ts';
import { type Finding, figure } from '../diagnosis.ts';
import type { Iteration } from '../evidence/iteration.ts';
import type { Run } from '../evidence/run.ts';
import { stepKey } from '../evidence/steps/step-key.ts';
import { limits } from '../limits.ts';

interface Tally {
  steps: number;
  below: number;
  beyond: number;
  onset: number;
  reported: number;
  measured: number;
}

export class ReportedNorms {
  private readonly policies = new Map<number, Tally>();

  constructor(private readonly run: Run) {}

  see({ steps, tensors, number, probed }: Iteration): void {
    const reported = steps?.column('grad_norm');
    const gradient = tensors?.column('grad_norm');
    if (!steps || !tensors || !reported || !gradient || probed) return;
    const [epoch, minibatch, tensor] = ['epoch', 'minibatch', 'tensor'].map((name) => tensors.column(name)!);
    // Programs measure all parameters, or the actor's and the critic's apart.
    const lengths = new Map<number, { all: number; actor: number; critic: number }>();
    for (let i = 0; i < tensors.rows; i++) {
      const info = this.run.tensors[tensor[i]];
      if (!info || !Number.isFinite(gradient[i])) continue;
      const key = stepKey(epoch[i], minibatch[i], info.policy);
      const own = lengths.get(key) ?? { all: 0, actor: 0, critic: 0 };
      lengths.set(key, own);
      own.all = Math.hypot(own.all, gradient[i]);
      const part = info.role === 'critic' ? 'critic' : 'actor';
      own[part] = Math.hypot(own[part], gradient[i]);
    }
    const [epochs, minibatches, policies] = ['epoch', 'minibatch', 'policy'].map((name) => steps.column(name));
    const limit = this.run.number('max_grad_norm');
    for (let row = 0; row < steps.rows; row++) {
      const policy = policies ? policies[row] : 0;
      const own = lengths.get(stepKey(epochs![row], minibatches![row], policy));
      if (!own || !Number.isFinite(reported[row]) || !(own.all > 0)) continue;
      const tally = this.policies.get(policy) ?? {
        steps: 0,
        below: 0,
        beyond: 0,
        onset: number,
        reported: 0,
        measured: 0,
      };
      this.policies.set(policy, tally);
      tally.steps++;
      const least = Math.min(...[own.all, own.actor, own.critic].filter((length) => length > 0));
      if (!(reported[row] < limits.most.value * least)) continue;
      tally.below++;
      // Two parts that are clipped by themselves come to the root of 2 together.
      if (own.all > limits.clipApart.value * limit) tally.beyond++;
      tally.reported = reported[row];
      tally.measured = own.all;
    }
  }

  findings(): Finding[] {
    return [...this.policies].flatMap(([policy, { steps, below, beyond, onset, reported, measured }]): Finding[] => {
      if (below < limits.fewestSteps.value || below < limits.nearlyAll.value * steps) return [];
      const unclipped = beyond >= limits.fewestSteps.value;
      const limit = figure(this.run.number('max_grad_norm'));
      return [
        {
          cause: 'metric-misreported',
          reading: unclipped ? 'max_grad_norm' : 'grad_norm',
          confidence: confidence(below / steps, below * limits.perStep.value),
          agents: this.run.agentsOf(policy),
          onset,
          rows: below,
          told: true,
          summary: unclipped
            ? told(
                `The length of the gradients is reported as ${figure(reported)} where the optimiser got ${figure(measured)}; on ${beyond} of ${steps} steps that is beyond the declared max_grad_norm of ${limit}: what is clipped are not these gradients.`,
                `报告的梯度长度为 ${figure(reported)}，而优化器得到的是 ${figure(measured)}；${steps} 步中有 ${beyond} 步超过声明的 max_grad_norm ${limit}：被裁剪的不是这些梯度。`,
              )
            : told(
                `The length of the gradients is reported as ${figure(reported)} where the optimiser got ${figure(measured)}.`,
                `报告的梯度长度为 ${figure(reported)}，而优化器得到的是 ${figure(measured)}。`,
              ),
          evidence: [{ check: 'metrics', measured: { steps, below, beyond }, expected: { below: 0 } }],
        },
      ];
    });
  }
}
