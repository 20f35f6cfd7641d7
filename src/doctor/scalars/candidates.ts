/** From symptoms to causes that fit, and from readings to causes that cannot be. Confidence is what each cause is worth among those that would look alike; it never reaches proof. */
import { told } from '../../language/language.ts';
import { figure } from '../diagnosis.ts';
import { logLimits } from '../limits.ts';
import { most, type Seen } from './symptom.ts';
import { nonFinite } from './symptoms/finite.ts';
import { symptoms } from './symptoms/index.ts';
import type { View } from './view.ts';

export interface Candidate {
  cause: string;
  confidence: number;
  because: Seen;
}

export interface RuledOut {
  id: string;
  by: string;
}

export interface Reading {
  seen: Seen[];
  candidates: Candidate[];
  ruledOut: RuledOut[];
}

/** `across` are symptoms that only a look at all agents shows. */
export function conclude(view: View, across: readonly Seen[]): Reading {
  const { agent } = view.owner;
  const seen = [
    ...symptoms.flatMap((symptom): Seen[] => {
      const found = symptom.find(view);
      return found ? [{ ...found, symptom, agent }] : [];
    }),
    ...across.filter((other) => other.agent === agent),
  ].sort((a, b) => symptoms.indexOf(a.symptom) - symptoms.indexOf(b.symptom));
  const ids = new Set(seen.map(({ symptom }) => symptom.id));
  const ruledOut = exclusions(view, ids);
  const out = new Set(ruledOut.map(({ id }) => id));
  const best = new Map<string, Candidate>();
  for (const one of seen) {
    for (const [cause, weight] of Object.entries(one.symptom.suggests(view, ids, one))) {
      if (out.has(cause) || weight < logLimits.leastWeight.value) continue;
      const before = best.get(cause);
      // A second symptom that the same cause explains makes it likelier.
      const confidence = Math.min(
        most,
        before
          ? Math.max(before.confidence, weight) + logLimits.secondSymptom.value * Math.min(before.confidence, weight)
          : weight,
      );
      best.set(cause, {
        cause,
        confidence: Number(confidence.toFixed(2)),
        because: before && before.confidence >= weight ? before.because : one,
      });
    }
  }
  return { seen, candidates: [...best.values()].sort((a, b) => b.confidence - a.confidence), ruledOut };
}

/** Only what the readings contradict; what they merely do not show stays open. */
function exclusions(view: View, seen: ReadonlySet<string>): RuledOut[] {
  const out: RuledOut[] = [];
  const rule = (by: string, ...ids: string[]) => {
    for (const id of ids) if (!out.some((item) => item.id === id)) out.push({ id, by });
  };
  const { kl, clip, entropy, owner } = view;
  const valued = (name: string, value: number) => `${name} ${figure(value)}`;
  // A KL that contradicts the clip fraction speaks for nobody.
  const trusted = !seen.has('kl-below-clip');
  if (kl && trusted && kl.median > logLimits.movingKl.value) {
    const by = told(
      `${kl.series.name} is not 0 (median ${figure(kl.median)}): the policy moves in its updates`,
      `${kl.series.name} 不为 0（中位数 ${figure(kl.median)}）：策略在更新中有变化`,
    );
    rule(by, 'policy-detached', 'optimizer-unbound', 'old-logp-recomputed');
    if (kl.median > logLimits.visibleKl.value) rule(by, 'learning-rate-too-small');
  }
  if (clip && clip.median > logLimits.someClip.value)
    rule(
      told(
        `${valued(clip.series.name, clip.median)} is not 0: ratios leave 1`,
        `${valued(clip.series.name, clip.median)} 不为 0：比率离开了 1`,
      ),
      'policy-detached',
      'optimizer-unbound',
      'old-logp-recomputed',
      'learning-rate-too-small',
    );
  if (view.improved)
    rule(
      told(
        `${view.returns!.series.name} rises: what is learnt reaches the policy`,
        `${view.returns!.series.name} 上升：所学到达了策略`,
      ),
      'policy-detached',
      'optimizer-unbound',
      'policy-head-flat',
    );
  if (view.entropyStill && !seen.has('kl-high') && !seen.has('clip-high'))
    rule(
      told(
        `${entropy!.series.name} does not move (${figure(entropy!.least)} to ${figure(entropy!.greatest)})`,
        `${entropy!.series.name} 没有变化（${figure(entropy!.least)} 到 ${figure(entropy!.greatest)}）`,
      ),
      'old-logp-recomputed',
      'entropy-sign-flipped',
      'parameters-overwritten',
    );
  if (kl && clip && trusted && kl.high < logLimits.tameKl.value && clip.high < logLimits.tameClip.value)
    rule(
      told(
        `in 95 % of updates ${kl.series.name} is at most ${figure(kl.high)} and ${clip.series.name} at most ${figure(clip.high)}`,
        `95 % 的更新中 ${kl.series.name} 不超过 ${figure(kl.high)}，${clip.series.name} 不超过 ${figure(clip.high)}`,
      ),
      'learning-rate-too-large',
    );
  const gradient = owner.get('policy_grad_norm');
  if (gradient && gradient.low > 0)
    rule(
      told(
        `${valued(gradient.series.name, gradient.median)} is not 0`,
        `${valued(gradient.series.name, gradient.median)} 不为 0`,
      ),
      'policy-detached',
    );
  if (seen.has('gradient-zero'))
    rule(told('the gradient itself is 0', '梯度本身为 0'), 'optimizer-unbound', 'learning-rate-too-small');
  if (entropy && entropy.count >= logLimits.many.value) {
    const fallen = entropy.rise < -logLimits.rise.value;
    if (fallen && !seen.has('entropy-at-log-k'))
      rule(
        told(`${entropy.series.name} falls`, `${entropy.series.name} 下降`),
        'entropy-bonus-dominates',
        'policy-head-flat',
      );
    if (entropy.least > logLimits.entropyKept.value * entropy.values[0])
      rule(
        told(
          `${valued(entropy.series.name, entropy.median)} is far from 0`,
          `${valued(entropy.series.name, entropy.median)} 远离 0`,
        ),
        'policy-collapsed',
      );
  }
  const explained = owner.get('explained_variance', logLimits.many.value);
  if (explained && explained.median > logLimits.foresees.value)
    rule(
      told(
        `${valued(explained.series.name, explained.median)}: the critic foresees its targets`,
        `${valued(explained.series.name, explained.median)}：评论家能预见其目标`,
      ),
      'critic-context-misaligned',
      'value-scale-mismatch',
    );
  const spreads = owner.get('advantage_std');
  if (spreads && spreads.low > logLimits.someSpread.value && !seen.has('advantage-one-sided'))
    rule(
      told(
        `${valued(spreads.series.name, spreads.median)} is not 0`,
        `${valued(spreads.series.name, spreads.median)} 不为 0`,
      ),
      'advantage-degenerate',
    );
  const finite = owner.all().filter(({ metric }) => nonFinite.reads.includes(metric));
  if (!seen.has('non-finite') && finite.length > 0) {
    const names = finite.map(({ name }) => name);
    rule(told(`all numbers of ${names.join(', ')} are finite`, `${names.join('、')} 的每个数都是有限的`), 'non-finite');
  }
  if (kl && clip && trusted && clip.median > logLimits.someClip.value)
    rule(told('KL and clip fraction agree with each other', 'KL 与裁剪比例相互一致'), 'kl-estimator-cancels');
  return out;
}
