/** Runs of a language model that the doctor must judge rightly: each with one thing broken, or with a custom that is none. Of each cause the first is tried in the quick loop, the others with the slow tests. */
import type { Options } from './rows.ts';

export const faults: [cause: string, options: Options][] = [
  ['temperature-mismatch', { reports: 'plain' }],
  ['temperature-mismatch', { reports: 'ignores-temperature' }],
  ['temperature-mismatch', { updateTemperature: true }],
  ['support-truncated', { reports: 'kept', topP: 0.9 }],
  ['weights-not-synced', { syncs: 'never' }],
  ['weights-not-synced', { syncs: 'late' }],
  ['positions-shifted', { samplerPadding: true }],
  ['positions-shifted', { trainerPadding: true }],
  ['packing-leak', { packLeak: true }],
  ['stochastic-forward', { dropout: true }],
  ['cache-stale', { staleCache: true }],
  ['retokenised', { retokenise: true }],
  ['loss-mask-shifted', { logpShift: 1 }],
  ['loss-mask-shifted', { maskShift: 1 }],
  ['loss-mask-shifted', { maskShift: -1 }],
  ['environment-tokens-trained', { trainTools: true }],
  ['padding-trained', { trainPadding: true }],
  ['loss-normaliser-wrong', { level: 'micro' }],
  ['loss-normaliser-wrong', { level: 'unscaled' }],
  ['loss-normaliser-wrong', { level: 'sequence-mean', settings: { aggregation: 'token-mean' } }],
  ['loss-summed', { level: 'sum' }],
  [
    'importance-weight-missing',
    { weight: 'missing', dropout: false, noise: 0.05, settings: { precision: { trainer: 'float32' } } },
  ],
  ['kl-term-wrong', { kl: { estimator: 'k1', coefficient: 0.1 } }],
  ['kl-term-wrong', { kl: { estimator: 'k3', coefficient: -0.1 } }],
  ['kl-term-wrong', { kl: { estimator: 'k3', coefficient: 0.4 } }],
  // Near enough for half precision, but the numbers have single precision.
  ['kl-term-wrong', { kl: { estimator: 'k3', coefficient: 0.12 }, settings: { precision: { trainer: 'bf16' } } }],
  ['advantage-sign-flipped', { sign: -1 }],
  ['advantage-shuffled', { shuffleAdvantages: true }],
  ['old-logp-recomputed', { recomputeOld: true }],
  ['stale-samples', { repeatResponses: true }],
  ['advantage-group-mixed', { grouping: 'batch' }],
  ['advantage-group-mixed', { grouping: 'interleaved' }],
  ['advantage-group-mixed', { grouping: 'first' }],
  ['baseline-includes-masked', { includeMasked: true }],
  ['reward-misordered', { rewardOrder: 'rolled' }],
  ['truncated-response-rewarded', { truncated: 'zeroed' }],
  ['truncated-response-rewarded', { settings: { truncated: 'zero' } }],
  ['truncated-response-rewarded', { settings: { truncated: 'mask' } }],
  ['reference-wrong', { reference: 'policy' }],
  ['reference-wrong', { reference: 'other' }],
  ['group-degenerate', { easy: true }],
  ['loss-mask-shifted', { oldShift: 1 }],
];

export const healthy: [name: string, options: Options][] = [
  ['as it is', {}],
  ['with bf16-like rounding', { noise: 0.01, settings: { precision: { trainer: 'bf16', sampler: 'bf16' } } }],
  ['mean over sequences', { level: 'sequence-mean' }],
  ['with a KL term', { kl: { estimator: 'k3', coefficient: 0.1 } }],
  [
    'with one ratio for each response, and an importance weight for each token',
    { weight: 'declared', sequenceRatio: true, noise: 0.2, settings: { ratio: 'sequence', old_logp: 'trainer' } },
  ],
  [
    'with an importance weight that acts',
    { weight: 'declared', noise: 0.02, settings: { precision: { trainer: 'bf16' } } },
  ],
  ['with top-p and log-probabilities over all tokens', { topP: 0.9 }],
  ['with top-p, renormalised on both sides', { topP: 0.9, reports: 'kept', renormalise: true }],
  ['at temperature 1', { temperature: 1 }],
];

/** The first of its cause. */
export const isFirst = ([cause]: readonly [string, Options], index: number): boolean =>
  faults.findIndex(([other]) => other === cause) === index;
