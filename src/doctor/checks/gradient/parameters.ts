/** Whether parameters change by the gradient step alone: within the optimiser's bound, continuous from step to step, and not pulled by decay. */

import { median } from '../../../math/statistics.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { conventionRemark } from '../../conventions.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import { criticSaysTheSame } from '../../evidence/critic-line.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { policyOfStep, stepKey } from '../../evidence/steps/step-key.ts';
import { merge } from '../../found.ts';
import { limits } from '../../limits.ts';
import { GradientMemory, optimiserBound } from '../../optimiser-bound.ts';

export const parameters: Check = {
  id: 'parameters',
  group: 'gradient',
  question: ['Do parameters change by the gradient step alone?', '参数只因梯度步而改变吗？'],
  needs: [
    ['tensors.delta_norm', 'tensors.delta'],
    ['tensors.norm', 'tensors.learning_rate'],
  ],
  causes: ['parameters-overwritten', 'weight-decay-pull'],
  of: 'both',
  start: (run) => new ParametersPass(run),
};

/** What is further than this times the bound was done by another hand. */
const farAbove = limits.optimiserBound.value;
/** From this share of the change on, decay rules. */
const rules = limits.decayRules.value;

interface Tensor {
  norm: number;
  deltaNorm: number;
  iteration: number;
}

/** An actor's tensors together, step by step. */
interface Actor {
  first: number;
  latest: number;
  iteration: number;
  /** How much of a step's change is a change of length, towards 0. */
  radial: number[];
  /** Share of the change that decoupled decay accounts for, and of the optimiser's input that coupled decay does. */
  decoupled: number[];
  coupled: number[];
  /** The iteration of each entry of `radial`. */
  when: number[];
}

interface ActorStep {
  norm: number;
  delta: number;
  pulled: number;
  decay: number;
  gradient: number;
}

class ParametersPass implements Pass {
  private readonly tensors = new Map<number, Tensor>();
  private readonly actors = new Map<number, Actor>();
  private steps = 0;
  private readonly jumps: { tensor: number; iteration: number; ratio: number; kind: string }[] = [];
  /** Iterations that began with a critic in other units that says the same as before. */
  private readonly rescaled = new Set<number>();
  /** Jumps of critics between updates that nothing recorded tells from a change of units. */
  private doubtful = 0;

  private readonly limit;
  private readonly memories = new Map<number, GradientMemory>();

  constructor(private readonly run: Run) {
    this.limit = optimiserBound((name) => run.optimizer(name));
  }

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
    const epoch = tensors.column('epoch')!;
    const minibatch = tensors.column('minibatch')!;
    const together = new Map<number, ActorStep>();
    for (let i = 0; i < tensors.rows; i++) {
      const info = this.run.tensors[tensor[i]];
      if (!info) continue;
      this.steps++;
      const weight = norm ? norm[i] : 0;
      const pulled = decay && rate ? decay[i] * rate[i] * weight : 0;
      if (rate && rate[i] > 0 && info.size > 0) {
        const felt = (gradient ? gradient[i] : Number.NaN) + (decay && norm ? decay[i] * weight : 0);
        // A sum of absolute changes is at most their length times the root of their number.
        const most =
          (this.bound(iteration, tensor[i], rate[i], info.size, felt) + pulled) * (delta ? Math.sqrt(info.size) : 1);
        const found = delta ? delta[i] : deltaNorm ? deltaNorm[i] : Number.NaN;
        // Single precision cannot change a parameter by less than its own rounding.
        const floor = limits.rounding.value * weight * Math.sqrt(info.size);
        if (found > farAbove * most + floor && !iteration.probed)
          this.jumps.push({ tensor: tensor[i], iteration: iteration.number, ratio: found / most, kind: 'bound' });
      }
      if (!norm || !deltaNorm) continue;
      this.follow(iteration, tensor[i], norm[i], deltaNorm[i]);
      if (info.role === 'critic' || info.role === 'other') continue;
      const key = stepKey(epoch[i], minibatch[i], info.policy);
      const own = together.get(key) ?? { norm: 0, delta: 0, pulled: 0, decay: 0, gradient: 0 };
      together.set(key, own);
      own.norm = Math.hypot(own.norm, weight);
      own.delta = Math.hypot(own.delta, deltaNorm[i]);
      own.pulled = Math.hypot(own.pulled, pulled);
      own.decay = Math.hypot(own.decay, decay ? decay[i] * weight : 0);
      own.gradient = Math.hypot(own.gradient, gradient ? gradient[i] : 0);
    }
    for (const [key, own] of together) this.together(iteration, policyOfStep(key), own);
  }

  private together(iteration: Iteration, policy: number, step: ActorStep): void {
    const known = this.actors.get(policy);
    const own = known ?? {
      first: step.norm,
      latest: step.norm,
      iteration: iteration.number,
      radial: [],
      decoupled: [],
      coupled: [],
      when: [],
    };
    this.actors.set(policy, own);
    // Where an update is one step, only the update before it tells how long the tensors were.
    if (known && iteration.number <= known.iteration + 1 && step.delta > 0) {
      own.radial.push((own.latest - step.norm) / step.delta);
      own.when.push(iteration.number);
    }
    if (step.delta > 0 && step.pulled > 0) {
      own.decoupled.push(step.pulled / step.delta);
      own.coupled.push(step.decay / (step.decay + step.gradient));
    }
    own.latest = step.norm;
    own.iteration = iteration.number;
  }

  /** How long one step's change of a tensor can be; infinite where the optimiser has no known bound. */
  private bound(iteration: Iteration, tensor: number, rate: number, size: number, gradient: number): number {
    if (!this.limit) return Number.POSITIVE_INFINITY;
    const memory = this.memories.get(tensor) ?? new GradientMemory();
    this.memories.set(tensor, memory);
    const most = this.limit.length({
      rate,
      size,
      gradient,
      ...memory.step(iteration.number, gradient, this.limit.momentum),
    });
    return Number.isNaN(most) ? Number.POSITIVE_INFINITY : most;
  }

  private follow(iteration: Iteration, index: number, norm: number, deltaNorm: number): void {
    const known = this.tensors.get(index);
    if (known && !iteration.probed && iteration.number <= known.iteration + 1) {
      const jump = Math.abs(norm - known.norm);
      const most = Math.max(deltaNorm, known.deltaNorm);
      if (
        Number.isFinite(jump) &&
        jump > limits.triangle.value * most + limits.jumpFloor.value * Math.max(norm, known.norm)
      )
        this.jumped(iteration, index, jump / most, iteration.number > known.iteration);
    }
    this.tensors.set(index, { norm, deltaNorm, iteration: iteration.number });
  }

  /** PopArt rescales the critic's last layer between updates so that it says the same in the units of the newest returns: a critic whose values lie on one line with those of sampling was not overwritten. */
  private jumped(iteration: Iteration, tensor: number, ratio: number, between: boolean): void {
    const { role, policy } = this.run.tensors[tensor];
    const said = between && role === 'critic' ? criticSaysTheSame(iteration, policy) : 'wrong';
    const declared = /pop/i.test(this.run.text('value_normalisation') ?? '');
    if (said === 'right' || (said === 'silent' && declared)) {
      this.rescaled.add(iteration.number);
      return;
    }
    if (said === 'silent') this.doubtful++;
    this.jumps.push({ tensor, iteration: iteration.number, ratio, kind: 'jump' });
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = { tensor_steps: this.steps, jumps: this.jumps.length };
    const expected = { jumps: 0, decay_share: 0 };
    if (this.steps === 0) return { status: 'not-checked', measured, expected, findings: [] };
    const findings: Finding[] = [...this.pulls(measured), ...this.overwritten(measured)];
    for (const finding of findings) finding.evidence = [{ check: 'parameters', measured, expected }];
    const status = findings.length > 0 ? 'fail' : 'pass';
    return { status, measured, expected, findings: merge(findings), ...this.remarks() };
  }

  private remarks(): Pick<Outcome, 'remarks'> {
    if (this.rescaled.size === 0) return {};
    const summary = `The critic's parameters were rescaled before ${this.rescaled.size} updates, and it says the same as before in other units, as PopArt does.`;
    return { remarks: [conventionRemark('critic-rescaled', summary)] };
  }

  private overwritten(measured: Outcome['measured']): Finding[] {
    if (this.jumps.length === 0) return [];
    const worst = this.jumps.reduce((a, b) => (b.ratio > a.ratio ? b : a));
    measured.largest_jump = figure(worst.ratio);
    const policies = new Set(this.jumps.map(({ tensor }) => this.run.tensors[tensor].policy));
    return [
      {
        cause: 'parameters-overwritten',
        // What could as well be a change of units is a candidate and no cause.
        confidence:
          this.doubtful === this.jumps.length
            ? limits.candidate.value
            : confidence(1, this.jumps.length * limits.perStep.value),
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
    for (const [policy, own] of this.actors) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      const decoupled = median(own.decoupled);
      const coupled = median(own.coupled);
      const radial = own.radial.length >= limits.fewestSteps.value ? median(own.radial) : Number.NaN;
      measured[`${name}.decay_share`] = figure(decoupled);
      measured[`${name}.radial_share`] = figure(radial);
      const shrinks = own.latest < own.first && radial > 0;
      // Inside the optimiser decay shows as steps of full size towards 0; beside it, as a share of the change.
      const inside = coupled > rules && radial > limits.coupledRadial.value;
      const beside = decoupled > rules;
      const unseen = own.decoupled.length === 0 && radial > limits.unseenRadial.value;
      if (!shrinks || !(inside || beside || unseen)) continue;
      findings.push({
        cause: 'weight-decay-pull',
        confidence: unseen ? limits.oneWitness.value : confidence(1, own.radial.length * limits.perStep.value),
        agents: this.run.agentsOf(policy),
        onset: shrinkingSince(own),
        rows: own.radial.length,
        before: beside ? decoupled : radial,
        summary: beside
          ? `Weight decay accounts for ${percent(Math.min(1, decoupled))} of how ${name}'s actor changes, and it shrinks.`
          : `${percent(radial)} of how ${name}'s actor changes is shrinking: ${unseen ? 'something' : 'decay, which outweighs the gradient inside the optimiser,'} pulls it to 0.`,
        evidence: [],
      });
    }
    return findings;
  }
}

/** The first iteration from which on most of each iteration's change is shrinking. */
function shrinkingSince({ radial, when }: Actor): number {
  let since = when.at(-1) ?? 0;
  for (const number of [...new Set(when)].reverse()) {
    if (!(median(radial.filter((_, i) => when[i] === number)) > limits.most.value * median(radial))) break;
    since = number;
  }
  return since;
}
