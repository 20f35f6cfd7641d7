/** The whole loss as a sum of its parts: it shows the coefficients in use, and the sign of the entropy bonus. */

import { told } from '../../../../language/language.ts';
import { spread } from '../../../../math/statistics.ts';
import { budgets } from '../../../budgets.ts';
import { absurdLogp, type Check, confidence, type Pass } from '../../../check.ts';
import { type Finding, figure, type Outcome } from '../../../diagnosis.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import { listOf } from '../../../evidence/keys.ts';
import type { Run } from '../../../evidence/run.ts';
import { reportedSteps } from '../../../evidence/steps/reported-steps.ts';
import { ProofStore } from '../../../found.ts';
import { limits } from '../../../limits.ts';
import { LossIs } from '../../../transforms/loss/loss-is.ts';
import { staysSpread } from '../head/bonus-witness.ts';

export const wholeLoss: Check = {
  id: 'whole-loss',
  group: 'gradient',
  question: [
    'Is the whole loss the mean of its parts, its entropy bonus subtracted and small beside the credit?',
    '总损失是否为各部分的均值之和，其熵奖励被减去且远小于优势项？',
  ],
  needs: [['steps.loss'], ['steps.policy_loss'], ['steps.entropy', 'replays.entropy']],
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
  /** Whether the coefficient is the declared one times the rows of each step: entropies added up, not averaged. */
  added: boolean;
  coefficient: number;
  /** How far off the coefficient can be by the rounding of the losses: where returns are large, the whole loss hides it. */
  noise: number;
  /** What the value loss is multiplied by. */
  weight: number;
  /** The steps that show a sign that is turned, or coefficients that were not declared. */
  parts: Step[];
}

type Fit = Pick<Found, 'coefficient' | 'noise' | 'weight'>;

/** Whether two coefficients are the same, but for what rounding of the losses hides. */
const near = (a: number, b: number, noise: number) => Math.abs(a - b) <= limits.partsExact.value * Math.abs(b) + noise;

/** The losses of a step as they were told. */
interface Step {
  iteration: number;
  whole: number;
  policy: number;
  value: number;
  /** The entropy as it enters the loss: a mean, or a sum where losses are declared to be sums. */
  bonus: number;
  rows: number;
}

class WholeLossPass implements Pass {
  private readonly found: Found[] = [];
  /** Updates whose whole loss is that of a sum over the rows, while its parts are told as means. */
  private readonly sums: Update[] = [];
  private readonly summed = new ProofStore();
  private readonly entropyShare = new Map<number, number[]>();
  private credit = new Map<number, number>();
  /** By policy, steps of updates that have but one: a few of them together tell what one does not. */
  private readonly single = new Map<number, Step[]>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    if (!iteration.steps || iteration.probed) return;
    for (const [policy, own] of this.told(iteration)) {
      if (own.length >= 2) this.judge(policy, own);
      else {
        const pooled = listOf(this.single, policy);
        pooled.push(...own);
        if (pooled.length >= limits.fewestSteps.value) this.judge(policy, pooled.splice(0));
      }
    }
    for (const stat of iteration.stats.values())
      if (stat.before && stat.logCount > 0) listOf(this.entropyShare, stat.policy).push(stat.entropy / stat.logCount);
    const used = iteration.replays?.column('advantage');
    if (used) this.credit.set(iteration.number, spread(used).std);
  }

  /** Steps whose losses are all known, by policy. */
  private told(iteration: Iteration): Map<number, Step[]> {
    const steps = iteration.steps!;
    const found = new Map<number, Step[]>();
    const [whole, policyLoss, valueLoss] = (['loss', 'policy_loss', 'value_loss'] as const).map((name) =>
      steps.column(name),
    );
    if (!whole || !policyLoss) return found;
    const stats = new Map(reportedSteps(iteration).map(({ row, stat }) => [row, stat]));
    const [entropies, policies, skipped] = [steps.column('entropy'), steps.column('policy'), steps.column('skipped')];
    // A loss that is a sum over the rows has a bonus that is one, too, while entropy is told as a mean.
    const summed = this.run.text('loss_reduction') === 'sum';
    for (let i = 0; i < steps.rows; i++) {
      // A program that does not report its entropy has the mean of what its rows recorded.
      const entropy = entropies ? entropies[i] : (stats.get(i)?.entropy ?? Number.NaN);
      // No policy has so many choices: it is no entropy, and multiplies nothing.
      if (skipped?.[i] === 1 || Math.abs(entropy) > absurdLogp) continue;
      // Where the value has a loop of its own, the policy's steps have no value loss.
      const valued = valueLoss && !Number.isNaN(valueLoss[i]) ? valueLoss[i] : 0;
      const [policy, value, rows] = [policyLoss[i], valued, stats.get(i)?.weight ?? Number.NaN];
      if (!Number.isFinite(whole[i] + policy + value + entropy)) continue;
      const bonus = summed ? entropy * rows : entropy;
      const step = { iteration: iteration.number, whole: whole[i], policy, value, bonus, rows };
      listOf(found, policies ? policies[i] : 0).push(step);
    }
    return found;
  }

  private judge(policy: number, steps: Step[]): void {
    const alone = this.coefficient(steps);
    const added = alone && this.isDeclared(alone) ? null : this.addedUp(steps);
    const fit = added ?? alone;
    if (fit) {
      const parts = added || fit.coefficient < 0 || fit.weight < 0 || this.isSwapped(fit) ? steps : [];
      const [{ iteration }, count] = [steps[0], steps.length];
      this.found.push({ iteration, policy, steps: count, added: added !== null, ...fit, parts });
    } else if (this.run.text('loss_reduction') !== 'sum') this.asSum(policy, steps);
  }

  private isDeclared({ coefficient, noise }: Fit): boolean {
    return near(coefficient, this.run.number('entropy_coefficient'), noise);
  }

  /** Entropies that are added up, and not averaged, leave the declared coefficient times the rows of each step. */
  private addedUp(steps: readonly Step[]): Fit | null {
    if (this.run.text('loss_reduction') === 'sum' || !(this.run.number('entropy_coefficient') > 0)) return null;
    if (!steps.every(({ rows }) => rows >= limits.fewestSteps.value)) return null;
    const fit = this.coefficient(steps.map((one) => ({ ...one, bonus: one.bonus * one.rows })));
    return fit && this.isDeclared(fit) && fit.noise < Math.abs(fit.coefficient) ? fit : null;
  }

  private isSwapped({ weight, coefficient, noise }: Fit): boolean {
    const [value, entropy] = [this.run.number('value_coefficient'), this.run.number('entropy_coefficient')];
    return weight === entropy && !near(value, entropy, noise) && near(coefficient, value, noise);
  }

  /** Whether the whole loss is its parts, which are means, times the rows of each step. */
  private asSum(policy: number, steps: readonly Step[]): void {
    const known = steps.filter(({ whole, rows }) => rows > 1 && Number.isFinite(whole / rows));
    const fit =
      known.length > 0 ? this.coefficient(known.map((one) => ({ ...one, whole: one.whole / one.rows }))) : null;
    if (!fit) return;
    this.sums.push({ iteration: steps[0].iteration, policy, steps: known.length });
    for (const { whole, policy: own, value, bonus, rows } of known) {
      const parts = own + fit.weight * value - fit.coefficient * bonus;
      this.summed.step(whole, parts, rows * parts);
    }
  }

  /** What the value loss and the entropy are multiplied by, where the parts explain the whole exactly. */
  private coefficient(steps: readonly Step[]): Fit | null {
    const declared = this.run.number('value_coefficient');
    const bonus = this.run.number('entropy_coefficient');
    const entropy = spread(steps.map((step) => step.bonus));
    const vary = Math.min(1, entropy.std / Math.abs(entropy.mean));
    // Two coefficients that were declared may have taken each other's place.
    const usual = [declared, ...budgets.valueWeights, ...(Number.isFinite(declared) && bonus > 0 ? [bonus] : [])];
    // A value loss is never below 0, so that a weight below 0 makes the critic worse.
    const turned = steps.every(({ value }) => value >= 0) ? usual.map((weight) => -weight) : [];
    for (const weight of [...usual, ...turned]) {
      if (!Number.isFinite(weight)) continue;
      const figures = steps
        .map(({ whole, policy, value, bonus }) => (policy + weight * value - whole) / bonus)
        .filter(Number.isFinite);
      if (figures.length === 0) continue;
      const { mean } = spread(figures);
      const noise = steps.map(
        ({ whole, policy, value, bonus }) =>
          (limits.lossNoise.value * (Math.abs(policy) + Math.abs(weight * value) + Math.abs(whole))) /
          Math.max(limits.rounding.value, bonus),
      );
      // Where entropy hardly varies, any other term that hardly does is some multiple of it: a coefficient that was not declared must fit as closely as entropy varies.
      const loose = Math.abs(mean - bonus) <= limits.partsExact.value * Math.abs(bonus) ? 1 : vary;
      const exact = figures.every(
        (value, i) => Math.abs(value - mean) <= limits.partsExact.value * loose * Math.abs(mean) + noise[i],
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
      for (const { whole, policy, value, bonus } of parts) {
        const rest = policy - coefficient * bonus;
        proof.step(whole, rest - weight * value, rest + weight * value);
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

  /** Updates whose coefficients are the declared ones, each at the other's place; or whose entropies are added up. */
  private asDeclared(evidence: Finding['evidence']): Finding[] {
    const [value, entropy] = [this.run.number('value_coefficient'), this.run.number('entropy_coefficient')];
    const tell = (own: readonly Found[], cause: string, transform: LossIs, summary: string): Finding[] => {
      if (own.length === 0 || own.length < limits.formulaExact.value * this.found.length) return [];
      const proof = new ProofStore();
      for (const { coefficient, weight, added, parts } of own)
        for (const one of parts) {
          const rest = one.policy - (added ? one.rows : 1) * coefficient * one.bonus;
          proof.step(one.whole, one.policy + value * one.value - entropy * one.bonus, rest + weight * one.value);
        }
      const shown = proof.prove('whole loss', 'as reported', 'with the declared coefficients', transform);
      return [{ cause, ...this.across(own), transform, ...shown, told: true, summary, evidence }];
    };
    const many = this.found.length;
    return [
      ...tell(
        this.found.filter((one) => !one.added && this.isSwapped(one)),
        'loss-formula-differs',
        new LossIs('swapped', 'whole'),
        told(
          `The whole loss is policy + ${figure(entropy)} x value - ${figure(value)} x entropy in ${many} updates: the declared value_coefficient (${figure(value)}) and entropy_coefficient (${figure(entropy)}) are swapped.`,
          `在 ${many} 次更新中，总损失是策略损失 + ${figure(entropy)} x 价值损失 - ${figure(value)} x 熵：声明的 value_coefficient（${figure(value)}）与 entropy_coefficient（${figure(entropy)}）互换了。`,
        ),
      ),
      ...tell(
        this.found.filter(({ added }) => added),
        'loss-summed',
        new LossIs('sum', 'entropy'),
        told(
          `The entropy bonus in the whole loss is the declared ${figure(entropy)} times the sum of the entropies of each minibatch, while the other losses are means: it weighs as many times more as there are rows.`,
          `总损失中的熵奖励是声明的 ${figure(entropy)} 乘以每个小批次熵之和，而其他损失是均值：其权重被放大了行数倍。`,
        ),
      ),
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
    findings.push(...this.turned(evidence), ...this.asDeclared(evidence));
    const transform = new LossIs('negated', 'entropy');
    const proof = new ProofStore();
    for (const { coefficient, weight, parts } of flipped)
      for (const { whole, policy, value, bonus } of parts) {
        const rest = policy + weight * value;
        proof.step(whole, rest + coefficient * bonus, rest - coefficient * bonus);
      }
    if (flipped.length > 0 && flipped.length >= limits.flippedShare.value * this.found.length)
      findings.push({
        cause: 'entropy-sign-flipped',
        ...this.across(flipped),
        transform,
        ...proof.prove('whole loss', 'as reported', 'with the entropy bonus subtracted', transform),
        summary: `The whole loss is policy + value plus ${figure(-flipped[0].coefficient)} x entropy: entropy is minimised.`,
        evidence,
      });
    const heavy = this.found.filter((one) => {
      const least = dominating * (this.credit.get(one.iteration) ?? 1);
      return !one.added && !this.isSwapped(one) && one.coefficient - one.noise >= least;
    });
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
