/** The policy does not move: rates, gradients and KL at 0, or so small that nobody sees them. */
import { told } from '../../../language/language.ts';
import { median } from '../../../math/statistics.ts';
import { figure, percent } from '../../diagnosis.ts';
import { logLimits } from '../../limits.ts';
import { found, most, type Symptom, type Weights } from '../symptom.ts';
import type { View } from '../view.ts';

const still: Weights = {
  'optimizer-unbound': 0.25,
  'policy-detached': 0.2,
  'learning-rate-too-small': 0.15,
  'advantage-degenerate': 0.1,
  'old-logp-recomputed': 0.06,
};

const { few, nearlyAlways } = logLimits;

/** Whether the rate is one that moves policies elsewhere. */
const usual = ({ owner }: View) => (owner.get('learning_rate', few.value)?.median ?? 0) >= logLimits.usualRate.value;

const learningRateZero: Symptom = {
  id: 'learning-rate-zero',
  reads: ['learning_rate'],
  looksFor: ['a learning rate of 0', '为 0 的学习率'],
  find({ owner }) {
    const rate = owner.get('learning_rate', few.value);
    const share = rate?.share((value) => value === 0) ?? 0;
    // A rate that is annealed ends at 0.
    if (!rate || share < logLimits.rateGone.value || !rate.tells(0)) return undefined;
    const onset = rate.onset((value) => value === 0);
    return found(
      rate,
      onset,
      told(
        `${rate.series.name} is 0 in ${percent(share)} of the log`,
        `${rate.series.name} 在日志的 ${percent(share)} 里为 0`,
      ),
      { median: figure(rate.median) },
      { above: 0 },
    );
  },
  suggests: () => ({ 'learning-rate-too-small': most }),
};

const gradientZero: Symptom = {
  id: 'gradient-zero',
  reads: ['policy_grad_norm', 'grad_norm'],
  looksFor: ['a gradient of 0', '为 0 的梯度'],
  find({ owner, nothingToChoose }) {
    const gradient = owner.get('policy_grad_norm', few.value) ?? owner.get('grad_norm', few.value);
    const none = (value: number) => Math.abs(value) < logLimits.noGradient.value;
    if (nothingToChoose || !gradient?.tells(0) || gradient.share(none) < logLimits.mostUpdates.value) return undefined;
    const onset = gradient.onset((value) => value === 0);
    const sentence = told(
      `${gradient.series.name} is 0: no gradient reaches what it measures`,
      `${gradient.series.name} 为 0：没有梯度到达它所测量的部分`,
    );
    return found(gradient, onset, sentence, { median: figure(gradient.median) }, { above: 0 });
  },
  suggests: () => ({ 'policy-detached': 0.35, 'advantage-degenerate': 0.15 }),
};

const klZero: Symptom = {
  id: 'kl-zero',
  reads: ['kl', 'kl_k1'],
  looksFor: ['a KL that is exactly 0 in every update', '每次更新都恰好为 0 的 KL'],
  find(view) {
    const { kl, clip } = view;
    if (view.nothingToChoose || !kl?.tells(logLimits.zeroKl.value) || view.stepsPerBatch === 1) return undefined;
    const { zeroKl, nearZero } = logLimits;
    const size = median(kl.values.map(Math.abs));
    const near = (value: number) => Math.abs(value) < nearZero.value * zeroKl.value;
    const throughout = size < zeroKl.value && kl.share(near) >= nearlyAlways.value;
    if (throughout && !(clip !== undefined && clip.high > 0)) {
      const sentence = told(
        `${kl.series.name} is 0 in every one of ${kl.count} updates (median ${figure(size)})`,
        `${kl.series.name} 在全部 ${kl.count} 次更新中都是 0（中位数 ${figure(size)}）`,
      );
      return found(
        kl,
        kl.onset(() => true),
        sentence,
        { median: figure(size), updates: kl.count },
        { above: 0 },
      );
    }
    // Once it moved: then what is 0 from some update on is no question of how many steps a batch has.
    const since = 1 + kl.values.findLastIndex((value) => Math.abs(value) >= zeroKl.value);
    const updates = kl.count - since;
    if (since === 0 || updates < Math.max(logLimits.updates.value / 2, logLimits.stoppedShare.value * kl.count))
      return undefined;
    if (clip?.values.slice(Math.ceil((since / kl.count) * clip.count)).some((value) => value > 0)) return undefined;
    const step = kl.steps[since];
    const sentence = told(
      `${kl.series.name} is 0 in the last ${updates} of ${kl.count} updates, and was not before`,
      `${kl.series.name} 在 ${kl.count} 次更新的最后 ${updates} 次里为 0，此前不是`,
    );
    return found(kl, Number.isFinite(step) ? step : since, sentence, { updates, before: since }, { above: 0 });
  },
  suggests(view, seen) {
    // Parameters that are not numbers give a policy that no longer changes.
    if (seen.has('non-finite')) return {};
    if (seen.has('learning-rate-zero')) return { 'learning-rate-too-small': most };
    if (seen.has('gradient-zero')) return { 'policy-detached': 0.4, 'advantage-degenerate': 0.15 };
    const rate = view.owner.get('learning_rate', few.value);
    if (rate?.tells(0) && rate.median < logLimits.tinyRate.value) return { ...still, 'learning-rate-too-small': 0.45 };
    if (!view.moves)
      return rate && rate.median >= logLimits.usualRate.value ? { ...still, 'learning-rate-too-small': 0.05 } : still;
    const known = view.stepsPerBatch > 1;
    // One step per batch gives exactly this in a healthy run, and then the returns may well rise.
    if (!known && view.improved) return {};
    return known
      ? { 'old-logp-recomputed': 0.4, 'metric-misreported': 0.25 }
      : { 'old-logp-recomputed': 0.2, 'metric-misreported': 0.1 };
  },
};

const ratioOne: Symptom = {
  id: 'ratio-exactly-one',
  reads: ['ratio'],
  looksFor: ['a ratio that is exactly 1 in every update', '每次更新都恰好为 1 的比率'],
  find(view) {
    const ratio = view.owner.get('ratio', few.value);
    // Where there is a KL, it says the same more exactly.
    if (view.kl || view.nothingToChoose || view.stepsPerBatch === 1 || !ratio) return undefined;
    if (ratio.share((value) => Math.abs(value - 1) < logLimits.zeroKl.value) < nearlyAlways.value) return undefined;
    const sentence = told(
      `${ratio.series.name} is exactly 1 in every one of ${ratio.count} updates`,
      `${ratio.series.name} 在全部 ${ratio.count} 次更新中都恰好是 1`,
    );
    return found(
      ratio,
      ratio.onset(() => true),
      sentence,
      { median: 1, updates: ratio.count },
      { is: 'about 1' },
    );
  },
  suggests: klZero.suggests,
};

const klTiny: Symptom = {
  id: 'kl-tiny',
  reads: ['kl', 'kl_k1'],
  looksFor: ['a KL so small that updates barely move the policy', '小到更新几乎不推动策略的 KL'],
  find(view) {
    const { kl, clip } = view;
    if (
      view.nothingToChoose ||
      !kl?.tells(logLimits.tinyKl.value) ||
      kl.count < logLimits.some.value ||
      view.stepsPerBatch === 1 ||
      klZero.find(view)
    )
      return undefined;
    const size = median(kl.values.map(Math.abs));
    if (size >= logLimits.tinyKl.value || (clip !== undefined && clip.high > 0) || view.improved) return undefined;
    const sentence = told(
      `${kl.series.name} has a median of ${figure(size)}: updates barely move the policy`,
      `${kl.series.name} 的中位数为 ${figure(size)}：更新几乎没有推动策略`,
    );
    return found(
      kl,
      kl.onset(() => true),
      sentence,
      { median: figure(size), updates: kl.count },
      { usual: '1e-4 to 0.03' },
    );
  },
  suggests: (view, seen): Weights =>
    seen.has('learning-rate-zero')
      ? { 'learning-rate-too-small': most }
      : {
          // A rate that is usual elsewhere is not what keeps the policy where it is.
          'learning-rate-too-small': usual(view) ? 0.12 : 0.35,
          'old-logp-recomputed': 0.1,
          'kl-guard-too-tight': 0.1,
          'value-loss-dominates': 0.08,
          'policy-head-flat': 0.08,
        },
};

const stopsAtOnce: Symptom = {
  id: 'kl-stop-at-once',
  reads: ['epochs_run'],
  looksFor: ['epochs that stop at the first one, every time', '每次都停在第一轮的训练轮'],
  find({ owner, run }) {
    const epochs = owner.get('epochs_run');
    if (!epochs || !(run.number('epochs') > 1) || epochs.high > 1) return undefined;
    const sentence = told(
      `${epochs.series.name} is ${figure(epochs.median)} in every update, of ${run.number('epochs')} epochs that are set`,
      `${epochs.series.name} 在每次更新中都是 ${figure(epochs.median)}，而设定为 ${run.number('epochs')} 轮`,
    );
    return found(
      epochs,
      epochs.onset(() => true),
      sentence,
      { median: figure(epochs.median) },
      { epochs: run.number('epochs') },
    );
  },
  suggests: (_, seen): Weights =>
    seen.has('kl-high') || seen.has('clip-high')
      ? { 'learning-rate-too-large': 0.25, 'old-logp-wrong': 0.15 }
      : { 'kl-guard-too-tight': 0.45 },
};

export const stillSymptoms: readonly Symptom[] = [
  learningRateZero,
  gradientZero,
  klZero,
  ratioOne,
  klTiny,
  stopsAtOnce,
];
