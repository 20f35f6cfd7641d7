/** How well a rule gives the recorded advantages, over all responses; the best of several rules. */
import { median, quantile } from '../../math/statistics.ts';
import { limits } from '../limits.ts';
import type { Batch, Rule } from './advantages.ts';
import type { TokenEvidence } from './evidence.ts';

/** All responses of one iteration. */
export interface Part extends Batch {
  iteration: number;
  used: Float64Array;
  graded: Float64Array;
  cut: Uint8Array;
  prompt: Float64Array;
}

export type Predict = (part: Part, rule: Rule) => Float64Array;

/** The declared rule in all forms that the settings leave open. */
export function rulesOf({ settings }: TokenEvidence): Rule[] {
  const baselines = settings.baseline
    ? [settings.baseline]
    : (['group-mean', 'leave-one-out', 'batch-mean', 'none'] as const);
  const scales = settings.scale ? [settings.scale] : (['group-deviation', 'none', 'batch-deviation'] as const);
  const epsilons = settings.scale_epsilon === undefined ? [1e-4, 1e-6, 1e-8, 0] : [settings.scale_epsilon];
  const members = settings.baseline_members ? [settings.baseline_members] : (['trained', 'all'] as const);
  return baselines.flatMap((baseline) =>
    scales.flatMap((scale) =>
      (scale === 'none' ? [0] : epsilons).flatMap((epsilon) =>
        (scale === 'none' ? [false] : [true, false]).flatMap((unbiased) =>
          members.map((own) => ({ baseline, scale, epsilon, unbiased, members: own })),
        ),
      ),
    ),
  );
}

export interface Judged {
  rule: Rule;
  q50: number;
  q95: number;
  share: number;
  exact: boolean;
  onset: number;
}

function judge(parts: readonly Part[], rule: Rule, predict: Predict): Judged {
  const errors: number[] = [];
  let onset = Number.NaN;
  const spread = spreadOf(parts);
  for (const part of parts) {
    const values = predict(part, rule);
    for (let i = 0; i < values.length; i++) {
      // A response that is not trained may have any advantage.
      if (part.trained[i] === 0) continue;
      // A group without a spread divides by its epsilon alone, and large numbers keep no more digits than small ones.
      const size = Math.max(spread, Math.abs(values[i]));
      const error = Number.isNaN(values[i]) ? 1 : Math.abs(values[i] - part.used[i]) / size;
      errors.push(error);
      if (error > limits.tokenCredit.value && Number.isNaN(onset)) onset = part.iteration;
    }
  }
  const [q50, q95] = [quantile(errors, 0.5), quantile(errors, 0.95)];
  const off = errors.filter((error) => error > limits.tokenCredit.value).length;
  return {
    rule,
    q50,
    q95,
    share: off / Math.max(1, errors.length),
    exact: errors.length > 0 && off <= limits.noticedShare.value * errors.length,
    onset: Number.isNaN(onset) ? 0 : onset,
  };
}

export function spreadOf(parts: readonly Part[]): number {
  const all = parts.flatMap(({ used }) => [...used]);
  const middle = median(all);
  const size = quantile(
    all.map((value) => Math.abs(value - middle)),
    0.8,
  );
  return Math.max(size, limits.rounding.value + limits.coefNoticed.value * Math.max(...all.map(Math.abs), 0));
}

export function bestRule(parts: readonly Part[], rules: readonly Rule[], predict: Predict): Judged {
  return rules
    .map((rule) => judge(parts, rule, predict))
    .reduce((a, b) => (b.share < a.share || (b.share === a.share && b.q95 < a.q95) ? b : a));
}
