/** The policy that is trained is far from the one that sampled, or the readings of it contradict each other. */
import { told } from '../../../language/language.ts';
import { mean } from '../../../math/statistics.ts';
import { figure } from '../../diagnosis.ts';
import { logLimits } from '../../limits.ts';
import { type Found, found, type Symptom, type Weights } from '../symptom.ts';

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

/** A distribution that is not replayed is far off from the first update; steps that are too large need some to get there. */
function overshooting({ measured }: Found): Weights {
  const atOnce = Number(measured.first) > logLimits.atOnce.value * Number(measured.median);
  if (atOnce) return { ...replayed, 'learning-rate-too-large': 0.15 };
  const less = Object.entries(replayed).map(([cause, weight]) => [cause, logLimits.lessLikely.value * weight]);
  return { ...Object.fromEntries(less), 'learning-rate-too-large': 0.4 };
}

const clipHigh: Symptom = {
  id: 'clip-high',
  reads: ['clip_fraction'],
  looksFor: ['a clip fraction above 0.6', '高于 0.6 的裁剪比例'],
  find({ clip }) {
    const limit = logLimits.highClip.value;
    if (!clip || clip.median <= limit) return undefined;
    const sentence = told(
      `${clip.series.name} has a median of ${figure(clip.median)}: most rows are clipped`,
      `${clip.series.name} 的中位数为 ${figure(clip.median)}：大多数行被裁剪`,
    );
    const measured = { median: figure(clip.median), first: figure(clip.values[0]) };
    return found(
      clip,
      clip.onset((value) => value > limit),
      sentence,
      measured,
      { usual: '0 to 0.3' },
    );
  },
  suggests: (_, __, symptom) => overshooting(symptom),
};

const klHigh: Symptom = {
  id: 'kl-high',
  reads: ['kl', 'kl_k1'],
  looksFor: ['a KL above 0.3', '高于 0.3 的 KL'],
  find({ kl }) {
    const limit = logLimits.highKl.value;
    if (!kl || kl.median <= limit) return undefined;
    const sentence = told(
      `${kl.series.name} has a median of ${figure(kl.median)}: the policy that is trained is far from the one that sampled`,
      `${kl.series.name} 的中位数为 ${figure(kl.median)}：被训练的策略远离采样时的策略`,
    );
    const measured = { median: figure(kl.median), first: figure(kl.values[0]) };
    return found(
      kl,
      kl.onset((value) => value > limit),
      sentence,
      measured,
      { usual: '0 to 0.05' },
    );
  },
  suggests: (_, __, symptom) => overshooting(symptom),
};

const ratioOff: Symptom = {
  id: 'ratio-off',
  reads: ['ratio'],
  looksFor: ['a mean ratio that is not 1', '不为 1 的平均比率'],
  find({ owner }) {
    const ratio = owner.get('ratio', logLimits.few.value);
    const off = (value: number) => Math.abs(value - 1) > logLimits.ratioOff.value;
    if (!ratio || !off(ratio.median)) return undefined;
    const sentence = told(
      `${ratio.series.name} has a median of ${figure(ratio.median)} where a mean ratio is 1`,
      `${ratio.series.name} 的中位数为 ${figure(ratio.median)}，而平均比率应为 1`,
    );
    return found(ratio, ratio.onset(off), sentence, { median: figure(ratio.median) }, { is: 1 });
  },
  suggests: () => replayed,
};

const klBelowClip: Symptom = {
  id: 'kl-below-clip',
  reads: ['kl', 'clip_fraction'],
  looksFor: ['a KL that is smaller than the clip fraction allows', '小于裁剪比例所允许的 KL'],
  find({ owner, clip, run }) {
    const { many, someClip, agreesWithClip } = logLimits;
    const estimate = owner.get('kl', many.value) ?? owner.get('kl_k1', many.value);
    if (!estimate || !clip || clip.count < many.value) return undefined;
    const range = run.number('clip') > 0 ? run.number('clip') : (owner.get('clip_range', 1)?.median ?? 0.2);
    // A row beyond the range adds at least this to the mean of ratio - 1 - log ratio, so the two readings bound each other.
    const least = mean(clip.values) * (range - Math.log1p(range));
    const shown = mean(estimate.values);
    if (mean(clip.values) <= someClip.value || Math.abs(shown) >= agreesWithClip.value * least) return undefined;
    return found(
      estimate,
      estimate.onset(() => true),
      told(
        `${clip.series.name} of ${figure(mean(clip.values))} makes the KL at least ${figure(least)}, and ${estimate.series.name} says ${figure(shown)}`,
        `${clip.series.name} 为 ${figure(mean(clip.values))}，则 KL 至少是 ${figure(least)}，而 ${estimate.series.name} 显示 ${figure(shown)}`,
      ),
      { kl: figure(shown), clip_fraction: figure(mean(clip.values)) },
      { kl_at_least: figure(least) },
    );
  },
  suggests: () => ({ 'kl-estimator-cancels': 0.3, 'metric-misreported': 0.3 }),
};

export const overshootSymptoms: readonly Symptom[] = [clipHigh, klHigh, ratioOff, klBelowClip];
