/** What the network can express: logits that never leave 0, or a choice that is certain before anything was learnt. Near-uniform choice at the start of a run is healthy. */

import { told } from '../../../language/language.ts';
import { median, spread } from '../../../math/statistics.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { merge } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Distribution, Scores } from '../../pairing/scoring.ts';

export const network: Check = {
  id: 'network',
  group: 'network',
  question: [
    'Can the policy prefer one action to another, and is it still undecided at first?',
    '策略能偏好某个动作吗？开始时是否尚无偏好？',
  ],
  needs: [['samples.logits', 'replays.logits']],
  causes: ['policy-head-flat', 'policy-collapsed'],
  instead: [
    'samples.log_std serves the check of deviations, and replays.mean that of gradients',
    'samples.log_std 供标准差的检查使用，replays.mean 供梯度的检查使用',
  ],
  start: (run) => new NetworkPass(run),
};

/** A spread of logits, or a change of them, below this cannot be seen in any probability. */
const flatSpread = limits.flatSpread.value;
/** Entropy below this share of log K is certainty. */
const certain = limits.certain.value;

interface Policy {
  spreads: number[];
  entropies: number[];
  /** The median row's, which a few open choices do not lift. */
  typical: number[];
  iterations: number[];
  rows: number;
  /** Rows whose scores are probabilities already and are taken for logits all the same. */
  probabilities: number;
  topShare: number[];
  /** Change of a head's parameter per step, against the change of the logits. */
  headStep: number[];
  /** The largest of them, and how large a head's parameters are in the end. */
  headMost: number;
  headSize: number;
  headTensors: Set<number>;
  rates: number[];
  logitStep: number[];
}

class NetworkPass implements Pass {
  private readonly policies = new Map<number, Policy>();
  private readonly distribution = new Distribution();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const rows = iteration.samples;
    if (!rows) return;
    const scores = new Scores(rows);
    const agent = rows.column('agent')!;
    if (scores.logits && iteration.logCount) {
      const stride = Math.max(1, Math.floor(rows.rows / budgets.networkRows));
      const sums = new Map<
        number,
        {
          spread: number;
          entropy: number;
          rows: number;
          probabilities: number;
          actions: Map<number, number>;
          shares: number[];
        }
      >();
      const action = rows.column('action');
      const old = rows.column('old_logp');
      for (let i = 0; i < rows.rows; i += stride) {
        if (!(iteration.logCount[i] > limits.severalChoices.value)) continue;
        const policy = Math.max(0, this.run.policyOf(agent[i]));
        const own = sums.get(policy) ?? {
          spread: 0,
          entropy: 0,
          rows: 0,
          probabilities: 0,
          actions: new Map<number, number>(),
          shares: [] as number[],
        };
        sums.set(policy, own);
        const temperature = scores.temperatureOf(i);
        const found = this.distribution.of(scores, i, temperature, true);
        const legal: number[] = [];
        for (let c = 0; c < found.count; c++) if (scores.isLegal(i, c)) legal.push(scores.logit(i, c) / temperature);
        const { std } = spread(legal);
        if (!Number.isFinite(std) || !Number.isFinite(found.entropy)) continue;
        own.spread += std;
        own.entropy += found.entropy / iteration.logCount[i];
        own.shares.push(found.entropy / iteration.logCount[i]);
        own.rows++;
        if (
          old &&
          temperature === 1 &&
          arePossible(legal) &&
          Math.abs(found.logp(action ? action[i] : -1) - old[i]) <= limits.logp.value
        )
          own.probabilities++;
        const id = action && action[i] >= 0 ? scores.id(i, action[i]) : -1;
        own.actions.set(id, (own.actions.get(id) ?? 0) + 1);
      }
      for (const [policy, own] of sums) {
        if (own.rows < fewestRows) continue;
        const into = this.of(policy);
        into.spreads.push(own.spread / own.rows);
        into.entropies.push(own.entropy / own.rows);
        into.typical.push(median(own.shares));
        into.iterations.push(iteration.number);
        into.rows += own.rows;
        into.probabilities += own.probabilities;
        into.topShare.push(Math.max(...own.actions.values()) / own.rows);
      }
    }
    this.steps(iteration);
  }

  private of(policy: number): Policy {
    const own = this.policies.get(policy) ?? {
      spreads: [],
      entropies: [],
      typical: [],
      iterations: [],
      rows: 0,
      probabilities: 0,
      topShare: [],
      headStep: [],
      headMost: 0,
      headSize: Number.NaN,
      headTensors: new Set(),
      rates: [],
      logitStep: [],
    };
    this.policies.set(policy, own);
    return own;
  }

  private steps({ tensors, steps }: Iteration): void {
    const delta = tensors?.column('delta_norm');
    const rate = tensors?.column('learning_rate');
    const norm = tensors?.column('norm');
    const gradient = tensors?.column('grad_norm');
    if (tensors && delta) {
      const tensor = tensors.column('tensor')!;
      for (let i = 0; i < tensors.rows; i++) {
        const info = this.run.tensors[tensor[i]];
        if (info?.role !== 'head' || !(info.size >= limits.headSize.value) || !Number.isFinite(delta[i])) continue;
        const own = this.of(info.policy);
        own.headStep.push(delta[i] / Math.sqrt(info.size));
        own.headMost = Math.max(own.headMost, delta[i] / Math.sqrt(info.size));
        if (norm) own.headSize = norm[i] / Math.sqrt(info.size);
        own.headTensors.add(tensor[i]);
        // A rate that meets no gradient moves nothing.
        if (rate && gradient && gradient[i] > 0) own.rates.push(rate[i]);
      }
    }
    const moved = steps?.column('delta_logits');
    const policy = steps?.column('policy');
    for (let i = 0; moved && i < moved.length; i++)
      if (Number.isFinite(moved[i])) this.of(policy ? policy[i] : 0).logitStep.push(moved[i]);
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {};
    const expected = {
      logit_spread: `above ${flatSpread} once updates have moved the parameters`,
      'entropy share at the start': `above ${certain}`,
    };
    const findings: Finding[] = [];
    let any = false;
    for (const [policy, own] of this.policies) {
      if (own.spreads.length === 0) continue;
      any = true;
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      measured[`${name}.logit_spread`] = figure(own.spreads.at(-1)!);
      measured[`${name}.entropy_share`] = figure(own.entropies.at(-1)!);
      const evidence = [{ check: 'network', measured, expected }];
      const agents = this.run.agentsOf(policy);
      const step = median(own.headStep);
      const logits = median(own.logitStep);
      // A logit is a sum over a layer of units, so it moves by more than one parameter does.
      const squashed = step > limits.headStep.value && logits < limits.squashed.value * step;
      measured[`${name}.squashed`] = squashed;
      // A short run is short: even a head that wanders at random goes as far as the root of its steps.
      const taken = own.headStep.length / Math.max(1, own.headTensors.size);
      const wandered = Math.max(step, median(own.rates) || 0) * Math.sqrt(taken);
      const restless =
        step > limits.restlessStep.value &&
        own.spreads.length >= 2 &&
        own.spreads.at(-1)! < limits.heldFlat.value * wandered;
      // A head that is smaller than a step of its own was thrown back by something else than its steps.
      const clamped = own.headSize < limits.heldFlat.value * Math.min(own.headMost, wandered);
      const later = own.spreads.length > 1 ? own.spreads.slice(1) : own.spreads;
      const stays = later.every((value) => value < flatSpread);
      if (
        stays &&
        own.spreads.at(-1)! < flatSpread &&
        (squashed ||
          restless ||
          clamped ||
          (Number.isNaN(step) && own.spreads.length > 1 && own.spreads.at(-1)! < limits.flatForever.value))
      )
        findings.push({
          cause: 'policy-head-flat',
          confidence: Math.min(
            squashed || clamped || own.spreads.length > 2 ? 1 : limits.oneWitness.value,
            confidence(1, own.rows),
          ),
          agents,
          onset: 0,
          rows: own.rows,
          before: own.spreads.at(-1)!,
          summary: `Logits of ${name} differ by only ${figure(own.spreads.at(-1)!)} within a row after ${own.spreads.length} recorded updates, so every choice is uniform${squashed ? `; a step moves them by ${figure(logits)} although it moves the head's parameters by ${figure(step)}` : ''}.`,
          evidence,
        });
      else if (own.probabilities === own.rows) {
        const summary = told(
          `The scores of ${name} lie between 0 and 1 and add up to 1 in all ${own.rows} rows: they are probabilities, and a second softmax takes them for logits, so that no action can be e times as likely as another.`,
          `${name} 的得分在全部 ${own.rows} 行中都在 0 与 1 之间且和为 1：它们已是概率，却又被当作 logits 再做一次 softmax，因此任何动作的概率都不可能达到另一动作的 e 倍。`,
        );
        const sure = confidence(1, own.rows);
        findings.push({
          cause: 'policy-head-flat',
          confidence: sure,
          agents,
          onset: 0,
          rows: own.rows,
          summary,
          told: true,
          evidence,
        });
      }
      if (own.typical[0] < certain && own.iterations[0] === 0)
        findings.push({
          cause: 'policy-collapsed',
          confidence: confidence(1, own.rows / own.entropies.length),
          agents,
          onset: 0,
          rows: own.rows,
          before: own.typical[0],
          summary: `Before anything was learnt the choices of ${name} are certain: the typical entropy is ${percent(own.typical[0])} of log K.`,
          evidence,
        });
    }
    if (!any)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('no row has two candidates and their logits', '没有哪一行有两个候选动作及其 logits'),
      };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings) };
  }
}

/** Whether scores are what a softmax gives: none below 0, and the sum of all is 1. */
function arePossible(scores: readonly number[]): boolean {
  let sum = 0;
  for (const score of scores) {
    if (!(score >= 0)) return false;
    sum += score;
  }
  return Math.abs(sum - 1) <= limits.rounding.value;
}
