/** The KL penalty that rewards carry: its coefficient is read off what was paid less than the grade, or less than 0 for a cut answer where that is declared. */
import { median, quantile } from '../../math/statistics.ts';
import { limits } from '../limits.ts';
import { source } from './codes.ts';
import type { TokenEvidence } from './evidence.ts';

/** The reward that is due without a penalty minus the one paid, against the sum of the KL estimates of the response's own tokens. */
export function klInRewards(
  evidence: TokenEvidence,
  rows: readonly number[],
  due: (response: number) => number,
): { coefficient: number; meant: number; declared: boolean } | null {
  const { responses, tokens, settings, byResponse } = evidence;
  if (!tokens.has('reference_logp')) return null;
  const reward = responses.column('reward');
  const [reference, old, usual, first, origin] = (
    ['reference_logp', 'old_logp', 'logp_tempered', 'first_logp', 'source'] as const
  ).map((name) => tokens.column(name));
  const estimators = {
    k1: (gap: number) => -gap,
    k2: (gap: number) => (gap * gap) / 2,
    k3: (gap: number) => Math.exp(gap) - 1 - gap,
  };
  const meant = settings.kl?.place === 'reward' ? (settings.kl.coefficient ?? 0) : 0;
  for (const [name, estimate] of Object.entries(estimators)) {
    const quotients: number[] = [];
    for (const i of rows) {
      const own = byResponse.get(i);
      if (!own || Number.isNaN(due(i))) continue;
      let sum = 0;
      for (const row of own) {
        if (origin[row] !== source.sampled) continue;
        const logp = !Number.isNaN(old[row]) ? old[row] : !Number.isNaN(usual[row]) ? usual[row] : first[row];
        sum += estimate(reference[row] - logp);
      }
      if (Math.abs(sum) > limits.coefNoticed.value) quotients.push((due(i) - reward[i]) / sum);
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
