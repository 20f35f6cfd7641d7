/** The discount and lambda under which recorded advantages come out right. Declared ones are tried first; others are searched only where those fail. */

import type { CreditFigures, EndRule } from '../math/advantages.ts';
import { spread } from '../math/statistics.ts';
import { budgets } from './budgets.ts';
import { creditTolerance } from './check.ts';
import type { Iteration } from './evidence/iteration.ts';
import type { Run } from './evidence/run.ts';
import { limits } from './limits.ts';
import { misreadings } from './transforms/credit/ends.ts';

export interface CreditRule extends CreditFigures {
  /** Whether the figures are the declared ones. */
  declared: boolean;
}

/** Found once per run, as a search over discounts is slow. */
const rules = new WeakMap<Run, CreditRule>();

/** Recomputed from rewards, values and ends, whatever the trainer recorded; null where columns are missing. */
export function recomputedAdvantages(iteration: Iteration): ArrayLike<number> | null {
  const { run, credit } = iteration;
  const rule = credit && (rules.get(run) ?? findCreditRule(run, iteration, ['asRecorded', ...misreadings]));
  if (!rule) return null;
  rules.set(run, rule);
  return iteration.advantages('asRecorded', rule);
}

/** How far apart two advantages of this iteration may be and still be the same. */
export function creditSlack(iteration: Iteration, truth: ArrayLike<number>, figures: CreditFigures): number {
  const { std } = spread(truth);
  let largest = 0;
  const { credit } = iteration;
  for (const column of [credit?.value, credit?.reward, truth])
    for (let i = 0; column && i < column.length; i++) {
      const size = Math.abs(column[i]);
      if (size > largest && Number.isFinite(size)) largest = size;
    }
  const grain = creditGrain(iteration);
  const narrow = grain > 0 ? roundings(figures) * grain * largest : 0;
  return creditTolerance * (std || 0) + limits.roundedSum.value * largest + narrow + limits.smallestCredit.value;
}

/** Relative rounding of what credit is made of; 0 where all of it is in single precision. */
export function creditGrain({ samples }: Iteration): number {
  return Math.max(...['reward', 'value', 'next_value', 'advantage'].map((name) => samples?.grain(name) ?? 0));
}

/** A sum of numbers that were rounded one by one, each weighing less than the one before: four standard deviations of it, in roundings of the largest. */
function roundings({ gamma, lambda, steps }: CreditFigures): number {
  const fades = (gamma * lambda) ** 2;
  const terms = steps ?? 1 / (1 - Math.min(fades, limits.longestFade.value));
  return limits.sigmas.value * Math.sqrt(terms);
}

/** Share of the known rows in which both agree. */
export function agreement(a: ArrayLike<number>, b: ArrayLike<number>, slack: number): number {
  let known = 0;
  let same = 0;
  for (let i = 0; i < a.length; i++) {
    const gap = Math.abs(a[i] - b[i]);
    if (Number.isNaN(gap)) continue;
    known++;
    if (gap <= slack) same++;
  }
  return known > 0 ? same / known : 0;
}

const { gammas, lambdas, refinement, creditSteps } = budgets;

/** Fits to one iteration's recorded advantages; without any it falls back on what is declared. */
export function findCreditRule(run: Run, iteration: Iteration, rules: readonly EndRule[]): CreditRule | null {
  const gamma = run.number('gamma');
  const lambda = run.number('lambda');
  const steps = declaredSteps(run);
  const declared = { gamma, lambda, ...(steps ? { steps } : {}), declared: true };
  const recorded = iteration.samples?.column('advantage');
  const known = Number.isFinite(gamma) && (Number.isFinite(lambda) || steps !== null);
  if (!recorded) return known ? declared : null;
  const fits = (figures: CreditFigures, rule: EndRule) => {
    const truth = iteration.advantages(rule, figures)!;
    return agreement(truth, recorded, creditSlack(iteration, truth, figures));
  };
  const share = (g: number, l: number, rule: EndRule = 'asRecorded') => fits({ gamma: g, lambda: l }, rule);
  // What is declared and does not hold is a finding, and no reason to look for figures that do.
  if (known) return declared;
  let best: { share: number; gamma: number; lambda: number } = { share: 0, gamma: gammas[0], lambda: lambdas[0] };
  for (const rule of rules) {
    for (const g of Number.isFinite(gamma) ? [gamma, ...gammas] : gammas)
      for (const l of Number.isFinite(lambda) ? [lambda, ...lambdas] : lambdas) {
        const found = share(g, l, rule);
        if (found > best.share + limits.betterRule.value) best = { share: found, gamma: g, lambda: l };
      }
    if (best.share >= limits.exactly.value) break;
    if (rule === 'asRecorded') {
      const refined = refine(iteration, recorded, best.gamma, best.lambda);
      if (share(refined.gamma, refined.lambda) >= limits.exactly.value) return { ...refined, declared: false };
      // A lambda that is declared speaks against returns of so many steps.
      for (const g of Number.isNaN(lambda) ? (Number.isFinite(gamma) ? [gamma] : gammas) : [])
        for (let n = 2; n <= creditSteps; n++)
          if (fits({ gamma: g, lambda, steps: n }, rule) >= limits.exactly.value)
            return { gamma: g, lambda, steps: n, declared: false };
    }
  }
  return { gamma: best.gamma, lambda: best.lambda, declared: false };
}

/** Steps that the settings say returns look ahead, or null. */
function declaredSteps(run: Run): number | null {
  const steps = run.number('n_steps');
  return run.text('advantage_estimator') === 'n-step' && steps >= 1 ? steps : null;
}

/** Coordinate search on the median error. */
function refine(
  iteration: Iteration,
  recorded: ArrayLike<number>,
  gamma: number,
  lambda: number,
): { gamma: number; lambda: number } {
  const error = (g: number, l: number) => {
    const truth = iteration.advantages('asRecorded', { gamma: g, lambda: l })!;
    let sum = 0;
    let count = 0;
    for (let i = 0; i < truth.length; i++) {
      const gap = Math.abs(truth[i] - recorded[i]);
      if (Number.isNaN(gap)) continue;
      sum += Math.sqrt(gap);
      count++;
    }
    return count > 0 ? sum / count : Number.POSITIVE_INFINITY;
  };
  const inside = (x: number) => Math.max(0, Math.min(1, x));
  let least = error(gamma, lambda);
  for (let step: number = refinement.first; step > refinement.last; step /= 2) {
    for (let moved = true, tries = 0; moved && tries < refinement.moves; tries++) {
      moved = false;
      for (const [dg, dl] of [
        [step, 0],
        [-step, 0],
        [0, step],
        [0, -step],
        [step, -step],
        [-step, step],
      ]) {
        const found = error(inside(gamma + dg), inside(lambda + dl));
        if (!(found < least)) continue;
        least = found;
        gamma = inside(gamma + dg);
        lambda = inside(lambda + dl);
        moved = true;
      }
    }
  }
  return { gamma, lambda };
}
