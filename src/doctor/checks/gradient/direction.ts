/** What a step does to the log-probabilities of its own rows: it must follow their advantages. A policy that only the entropy bonus moves does not. */

import { told } from '../../../language/language.ts';
import { Pairs, spread } from '../../../math/statistics.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { stepKey } from '../../evidence/steps/step-key.ts';
import { merge } from '../../found.ts';
import { limits } from '../../limits.ts';
import { outputsOf } from './head/head-outputs.ts';

export const direction: Check = {
  id: 'direction',
  group: 'gradient',
  question: ['Does a step follow the advantages of its rows?', '每一步是否跟随其各行的优势？'],
  needs: [
    ['replays.after_logp'],
    ['replays.logits', 'replays.mean', 'replays.choice_logits'],
    ['replays.advantage'],
    ['samples.action', 'samples.action_values', 'replays.action_values'],
  ],
  causes: ['policy-detached'],
  start: (run) => new DirectionPass(run),
};

interface Step {
  credit: Pairs;
  entropy: Pairs;
}

interface Policy {
  credit: number[];
  entropy: number[];
  rows: number;
  /** Candidates beyond the first, and rows of the whole minibatch, added up over the same steps: an honest step correlates by about the root of their quotient. */
  freedom: number;
  batch: number;
}

class DirectionPass implements Pass {
  private readonly policies = new Map<number, Policy>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { replays, samples } = iteration;
    const after = replays?.column('after_logp');
    const advantage = replays?.column('advantage');
    if (!replays || !samples || !after || !advantage || iteration.probed) return;
    const outputs = outputsOf(iteration, 0);
    if (!outputs) return;
    const epoch = replays.column('epoch')!;
    const minibatch = replays.column('minibatch')!;
    const policy = replays.column('policy');
    const sample = replays.column('sample')!;
    const { own: here } = iteration;
    const fresh = replays.measured('new_logp')!;
    const steps = new Map<number, Step & { policy: number }>();
    const taken = new Map<number, number>();
    let latest = Number.NaN;
    let own: (Step & { policy: number }) | undefined;
    for (let i = 0; i < replays.rows; i++) {
      if (here[i] === 0 || Number.isNaN(after[i])) continue;
      const who = policy ? policy[i] : 0;
      const key = stepKey(epoch[i], minibatch[i], who);
      if (key !== latest) {
        latest = key;
        own = steps.get(key);
        const count = taken.get(who) ?? 0;
        if (!own && count < budgets.directionSteps) {
          taken.set(who, count + 1);
          own = { credit: new Pairs(), entropy: new Pairs(), policy: who };
          steps.set(key, own);
        }
      }
      if (!own || own.credit.count >= budgets.directionRows) continue;
      const change = after[i] - fresh[i];
      const push = outputs.look(i, sample[i]) && outputs.count > 1 ? outputs.entropyPush : Number.NaN;
      if (!Number.isFinite(change + push + advantage[i])) continue;
      own.credit.add(change, advantage[i]);
      own.entropy.add(change, push);
    }
    for (const [key, { credit, entropy, policy: who }] of steps) {
      const stat = iteration.stats.get(key);
      if (!stat || credit.count < limits.directionRows.value || !(credit.spreadX > limits.movedStep.value)) continue;
      if (!Number.isFinite(credit.correlation + entropy.correlation)) continue;
      const own = this.policies.get(who) ?? { credit: [], entropy: [], rows: 0, freedom: 0, batch: 0 };
      this.policies.set(who, own);
      own.credit.push(credit.correlation);
      own.entropy.push(entropy.correlation);
      own.rows += credit.count;
      own.freedom += stat.logCount > 0 ? Math.expm1(stat.logCount) : 1;
      own.batch += stat.rows;
    }
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {};
    const expected = { 'correlation with the advantages': 'above 0' };
    const findings: Finding[] = [];
    for (const [policy, own] of this.policies) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      const credit = spread(own.credit);
      const push = spread(own.entropy);
      measured[`${name}.with_advantages`] = figure(credit.mean);
      measured[`${name}.with_entropy`] = figure(push.mean);
      const surely = ({ std, count }: typeof credit) => (limits.sigmas.value * std) / Math.sqrt(count);
      const follows = push.mean - surely(push) > 0;
      // The data must exclude half of what an honest step would show, not merely fail to show it.
      const least = limits.honestShare.value * Math.sqrt(own.freedom / own.batch);
      const credited = credit.mean + surely(credit) > least || credit.mean < limits.against.value;
      if (credit.count < limits.directionSteps.value || !follows || credited) continue;
      findings.push({
        cause: 'policy-detached',
        confidence: Math.min(limits.byDirection.value, confidence(1, credit.count)),
        agents: this.run.agentsOf(policy),
        onset: 0,
        rows: own.rows,
        before: credit.mean,
        summary: `Steps of ${name} do not follow the advantages of their rows (correlation ${figure(credit.mean)}), and follow the entropy bonus (${figure(push.mean)}): the policy loss does not reach the actor.`,
        evidence: [{ check: 'direction', measured, expected }],
      });
    }
    if (this.policies.size === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('no step moves its rows visibly', '没有哪一步明显改变了其数据行'),
      };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings) };
  }
}
