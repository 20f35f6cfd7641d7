/** The gradient of the head's bias recomputed from its rows, and of the deviations of continuous actions: the tensors whose gradient the recording determines. It shows which terms of the loss reach the actor, and with which sign. */

import { told } from '../../../../language/language.ts';
import { type Check, confidence, type Pass } from '../../../check.ts';
import { type Finding, figure, type Outcome } from '../../../diagnosis.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import type { Run } from '../../../evidence/run.ts';
import { declaredParts } from '../../../evidence/steps/slices.ts';
import { merge, ProofStore } from '../../../found.ts';
import { limits } from '../../../limits.ts';
import { Accumulated } from '../../../transforms/loss/accumulated.ts';
import { LossFormula, lossForm, lossFormNames } from '../../../transforms/loss/loss-formula.ts';
import { LossIs } from '../../../transforms/loss/loss-is.ts';
import type { Transform } from '../../../transforms/transform.ts';
import { BonusAlone } from './bonus-alone.ts';
import { BonusWitness } from './bonus-witness.ts';
import { type Reading, readings } from './head-outputs.ts';
import { type HeadStep, HeadSums, type Sums } from './head-sums.ts';
import { type Kind, plainKinds } from './plain-kinds.ts';

export const headGradient: Check = {
  id: 'head-gradient',
  group: 'gradient',
  question: ["Is the gradient of the head's bias what the rows give?", '输出层偏置的梯度与数据行算出的一致吗？'],
  needs: [
    ['tensors.grad_norm'],
    ['replays.logits', 'replays.mean', 'replays.choice_logits'],
    ['replays.advantage'],
    ['samples.action', 'samples.action_values', 'replays.action_values'],
  ],
  causes: [
    'policy-detached',
    'entropy-sign-flipped',
    'entropy-bonus-dominates',
    'loss-summed',
    'loss-formula-differs',
    'broadcast-mismatch',
    'gradients-accumulate',
    'learning-rate-too-small',
    'loss-normaliser-wrong',
  ],
  start: (run) => new EveryReading(run),
};

/** The usual reading of the outputs decides; others are asked only where by it nobody can say what most gradients are made of. */
class EveryReading implements Pass {
  private readonly readings: HeadPass[];

  constructor(run: Run) {
    this.readings = readings.map((reading) => new HeadPass(run, reading));
  }

  iteration(iteration: Iteration): void {
    for (const reading of this.readings) reading.iteration(iteration);
  }

  finish(): Outcome {
    const [usual, ...others] = this.readings.map((reading) => reading.finish());
    if (usual.status !== 'not-checked') return usual;
    return others.find(({ status }) => status === 'fail') ?? others.find(({ status }) => status === 'pass') ?? usual;
  }
}

const slack = limits.headGradient.value;
/** Two lengths that are told apart by adding gradients up are near each other where a clip by the norm left little of the step before. */
const fine = limits.lossRelative.value;

interface Count {
  /** Steps that it gives and the usual loss does not, and all those that it does not give. */
  count: number;
  against: number;
  onset: number;
  proof: ProofStore;
}

interface Tally {
  told: number;
  odd: number;
}

class HeadPass implements Pass {
  private readonly policies = new Map<number, { counts: Map<Kind, Count>; policy: Tally }>();
  /** Gradients of each policy added up since the run began, while every step is known. */
  private readonly chains = new Map<number, Float64Array>();
  private steps = 0;
  private readonly heads: HeadSums;
  private readonly bonus: BonusWitness;
  private readonly alone = new BonusAlone();

  constructor(
    private readonly run: Run,
    reading: Reading,
  ) {
    this.heads = new HeadSums(run, reading);
    this.bonus = new BonusWitness(run);
  }

  iteration(iteration: Iteration): void {
    // Gradients are added up within the first update only, whose every step is known.
    if (iteration.number > 0) this.chains.clear();
    for (const { step, sums } of this.heads.steps(iteration))
      if (sums && !sums.broken && sums.rows >= limits.fewestSteps.value) this.judge(iteration, step, sums);
      else this.chains.delete(step.policy);
  }

  private judge(iteration: Iteration, step: HeadStep, own: Sums): void {
    const coefficient = this.run.number('entropy_coefficient');
    const c = Number.isFinite(coefficient) ? coefficient : 0;
    // Who declares a sum has chosen the step size for it.
    const summed = this.run.text('loss_reduction') === 'sum';
    const divisor = summed ? 1 : own.weight;
    const length = (push: (i: number) => number, entropy: number) => {
      let squares = 0;
      for (let i = 0; i < own.entropy.length; i++) squares += (push(i) + entropy * own.entropy[i]) ** 2;
      return (Math.sqrt(squares) / divisor) * step.scale;
    };
    const [surrogate, up, down] = own.pushes;
    const noise = limits.roundedSum.value * step.scale;
    const fits = (value: number) => Math.abs(step.norm - value) <= slack * value + noise;
    const whole = length((i) => surrogate[i], c);
    const alone = length(() => 0, c);
    const unit = length(() => 0, 1);
    if (Number.isNaN(coefficient) && Math.min(whole, unit) > limits.visibleGradient.value * noise)
      this.alone.step(step.policy, { iteration: iteration.number, norm: step.norm, whole, unit });
    const parts = declaredParts(this.run);
    const candidates: [Kind, number][] = [
      ...(summed ? [] : [['summed', whole * own.weight] as [Kind, number]]),
      ...(parts > 1 && !summed ? [['undivided', whole * parts] as [Kind, number]] : []),
      ['allPairs', length((i) => (own.gains * up[i] + own.losses * down[i]) / own.weight, c)],
      ...lossFormNames.map((name, f): [Kind, number] => [name, length((i) => own.ofForm(f)[i], c)]),
    ];
    const added = this.added(step, own, c, divisor);
    const apart = (value: number) =>
      fits(value) && Math.abs(value - whole) > limits.apartFormulas.value * slack * Math.max(value, whole) + 2 * noise;
    const { counts, policy } = this.of(step.policy);
    const countOf = (kind: Kind) => {
      const found = counts.get(kind) ?? { count: 0, against: 0, onset: iteration.number, proof: new ProofStore() };
      counts.set(kind, found);
      return found;
    };
    const note = (kind: Kind, given?: number) => {
      const into = countOf(kind);
      into.count++;
      if (given !== undefined) into.proof.step(step.norm, whole, given);
    };
    const miss = (kind: Kind) => countOf(kind).against++;
    const near = (value: number) => Math.abs(step.norm - value) <= fine * value + noise;
    const tells = (value: number) =>
      Math.abs(value - whole) > limits.apartFormulas.value * fine * Math.max(value, whole) + 2 * noise;
    // Near the even distribution the bonus is small, and its sign shows in the third digit.
    const flipped = length((i) => surrogate[i], -c);
    for (const [kind, value] of [
      ['accumulated', added],
      ['entropyFlipped', flipped],
    ] as const) {
      if (value === null || !tells(value)) continue;
      const into = countOf(kind);
      // What came before it set in tells nothing against it.
      if (near(value) && into.count === 0) Object.assign(into, { against: 0, onset: iteration.number });
      if (near(value)) note(kind, value);
      else into.against++;
    }
    const rest = length((i) => surrogate[i], 0);
    if (c > 0 && tells(rest)) this.bonus.step(iteration, step, near(whole), near(rest));
    // Without an entropy term nothing at all is left to move the head, not even a little.
    const vanished = step.norm > 0 && step.norm < limits.vanished.value * Math.min(1, whole);
    const silent =
      c !== 0
        ? fits(alone) && !(vanished && Math.abs(step.norm - alone) > slack * alone)
        : step.norm === 0 && whole > limits.visibleGradient.value * noise;
    if (fits(whole) && (silent || fits(alone))) return;
    this.steps++;
    policy.told++;
    for (const [kind, value] of candidates) if (!fits(value)) miss(kind);
    if (fits(whole)) {
      note('whole');
      return;
    }
    policy.odd++;
    const gone = !silent && vanished;
    const found = silent || gone ? [] : candidates.filter(([, value]) => apart(value));
    for (const [kind, value] of found) note(kind, value);
    if (silent) note('entropyOnly', alone);
    else if (gone) note('scaled', step.norm);
    else if (found.length === 0) note('other');
  }

  /** The length that the gradient would have had without being cleared since the run began; null where a step before it is not known. */
  private added(step: HeadStep, own: Sums, c: number, divisor: number): number | null {
    const before = this.chains.get(step.policy);
    if (!before && this.policies.has(step.policy)) return null;
    const sum = before ?? new Float64Array(own.entropy.length);
    let squares = 0;
    for (let i = 0; i < sum.length; i++) {
      sum[i] = step.scale * (sum[i] + (own.pushes[0][i] + c * own.entropy[i]) / divisor);
      squares += sum[i] ** 2;
    }
    this.chains.set(step.policy, sum);
    return before ? Math.sqrt(squares) : null;
  }

  private of(policy: number): { counts: Map<Kind, Count>; policy: Tally } {
    const found = this.policies.get(policy) ?? { counts: new Map<Kind, Count>(), policy: { told: 0, odd: 0 } };
    this.policies.set(policy, found);
    return found;
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = { steps: this.steps };
    const findings: Finding[] = [];
    const expected = { whole: this.steps };
    for (const [policy, { counts, policy: tally }] of this.policies) {
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      for (const [kind, { count }] of counts) if (count > 0) measured[`${name}.${kind}`] = count;
      const add = (kind: Kind, cause: string, transform: Transform | undefined, summary: string) => {
        const own = counts.get(kind);
        const since = own && own.onset > 0 ? tally.odd : tally.told;
        if (!own || own.count < limits.fewestSteps.value || own.count < limits.steadily.value * since) return;
        findings.push({
          cause,
          confidence: confidence(own.count / since, own.count * limits.perStep.value),
          agents: this.run.agentsOf(policy),
          onset: own.onset,
          rows: own.count,
          ...(transform ? { transform } : {}),
          ...own.proof.prove("length of the head's gradient", 'as recorded', 'that of the whole loss', transform),
          summary,
          evidence: [{ check: 'head-gradient', measured, expected }],
        });
      };
      // Formulas differ from the usual one in some steps only; in none may they be wrong.
      const exact = (kind: Kind) => {
        const own = counts.get(kind);
        const share = own ? own.count / Math.max(1, tally.odd) : 0;
        if (!own || own.count < limits.fewestSteps.value || share < limits.formulaExact.value) return null;
        return own.against <= (1 - limits.formulaExact.value) * tally.told ? own : null;
      };
      const forms = lossFormNames.filter(
        (form) => exact(form) && (this.run.declares('clip') || !lossForm(form).byGradient),
      );
      const form = forms.sort((a, b) => counts.get(b)!.count - counts.get(a)!.count)[0];
      const all = exact('allPairs');
      const formula: [string, Transform, Count] | null = all
        ? ['broadcast-mismatch', new LossIs('all-pairs', 'policy'), all]
        : form
          ? ['loss-formula-differs', new LossFormula(form), counts.get(form)!]
          : null;
      // Told apart by their third digit: in nearly no step may they be wrong.
      const finely = (kind: Kind) => {
        const own = counts.get(kind);
        if (!own || own.count < limits.fewestSteps.value) return null;
        return own.against <= (1 - limits.formulaExact.value) * (own.count + own.against) ? own : null;
      };
      const accumulated = finely('accumulated');
      const turned = accumulated || formula ? null : finely('entropyFlipped');
      const tell = (cause: string, own: Count, share: number, transform: Transform, usual: string, summary: string) =>
        findings.push({
          cause,
          confidence: confidence(share, own.count * limits.perStep.value),
          agents: this.run.agentsOf(policy),
          onset: own.onset,
          rows: own.count,
          transform,
          ...own.proof.prove("length of the head's gradient", 'as recorded', usual, transform),
          summary,
          evidence: [{ check: 'head-gradient', measured, expected }],
        });
      if (accumulated)
        tell(
          'gradients-accumulate',
          accumulated,
          1,
          new Accumulated(),
          "that of the step's own rows",
          `The gradient of ${name}'s head is that of the step's rows and of all steps before it: on ${accumulated.count} steps of the first update it agrees only when they are added up.`,
        );
      else if (formula) {
        const [cause, transform, own] = formula;
        const summary = `The gradient of ${name}'s head is not that of the clipped surrogate; on ${own.count} of the ${tally.odd} steps that tell it is that of ${transform.describe()}.`;
        tell(cause, own, own.count / tally.odd, transform, 'that of the clipped surrogate', summary);
      }
      if (turned)
        tell(
          'entropy-sign-flipped',
          turned,
          1,
          new LossIs('negated', 'entropy'),
          'that of the whole loss',
          `The gradient of ${name}'s head agrees with the entropy term only when its sign is turned.`,
        );
      findings.push(...this.bonus.finding(policy, [{ check: 'head-gradient', measured, expected }]));
      // A bonus whose weight is not declared, and nothing beside it.
      const proof = new ProofStore();
      const steady = tally.odd > 0 && !counts.has('entropyOnly') ? this.alone.steady(policy, fine, slack, proof) : 0;
      if (steady > 0) counts.set('entropyOnly', { count: steady, against: 0, onset: 0, proof });
      for (const told of plainKinds(name, declaredParts(this.run))) add(...told);
    }
    const whole = [...this.policies.values()].reduce((sum, { counts }) => sum + (counts.get('whole')?.count ?? 0), 0);
    // Who cannot say what most gradients are made of vouches for none of them.
    const vague = this.steps > 0 && findings.length === 0 && whole <= limits.most.value * this.steps;
    if (this.steps === 0 || vague)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: vague
          ? told(
              'gradients were changed between the loss and the step, by a clip that is not declared, or the loss has terms that are not known',
              '梯度在损失与更新步之间被未声明的裁剪改动，或损失含有未知的项',
            )
          : told(
              "no head has a bias over the global actions, or over means and deviations, or no step's gradient could be recomputed",
              '没有哪个输出层带有全局动作或均值与标准差的偏置，或没有哪一步的梯度可以重算',
            ),
      };
    return {
      status: findings.length > 0 ? 'fail' : 'pass',
      measured,
      expected,
      findings: merge(findings).map((finding) => ({ ...finding, confidence: Number(figure(finding.confidence)) })),
    };
  }
}
