import { describe, expect, it } from 'vitest';
import '../../recording/node.ts';
import type { Options } from '../../../test/support/tokens/rows.ts';
import { tokenRun } from '../../../test/support/tokens/run.ts';
import { tokenChecks } from '../checks/tokens/index.ts';
import { diagnose } from '../diagnose.ts';
import type { Diagnosis } from '../diagnosis.ts';

const faults: [cause: string, options: Options][] = [
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

const healthy: [name: string, options: Options][] = [
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

const told: Diagnosis[] = [];

describe('the doctor for language models', () => {
  it.each(healthy)('calls a healthy run healthy: %s', async (_, options) => {
    const { verdict, causes, unexplained } = await diagnose(await tokenRun(options));
    expect({
      causes: causes.map(({ id, summary }) => `${id}: ${summary}`),
      unexplained: unexplained.map(({ summary }) => summary),
    }).toEqual({ causes: [], unexplained: [] });
    expect(verdict).toBe('healthy');
  });

  it.each(faults)('names %s first: %o', async (cause, options) => {
    const diagnosis = await diagnose(await tokenRun(options));
    told.push(diagnosis);
    const { causes, unexplained } = diagnosis;
    expect([causes[0]?.id, ...unexplained.map(({ summary }) => summary)].slice(0, 1)).toEqual([cause]);
  });

  it('says in a remark that metrics are over padding, too', async () => {
    const { verdict, remarks } = await diagnose(await tokenRun({ reported: 'padded' }));
    expect(verdict).toBe('healthy');
    expect(remarks.map(({ id }) => id)).toContain('metric-misreported');
    expect(remarks.find(({ id }) => id === 'metric-misreported')!.summary).toContain('over padding, too');
    const right = await diagnose(await tokenRun({ reported: 'right' }));
    expect(right.remarks.map(({ id }) => id)).not.toContain('metric-misreported');
    expect(right.checks.find(({ id }) => id === 'token-metrics')!.status).toBe('pass');
  });

  it('says in a remark that most groups are solved', async () => {
    const { verdict, remarks } = await diagnose(await tokenRun({ easy: 'mostly' }));
    expect(verdict).toBe('healthy');
    expect(remarks.find(({ id }) => id === 'group-degenerate')!.summary).toContain(
      '25 of 30 groups (83.33 %) carry no signal: all of their rewards are equal; in 25 of them every answer has the best reward that there is.',
    );
  });

  it('was shown every cause that it may name, every check failing, and every transform of tokens', () => {
    const causes = new Set(told.map(({ causes: [first] }) => first?.id));
    const named = new Set(tokenChecks.flatMap((check) => check.causes));
    expect([...named].filter((id) => !causes.has(id))).toEqual(['reward-token-wrong', 'metric-misreported']);
    const failing = new Set(
      told.flatMap(({ checks }) => checks.filter(({ status }) => status === 'fail').map(({ id }) => id)),
    );
    expect(tokenChecks.map(({ id }) => id).filter((id) => !failing.has(id))).toEqual([
      'token-returns',
      'token-metrics',
    ]);
    const used = new Set(told.flatMap((diagnosis) => diagnosis.causes.map(({ transform }) => transform?.id)));
    for (const id of ['baseline-over', 'column-for', 'grows-with', 'loss-term', 'normaliser', 'token-shift'])
      expect(used).toContain(id);
  });
});
