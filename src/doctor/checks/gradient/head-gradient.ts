/** The gradient of the head's bias recomputed from its rows: the one tensor whose gradient the recording determines. It shows which terms of the loss reach the actor, and with which sign. */

import { budgets } from '../../budgets.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import { type Iteration, stepKey } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { defaultClip } from '../../evidence/step-stats.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Distribution, Scores } from '../../pairing/scoring.ts';
import { EntropyAlone } from '../../transforms/loss/entropy-alone.ts';
import { LossIs } from '../../transforms/loss/loss-is.ts';
import type { Transform } from '../../transforms/transform.ts';
import { merge } from './wiring.ts';

export const headGradient: Check = {
  id: 'head-gradient',
  group: 'gradient',
  question: "Is the gradient of the head's bias what the rows give?",
  needs: [['tensors.grad_norm'], ['replays.logits'], ['replays.advantage'], ['samples.action']],
  causes: ['policy-detached', 'entropy-sign-flipped', 'loss-summed'],
  start: (run) => new HeadPass(run),
};

type Kind = 'whole' | 'entropyOnly' | 'entropyFlipped' | 'summed' | 'other';

const slack = limits.headGradient.value;

interface Count {
  count: number;
  onset: number;
  proof: ProofStore;
}

class HeadPass implements Pass {
  private readonly counts = new Map<number, Map<Kind, Count>>();
  private steps = 0;
  private readonly distribution = new Distribution();
  /** Policy to the tensor that is its head's bias. */
  private readonly bias = new Map<number, { tensor: number; size: number }>();

  constructor(private readonly run: Run) {
    run.tensors.forEach(({ role, size, policy, name }, tensor) => {
      if (role === 'head' && /bias/i.test(name) && size > 1) this.bias.set(policy, { tensor, size });
    });
  }

  iteration(iteration: Iteration): void {
    const { replays, samples, tensors } = iteration;
    const gradient = tensors?.column('grad_norm');
    const advantage = replays?.column('advantage');
    const action = samples?.column('action');
    if (
      !replays ||
      !samples ||
      !tensors ||
      !gradient ||
      !advantage ||
      !action ||
      this.bias.size === 0 ||
      iteration.probed
    )
      return;
    const scores = new Scores(replays);
    if (!scores.logits) return;
    const wanted = this.wanted(iteration, gradient);
    const epoch = replays.column('epoch')!;
    const minibatch = replays.column('minibatch')!;
    const policy = replays.column('policy');
    const weight = replays.column('weight');
    const sample = replays.column('sample')!;
    const source = replays.column('source_iteration');
    const fresh = replays.measured('new_logp')!;
    const used = replays.column('old_logp');
    const stored = samples.measured('old_logp')!;
    const clip = Number.isFinite(this.run.number('clip')) ? this.run.number('clip') : defaultClip;
    const sums = new Map<
      number,
      { push: Float64Array; entropy: Float64Array; weight: number; rows: number; broken: boolean }
    >();
    let latest = -1;
    const begun = new Map<number, number>();
    for (let i = 0; i < replays.rows; i++) {
      const w = weight && !Number.isNaN(weight[i]) ? weight[i] : 1;
      const key = stepKey(epoch[i], minibatch[i], policy ? policy[i] : 0);
      const step = wanted.get(key);
      if (w === 0 || !step) continue;
      if (key !== latest) {
        latest = key;
        if (!sums.has(key) && (begun.get(step.policy) ?? 0) >= budgets.headRows) wanted.delete(key);
      }
      if (!wanted.has(key)) continue;
      begun.set(step.policy, (begun.get(step.policy) ?? 0) + 1);
      const own = sums.get(key) ?? {
        push: new Float64Array(step.size),
        entropy: new Float64Array(step.size),
        weight: 0,
        rows: 0,
        broken: false,
      };
      sums.set(key, own);
      if (sample[i] >= samples.rows || (source && source[i] !== iteration.number && !Number.isNaN(source[i]))) {
        own.broken = true;
        continue;
      }
      own.rows++;
      own.weight += w;
      const temperature = scores.temperatureOf(i);
      const found = this.distribution.of(scores, i, temperature, true);
      // Without ids a row's candidates are the head's own outputs only where there are as many.
      if (!scores.subset && found.count !== step.size) {
        own.broken = true;
        continue;
      }
      const old = used && !Number.isNaN(used[i]) ? used[i] : stored[sample[i]];
      const ratio = Math.exp(fresh[i] - old);
      const a = advantage[i];
      const free = !((a > 0 && ratio > 1 + clip) || (a < 0 && ratio < 1 - clip));
      const push = free ? (w * a * ratio) / temperature : 0;
      for (let c = 0; c < found.count; c++) {
        const id = scores.id(i, c);
        const p = found.probability(c);
        if (!(id < step.size) || !Number.isFinite(p)) {
          own.broken = true;
          break;
        }
        own.push[id] += push * ((c === action[sample[i]] ? 1 : 0) - p);
        if (p > 0) own.entropy[id] -= (w * p * (found.logp(c) + found.entropy)) / temperature;
      }
    }
    for (const [key, own] of sums) {
      const step = wanted.get(key)!;
      if (!own.broken && own.rows >= limits.fewestSteps.value) this.judge(iteration, step, own);
    }
  }

  /** The first steps of each policy that have a measured bias and are not hidden by an unknown clip. */
  private wanted(iteration: Iteration, gradient: ArrayLike<number>) {
    const tensors = iteration.tensors!;
    const steps = iteration.steps;
    const wanted = new Map<number, { norm: number; scale: number; size: number; policy: number }>();
    const tensor = tensors.column('tensor')!;
    const epoch = tensors.column('epoch')!;
    const minibatch = tensors.column('minibatch')!;
    const most = this.run.number('max_grad_norm');
    const whole = new Map<number, number>();
    const norms = steps?.column('grad_norm');
    if (steps && norms) {
      const stepEpoch = steps.column('epoch')!;
      const stepMinibatch = steps.column('minibatch')!;
      const stepPolicy = steps.column('policy');
      for (let i = 0; i < steps.rows; i++)
        whole.set(stepKey(stepEpoch[i], stepMinibatch[i], stepPolicy ? stepPolicy[i] : 0), norms[i]);
    }
    const taken = new Map<number, number>();
    for (let i = 0; i < tensors.rows; i++) {
      const info = this.run.tensors[tensor[i]];
      const bias = info && this.bias.get(info.policy);
      if (!bias || bias.tensor !== tensor[i]) continue;
      const count = taken.get(info.policy) ?? 0;
      if (count >= budgets.headSteps) continue;
      taken.set(info.policy, count + 1);
      const key = stepKey(epoch[i], minibatch[i], info.policy);
      const norm = whole.get(key);
      const scale =
        Number.isFinite(most) && norm !== undefined ? Math.min(1, most / (norm + limits.clipEpsilon.value)) : 1;
      wanted.set(key, { norm: gradient[i], scale, size: bias.size, policy: info.policy });
    }
    return wanted;
  }

  private judge(
    iteration: Iteration,
    step: { norm: number; scale: number; policy: number },
    own: { push: Float64Array; entropy: Float64Array; weight: number; rows: number },
  ): void {
    const coefficient = this.run.number('entropy_coefficient');
    const c = Number.isFinite(coefficient) ? coefficient : 0;
    // Who declares a sum has chosen the step size for it.
    const summed = this.run.text('loss_reduction') === 'sum';
    const divisor = summed ? 1 : own.weight;
    const length = (push: number, entropy: number) => {
      let squares = 0;
      for (let i = 0; i < own.push.length; i++) squares += (push * own.push[i] + entropy * own.entropy[i]) ** 2;
      return (Math.sqrt(squares) / divisor) * step.scale;
    };
    const noise = limits.roundedSum.value * step.scale;
    const fits = (value: number) => Math.abs(step.norm - value) <= slack * value + noise;
    const whole = length(1, c);
    const candidates: [Kind, number][] = [
      ['entropyOnly', length(0, c)],
      ['entropyFlipped', length(1, -c)],
      ...(summed ? [] : [['summed', whole * own.weight] as [Kind, number]]),
    ];
    const apart = (value: number) =>
      fits(value) && Math.abs(value - whole) > limits.apartFormulas.value * slack * Math.max(value, whole) + 2 * noise;
    const kind: Kind | null = fits(whole)
      ? fits(candidates[0][1])
        ? null
        : 'whole'
      : (candidates.find(([, value]) => apart(value))?.[0] ?? 'other');
    if (!kind) return;
    this.steps++;
    const counts = this.counts.get(step.policy) ?? new Map<Kind, Count>();
    this.counts.set(step.policy, counts);
    const into = counts.get(kind) ?? { count: 0, onset: iteration.number, proof: new ProofStore() };
    counts.set(kind, into);
    into.count++;
    const given = candidates.find(([candidate]) => candidate === kind)?.[1];
    if (given !== undefined) into.proof.step(step.norm, whole, given);
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = { steps: this.steps };
    const findings: Finding[] = [];
    const expected = { whole: this.steps };
    for (const [policy, counts] of this.counts) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      for (const [kind, { count }] of counts) measured[`${name}.${kind}`] = count;
      const total = [...counts.values()].reduce((sum, { count }) => sum + count, 0);
      const add = (kind: Kind, cause: string, transform: Transform, summary: string) => {
        const own = counts.get(kind);
        const since = own && own.onset > 0 ? total - (counts.get('whole')?.count ?? 0) : total;
        if (!own || own.count < limits.fewestSteps.value || own.count < limits.steadily.value * since) return;
        findings.push({
          cause,
          confidence: confidence(own.count / since, own.count * limits.perStep.value),
          agents: this.run.agentsOf(policy),
          onset: own.onset,
          rows: own.count,
          transform,
          ...own.proof.prove("length of the head's gradient", 'as recorded', 'that of the whole loss', transform),
          summary,
          evidence: [{ check: 'head-gradient', measured, expected }],
        });
      };
      add(
        'entropyOnly',
        'policy-detached',
        new EntropyAlone(),
        `The gradient of ${name}'s head is that of the entropy bonus alone: the policy loss does not reach it.`,
      );
      add(
        'entropyFlipped',
        'entropy-sign-flipped',
        new LossIs('negated', 'entropy'),
        `The gradient of ${name}'s head agrees with the entropy term only when its sign is turned.`,
      );
      add(
        'summed',
        'loss-summed',
        new LossIs('sum', 'policy'),
        `The gradient of ${name}'s head is that of the sum over the minibatch.`,
      );
    }
    if (this.steps === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: "no head has a bias over the global actions, or no step's gradient could be recomputed",
      };
    return {
      status: findings.length > 0 ? 'fail' : 'pass',
      measured,
      expected,
      findings: merge(findings).map((finding) => ({ ...finding, confidence: Number(figure(finding.confidence)) })),
    };
  }
}
