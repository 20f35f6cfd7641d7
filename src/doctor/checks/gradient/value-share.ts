/** Whether the critic owns what actor and critic share: one trunk, or one limit on the gradient's length. Adam cancels a steady scale, so a large share alone is healthy; the actor's step must suffer. */

import { median } from '../../../math/statistics.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { stepKey } from '../../evidence/steps/step-key.ts';
import { merge } from '../../found.ts';
import { limits } from '../../limits.ts';

export const valueShare: Check = {
  id: 'value-share',
  group: 'gradient',
  question: ["Does the critic leave room for the actor's step?", '评论家是否给策略的步长留有余地？'],
  needs: [['steps.value_grad_norm'], ['steps.policy_grad_norm'], ['tensors.grad_norm']],
  causes: ['value-loss-dominates'],
  start: (run) => new SharePass(run),
};

const outweighs = limits.outweighs.value;

interface Policy {
  ratios: number[];
  /** Actor's step with the shared limit over its step without it. */
  left: number[];
  steps: number[];
}

class SharePass implements Pass {
  private readonly policies = new Map<number, Policy>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { steps } = iteration;
    const value = steps?.column('value_grad_norm');
    const policyNorm = steps?.column('policy_grad_norm');
    const whole = steps?.column('grad_norm');
    if (!steps || !value || !policyNorm || iteration.probed) return;
    const epoch = steps.column('epoch')!;
    const minibatch = steps.column('minibatch')!;
    const policy = steps.column('policy');
    const actors = this.actors(iteration);
    const most = this.run.number('max_grad_norm');
    const epsilon = this.run.optimizer('eps');
    const eps = typeof epsilon === 'number' ? epsilon : limits.usualEpsilon.value;
    for (let i = 0; i < steps.rows; i++) {
      if (!(policyNorm[i] > 0) || !(value[i] > 0)) continue;
      const key = policy ? policy[i] : 0;
      const own = this.policies.get(key) ?? { ratios: [], left: [], steps: [] };
      this.policies.set(key, own);
      own.ratios.push(value[i] / policyNorm[i]);
      const actor = actors.get(stepKey(epoch[i], minibatch[i], key));
      if (!actor) continue;
      const scale = whole && Number.isFinite(most) ? Math.min(1, most / whole[i]) : 1;
      const entry = actor.gradient / Math.sqrt(actor.size);
      const free = entry / Math.max(scale, limits.smallestScale.value);
      // An epsilon that swallows the free step too is not the critic's doing.
      own.left.push(free / (free + eps) < limits.stepLeft.value ? 1 : entry / (entry + eps) / (free / (free + eps)));
      if (actor.rate > 0) own.steps.push(actor.delta / (actor.rate * Math.sqrt(actor.size)));
    }
  }

  private actors({ tensors }: Iteration) {
    const found = new Map<number, { gradient: number; delta: number; size: number; rate: number }>();
    const gradient = tensors?.column('grad_norm');
    if (!tensors || !gradient) return found;
    const tensor = tensors.column('tensor')!;
    const epoch = tensors.column('epoch')!;
    const minibatch = tensors.column('minibatch')!;
    const delta = tensors.column('delta_norm');
    const rate = tensors.column('learning_rate');
    for (let i = 0; i < tensors.rows; i++) {
      const info = this.run.tensors[tensor[i]];
      if (!info || (info.role !== 'trunk' && info.role !== 'head') || !(info.size > 0)) continue;
      const key = stepKey(epoch[i], minibatch[i], info.policy);
      const own = found.get(key) ?? { gradient: 0, delta: 0, size: 0, rate: 0 };
      found.set(key, own);
      own.gradient = Math.hypot(own.gradient, gradient[i]);
      own.delta = Math.hypot(own.delta, delta ? delta[i] : 0);
      own.size += info.size;
      own.rate = Math.max(own.rate, rate ? rate[i] : 0);
    }
    return found;
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {};
    const expected = { ratio: `below ${outweighs}, or no effect on the actor's step` };
    const findings: Finding[] = [];
    for (const [policy, own] of this.policies) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      const ratio = median(own.ratios);
      const left = median(own.left);
      const shared = this.run.tensors.some((tensor) => tensor.policy === policy && tensor.role === 'shared');
      measured[`${name}.value_over_policy`] = figure(ratio);
      measured[`${name}.step_left`] = figure(left);
      if (!(ratio > outweighs)) continue;
      if (!(left < limits.stepLeft.value) && !shared) continue;
      findings.push({
        cause: 'value-loss-dominates',
        confidence: Math.min(
          shared && !(left < limits.stepLeft.value) ? limits.oneWitness.value : 1,
          confidence(1, own.ratios.length * limits.perStep.value),
        ),
        agents: this.run.agentsOf(policy),
        onset: 0,
        rows: own.ratios.length,
        before: ratio,
        summary: `The critic's gradient is ${figure(ratio)} times the policy's${left < limits.stepLeft.value ? `; the shared limit leaves the actor ${percent(left)} of its step` : ', in a trunk that they share'}.`,
        evidence: [{ check: 'value-share', measured, expected }],
      });
    }
    if (this.policies.size === 0) return { status: 'not-checked', measured, expected, findings: [] };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings) };
  }
}
