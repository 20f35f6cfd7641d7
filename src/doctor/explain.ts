/** Which causes account for which other findings. What is accounted for becomes a symptom of its cause; independent faults stay apart. */
import type { Finding } from './diagnosis.ts';

const replayCauses = [
  'subset-not-replayed',
  'num-actions-defaulted',
  'subset-borrowed',
  'mask-not-replayed',
  'temperature-mismatch',
  'old-logp-wrong',
  'stale-samples',
  'stochastic-forward',
];
/** What a wrong ratio leads to further down. */
const afterRatio = [
  'learning-rate-too-large',
  'kl-guard-too-tight',
  'policy-collapsed',
  'metric-misreported',
  'kl-estimator-cancels',
  'advantage-sign-flipped',
  'learning-rate-too-small',
  'policy-detached',
  'policy-head-flat',
  'entropy-bonus-dominates',
  'weight-decay-pull',
];
const creditCauses = [
  'advantage-shuffled',
  'advantage-time-shifted',
  'advantage-agent-swapped',
  'advantage-group-demeaned',
  'return-crosses-episodes',
  'done-time-shifted',
  'truncation-treated-as-termination',
];

/** Each cause with what it explains. */
export const explains: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(replayCauses.map((cause) => [cause, afterRatio])),
  'trained-on-other-agent': [
    ...replayCauses,
    ...afterRatio,
    'critic-context-misaligned',
    'value-scale-mismatch',
    'loss-summed',
  ],
  'stale-samples': [
    'old-logp-wrong',
    'stochastic-forward',
    'return-inconsistent',
    'critic-context-misaligned',
    ...afterRatio,
    'advantage-time-shifted',
    'advantage-shuffled',
    'old-logp-recomputed',
  ],
  'parameters-overwritten': [
    'policy-head-flat',
    'stochastic-forward',
    'old-logp-wrong',
    'critic-context-misaligned',
    'learning-rate-too-large',
    'learning-rate-too-small',
    'weight-decay-pull',
    'policy-collapsed',
    'metric-misreported',
    'input-saturated',
    'advantage-sign-flipped',
  ],
  'old-logp-recomputed': [
    'metric-misreported',
    'kl-estimator-cancels',
    'learning-rate-too-large',
    'policy-detached',
    'old-logp-wrong',
    'policy-collapsed',
    'advantage-sign-flipped',
  ],
  'num-actions-defaulted': [
    ...afterRatio,
    'subset-not-replayed',
    'mask-not-replayed',
    'subset-borrowed',
    'non-finite',
    'metric-misreported',
  ],
  'subset-not-replayed': [...afterRatio, 'mask-not-replayed', 'subset-borrowed', 'non-finite'],
  'subset-borrowed': [...afterRatio, 'mask-not-replayed', 'subset-not-replayed', 'num-actions-defaulted', 'non-finite'],
  'mask-not-replayed': [...afterRatio, 'non-finite', 'subset-not-replayed'],
  'temperature-mismatch': [...afterRatio, 'old-logp-wrong'],
  'old-logp-wrong': [...afterRatio, 'non-finite'],
  'phantom-steps': [
    ...creditCauses,
    'return-inconsistent',
    'old-logp-wrong',
    'reward-time-shifted',
    'mask-not-replayed',
    'critic-context-misaligned',
    'advantage-degenerate',
  ],
  'padding-trained': [
    ...creditCauses,
    'return-inconsistent',
    'old-logp-wrong',
    'reward-time-shifted',
    'mask-not-replayed',
    'critic-context-misaligned',
    'phantom-steps',
    'subset-not-replayed',
  ],
  ...Object.fromEntries(
    creditCauses.map((cause) => [
      cause,
      ['return-inconsistent', 'advantage-sign-flipped', 'advantage-not-normalised', 'value-scale-mismatch'],
    ]),
  ),
  'reward-time-shifted': ['return-inconsistent', 'advantage-time-shifted'],
  'advantage-sign-flipped': ['policy-collapsed', 'metric-misreported', 'entropy-sign-flipped'],
  'advantage-degenerate': [
    'policy-detached',
    'learning-rate-too-small',
    'advantage-not-normalised',
    'policy-head-flat',
    'entropy-bonus-dominates',
    'loss-summed',
    'broadcast-mismatch',
    'metric-misreported',
    'optimizer-unbound',
  ],
  'advantage-not-normalised': [
    'learning-rate-too-large',
    'loss-summed',
    'entropy-bonus-dominates',
    'learning-rate-too-small',
  ],
  'value-scale-mismatch': [
    'return-inconsistent',
    'critic-context-misaligned',
    'value-loss-dominates',
    'advantage-not-normalised',
  ],
  'return-inconsistent': ['critic-context-misaligned', 'value-scale-mismatch'],
  'optimizer-unbound': [
    'learning-rate-too-small',
    'policy-head-flat',
    'head-unbound',
    'entropy-bonus-dominates',
    'old-logp-recomputed',
    'metric-misreported',
  ],
  'head-unbound': ['learning-rate-too-small', 'policy-head-flat'],
  'policy-detached': [
    'learning-rate-too-small',
    'policy-head-flat',
    'entropy-bonus-dominates',
    'value-loss-dominates',
    'weight-decay-pull',
  ],
  'value-loss-dominates': ['learning-rate-too-small', 'policy-head-flat', 'advantage-not-normalised'],
  'loss-summed': [
    'learning-rate-too-large',
    'metric-misreported',
    'value-loss-dominates',
    'policy-collapsed',
    'policy-detached',
    'entropy-sign-flipped',
    'entropy-bonus-dominates',
  ],
  'broadcast-mismatch': ['metric-misreported', 'advantage-sign-flipped', 'policy-detached', 'learning-rate-too-small'],
  'input-saturated': [
    'policy-detached',
    'advantage-sign-flipped',
    'learning-rate-too-small',
    'policy-head-flat',
    'policy-collapsed',
    'learning-rate-too-large',
    'parameters-overwritten',
    'weight-decay-pull',
  ],
  'policy-head-flat': [
    'advantage-sign-flipped',
    'learning-rate-too-small',
    'entropy-bonus-dominates',
    'weight-decay-pull',
    'head-unbound',
    'optimizer-unbound',
    'policy-detached',
  ],
  'weight-decay-pull': [
    'advantage-sign-flipped',
    'policy-head-flat',
    'entropy-bonus-dominates',
    'parameters-overwritten',
    'learning-rate-too-small',
  ],
  'entropy-bonus-dominates': ['advantage-sign-flipped', 'policy-detached'],
  'entropy-sign-flipped': ['policy-collapsed', 'policy-detached'],
  'policy-collapsed': [
    'learning-rate-too-small',
    'learning-rate-too-large',
    'policy-detached',
    'optimizer-unbound',
    'advantage-sign-flipped',
    'metric-misreported',
  ],
  'learning-rate-too-large': [
    'policy-collapsed',
    'non-finite',
    'advantage-sign-flipped',
    'metric-misreported',
    'policy-head-flat',
  ],
  'learning-rate-too-small': ['policy-head-flat', 'entropy-bonus-dominates'],
  'non-finite': [
    'kl-estimator-cancels',
    'advantage-sign-flipped',
    'policy-detached',
    'loss-summed',
    'old-logp-wrong',
    'learning-rate-too-large',
    'learning-rate-too-small',
    'metric-misreported',
    'policy-head-flat',
    'advantage-degenerate',
    'return-inconsistent',
  ],
};

export interface Ranked {
  finding: Finding;
  /** Findings that this one accounts for. */
  explained: Finding[];
}

/** One entry per independent cause, what to fix first leading. */
export function rank(findings: readonly Finding[]): Ranked[] {
  const merged = mergeByCause(findings);
  const order = (finding: Finding) => flowOrder.indexOf(finding.cause);
  const accounts = (a: Finding, b: Finding) => {
    // What happened to some agents says nothing of others.
    if (a.agents.length > 0 && b.agents.length > 0 && !a.agents.some((agent) => b.agents.includes(agent))) return false;
    // Noise that a second pass shows is noise whatever else moves; noise that is only inferred may be a policy that was changed.
    if (a.cause === 'parameters-overwritten' && b.cause === 'stochastic-forward' && b.confidence > 0.6) return false;
    if (a.cause === 'stochastic-forward' && b.cause === 'parameters-overwritten') return a.confidence > 0.6;
    // A figure that a known slip reproduces exactly is misreported, whatever else is wrong.
    if (b.cause === 'metric-misreported' && b.transform !== undefined) return false;
    // So does a sign that turns every row right; only another pairing of the rows could have made it.
    if (b.cause === 'advantage-sign-flipped' && b.transform !== undefined && !creditCauses.includes(a.cause))
      return false;
    // What was not finite before the first update cannot come from updates, and leaves nothing to infer from them.
    if (spoiled(b)) return false;
    if (spoiled(a) && b.after === undefined) return true;
    return explains[a.cause]?.includes(b.cause) ?? false;
  };
  const sorted = [...merged].sort((a, b) => order(a) - order(b));
  const roots = sorted.filter(
    (finding) =>
      !sorted.some(
        (other) =>
          other !== finding &&
          accounts(other, finding) &&
          // Where each could account for the other, the one nearer the beginning of the flow does.
          (!accounts(finding, other) || order(other) < order(finding)) &&
          other.confidence >= 0.5 * finding.confidence &&
          other.onset <= finding.onset + 1,
      ),
  );
  const leading = roots.length > 0 ? roots : sorted.slice(0, 1);
  const level = (confidence: number) => (confidence >= 0.75 ? 0 : confidence >= 0.5 ? 1 : 2);
  return leading
    .map((finding) => ({
      finding,
      explained: sorted.filter((other) => !leading.includes(other) && accounts(finding, other)),
    }))
    .sort((a, b) => level(a.finding.confidence) - level(b.finding.confidence) || order(a.finding) - order(b.finding));
}

/** Samples of the first iteration are no numbers. */
function spoiled({ cause, onset, evidence }: Finding): boolean {
  return cause === 'non-finite' && onset === 0 && String(evidence[0]?.measured.first_column).startsWith('samples.');
}

/** Several checks may find one cause: the surest speaks, the others add evidence. */
function mergeByCause(findings: readonly Finding[]): Finding[] {
  const byCause = new Map<string, Finding>();
  for (const finding of [...findings].sort((a, b) => b.confidence - a.confidence)) {
    const first = byCause.get(finding.cause);
    if (!first) {
      byCause.set(finding.cause, { ...finding, evidence: [...finding.evidence] });
      continue;
    }
    first.evidence.push(...finding.evidence);
    first.onset = Math.min(first.onset, finding.onset);
    if (!first.transform && finding.transform) {
      first.transform = finding.transform;
      first.before = finding.before;
      first.after = finding.after;
    }
    if (first.agents.length > 0)
      first.agents =
        finding.agents.length > 0
          ? [...new Set([...first.agents, ...finding.agents])].sort((a, b) => a - b)
          : first.agents;
    else first.agents = finding.agents;
  }
  return [...byCause.values()];
}

/** From the beginning of the flow to its end: an earlier fault spoils everything after it, so it is to be fixed first. */
export const flowOrder: readonly string[] = [
  'trained-on-other-agent',
  'stale-samples',
  'num-actions-defaulted',
  'subset-borrowed',
  'subset-not-replayed',
  'mask-not-replayed',
  'temperature-mismatch',
  'old-logp-recomputed',
  'padding-trained',
  'phantom-steps',
  'reward-time-shifted',
  'done-time-shifted',
  'truncation-treated-as-termination',
  'return-crosses-episodes',
  'advantage-time-shifted',
  'advantage-agent-swapped',
  'advantage-group-demeaned',
  'advantage-sign-flipped',
  'advantage-shuffled',
  'value-scale-mismatch',
  'return-inconsistent',
  'advantage-degenerate',
  'advantage-not-normalised',
  'critic-context-misaligned',
  'optimizer-unbound',
  'head-unbound',
  'policy-detached',
  'loss-summed',
  'broadcast-mismatch',
  'entropy-sign-flipped',
  'entropy-bonus-dominates',
  'value-loss-dominates',
  'input-saturated',
  'policy-head-flat',
  'policy-collapsed',
  'weight-decay-pull',
  'parameters-overwritten',
  'old-logp-wrong',
  'stochastic-forward',
  'kl-guard-too-tight',
  'learning-rate-too-small',
  'learning-rate-too-large',
  'non-finite',
  'kl-estimator-cancels',
  'metric-misreported',
];
