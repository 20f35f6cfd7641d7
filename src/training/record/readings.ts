/** The one table of readings: what each figure is, how it is computed, and where it usually lies. A band informs; being outside it is not a fault. */

export interface Reading {
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  readonly formula: string;
  /** Where healthy runs usually are; null stands for no limit on that side, an absent band for no expectation. */
  readonly band?: readonly [number | null, number | null];
  readonly explanation: string;
}

const overSteps = 'mean over all rows of all minibatches of the update';

const entries = [
  reading(
    'k1',
    'KL k1',
    'nats',
    `old_logp - new_logp, ${overSteps}`,
    undefined,
    'An unbiased but noisy estimate of how far the policy has moved. It may be negative.',
  ),
  reading(
    'k2',
    'KL k2',
    'nats',
    `half the squared log-ratio, ${overSteps}`,
    undefined,
    'A steady estimate of how far the policy has moved, for small moves.',
  ),
  reading(
    'k3',
    'KL k3',
    'nats',
    `ratio - 1 - log ratio, ${overSteps}`,
    [0.01, 0.03],
    'An unbiased estimate that is never negative. Near 0 the steps are invisible, far above the band they overshoot.',
  ),
  reading(
    'clip_fraction',
    'clipped',
    'share',
    `share of rows with |ratio - 1| > clip, ${overSteps}`,
    [0.05, 0.3],
    'How much of the batch has reached the limit of the trust region.',
  ),
  reading(
    'ratio_mean',
    'ratio',
    '',
    `new / old probability, ${overSteps}`,
    [0.9, 1.1],
    'Stays near 1 when old and new log-probabilities belong to the same rows.',
  ),
  reading(
    'ratio_std',
    'ratio spread',
    '',
    'standard deviation of the ratio over the same rows',
    undefined,
    'How unevenly the update treats rows.',
  ),
  reading(
    'entropy',
    'entropy',
    'nats',
    `entropy over the row's own candidates, ${overSteps}`,
    undefined,
    'How undecided the policy is. It falls slowly in healthy training.',
  ),
  reading(
    'entropy_ratio',
    'entropy / log K',
    'share',
    'entropy divided by the logarithm of the number of legal candidates, mean over rows that have two or more',
    [null, 0.98],
    'At 1 the policy chooses blindly; a long stay there means that nothing is being learnt.',
  ),
  reading(
    'policy_loss',
    'policy loss',
    '',
    `clipped surrogate, ${overSteps}`,
    undefined,
    'Its size says little; its sign and trend are of no use by themselves.',
  ),
  reading(
    'value_loss',
    'value loss',
    '',
    `the critic's error in the units it learns in, ${overSteps}`,
    undefined,
    'With value normalisation 1 is what predicting the mean return gives.',
  ),
  reading(
    'explained_variance',
    'explained',
    'share',
    '1 - variance(return - value) / variance(return), over the batch before the update',
    [0, null],
    'How much of the returns the critic foresaw. Below 0 it is worse than a constant.',
  ),
  reading(
    'grad_norm',
    'gradient',
    '',
    'length of the whole gradient before clipping, mean over steps',
    undefined,
    'Compare it with ppo.maxGradNorm: far above it, every step is cut to the same length.',
  ),
  ...(['trunk', 'head', 'critic'] as const).flatMap((role) => [
    reading(
      `grad_norm.${role}`,
      `gradient ${role}`,
      '',
      `length of the ${role}'s gradient after clipping, mean over measured steps`,
      [Number.MIN_VALUE, null],
      `0 means that no gradient reaches the ${role}.`,
    ),
    reading(
      `change.${role}`,
      `change ${role}`,
      '',
      `length of the ${role}'s parameter change, mean over measured steps`,
      [Number.MIN_VALUE, null],
      `0 with a gradient means that no optimiser holds the ${role}.`,
    ),
  ]),
  reading(
    'delta_logits',
    'logits moved',
    '',
    "root mean square change of the same minibatch's logits across a step, mean over measured steps",
    [Number.MIN_VALUE, null],
    'Whether a step reaches what the policy says.',
  ),
  reading(
    'kl_after',
    'KL after',
    'nats',
    'half the squared log-ratio after the last step, mean over rows of the last minibatch',
    [0.01, 0.03],
    'How far the whole update has moved the policy.',
  ),
  reading(
    'input_spread',
    'input spread',
    '',
    "standard deviation of the observation's entries over the batch",
    undefined,
    'Very large inputs saturate the first layer; 0 carries no information.',
  ),
  reading(
    'logit_spread',
    'logit spread',
    '',
    'standard deviation of the logits within a row, mean over rows of measured steps',
    undefined,
    'Near 0 the choice is uniform whatever the input.',
  ),
  reading(
    'credit_correlation',
    'credit correlation',
    '',
    'correlation of log-ratio with the advantage recomputed from rewards, values and ends, over all steps but the first',
    [0, null],
    'Positive when probability flows to what paid. Around 0 rows and credit may not belong together.',
  ),
  reading(
    'valid_ratio',
    'valid',
    'share',
    'share of rows whose replayed log-probability agreed with the stored one',
    [0.9, 1],
    'Below 1 the update does not see the distribution that was sampled from.',
  ),
  reading(
    'learning_rate',
    'learning rate',
    '',
    "the trunk's learning rate in this update",
    undefined,
    'Moves only where it is annealed or adapted.',
  ),
] as const;

function reading<Name extends string>(
  name: Name,
  label: string,
  unit: string,
  formula: string,
  band: readonly [number | null, number | null] | undefined,
  explanation: string,
): Reading & { readonly name: Name } {
  return { name, label, unit, formula, explanation, ...(band ? { band } : {}) };
}

export type ReadingName = (typeof entries)[number]['name'];
/**
 * Every reading of a run: name, unit, formula, usual band and what it tells.
 *
 * @example
 * for (const { name, formula, band } of readings) console.log(name, formula, band);
 */
export const readings: readonly Reading[] = entries;
/** One update's readings; NaN where one was not measured. */
export type Readings = Record<ReadingName, number>;

/** Whether a reading lies in its band; undefined where it has none or was not measured. */
export function inBand(name: ReadingName, value: number): boolean | undefined {
  const band = entries.find((entry) => entry.name === name)?.band;
  if (!band || Number.isNaN(value)) return undefined;
  return (band[0] === null || value >= band[0]) && (band[1] === null || value <= band[1]);
}

export function noReadings(): Readings {
  return Object.fromEntries(entries.map((entry) => [entry.name, Number.NaN])) as Readings;
}
