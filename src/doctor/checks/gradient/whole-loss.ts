/** The whole loss as a sum of its parts: it shows the coefficients in use, and the sign of the entropy bonus. */

import { told } from '../../../language/language.ts';
import { spread } from '../../../math/statistics.ts';
import { budgets } from '../../budgets.ts';
import { absurdLogp, type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { listOf } from '../../evidence/keys.ts';
import type { Numbers } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { reportedSteps } from '../../evidence/steps/reported-steps.ts';
import type { StepStat } from '../../evidence/steps/step-stats.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { LossIs } from '../../transforms/loss/loss-is.ts';
import { staysSpread } from './bonus-witness.ts';

export const wholeLoss: Check = {
  id: 'whole-loss',
  group: 'gradient',
  question: [
    'Is the whole loss the mean of its parts, its entropy bonus subtracted and small beside the credit?',
    '总损失是否为各部分的均值之和，其熵奖励被减去且远小于优势项？',
  ],
  needs: [['steps.loss'], ['steps.policy_loss'], ['steps.value_loss'], ['steps.entropy', 'replays.entropy']],
  causes: ['loss-summed', 'loss-formula-differs', 'entropy-sign-flipped', 'entropy-bonus-dominates'],
  start: (run) => new WholeLossPass(run),
};

/** From here on a spread of 1 in the advantages cannot hold a logit more than 2 away from the others. */
const dominating = limits.entropyDominates.value;

interface Update {
  iteration: number;
  policy: number;
  steps: number;
}

interface Found extends Update {
  coefficient: number;
  /** How far off the coefficient can be by the rounding of the losses: where returns are large, the whole loss hides it. */
  noise: number;
  /** What the value loss is multiplied by. */
  weight: number;
  /** Where the sign is turned: the whole loss, its entropy and the rest of it, step by step. */
  parts: { whole: number; entropy: number; value: number; rest: number }[];
}

class WholeLossPass implements Pass {
  private readonly found: Found[] = [];
  /** Updates whose whole loss is that of a sum over the rows, while its parts are told as means. */
  private readonly sums: Update[] = [];
  private readonly summed = new ProofStore();
  private readonly entropyShare = new Map<number, number[]>();
  private credit = new Map<number, number>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { steps } = iteration;
    const whole = steps?.column('loss');
    const policyLoss = steps?.column('policy_loss');
    const valueLoss = steps?.column('value_loss');
    if (!steps || iteration.probed) return;
    const byRow = new Map(reportedSteps(iteration).map(({ row, stat }) => [row, stat]));
    // A program that does not report its entropy has the mean of what its rows recorded.
    const entropy =
      steps.column('entropy') ??
      Float64Array.from({ length: steps.rows }, (_, i) => byRow.get(i)?.entropy ?? Number.NaN);
    const policy = steps.column('policy');
    const skipped = steps.column('skipped');
    if (whole && policyLoss && valueLoss) {
      const lists = new Map<number, number[]>();
      for (let i = 0; i < steps.rows; i++) {
        if (skipped?.[i] === 1 || !Number.isFinite(whole[i] + policyLoss[i] + valueLoss[i] + entropy[i])) continue;
        // No policy has so many choices: it is no entropy, and multiplies nothing.
        if (Math.abs(entropy[i]) > absurdLogp) continue;
        const key = policy ? policy[i] : 0;
        listOf(lists, key).push(i);
      }
      // A loss that is a sum over the rows has a bonus that is one, too, while entropy is told as a mean.
      const summed = this.run.text('loss_reduction') === 'sum';
      const bonus = Float64Array.from(
        entropy,
        (value, i) => value * (summed ? (byRow.get(i)?.weight ?? Number.NaN) : 1),
      );
      for (const [key, rows] of lists) {
        const fit = this.coefficient(rows, whole, policyLoss, valueLoss, bonus);
        if (!fit) {
          if (!summed) this.asSum(iteration.number, key, rows, byRow, { whole, policyLoss, valueLoss, bonus });
          continue;
        }
        const { coefficient, noise, weight } = fit;
        const part = (i: number) => ({
          whole: whole[i],
          entropy: bonus[i],
          value: valueLoss[i],
          rest: policyLoss[i] + weight * valueLoss[i],
        });
        this.found.push({
          iteration: iteration.number,
          policy: key,
          coefficient,
          noise,
          weight,
          steps: rows.length,
          parts: coefficient < 0 || weight < 0 ? rows.map(part) : [],
        });
      }
    }
    for (const stat of iteration.stats.values()) {
      if (!stat.before || !(stat.logCount > 0)) continue;
      const list = this.entropyShare.get(stat.policy) ?? [];
      list.push(stat.entropy / stat.logCount);
      this.entropyShare.set(stat.policy, list);
    }
    const used = iteration.replays?.column('advantage');
    if (used) this.credit.set(iteration.number, spread(used).std);
  }

  /** Whether the whole loss is its parts, which are means, times the rows of each step. */
  private asSum(
    iteration: number,
    policy: number,
    rows: number[],
    stats: ReadonlyMap<number, StepStat>,
    { whole, policyLoss, valueLoss, bonus }: Record<'whole' | 'policyLoss' | 'valueLoss' | 'bonus', Numbers>,
  ): void {
    const weight = (i: number) => stats.get(i)?.weight ?? Number.NaN;
    const mean = Float64Array.from(whole, (value, i) => value / weight(i));
    const known = rows.filter((i) => weight(i) > 1 && Number.isFinite(mean[i]));
    const fit = known.length > 0 ? this.coefficient(known, mean, policyLoss, valueLoss, bonus) : null;
    if (!fit) return;
    this.sums.push({ iteration, policy, steps: known.length });
    for (const i of known) {
      const parts = policyLoss[i] + fit.weight * valueLoss[i] - fit.coefficient * bonus[i];
      this.summed.step(whole[i], parts, weight(i) * parts);
    }
  }

  /** What the value loss and the entropy are multiplied by, where the parts explain the whole exactly. */
  private coefficient(
    rows: number[],
    whole: ArrayLike<number>,
    policyLoss: ArrayLike<number>,
    valueLoss: ArrayLike<number>,
    entropy: ArrayLike<number>,
  ): { coefficient: number; noise: number; weight: number } | null {
    const declared = this.run.number('value_coefficient');
    const usual = [declared, ...budgets.valueWeights];
    // A value loss is never below 0, so that a weight below 0 makes the critic worse.
    const turned = rows.every((i) => valueLoss[i] >= 0) ? usual.map((weight) => -weight) : [];
    for (const weight of [...usual, ...turned]) {
      if (!Number.isFinite(weight)) continue;
      const figures = rows
        .map((i) => (policyLoss[i] + weight * valueLoss[i] - whole[i]) / entropy[i])
        .filter(Number.isFinite);
      if (figures.length === 0) continue;
      const { mean } = spread(figures);
      const noise = rows.map(
        (i) =>
          (limits.lossNoise.value * (Math.abs(policyLoss[i]) + Math.abs(weight * valueLoss[i]) + Math.abs(whole[i]))) /
          Math.max(limits.rounding.value, entropy[i]),
      );
      const exact = figures.every(
        (value, i) => Math.abs(value - mean) <= limits.partsExact.value * Math.abs(mean) + noise[i],
      );
      const most = Math.max(...noise);
      if (exact && ((figures.length >= 2 && Math.abs(mean) > most) || Math.abs(weight) === declared))
        return { coefficient: mean, noise: most, weight };
    }
    return null;
  }

  /** Whose the updates are that show something, since when, and how sure their steps make it. */
  private across(updates: readonly Update[], surest = 1): Pick<Finding, 'confidence' | 'agents' | 'onset' | 'rows'> {
    const steps = updates.reduce((sum, update) => sum + update.steps, 0);
    return {
      confidence: Math.min(surest, confidence(1, steps)),
      agents: [...new Set(updates.flatMap(({ policy }) => this.run.agentsOf(policy)))],
      onset: Math.min(...updates.map(({ iteration }) => iteration)),
      rows: updates.length,
    };
  }

  /** Updates in which the value loss is subtracted: the critic is driven away from its targets. */
  private turned(evidence: Finding['evidence']): Finding[] {
    const turned = this.found.filter(({ weight }) => weight < 0);
    if (turned.length === 0 || turned.length < limits.flippedShare.value * this.found.length) return [];
    const transform = new LossIs('negated', 'value');
    const proof = new ProofStore();
    for (const { coefficient, weight, parts } of turned)
      for (const { whole, entropy, value, rest } of parts) {
        const given = rest - coefficient * entropy;
        proof.step(whole, given - 2 * weight * value, given);
      }
    return [
      {
        cause: 'loss-formula-differs',
        ...this.across(turned),
        transform,
        ...proof.prove('whole loss', 'as reported', 'with the value loss added', transform),
        told: true,
        summary: told(
          `The whole loss is policy minus ${figure(-turned[0].weight)} x value loss: the critic is driven away from its targets.`,
          `总损失是策略损失减去 ${figure(-turned[0].weight)} x 价值损失：价值网络被推离其目标。`,
        ),
        evidence,
      },
    ];
  }

  finish(): Outcome {
    const coefficients = this.found.map(({ coefficient }) => coefficient);
    const declared = this.run.number('entropy_coefficient');
    const measured = {
      updates: this.found.length,
      coefficient: figure(coefficients.at(-1) ?? Number.NaN),
      declared: figure(declared),
    };
    const expected = { coefficient: 'at least 0, and far below the spread of the advantages' };
    if (this.found.length === 0 && this.sums.length === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('the parts do not add up to the whole loss exactly', '各部分之和并不精确等于总损失'),
      };
    const findings: Finding[] = [];
    if (this.sums.length > this.found.length) {
      const transform = new LossIs('sum', 'whole');
      findings.push({
        cause: 'loss-summed',
        ...this.across(this.sums),
        reading: 'policy_loss',
        transform,
        ...this.summed.prove('whole loss', 'as reported', 'policy + value - entropy, as reported', transform),
        summary: `The whole loss is policy + value - entropy, times the rows of the minibatch, in ${this.sums.length} updates: it is a sum, while its parts are means.`,
        evidence: [{ check: 'whole-loss', measured: { ...measured, summed: this.sums.length }, expected }],
      });
    }
    const flipped = this.found.filter(
      ({ coefficient, noise }) => coefficient < -Math.max(limits.leastBonus.value, noise),
    );
    const evidence = [{ check: 'whole-loss', measured, expected }];
    findings.push(...this.turned(evidence));
    const transform = new LossIs('negated', 'entropy');
    const proof = new ProofStore();
    for (const { coefficient, parts } of flipped)
      for (const { whole, entropy, rest } of parts)
        proof.step(whole, rest + coefficient * entropy, rest - coefficient * entropy);
    if (flipped.length > 0 && flipped.length >= limits.flippedShare.value * this.found.length)
      findings.push({
        cause: 'entropy-sign-flipped',
        ...this.across(flipped),
        transform,
        ...proof.prove('whole loss', 'as reported', 'with the entropy bonus subtracted', transform),
        summary: `The whole loss is policy + value plus ${figure(-flipped[0].coefficient)} x entropy: entropy is minimised.`,
        evidence,
      });
    const heavy = this.found.filter(
      ({ coefficient, noise, iteration }) => coefficient - noise >= dominating * (this.credit.get(iteration) ?? 1),
    );
    const held = heavy.filter(({ policy }) => {
      const shares = this.entropyShare.get(policy);
      return !shares || staysSpread(shares);
    });
    if (held.length > 0 && held.length >= limits.heldShare.value * this.found.length)
      findings.push({
        cause: 'entropy-bonus-dominates',
        ...this.across(held, limits.byFit.value),
        summary: `Entropy is multiplied by ${figure(held[0].coefficient)} in the loss, which outweighs advantages of spread ${figure(this.credit.get(held[0].iteration) ?? Number.NaN)}; choices stay spread out.`,
        evidence,
      });
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings };
  }
}
