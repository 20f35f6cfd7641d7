/** The gradient of the critic's last bias, one number, recomputed from values and returns, or added up from the derivatives by its predictions. It shows whether a step's gradient is its own rows' alone, and whether another loss than the critic's reaches it. */

import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { minibatchesOf } from '../../buffers/minibatches.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import type { Finding, Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { listOf } from '../../evidence/keys.ts';
import type { Run } from '../../evidence/run.ts';
import { ClipScales } from '../../evidence/steps/clip-scales.ts';
import { stepKey } from '../../evidence/steps/step-key.ts';
import { placesOf } from '../../evidence/steps/step-places.ts';
import { replayedRows } from '../../evidence/steps/step-stats.ts';
import { merge, ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Accumulated } from '../../transforms/loss/accumulated.ts';
import { averaged } from '../../transforms/loss/gathered.ts';
import { LossIs } from '../../transforms/loss/loss-is.ts';
import type { Transform } from '../../transforms/transform.ts';
import { gatheredParts } from './gathered-parts.ts';

export const criticGradient: Check = {
  id: 'critic-gradient',
  group: 'gradient',
  question: [
    "Is the gradient of the critic's bias that of the step's rows?",
    '价值网络偏置的梯度是该步数据行的梯度吗？',
  ],
  needs: [['tensors.grad_norm'], ['replays.value', 'targets.coef'], ['replays.return', 'targets.coef']],
  causes: ['gradients-accumulate', 'loss-formula-differs', 'loss-normaliser-wrong'],
  start: (run) => new CriticPass(run),
};

type Pull = (error: number) => number;
const square: Pull = (error) => error;
const noHarder =
  (width: number): Pull =>
  (error) =>
    Math.max(-width, Math.min(width, error));
/** Slope of a loss by its error: of a square, and of half a square or Huber's. */
const slopes = [1, 2];
const slack = limits.lossRelative.value;

/** Columns over a step's rows; `plain` and `ratio` are what an advantage that carries gradients adds: the log-probability, or the ratio that its loss takes. The second half of the step begins at `middle`. */
type StepRows = Record<'error' | 'weight' | 'plain' | 'ratio', number[]> & { middle: number };

interface Step {
  norm: number;
  scale: number;
  rows: StepRows;
  /** The gradient itself, where the derivatives by predictions were recorded. */
  sum: number;
  /** No other step lies between the one before in the list and this. */
  follows: boolean;
  /** Every advantage of the step is the return less the value now. */
  carries: boolean;
}

const kinds = ['own', 'added', 'plain', 'ratio'] as const;
type Kind = (typeof kinds)[number];

/** What becomes of the steps of a critic where its gradients are read in one way. */
interface Reading {
  tensor: number;
  told: Record<Kind, number>;
  fits: Record<Kind, number>;
  proofs: Record<Kind, ProofStore>;
}

const leaked = new LossIs('beside', 'value');
const transforms: Record<Exclude<Kind, 'own'>, Transform> = { added: new Accumulated(), plain: leaked, ratio: leaked };

class CriticPass implements Pass {
  /** Tensors that are a critic's last bias, and their steps. */
  private readonly steps = new Map<number, Step[]>();
  private latest = -1;
  /** What a row's error pulls with: by its square, or no harder than the width of Huber's loss. */
  private readonly pulls: readonly Pull[];

  constructor(private readonly run: Run) {
    const widths = [run.number('huber_delta'), ...budgets.huberWidths].filter((width) => width > 0);
    this.pulls = [square, ...[...new Set(widths)].map(noHarder)];
    run.tensors.forEach(({ role, size, name }, tensor) => {
      if (role === 'critic' && /bias/i.test(name) && size === 1) this.steps.set(tensor, []);
    });
  }

  iteration(iteration: Iteration): void {
    const { replays, tensors, targets, number } = iteration;
    const gradient = tensors?.column('grad_norm');
    const coef = targets?.column('coef');
    const value = replays?.column('value');
    const target = replays?.column('return');
    if (iteration.probed || !tensors || !gradient || !((value && target) || coef)) return;
    if ([...this.steps.values()].some(({ length }) => length >= budgets.criticSteps)) return;
    const joined = number === this.latest + 1;
    this.latest = number;
    const places = placesOf(iteration);
    const tensor = tensors.column('tensor')!;
    const [epochs, minibatches] = [tensors.column('epoch')!, tensors.column('minibatch')!];
    const scales = new ClipScales(this.run, iteration);
    const found = new Map<number, Step[]>();
    const ends = new Map<number, number>();
    for (let i = 0; i < tensors.rows; i++) {
      const own = this.steps.get(tensor[i]);
      const policy = this.run.tensors[tensor[i]]?.policy;
      if (!own || policy === undefined || !Number.isFinite(gradient[i])) continue;
      const key = stepKey(epochs[i], minibatches[i], policy);
      const place = places.get(key) ?? (ends.get(tensor[i]) ?? -1) + 1;
      const before = ends.get(tensor[i]);
      const follows = before === undefined ? joined && own.length > 0 && place === 0 : place === before + 1;
      ends.set(tensor[i], place);
      const scale = scales.of(key) ?? Number.NaN;
      const rows: StepRows = { error: [], weight: [], plain: [], ratio: [], middle: 0 };
      const step = { norm: gradient[i], scale, rows, sum: Number.NaN, follows, carries: true };
      listOf(found, coef ? tensor[i] : key).push(step);
      own.push(step);
    }
    if (coef) {
      const batches = [...minibatchesOf(targets!)];
      // Targets may be numbered before the steps of an actor in between are: their order tells which is whose.
      for (const steps of found.values())
        if (steps.length === batches.length)
          steps.forEach((step, k) => {
            step.sum = 0;
            for (let i = batches[k][0]; i < batches[k][1]; i++) step.sum += coef[i];
          });
      return;
    }
    this.rows(iteration, found, value!, target!);
  }

  private rows(
    iteration: Iteration,
    found: ReadonlyMap<number, Step[]>,
    value: ArrayLike<number>,
    target: ArrayLike<number>,
  ): void {
    const advantage = iteration.replays!.column('advantage');
    const fresh = iteration.replays!.measured('new_logp')!;
    const near = limits.rounding.value;
    for (const { key, row: i, log, weight, second } of replayedRows(iteration)) {
      const steps = found.get(key);
      if (!steps) continue;
      const error = value[i] - target[i];
      const clip = iteration.clipOf(key);
      const ratio = error < 0 ? Math.min(Math.exp(log), 1 + clip) : Math.max(Math.exp(log), 1 - clip);
      const carries = advantage
        ? Math.abs(advantage[i] + error) <= near * (1 + Math.abs(value[i]) + Math.abs(target[i]))
        : false;
      for (const step of steps) {
        step.rows.error.push(error);
        if (!second) step.rows.middle = step.rows.error.length;
        step.rows.weight.push(weight);
        step.rows.plain.push(fresh[i]);
        step.rows.ratio.push(ratio);
        step.carries &&= carries;
      }
    }
  }

  finish(): Outcome {
    const findings: Finding[] = [];
    const measured: Outcome['measured'] = {};
    const expected = { added_up: 0 };
    let steady = false;
    let doubted = 0;
    for (const policy of new Set([...this.steps.keys()].map((tensor) => this.run.tensors[tensor].policy))) {
      const readings = [...this.steps].flatMap(([tensor, steps]) =>
        this.run.tensors[tensor].policy === policy && steps.length > 0 ? this.readings(tensor, steps) : [],
      );
      if (readings.length === 0) continue;
      const name = this.run.policies[policy] ?? `policy ${policy}`;
      const best = (kind: Kind) => readings.reduce((a, b) => (b.fits[kind] > a.fits[kind] ? b : a));
      const own = best('own');
      const wrong = (['added', 'plain', 'ratio'] as const)
        .map((kind) => ({ kind, read: best(kind) }))
        .reduce((a, b) => (b.read.fits[b.kind] > a.read.fits[a.kind] ? b : a));
      const [fits, told] = [wrong.read.fits[wrong.kind], wrong.read.told[wrong.kind]];
      const clear = readings.every((read) => read.fits.own <= limits.most.value * read.told.own);
      // Where neither a single gradient nor a sum gives most steps, the loss is another.
      const known = own.fits.own > limits.most.value * own.told.own || fits > limits.most.value * told;
      steady ||= known;
      measured[`${name}.steps`] = own.told.own;
      measured[`${name}.own`] = own.fits.own;
      measured[`${name}.added_up`] = wrong.kind === 'added' ? fits : 0;
      if (!known) {
        const gathered = gatheredParts(this.run, this.steps, policy, this.pulls, this.factors());
        steady ||= gathered !== null;
        findings.push(...(gathered?.findings([{ check: 'critic-gradient', measured, expected }]) ?? []));
        if (gathered) continue;
      }
      // Cleared once an epoch, say, gradients are a step's own after that, and add up until the next time.
      const cleared = wrong.kind === 'added' && fits > limits.most.value * told ? wrong.read.fits.own : 0;
      if (!clear || fits < 2 || fits + cleared < limits.formulaExact.value * told) continue;
      // Where most were clipped and their length before is not known, few steps tell: enough to doubt, not to name.
      const doubt = fits < limits.fewestSteps.value;
      const steps = this.steps.get(wrong.read.tensor)!;
      if (doubt)
        doubted += Math.round((fits * steps.reduce((sum, { rows }) => sum + rows.error.length, 0)) / steps.length);
      const transform = transforms[wrong.kind];
      findings.push({
        cause: wrong.kind === 'added' ? 'gradients-accumulate' : 'loss-formula-differs',
        confidence: doubt ? limits.candidate.value : confidence((fits + cleared) / told, fits * limits.perStep.value),
        agents: this.run.agentsOf(policy),
        onset: 0,
        rows: fits,
        transform,
        ...wrong.read.proofs[wrong.kind].prove(
          "length of the critic's bias gradient",
          'as recorded',
          "that of the step's own rows",
          transform,
        ),
        ...(wrong.kind === 'added'
          ? {
              summary: `The gradient of ${name}'s critic is that of the step's rows and of all steps before it: on ${fits} of ${told} steps that tell it agrees only when they are added up${cleared > 0 ? `, and on ${cleared} it is their own: gradients are cleared only now and then` : ''}.`,
            }
          : { told: true, summary: leakText(name, fits, told) }),
        evidence: [{ check: 'critic-gradient', measured, expected }],
      });
    }
    if (!steady)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings,
        note: told(
          'the value loss is none whose gradient is known, or no step tells sums of gradients from single ones',
          '价值损失的梯度未知，或没有哪一步能区分单步梯度与累加的梯度',
        ),
      };
    const proved = findings.some(({ confidence }) => confidence > limits.candidate.value);
    return {
      measured,
      expected,
      findings: merge(findings),
      ...(findings.length > 0 && !proved
        ? {
            status: 'warn',
            open: { rows: doubted, share: 1, onset: 0, agents: findings.flatMap(({ agents }) => agents) },
            note: told(
              'pass grad_norm, the length before clipping, to be sure',
              '请传入 grad_norm（裁剪前的长度）以确定',
            ),
          }
        : { status: proved ? 'fail' : 'pass' }),
    };
  }

  /** What the mean of a row's errors may be multiplied by. */
  private factors(): number[] {
    const declared = this.run.number('value_coefficient');
    const weights = Number.isFinite(declared) ? [declared] : budgets.valueWeights;
    return weights.flatMap((weight) => slopes.map((slope) => weight * slope));
  }

  /** By every way in which errors may pull and be averaged, and every weight that a value loss may have. */
  private readings(tensor: number, steps: readonly Step[]): Reading[] {
    if (steps.some(({ sum }) => Number.isFinite(sum)))
      return [
        read(
          tensor,
          steps,
          steps.map(({ sum }) => sum),
          false,
        ),
      ];
    const summed = this.run.text('loss_reduction') === 'sum';
    return this.pulls.flatMap((pull) =>
      (summed ? [1] : [1, 2]).flatMap((parts) => {
        const own = steps.map(({ rows }) =>
          averaged(rows.error.map(pull), rows.weight, summed, parts === 1 ? 0 : rows.middle),
        );
        return this.factors().map((factor) =>
          read(
            tensor,
            steps,
            own.map((one) => factor * one),
            summed,
          ),
        );
      }),
    );
  }
}

const leakText = (name: string, fits: number, all: number) =>
  told(
    `The policy loss reaches ${name}'s critic: its advantage is the return less the value of this step and carries gradients. On ${fits} of ${all} steps the critic's gradient agrees only with the policy loss's part added.`,
    `策略损失影响了 ${name} 的价值网络：其优势是回报减去这一步的价值，且带有梯度。在 ${all} 步中有 ${fits} 步，只有加上策略损失的部分，价值网络的梯度才一致。`,
  );

/** How many steps tell a gradient of their own rows from another, and which they follow. */
function read(tensor: number, steps: readonly Step[], own: readonly number[], summed: boolean): Reading {
  const zero = () => ({ own: 0, added: 0, plain: 0, ratio: 0 });
  const proofs = () => ({
    own: new ProofStore(),
    added: new ProofStore(),
    plain: new ProofStore(),
    ratio: new ProofStore(),
  });
  const found: Reading = { tensor, told: zero(), fits: zero(), proofs: proofs() };
  const longest = steps.map(({ norm }) => norm).sort((a, b) => b - a);
  // Clipped entry by entry, several steps have the same length, and none a greater.
  const clipped = longest[1] >= (1 - limits.rounding.value) * longest[0];
  const most = clipped ? longest[0] : Number.POSITIVE_INFINITY;
  for (const [i, { norm, scale, rows, follows, carries }] of steps.entries()) {
    const alone = Math.min(most, Math.abs(scale * own[i]));
    // At the limit any larger gradient looks the same.
    if (!Number.isFinite(alone) || norm >= (1 - limits.rounding.value) * most) continue;
    const before = follows ? steps[i - 1].norm : 0;
    const given: Record<Kind, number[]> = {
      own: [own[i]],
      // The sign of the gradient before is not recorded.
      added: follows ? [own[i] + before, own[i] - before] : [],
      plain: carries && rows.error.length > 0 ? [own[i] + averaged(rows.plain, rows.weight, summed)] : [],
      ratio: carries && rows.error.length > 0 ? [own[i] + averaged(rows.ratio, rows.weight, summed)] : [],
    };
    const noise = limits.valueFormula.value * scale * (before + Math.abs(own[i]));
    const fits = (value: number) => Math.abs(norm - value) <= slack * value + noise;
    let tells = false;
    for (const kind of kinds) {
      const lengths = given[kind].map((one) => Math.min(most, Math.abs(scale * one)));
      const apart = (value: number) =>
        Math.abs(value - alone) > limits.apartFormulas.value * (slack * Math.max(value, alone) + noise);
      if (kind === 'own' || lengths.length === 0 || !lengths.every(apart)) continue;
      tells = true;
      found.told[kind]++;
      const fitting = lengths.find(fits);
      if (fitting === undefined) continue;
      found.fits[kind]++;
      found.proofs[kind].step(norm, alone, fitting);
    }
    if (!tells) continue;
    found.told.own++;
    if (fits(alone)) found.fits.own++;
  }
  return found;
}
