/** Whether inputs are so large that the first layer is saturated: large inputs by themselves are healthy, a first layer without gradient is not. */

import { median } from '../../../math/statistics.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { merge } from '../../found.ts';
import { limits } from '../../limits.ts';

export const inputs: Check = {
  id: 'inputs',
  group: 'network',
  question: ['Does the first layer still respond to its inputs?', '第一层是否仍对输入有反应？'],
  needs: [['steps.embed_std', 'samples.obs'], ['tensors.grad_norm']],
  causes: ['input-saturated'],
  start: (run) => new InputsPass(run),
};

/** Inputs of this size push a unit of unit-length weights far beyond where it still responds. */
const large = limits.largeInput.value;
/** A first layer whose bias has less than this share of the next layer's gradient does not respond. */
const dead = limits.deadLayer.value;

interface Policy {
  size: number[];
  /** Gradient of the first layer's bias over that of the layer after it. */
  ratio: number[];
  /** Share of the first layer's weights that have any gradient. */
  alive: number[];
}

class InputsPass implements Pass {
  private readonly policies = new Map<number, Policy>();
  /** Per policy: the first layer's weight and bias, and the next bias. */
  private readonly layers = new Map<number, { weight: number; bias: number; next: number }>();

  constructor(private readonly run: Run) {
    for (const policy of new Set(run.tensors.map((tensor) => tensor.policy))) {
      const own = run.tensors
        .map((tensor, index) => ({ ...tensor, index }))
        .filter((tensor) => tensor.policy === policy);
      const trunk = own.filter(({ role }) => role === 'trunk' || role === 'shared');
      const biases = [...trunk, ...own.filter(({ role }) => role === 'head')].filter(({ name }) => /bias/i.test(name));
      const weight = trunk.find(({ name }) => !/bias/i.test(name));
      if (weight && biases.length >= 2)
        this.layers.set(policy, { weight: weight.index, bias: biases[0].index, next: biases[1].index });
    }
  }

  iteration(iteration: Iteration): void {
    const { steps, tensors } = iteration;
    const size = steps?.column('embed_std');
    const policy = steps?.column('policy');
    for (let i = 0; size && i < size.length; i++)
      if (Number.isFinite(size[i])) this.of(policy ? policy[i] : 0).size.push(size[i]);
    const gradient = tensors?.column('grad_norm');
    if (!tensors || !gradient) return;
    const tensor = tensors.column('tensor')!;
    const nonzero = tensors.column('grad_nonzero');
    const latest = new Map<number, number>();
    for (let i = 0; i < tensors.rows; i++) {
      latest.set(tensor[i], gradient[i]);
      const info = this.run.tensors[tensor[i]];
      const layer = info && this.layers.get(info.policy);
      if (!layer) continue;
      const own = this.of(info.policy);
      if (tensor[i] === layer.weight && nonzero && info.size > 0) own.alive.push(nonzero[i] / info.size);
      // Tensors of one step follow one another, so the latest bias before the next layer's is of the same step.
      if (tensor[i] === layer.next && latest.has(layer.bias) && gradient[i] > 0)
        own.ratio.push(latest.get(layer.bias)! / gradient[i]);
    }
  }

  private of(policy: number): Policy {
    const own = this.policies.get(policy) ?? { size: [], ratio: [], alive: [] };
    this.policies.set(policy, own);
    return own;
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {};
    const expected = { input_size: `below ${large}, or a first layer that responds` };
    const findings: Finding[] = [];
    let any = false;
    for (const [policy, own] of this.policies) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      // A large offset saturates as a large spread does.
      const size = Math.max(median(own.size) || 0, this.run.inputSize.get(policy) ?? 0);
      const ratio = median(own.ratio);
      const alive = median(own.alive);
      if (!(size > 0) || !(Number.isFinite(ratio) || Number.isFinite(alive))) continue;
      any = true;
      measured[`${name}.input_size`] = figure(size);
      measured[`${name}.first_over_next_gradient`] = figure(ratio);
      measured[`${name}.first_layer_alive`] = figure(alive);
      if (!(size > large) || !(ratio < dead || alive < limits.aliveShare.value)) continue;
      findings.push({
        cause: 'input-saturated',
        confidence: confidence(1, Math.max(own.ratio.length, own.alive.length) * limits.perStep.value),
        agents: this.run.agentsOf(policy),
        onset: 0,
        rows: Math.max(own.ratio.length, own.alive.length),
        before: size,
        summary: `Inputs of ${name} are of size ${figure(size)}, and the first layer hardly responds: its gradient is ${figure(ratio)} of the next layer's.`,
        evidence: [{ check: 'inputs', measured, expected }],
      });
    }
    if (!any) return { status: 'not-checked', measured, expected, findings: [] };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings) };
  }
}
