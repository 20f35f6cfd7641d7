/** How exactly a model of the loss gives the derivatives that were seen, and which other models to try. */
import { median, quantiles } from '../../math/statistics.ts';
import { limits } from '../limits.ts';
import { klSlope, type LossRows, levels, type Model } from './loss-rows.ts';

export interface Fit {
  model: Model;
  q50: number;
  q90: number;
  /** What is left over after the model: 1 where it is exact. */
  times: number;
}

/** Relative errors of a model, its factor taken out: a level is constant where its quotient is. */
function fitted(all: LossRows, model: Model): Fit {
  const quotients: number[] = [];
  const every = Math.max(1, Math.floor(all.rows.length / 20000));
  const predictions: number[] = [];
  const truths: number[] = [];
  let largest = 0;
  for (let i = 0; i < all.rows.length; i += every) {
    const predicted = all.terms(model, i) * all.normaliser(model.level, i);
    if (Number.isNaN(predicted))
      return { model, q50: Number.POSITIVE_INFINITY, q90: Number.POSITIVE_INFINITY, times: Number.NaN };
    predictions.push(predicted);
    truths.push(all.coef[i]);
    largest = Math.max(largest, Math.abs(predicted));
  }
  // Without an advantage there is no derivative, and any mean of nothing is right.
  if (largest === 0 && truths.every((truth) => truth === 0)) return { model, q50: 0, q90: 0, times: 1 };
  const noticeable = limits.coefNoticed.value * largest;
  predictions.forEach((predicted, i) => {
    if (Math.abs(predicted) > noticeable) quotients.push(truths[i] / predicted);
  });
  const times = quotients.length > 0 ? median(quotients) : Number.NaN;
  const typical = median(predictions.map(Math.abs).filter((size) => size > noticeable)) * Math.abs(times);
  const errors = predictions.map(
    (predicted, i) =>
      Math.abs(truths[i] - times * predicted) / (Math.abs(times * predicted) + limits.coefTypical.value * typical),
  );
  const [q50, q90] = quantiles(errors, [0.5, 0.9]);
  return { model, q50, q90, times };
}

/** The model whose factor is 1 wins over one that only fits up to a factor. */
export function best(all: LossRows, models: readonly Model[]): Fit {
  const fits = models.map((model) => fitted(all, model));
  const score = ({ q50, q90, times }: Fit) =>
    Number.isNaN(times) ? Number.POSITIVE_INFINITY : q50 + 0.1 * q90 + Math.min(1, Math.abs(times - 1));
  return fits.reduce((a, b) => (score(b) < score(a) ? b : a));
}

/** One change after the other, then two at once. */
export function alternatives(all: LossRows, model: Model, tolerance: number): Model[][] {
  const terms: Model[] = [
    ...(model.weight ? [{ ...model, weight: false }] : []),
    { ...model, sign: -1 as const },
    ...klModels(all, model, tolerance),
    { ...model, ratio: 'one' as const },
  ];
  const other = levels.filter((level) => level !== model.level);
  return [
    [{ ...model, level: 'sum over tokens' }, ...other.map((level) => ({ ...model, level }))],
    ...terms.map((changed) => [changed]),
    ...terms.map((changed) => other.map((level) => ({ ...changed, level }))),
    ...terms
      .flatMap((changed) => [
        { ...changed, sign: -1 as const },
        { ...changed, weight: false },
      ])
      .map((changed) => [changed]),
    [{ ...model, clip: false }],
  ];
}

/** Other estimators and coefficients of the KL term: the coefficient that the rows give is fitted, then tried. */
function klModels(all: LossRows, model: Model, tolerance: number): Model[] {
  const coefficient = model.kl.coefficient;
  const set = (estimator: Model['kl']['estimator'], value: number): Model => ({
    ...model,
    kl: { estimator, coefficient: value },
  });
  const without = set('none', 0);
  const known = all.gap.some((gap) => !Number.isNaN(gap));
  if (!known) return coefficient !== 0 ? [without] : [];
  const estimated = (['k1', 'k2', 'k3'] as const).flatMap((estimator) => {
    const betas: number[] = [];
    for (let i = 0; i < all.rows.length; i += Math.max(1, Math.floor(all.rows.length / 5000))) {
      const slope = klSlope[estimator](all.gap[i]);
      if (Math.abs(slope) > limits.coefNoticed.value)
        betas.push((all.coef[i] / all.normaliser(model.level, i) - all.terms(without, i)) / slope);
    }
    const beta = betas.length > 0 ? median(betas) : Number.NaN;
    return Number.isFinite(beta) && Math.abs(beta) > limits.undone.value * tolerance ? [set(estimator, beta)] : [];
  });
  return [
    without,
    ...(['k1', 'k2', 'k3'] as const).flatMap((estimator) =>
      coefficient === 0 ? [] : [set(estimator, coefficient), set(estimator, -coefficient)],
    ),
    ...estimated,
  ];
}

export function columns(all: LossRows, own: Model, found: Model) {
  const out = { target: [] as number[], before: [] as number[], after: [] as number[] };
  for (let i = 0; i < all.rows.length; i += Math.max(1, Math.floor(all.rows.length / 1200))) {
    out.target.push(all.coef[i]);
    out.before.push(all.terms(own, i) * all.normaliser(own.level, i));
    out.after.push(all.terms(found, i) * all.normaliser(found.level, i));
  }
  return out;
}
