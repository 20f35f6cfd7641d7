/** Whether gradients reach the policy's parameters and an optimiser moves them: by role, over all measured steps. */

import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import type { Finding, Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { stepKey } from '../../evidence/steps/step-key.ts';
import { isCertain } from '../../evidence/steps/step-stats.ts';
import { merge } from '../../found.ts';
import { limits } from '../../limits.ts';
import { type StillTensor, StillTensors } from './still-tensors.ts';

export const wiring: Check = {
  id: 'wiring',
  group: 'gradient',
  question: ['Does the gradient reach and move the policy?', '梯度是否到达并推动策略？'],
  needs: [['tensors.grad_norm'], ['tensors.delta', 'tensors.delta_norm']],
  causes: ['policy-detached', 'optimizer-unbound', 'head-unbound'],
  of: 'both',
  start: (run) => new WiringPass(run),
};

/** Below this a rate changes no single-precision parameter, however well it is wired. */
const leastRate = limits.leastRate.value;

const roles = ['trunk', 'head', 'critic', 'shared', 'other'];

interface Role {
  steps: number;
  withGradient: number;
  still: number;
  unbound: number;
  moved: number;
  gradient: number;
  onset: { still: number; none: number };
  none: number;
}

const role = (): Role => ({
  steps: 0,
  withGradient: 0,
  still: 0,
  unbound: 0,
  moved: 0,
  gradient: 0,
  onset: { still: Number.POSITIVE_INFINITY, none: Number.POSITIVE_INFINITY },
  none: 0,
});

class WiringPass implements Pass {
  /** By policy, then by role. */
  private readonly policies = new Map<number, Map<string, Role>>();

  /** Policies that in this iteration had something to choose, were not certain of it, and had credit that differs. */
  private undecided = new Set<number>();

  /** Per tensor. A spread of continuous actions belongs to no layer: the entropy bonus reaches it whatever the policy loss does. */
  private readonly roles: string[];

  private readonly still: StillTensors;

  constructor(private readonly run: Run) {
    this.still = new StillTensors(run);
    const outputs = new Map<number, number>();
    for (const { role, name, policy, size } of run.tensors)
      if (role === 'head' && /bias/i.test(name)) outputs.set(policy, size);
    this.roles = run.tensors.map(({ role, name, policy, size }) =>
      role === 'trunk' && !/weight|bias/i.test(name) && size === outputs.get(policy) ? 'other' : role,
    );
  }

  iteration(iteration: Iteration): void {
    const { tensors } = iteration;
    this.still.see(iteration);
    this.undecided = new Set();
    for (const stat of iteration.stats.values()) {
      const alike = stat.ratioPairs.count > 0 && !(stat.ratioPairs.spreadY > limits.rounding.value);
      if (!(stat.logCount < limits.oneChoice.value) && !isCertain(stat) && !alike) this.undecided.add(stat.policy);
    }
    const blind = iteration.stats.size === 0;
    const gradient = tensors?.column('grad_norm');
    const delta = tensors?.column('delta') ?? tensors?.column('delta_norm');
    if (!tensors || !gradient || !delta) return;
    const tensor = tensors.column('tensor')!;
    const epoch = tensors.column('epoch')!;
    const minibatch = tensors.column('minibatch')!;
    const rate = tensors.column('learning_rate');
    const bound = tensors.column('bound');
    const steps = new Map<
      number,
      { gradient: number; delta: number; rate: number; bound: number; key: number; policy: number; role: string }
    >();
    for (let i = 0; i < tensors.rows; i++) {
      const info = this.run.tensors[tensor[i]];
      if (!info || !Number.isFinite(gradient[i]) || !Number.isFinite(delta[i])) continue;
      const role = this.roles[tensor[i]];
      const key = stepKey(epoch[i], minibatch[i], info.policy) * roles.length + roles.indexOf(role);
      const own = steps.get(key) ?? {
        gradient: 0,
        delta: 0,
        rate: 0,
        bound: Number.POSITIVE_INFINITY,
        key: stepKey(epoch[i], minibatch[i], info.policy),
        policy: info.policy,
        role,
      };
      steps.set(key, own);
      own.gradient = Math.hypot(own.gradient, gradient[i]);
      own.delta += delta[i];
      own.rate = Math.max(own.rate, rate ? rate[i] : 1);
      if (bound && !Number.isNaN(bound[i])) own.bound = Math.min(own.bound, bound[i]);
    }
    for (const own of steps.values()) this.step(iteration, own, blind || this.matters(iteration, own));
  }

  /** Where nearly all rows are clipped, no gradient is what the clip is for; and rows that all did the same earn nothing over one another. */
  private matters(iteration: Iteration, own: { key: number; policy: number }): boolean {
    const stat = iteration.stats.get(own.key);
    return (
      this.undecided.has(own.policy) &&
      !(stat && (stat.clipBinding > limits.most.value || stat.meanAbsolute < limits.rounding.value))
    );
  }

  private step(
    iteration: Iteration,
    own: { gradient: number; delta: number; rate: number; bound: number; policy: number; role: string },
    matters: boolean,
  ): void {
    const roles = this.policies.get(own.policy) ?? new Map<string, Role>();
    this.policies.set(own.policy, roles);
    const into = roles.get(own.role) ?? role();
    roles.set(own.role, into);
    into.steps++;
    into.gradient += own.gradient;
    if (own.delta > 0) into.moved++;
    if (own.gradient > 0) into.withGradient++;
    else if (matters) {
      into.none++;
      into.onset.none = Math.min(into.onset.none, iteration.number);
    }
    const unbound = own.bound === 0;
    if (unbound) into.unbound++;
    // Bound and still at a rate that no parameter could show is not a matter of wiring.
    const movable = own.gradient > 0 && own.rate > leastRate && own.bound === Number.POSITIVE_INFINITY;
    if (own.delta === 0 && (unbound || movable)) {
      into.still++;
      into.onset.still = Math.min(into.onset.still, iteration.number);
    }
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {};
    const findings: Finding[] = [];
    for (const [policy, roles] of this.policies) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      for (const [which, own] of roles) {
        measured[`${name}.${which}.steps`] = own.steps;
        measured[`${name}.${which}.without_gradient`] = own.none;
        measured[`${name}.${which}.not_moved`] = own.still;
      }
      const found = this.policy(policy, name, roles);
      findings.push(...(found.length > 0 ? found : this.neverStepped(policy, name, roles)));
    }
    const expected = { without_gradient: 0, not_moved: 0 };
    for (const finding of findings) finding.evidence = [{ check: 'wiring', measured, expected }];
    if (this.policies.size === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings,
        note: told('the manifest does not say which tensor plays which role', '清单没有说明各张量的角色'),
      };
    const dull = findings.length > 0 ? null : this.unlearnt();
    if (dull)
      return {
        status: 'fail',
        measured,
        expected,
        findings,
        note: told(
          'no gradient ever reaches the critic, so that it stays as it was made: its values are detached from the loss',
          '评论家从未得到梯度，一直是初始的样子：它的价值与损失断开了',
        ),
        open: { rows: dull.steps, share: 1, onset: dull.onset, agents: this.run.agentsOf(dull.policy) },
      };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings) };
  }

  private policy(policy: number, name: string, roles: Map<string, Role>): Finding[] {
    const trunk = roles.get('trunk');
    const head = roles.get('head');
    const critic = roles.get('critic');
    const agents = this.run.agentsOf(policy);
    const all = (own: Role | undefined, kind: 'still' | 'none') =>
      own !== undefined &&
      own[kind] >= 2 &&
      (own[kind] >= limits.nearlyAll.value * own.steps ||
        (own.onset[kind] > 0 && own[kind] >= limits.lateSteps.value * own.steps));
    const make = (cause: string, own: Role, kind: 'still' | 'none', summary: string): Finding => ({
      cause,
      confidence: confidence(1, own[kind] * limits.perStep.value),
      agents,
      onset: own.onset[kind],
      rows: own[kind],
      summary,
      evidence: [],
    });
    const headStill = all(head, 'still');
    const trunkStill = all(trunk, 'still');
    // Layers before the head may be the critic's as well.
    const before = trunk ?? roles.get('shared');
    if (headStill && (all(before, 'still') || !before))
      return [
        make(
          'optimizer-unbound',
          head!,
          'still',
          `Gradients reach ${name}'s actor, yet on ${head!.still} steps none of its parameters moved: no optimiser holds them.`,
        ),
      ];
    if (headStill)
      return [
        make(
          'head-unbound',
          head!,
          'still',
          `Gradients reach the last layer of ${name}, yet on ${head!.still} steps it did not move while the layers before it did.`,
        ),
      ];
    if (trunkStill)
      return [
        make(
          'optimizer-unbound',
          trunk!,
          'still',
          `Gradients reach the hidden layers of ${name}, yet on ${trunk!.still} steps they did not move: no optimiser holds them.`,
        ),
      ];
    // The spread of continuous actions belongs to no layer and must move as well. A critic may have an optimiser that nobody watches.
    const spread = roles.get('other');
    if (
      spread &&
      all(spread, 'still') &&
      spread.unbound === spread.steps &&
      spread.withGradient >= limits.nearlyAll.value * spread.steps
    )
      return [
        make(
          'optimizer-unbound',
          spread,
          'still',
          `Gradients reach the parameters of ${name} that belong to no layer, yet on ${spread.still} steps none of them moved: no optimiser holds them.`,
        ),
      ];
    if (all(head, 'none') && (all(trunk, 'none') || !trunk) && (critic?.withGradient ?? 0) > 0)
      return [
        make(
          'policy-detached',
          head!,
          'none',
          `No gradient at all reaches ${name}'s actor on ${head!.none} steps, while the critic has one.`,
        ),
      ];
    // Gradients that are looked at too late would be 0 as well, and parameters would move.
    const nothing = [...roles.values()].every(({ withGradient, moved }) => withGradient === 0 && moved === 0);
    if (nothing && all(head, 'none'))
      return [
        make(
          'policy-detached',
          head!,
          'none',
          `No gradient at all reaches any parameter of ${name} on ${head!.none} steps, and none moved: gradients are cleared, or cut off, before the optimiser steps.`,
        ),
      ];
    return this.resting(policy, name, agents, (head?.withGradient ?? 0) > 0);
  }

  /** A critic whose optimiser was handed over and whose step() was never called, as the recorder says. */
  private neverStepped(policy: number, name: string, roles: Map<string, Role>): Finding[] {
    const tensors = this.still.neverStepped(policy).map((name) => ({ name }));
    const rows = Math.max(...[...roles.values()].map(({ steps }) => steps));
    if (tensors.length === 0 || rows < limits.fewestSteps.value) return [];
    const which = listed(tensors);
    const summary = told(
      `The optimiser that holds ${which} of ${name} was never stepped in the whole run, though value losses were reported: they are what they were in the beginning.`,
      `持有 ${name} 的 ${which} 的优化器整个运行中从未执行 step()，尽管报告了价值损失：这些参数还是最初的样子。`,
    );
    const sure = confidence(1, rows * limits.perStep.value);
    const agents = this.run.agentsOf(policy);
    return [
      { cause: 'optimizer-unbound', confidence: sure, agents, onset: 0, rows, summary, told: true, evidence: [] },
    ];
  }

  /** Parts that never move although the rest does: no optimiser holds them, or no gradient comes so far. */
  private resting(policy: number, name: string, agents: number[], headReached: boolean): Finding[] {
    const make = (cause: string, still: readonly StillTensor[], summary: string): Finding => ({
      cause,
      confidence: confidence(1, Math.max(...still.map(({ steps }) => steps)) * limits.perStep.value),
      agents,
      onset: Math.min(...still.map(({ onset }) => onset)),
      rows: Math.max(...still.map(({ steps }) => steps)),
      summary,
      evidence: [],
    });
    const unheld = ['trunk', 'shared', 'critic'].flatMap((role) =>
      this.still.of(policy, role).still.filter(({ reached, held }) => reached && !held),
    );
    if (unheld.length > 0)
      return [
        make(
          'optimizer-unbound',
          unheld,
          `Gradients reach ${listed(unheld)} of ${name}, yet through the whole recording they stayed the same: no optimiser holds them.`,
        ),
      ];
    const trunk = this.still.of(policy, 'trunk');
    const cut = trunk.still.filter(({ reached, held }) => !reached && held);
    if (headReached && cut.length > 0 && cut.length === trunk.all && !this.still.blind)
      return [
        make(
          'policy-detached',
          cut,
          `No gradient ever reaches the layers of ${name} before the last, which an optimiser holds: ${listed(cut)}.`,
        ),
      ];
    return [];
  }

  /** Critics that an optimiser holds and no gradient ever reaches, although values and targets are there: it has no name of its own. */
  private unlearnt(): { policy: number; steps: number; onset: number } | null {
    if (!this.run.seen.has('replays.return') && !this.run.seen.has('steps.value_loss')) return null;
    for (const policy of this.policies.keys()) {
      const { still, all } = this.still.of(policy, 'critic');
      const cut = still.filter(({ reached, held }) => !reached && held);
      if (cut.length > 0 && cut.length === all) return { policy, steps: cut[0].steps, onset: cut[0].onset };
    }
    return null;
  }
}

const listed = (still: readonly Pick<StillTensor, 'name'>[]) => {
  const names = still.slice(0, budgets.toldFigures).map(({ name }) => name);
  return still.length > names.length ? `${names.join(', ')} and ${still.length - names.length} more` : names.join(', ');
};
