/** From symptoms to causes that fit, and from readings to causes that cannot be. Confidence is what each cause is worth among those that would look alike; it never reaches proof. */
import { figure } from '../diagnosis.ts';
import { type Seen, type SymptomId, symptoms, type View } from './symptoms.ts';

/** Never more than an even chance: other faults, and bad luck, look the same in a log. */
export const most = 0.5;

export interface Candidate {
  cause: string;
  confidence: number;
  because: Seen;
}

export interface RuledOut {
  id: string;
  by: string;
}

type Weights = Record<string, number>;

/** The update does not see the distribution that was sampled from. */
const replayed: Weights = {
  'subset-not-replayed': 0.14,
  'old-logp-wrong': 0.14,
  'stale-samples': 0.12,
  'mask-not-replayed': 0.1,
  'temperature-mismatch': 0.1,
  'stochastic-forward': 0.08,
  'num-actions-defaulted': 0.06,
  'subset-borrowed': 0.04,
};

/** The policy does not move at all. */
const still: Weights = {
  'optimizer-unbound': 0.25,
  'policy-detached': 0.2,
  'learning-rate-too-small': 0.15,
  'advantage-degenerate': 0.1,
  'old-logp-recomputed': 0.06,
};

const scaled = (weights: Weights, by: number): Weights =>
  Object.fromEntries(Object.entries(weights).map(([cause, weight]) => [cause, weight * by]));

/** What would look like this symptom, given everything else the log shows. */
const explanations: Record<SymptomId, (view: View, seen: ReadonlySet<SymptomId>, symptom: Seen) => Weights> = {
  'non-finite': () => ({ 'non-finite': most }),
  'learning-rate-zero': () => ({ 'learning-rate-too-small': most }),
  'gradient-zero': () => ({ 'policy-detached': 0.35, 'advantage-degenerate': 0.15 }),
  'kl-zero': (view, seen) => {
    if (seen.has('learning-rate-zero')) return { 'learning-rate-too-small': most };
    if (seen.has('gradient-zero')) return { 'policy-detached': 0.4, 'advantage-degenerate': 0.15 };
    const rate = view.owner.get('learning_rate', 3);
    if (!view.moves) return rate && rate.median >= 1e-4 ? { ...still, 'learning-rate-too-small': 0.05 } : still;
    const known = view.stepsPerBatch > 1;
    // One step per batch gives exactly this in a healthy run, and then the returns may well rise.
    if (!known && view.improved) return {};
    return known
      ? { 'old-logp-recomputed': 0.4, 'metric-misreported': 0.25 }
      : { 'old-logp-recomputed': 0.2, 'metric-misreported': 0.1 };
  },
  'kl-tiny': (_, seen): Weights =>
    seen.has('learning-rate-zero')
      ? { 'learning-rate-too-small': most }
      : {
          'learning-rate-too-small': 0.35,
          'old-logp-recomputed': 0.1,
          'kl-guard-too-tight': 0.1,
          'value-loss-dominates': 0.08,
          'policy-head-flat': 0.08,
        },
  'clip-high': (_, __, symptom) => overshooting(symptom),
  'kl-high': (_, __, symptom) => overshooting(symptom),
  'ratio-off': () => replayed,
  'kl-below-clip': () => ({ 'kl-estimator-cancels': 0.3, 'metric-misreported': 0.3 }),
  'entropy-at-log-k': (view, seen): Weights => {
    if (seen.has('kl-zero') || seen.has('learning-rate-zero')) return {};
    const strong =
      view.run.number('entropy_coefficient') >= 0.05 || (view.owner.get('entropy_coefficient', 1)?.median ?? 0) >= 0.05;
    return {
      'entropy-bonus-dominates': strong ? 0.3 : 0.15,
      'policy-head-flat': 0.15,
      'num-actions-defaulted': 0.08,
      'advantage-shuffled': 0.06,
    };
  },
  'entropy-rising': () => ({
    'entropy-bonus-dominates': 0.25,
    'weight-decay-pull': 0.1,
    'advantage-sign-flipped': 0.08,
  }),
  'entropy-collapsed': () => ({
    'policy-collapsed': 0.35,
    'entropy-sign-flipped': 0.15,
    'learning-rate-too-large': 0.1,
  }),
  'value-worse-than-constant': () => ({
    'critic-context-misaligned': 0.15,
    'value-scale-mismatch': 0.15,
    'return-inconsistent': 0.1,
    'return-crosses-episodes': 0.06,
  }),
  'value-loss-blows-up': () => ({
    'value-scale-mismatch': 0.2,
    'return-crosses-episodes': 0.12,
    'learning-rate-too-large': 0.1,
  }),
  'advantage-flat': () => ({ 'advantage-degenerate': 0.45 }),
  'advantage-one-sided': () => ({ 'advantage-degenerate': 0.25, 'value-scale-mismatch': 0.1 }),
  'return-falling': () => ({
    'advantage-sign-flipped': 0.25,
    'advantage-agent-swapped': 0.08,
    'learning-rate-too-large': 0.08,
  }),
};

/** A distribution that is not replayed is far off from the first update; steps that are too large need some to get there. */
function overshooting(symptom: Seen): Weights {
  const { first, median } = symptom.measured;
  const atOnce = Number(first) > 0.5 * Number(median);
  return atOnce
    ? { ...replayed, 'learning-rate-too-large': 0.15 }
    : { ...scaled(replayed, 0.3), 'learning-rate-too-large': 0.4 };
}

export interface Reading {
  seen: Seen[];
  candidates: Candidate[];
  ruledOut: RuledOut[];
}

export function conclude(view: View): Reading {
  const seen = symptoms(view);
  const ids = new Set(seen.map(({ id }) => id));
  const ruledOut = exclusions(view, ids);
  const out = new Set(ruledOut.map(({ id }) => id));
  const best = new Map<string, Candidate>();
  for (const symptom of seen) {
    for (const [cause, weight] of Object.entries(explanations[symptom.id](view, ids, symptom))) {
      if (out.has(cause) || weight < 0.03) continue;
      const before = best.get(cause);
      // A second symptom that the same cause explains makes it likelier.
      const confidence = Math.min(
        most,
        before ? Math.max(before.confidence, weight) + 0.3 * Math.min(before.confidence, weight) : weight,
      );
      best.set(cause, {
        cause,
        confidence: Number(confidence.toFixed(2)),
        because: before && before.confidence >= weight ? before.because : symptom,
      });
    }
  }
  return { seen, candidates: [...best.values()].sort((a, b) => b.confidence - a.confidence), ruledOut };
}

/** Only what the readings contradict; what they merely do not show stays open. */
function exclusions(view: View, seen: ReadonlySet<SymptomId>): RuledOut[] {
  const out: RuledOut[] = [];
  const rule = (by: string, ...ids: string[]) => {
    for (const id of ids) if (!out.some((item) => item.id === id)) out.push({ id, by });
  };
  const { kl, clip, entropy, owner } = view;
  const told = (name: string, value: number) => `${name} ${figure(value)}`;
  // A KL that contradicts the clip fraction speaks for nobody.
  const trusted = !seen.has('kl-below-clip');
  if (kl && trusted && kl.median > 1e-4) {
    const by = `${kl.series.name} is not 0 (median ${figure(kl.median)}): the policy moves in its updates`;
    rule(by, 'policy-detached', 'optimizer-unbound', 'old-logp-recomputed');
    if (kl.median > 1e-3) rule(by, 'learning-rate-too-small');
  }
  if (clip && clip.median > 0.01)
    rule(
      `${told(clip.series.name, clip.median)} is not 0: ratios leave 1`,
      'policy-detached',
      'optimizer-unbound',
      'old-logp-recomputed',
      'learning-rate-too-small',
    );
  if (view.improved)
    rule(
      `${view.returns!.series.name} rises: what is learnt reaches the policy`,
      'policy-detached',
      'optimizer-unbound',
      'policy-head-flat',
    );
  if (view.entropyStill && !seen.has('kl-high') && !seen.has('clip-high'))
    rule(
      `${entropy!.series.name} does not move (${figure(entropy!.least)} to ${figure(entropy!.greatest)})`,
      'old-logp-recomputed',
      'entropy-sign-flipped',
      'parameters-overwritten',
    );
  if (kl && clip && trusted && kl.high < 0.05 && clip.high < 0.3)
    rule(
      `95 % of updates keep ${kl.series.name} below ${figure(kl.high)} and ${clip.series.name} below ${figure(clip.high)}`,
      'learning-rate-too-large',
    );
  const gradient = owner.get('policy_grad_norm');
  if (gradient && gradient.low > 0) rule(`${told(gradient.series.name, gradient.median)} is not 0`, 'policy-detached');
  if (seen.has('gradient-zero')) rule('the gradient itself is 0', 'optimizer-unbound', 'learning-rate-too-small');
  if (entropy && entropy.count >= 10) {
    const fallen = entropy.rise < -3;
    if (fallen && !seen.has('entropy-at-log-k'))
      rule(`${entropy.series.name} falls`, 'entropy-bonus-dominates', 'policy-head-flat');
    if (entropy.least > 0.1 * entropy.values[0])
      rule(`${told(entropy.series.name, entropy.median)} is far from 0`, 'policy-collapsed', 'entropy-sign-flipped');
  }
  const explained = owner.get('explained_variance', 10);
  if (explained && explained.median > 0.5)
    rule(
      `${told(explained.series.name, explained.median)}: the critic foresees its targets`,
      'critic-context-misaligned',
      'value-scale-mismatch',
    );
  const spreads = owner.get('advantage_std');
  if (spreads && spreads.low > 1e-6)
    rule(`${told(spreads.series.name, spreads.median)} is not 0`, 'advantage-degenerate');
  if (!seen.has('non-finite')) rule('every logged loss, KL and entropy is a finite number', 'non-finite');
  if (kl && clip && trusted && clip.median > 0.01)
    rule('KL and clip fraction agree with each other', 'kl-estimator-cancels');
  return out;
}
