/** The KL penalty that rewards carry: its coefficient is read off what was paid less than the grade, or less than 0 for a cut answer where that is declared. */
import { median, quantile } from '../../math/statistics.ts';
import { limits } from '../limits.ts';
import { source } from './codes.ts';
import type { TokenEvidence } from './evidence.ts';

const estimators = {
  k1: (gap: number) => -gap,
  k2: (gap: number) => (gap * gap) / 2,
  k3: (gap: number) => Math.exp(gap) - 1 - gap,
};

/** The sum of a response's KL estimates over its own tokens; NaN where one of them is not known. */
function klOf(evidence: TokenEvidence, estimate: (gap: number) => number): (response: number) => number {
  const { tokens, byResponse } = evidence;
  const [reference, old, usual, first, origin] = (
    ['reference_logp', 'old_logp', 'logp_tempered', 'first_logp', 'source'] as const
  ).map((name) => tokens.column(name));
  return (response) => {
    let sum = 0;
    for (const row of byResponse.get(response) ?? [Number.NaN]) {
      if (origin[row] !== undefined && origin[row] !== source.sampled) continue;
      const logp = !Number.isNaN(old[row]) ? old[row] : !Number.isNaN(usual[row]) ? usual[row] : first[row];
      sum += estimate(reference[row] - logp);
    }
    return sum;
  };
}

/** The penalty that the settings take off a response's reward; 0 where they take none, NaN where it cannot be told. */
export function declaredPenalty(evidence: TokenEvidence): (response: number) => number {
  const { kl } = evidence.settings;
  if (kl?.place !== 'reward' || !kl.coefficient) return () => 0;
  const sum = klOf(evidence, estimators[kl.estimator ?? 'k1']);
  return (response) => kl.coefficient! * sum(response);
}

/** The reward that is due without a penalty minus the one paid, against the sum of the KL estimates of the response's own tokens. */
export function klInRewards(
  evidence: TokenEvidence,
  rows: readonly number[],
  due: (response: number) => number,
): { coefficient: number; meant: number; declared: boolean } | null {
  const { responses, tokens, settings } = evidence;
  if (!tokens.has('reference_logp')) return null;
  const reward = responses.column('reward');
  const meant = settings.kl?.place === 'reward' ? (settings.kl.coefficient ?? 0) : 0;
  for (const [name, estimate] of Object.entries(estimators)) {
    const quotients: number[] = [];
    const sumOf = klOf(evidence, estimate);
    for (const i of rows) {
      const sum = sumOf(i);
      if (Number.isFinite(due(i)) && Math.abs(sum) > limits.coefNoticed.value)
        quotients.push((due(i) - reward[i]) / sum);
    }
    if (quotients.length < limits.fewestRows.value) continue;
    const coefficient = median(quotients);
    const spread = quantile(
      quotients.map((value) => Math.abs(value - coefficient)),
      0.8,
    );
    if (Math.abs(coefficient) < limits.rounding.value || spread > limits.sameKl.value * Math.abs(coefficient)) continue;
    const rightKind = settings.kl?.estimator === undefined || settings.kl.estimator === name;
    return {
      coefficient,
      meant,
      declared: rightKind && Math.abs(coefficient - meant) <= limits.sameKl.value * Math.abs(meant),
    };
  }
  return null;
}
