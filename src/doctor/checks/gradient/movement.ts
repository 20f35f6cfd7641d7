/** How far updates move the policy: not at all in a whole run, far too far, always stopped at once, or against the advantages. The limits are fixed ones. */

import { told } from '../../../language/language.ts';
import { correlationZ, mean } from '../../../math/statistics.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { listOf } from '../../evidence/keys.ts';
import type { Run } from '../../evidence/run.ts';
import { RatesAtZero } from '../../evidence/steps/rates-at-zero.ts';
import { policyOfStep, stepKey } from '../../evidence/steps/step-key.ts';
import { isCertain, type StepStat } from '../../evidence/steps/step-stats.ts';
import { limits } from '../../limits.ts';
import { slowSteps } from '../../optimiser-bound.ts';
import { ReportedKl } from '../reported-kl.ts';

export const movement: Check = {
  id: 'movement',
  group: 'gradient',
  question: ['Do updates move the policy, and not too far?', '更新是否推动策略，且不过头？'],
  needs: [['replays.new_logp'], ['samples.old_logp', 'replays.old_logp']],
  causes: ['learning-rate-too-small', 'learning-rate-too-large', 'advantage-sign-flipped'],
  start: (run) => new MovementPass(run),
};

/** k3 above this in half the iterations is too large a step. */
const tooFar = limits.tooFar.value;
/** No action's probability moved by this in the whole run is too small a step. */
const invisible = limits.invisible.value;

/** What else leaves a policy where it is, and shows in parameters alone. */
const stillness = ['optimizer-unbound', 'head-unbound', 'policy-detached', 'policy-head-flat', 'input-saturated'];

interface Policy {
  updates: number;
  steps: number;
  far: number;
  farOnset: number;
  /** Updates that leave the policy they began with altogether: one is enough. */
  lost: number;
  k3: number[];
  moved: number;
  /** The same update by update, and whether there was something left to decide. */
  moves: { iteration: number; moved: number; undecided: boolean; path: number; rate: number }[];
  /** How far the actor's parameters went, as a share of their length; NaN where that was not recorded. */
  path: number;
  /** Log-probabilities are kept in half precision, whose rounding is larger than a step that cannot be seen. */
  narrow: boolean;
  measured: boolean;
  /** Had something to choose, and was not certain of it. */
  undecided: boolean;
  iterations: Set<number>;
  against: { iteration: number; correlation: number; z: number; rows: number }[];
  rows: number;
}

class MovementPass implements Pass {
  private readonly policies = new Map<number, Policy>();
  private readonly reported = new ReportedKl();
  private last = 0;
  private readonly rates = new RatesAtZero();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    this.last = Math.max(this.last, iteration.number);
    if (iteration.probed) return;
    this.rates.see(iteration);
    const byPolicy = new Map<number, StepStat[]>();
    for (const stat of iteration.stats.values()) listOf(byPolicy, stat.policy).push(stat);
    for (const [index, stats] of byPolicy) {
      const own = this.policies.get(index) ?? {
        updates: 0,
        steps: 0,
        far: 0,
        farOnset: Number.POSITIVE_INFINITY,
        lost: 0,
        k3: [],
        moved: 0,
        moves: [],
        path: Number.NaN,
        narrow: false,
        measured: false,
        undecided: false,
        iterations: new Set(),
        against: [],
        rows: 0,
      };
      this.policies.set(index, own);
      // A policy that is certain of everything cannot be moved any more, whatever moved it there.
      const certain = stats.every(isCertain);
      if (!certain) own.updates++;
      own.steps += stats.length;
      own.iterations.add(iteration.number);
      const weight = stats.reduce((sum, stat) => sum + stat.weight, 0);
      own.rows += weight;
      const only = stats.length === 1;
      const k3 = only ? stats[0].after3 : stats.reduce((sum, stat) => sum + stat.weight * stat.k3, 0) / weight;
      own.k3.push(k3);
      this.reported.see(iteration, index, k3);
      // What was off before the first step was no step's doing.
      const replayed = stats.every(({ before, k2 }) => !before || k2 <= limits.logp.value);
      if (k3 > tooFar && replayed) {
        own.far++;
        if (Math.max(k3, ...passes(stats)) > limits.lostPolicy.value) own.lost++;
        own.farOnset = Math.min(own.farOnset, iteration.number);
      }
      own.narrow ||= (iteration.replays?.grain('new_logp') ?? 0) > 0;
      const moved = Math.max(...stats.map((stat) => stat.largestMove));
      const undecided = stats.some((stat) => !(stat.logCount < limits.oneChoice.value) && !isCertain(stat));
      own.moved += moved;
      const rate = Math.max(...(iteration.steps?.column('learning_rate') ?? [Number.NaN]));
      own.moves.push({ iteration: iteration.number, moved, undecided, path: 0, rate });
      if (!only || Number.isFinite(stats[0].after2)) own.measured = true;
      own.undecided ||= undecided;
      this.direction(iteration, own, stats);
    }
    for (const index of this.policies.keys()) if (!byPolicy.has(index)) this.reported.see(iteration, index, Number.NaN);
    this.paths(iteration);
  }

  /** Adds how far each step took the actor's parameters. */
  private paths({ tensors }: Iteration): void {
    const change = tensors?.column('delta_norm');
    const norm = tensors?.column('norm');
    if (!tensors || !change || !norm) return;
    const tensor = tensors.column('tensor')!;
    const epoch = tensors.column('epoch')!;
    const minibatch = tensors.column('minibatch')!;
    const steps = new Map<number, { change: number; norm: number }>();
    for (let i = 0; i < tensors.rows; i++) {
      const info = this.run.tensors[tensor[i]];
      if (!info || info.role === 'critic' || !Number.isFinite(change[i] + norm[i])) continue;
      const key = stepKey(epoch[i], minibatch[i], info.policy);
      const step = steps.get(key) ?? { change: 0, norm: 0 };
      steps.set(key, step);
      step.change = Math.hypot(step.change, change[i]);
      step.norm = Math.hypot(step.norm, norm[i]);
    }
    for (const [key, step] of steps) {
      const own = this.policies.get(policyOfStep(key));
      if (!own || !(step.norm > 0)) continue;
      own.path = (Number.isNaN(own.path) ? 0 : own.path) + step.change / step.norm;
      const latest = own.moves.at(-1);
      if (latest) latest.path += step.change / step.norm;
    }
  }

  /** Whether probability flows to the rows that the loss calls good. */
  private direction(iteration: Iteration, own: Policy, stats: StepStat[]): void {
    let [sum, count] = [0, 0];
    for (const stat of stats) {
      const pairs =
        stat.changePairs.count >= limits.directionRows.value ? stat.changePairs : stat.before ? null : stat.ratioPairs;
      if (
        !pairs ||
        pairs.count < limits.directionRows.value ||
        !(pairs.spreadX > limits.movedRows.value) ||
        !Number.isFinite(pairs.correlation)
      )
        continue;
      sum += pairs.correlation * pairs.count;
      count += pairs.count;
    }
    if (count < limits.directionUpdate.value) return;
    const correlation = sum / count;
    own.against.push({ iteration: iteration.number, correlation, z: correlationZ(correlation, count), rows: count });
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {};
    const expected = {
      'share of updates with k3 above 0.3': 'below 0.5',
      'probability moved': `at least ${invisible}`,
    };
    const findings: Finding[] = [];
    let any = false;
    // Rows that show where the updates go; how far they go alone does not tell.
    let rows = 0;
    for (const [index, own] of this.policies) {
      const name = this.run.policies[index] ?? `policy ${index}`;
      measured[`${name}.k3`] = figure(mean(own.k3));
      measured[`${name}.far`] = own.far;
      measured[`${name}.moved`] = figure(own.moved);
      if (own.against.length > 0)
        measured[`${name}.correlation`] = figure(mean(own.against.map(({ correlation }) => correlation)));
      any ||= own.measured;
      rows += followed(own);
      findings.push(...this.policy(index, own));
    }
    measured.rows = rows;
    for (const finding of findings) finding.evidence = [{ check: 'movement', measured, expected }];
    if (!any && findings.length === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told(
          'one update per batch, and no log-probabilities after it',
          '每批只有一次更新，且没有更新后的对数概率',
        ),
      };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings };
  }

  private policy(index: number, own: Policy): Finding[] {
    const agents = this.run.agentsOf(index);
    const findings: Finding[] = [];
    const make = (cause: string, sure: number, onset: number, summary: string) =>
      findings.push({ cause, confidence: sure, agents, onset, rows: own.rows, summary, evidence: [] });
    const fromOnset =
      own.farOnset > 0 ? [...own.iterations].filter((number) => number >= own.farOnset).length : own.updates;
    if (
      own.lost > 0 ||
      (own.far > 0 && own.far >= limits.tooFarShare.value * own.updates) ||
      (own.farOnset > 0 && own.far >= limits.lateUpdates.value && own.far >= limits.nearlyAll.value * fromOnset)
    )
      make(
        'learning-rate-too-large',
        confidence(1, own.far * limits.perUpdate.value),
        own.farOnset,
        `k3 exceeds ${tooFar} in ${own.far} of ${own.k3.length} updates: they overshoot.`,
      );
    const lost = this.reported.lost(index);
    if (lost && findings.length === 0) {
      make(
        'learning-rate-too-large',
        limits.byFit.value,
        lost.iteration,
        told(
          `In iteration ${lost.iteration} the program itself reports a KL of ${figure(lost.kl)}, which leaves nothing of the policy that the update began with; its rows were not kept, and wherever they were, the report is right.`,
          `第 ${lost.iteration} 次迭代中，程序自己报告的 KL 为 ${figure(lost.kl)}，更新之初的策略已荡然无存；该次迭代的行没有保留，而凡是保留了行的迭代，报告都是对的。`,
        ),
      );
      findings.at(-1)!.told = true;
    }
    // Iterations that were not recorded moved it about as far as those that were.
    const share = (this.last + 1) / Math.max(1, own.iterations.size);
    const whole = own.moved * share;
    const path = own.path * share;
    const settled = own.steps * share > slowSteps((name) => this.run.optimizer(name));
    // Where one step per batch shows no log-probability that moved, the parameters show whether any could.
    const still = own.measured ? whole < invisible || (own.narrow && path < invisible) : path < invisible;
    if (own.undecided && settled && still) {
      make(
        'learning-rate-too-small',
        // Only parameters that change show that everything is wired, unless the rate is one that changes none.
        Number.isNaN(path) || (path === 0 && own.moves.some(({ rate }) => rate > limits.leastRate.value))
          ? limits.candidate.value
          : confidence(1, own.updates * limits.perUpdate.value),
        0,
        own.measured && whole < invisible
          ? `No action's probability moves by more than ${figure(whole)} in the whole run.`
          : `The actor's parameters move by ${figure(path)} of their length in the whole run.`,
      );
      findings.at(-1)!.instead = stillness;
    } else if (own.measured && !own.narrow) {
      const rest = stillSince(own.moves);
      if (rest) {
        make(
          'learning-rate-too-small',
          rest.wired ? confidence(1, rest.updates * limits.perUpdate.value) : limits.candidate.value,
          rest.iteration,
          `Since iteration ${rest.iteration} no action's probability moves by more than ${figure(rest.moved)} in all ${rest.updates} updates together; before, it did.`,
        );
        findings.at(-1)!.instead = stillness;
      }
    }
    const ended = this.rates.of(index);
    if (ended && findings.length === 0 && own.undecided) {
      make(
        'learning-rate-too-small',
        confidence(1, ended.zero * limits.perStep.value),
        ended.onset,
        told(
          `The learning rate is exactly 0 in the last ${ended.zero} of ${ended.told} steps that tell it, since iteration ${ended.onset}: its schedule ended long before the run.`,
          `说明了学习率的 ${ended.told} 步中，最后 ${ended.zero} 步的学习率恰为 0（自第 ${ended.onset} 次迭代起）：学习率计划远早于运行结束。`,
        ),
      );
      findings.at(-1)!.told = true;
    }
    const against = own.against.filter(
      ({ z, correlation }) =>
        z < -limits.sigmas.value && correlation < limits.weaklyAgainst.value * limits.against.value,
    );
    const onset = Math.min(...against.map(({ iteration }) => iteration));
    const since = own.against.filter(({ iteration }) => iteration >= onset);
    // One update may go against its rows by what the ones before it left in the optimiser; only the whole of a run may be so short.
    const fewest = since.length === own.against.length ? 1 : 2;
    if (
      against.length >= Math.max(fewest, limits.clearly.value * since.length) &&
      mean(since.map(({ correlation }) => correlation)) < limits.against.value
    )
      make(
        'advantage-sign-flipped',
        // Without the advantages of the loss, credit that went to other rows would look the same.
        this.run.has('replays.advantage')
          ? Math.min(
              limits.byCorrelation.value,
              confidence(against.length / since.length, against.length * limits.perDirection.value),
            )
          : limits.candidate.value,
        onset,
        `Probability flows away from rows with a positive advantage: the correlation is ${figure(mean(since.map(({ correlation }) => correlation)))}.`,
      );
    return findings;
  }
}

/** From where on nothing moves, although there is something to decide; null where that is not most of the run, as at the end of a schedule. Wired are parameters that still change, or a rate that fell with them. */
function stillSince(
  moves: Policy['moves'],
): { iteration: number; updates: number; moved: number; wired: boolean } | null {
  let [moved, first] = [0, moves.length];
  while (first > 0 && moves[first - 1].undecided && moved + moves[first - 1].moved < invisible)
    moved += moves[--first].moved;
  const updates = moves.length - first;
  if (first === 0 || updates < limits.lateUpdates.value || updates <= limits.most.value * moves.length) return null;
  // Small steps that add up to just below the limit have not come to rest: one update before must have moved it as far as is visible.
  if (!moves.slice(0, first).some((update) => update.moved >= invisible)) return null;
  const still = moves.slice(first);
  const before = Math.max(...moves.slice(0, first).map(({ rate }) => rate));
  const fell = Math.max(...still.map(({ rate }) => rate)) < limits.fadedRate.value * before;
  return { iteration: moves[first].iteration, updates, moved, wired: fell || still.some(({ path }) => path > 0) };
}

/** k3 of each pass over the batch. */
function passes(stats: readonly StepStat[]): number[] {
  const byEpoch = new Map<number, { sum: number; weight: number }>();
  for (const { epoch, k3, weight } of stats) {
    const own = byEpoch.get(epoch) ?? { sum: 0, weight: 0 };
    byEpoch.set(epoch, own);
    own.sum += weight * k3;
    own.weight += weight;
  }
  return [...byEpoch.values()].map(({ sum, weight }) => sum / weight);
}

/** Rows of a policy whose probability flows to what the advantages call good, where it surely does. */
function followed({ against }: Policy): number {
  const z = against.reduce((sum, one) => sum + one.z, 0) / Math.sqrt(Math.max(1, against.length));
  return z > limits.sigmas.value ? against.reduce((sum, { rows }) => sum + rows, 0) : 0;
}
