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
  /** Steps whose gradients are beyond the limit and as long as reported before clipping, and steps that were clipped. */
  longer: { steps: number; onset: number; measured: number };
  clipped: number;
}

/** Lengths of a step's gradients: of all parameters, of the actor's and the critic's, and the longest of one tensor. */
type Lengths = Record<'all' | 'actor' | 'critic' | 'longest', number>;

export class ReportedNorms {
  private readonly policies = new Map<number, Tally>();

  constructor(private readonly run: Run) {}

  see({ steps, tensors, number, probed }: Iteration): void {
    const reported = steps?.column('grad_norm');
    const gradient = tensors?.column('grad_norm');
    if (!steps || !tensors || !reported || !gradient || probed) return;
    const [epoch, minibatch, tensor] = ['epoch', 'minibatch', 'tensor'].map((name) => tensors.column(name)!);
    // Programs measure all parameters, or the actor's and the critic's apart.
    const lengths = new Map<number, Lengths>();
    for (let i = 0; i < tensors.rows; i++) {
      const info = this.run.tensors[tensor[i]];
      if (!info || !Number.isFinite(gradient[i])) continue;
      const key = stepKey(epoch[i], minibatch[i], info.policy);
      const own = lengths.get(key) ?? { all: 0, actor: 0, critic: 0, longest: 0 };
      lengths.set(key, own);
      own.all = Math.hypot(own.all, gradient[i]);
      own.longest = Math.max(own.longest, gradient[i]);
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
        longer: { steps: 0, onset: Number.POSITIVE_INFINITY, measured: 0 },
        clipped: 0,
      };
      this.policies.set(policy, tally);
      tally.steps++;
      this.against(limit, own, reported[row], number, tally);
      const least = Math.min(...[own.all, own.actor, own.critic].filter((length) => length > 0));
      if (!(reported[row] < limits.most.value * least)) continue;
      tally.below++;
      // Two parts that are clipped by themselves come to the root of 2 together.
      if (own.all > limits.clipApart.value * limit) tally.beyond++;
      tally.reported = reported[row];
      tally.measured = own.all;
    }
  }

  /** Whether a step's gradients, reported to be longer than the declared limit, were clipped. */
  private against(limit: number, own: Lengths, reported: number, iteration: number, tally: Tally): void {
    const { value: slack } = limits.formulaSame;
    if (!(reported > (1 + slack) * limit)) return;
    const { longer } = tally;
    const part = Math.max(own.actor, own.critic);
    if (own.all < (1 - slack) * reported) tally.clipped++;
    // Networks, or tensors, that are clipped by themselves may be longer together.
    else if (
      own.all <= (1 + slack) * reported &&
      part > (own.longest > limit ? 1 + slack : limits.clipApart.value) * limit
    ) {
      longer.steps++;
      longer.onset = Math.min(longer.onset, iteration);
      longer.measured = own.all;
    }
  }

  /** Gradients that the optimiser got longer than the declared limit, by the very length that the program measured. */
  private unclipped(): Finding[] {
    return [...this.policies].flatMap(([policy, { longer, clipped, steps }]): Finding[] => {
      const all = longer.steps + clipped;
      if (longer.steps < limits.fewestSteps.value || longer.steps < limits.nearlyAll.value * all) return [];
      const limit = figure(this.run.number('max_grad_norm'));
      const beyond = longer.steps;
      return [
        {
          cause: 'gradient-not-clipped',
          confidence: confidence(beyond / all, beyond * limits.perStep.value),
          agents: this.run.agentsOf(policy),
          onset: longer.onset,
          rows: beyond,
          told: true,
          summary: told(
            `On ${beyond} of ${steps} steps the optimiser got gradients beyond the declared max_grad_norm of ${limit}, up to their reported length (such as ${figure(longer.measured)}): they are not clipped before the step.`,
            `${steps} 步中有 ${beyond} 步，优化器得到的梯度超过声明的 max_grad_norm ${limit}，与报告的长度相同（例如 ${figure(longer.measured)}）：更新之前没有裁剪。`,
          ),
          evidence: [{ check: 'metrics', measured: { steps, beyond, clipped }, expected: { beyond: 0 } }],
        },
      ];
    });
  }

  findings(): Finding[] {
    return [...this.unclipped(), ...this.misread()];
  }

  private misread(): Finding[] {
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
