/** The policy chooses blindly, ever more blindly, or no longer at all. */
import { told } from '../../../language/language.ts';
import { median } from '../../../math/statistics.ts';
import { figure } from '../../diagnosis.ts';
import { logLimits } from '../../limits.ts';
import { found, type Symptom, type Weights } from '../symptom.ts';

const { updates, entropyNear, rise, collapsedShare } = logLimits;

const atLogK: Symptom = {
  id: 'entropy-at-log-k',
  reads: ['entropy', 'entropy_ratio'],
  looksFor: ['an entropy that stays at log K', '停在 log K 的熵'],
  find(view) {
    const { owner, entropy, improved } = view;
    if (improved) return undefined;
    const relative = owner.get('entropy_ratio', updates.value);
    if (relative && relative.low >= 1 - 2 * entropyNear.value && relative.count >= 2 * updates.value) {
      const sentence = told(
        `${relative.series.name} stays at ${figure(relative.median)}: the policy chooses blindly`,
        `${relative.series.name} 一直停在 ${figure(relative.median)}：策略在盲目选择`,
      );
      return found(
        relative,
        relative.onset(() => true),
        sentence,
        { median: figure(relative.median), updates: relative.count },
        { at_most: figure(1 - 2 * entropyNear.value) },
      );
    }
    if (relative || !entropy || entropy.count < logLimits.some.value) return undefined;
    const [before, after] = [median(entropy.early), median(entropy.late)];
    const choices = Math.round(Math.exp(before));
    const still =
      view.stepsPerBatch !== 1 &&
      view.kl?.tells(logLimits.tinyKl.value) === true &&
      median(view.kl.values.map(Math.abs)) < logLimits.tinyKl.value;
    const near =
      choices >= 2 &&
      choices <= logLimits.mostChoices.value &&
      Math.abs(entropy.median - Math.log(choices)) < entropyNear.value * Math.log(choices);
    if (!near || after <= (1 - entropyNear.value) * before || (entropy.count < 2 * updates.value && !still))
      return undefined;
    const sentence = told(
      `${entropy.series.name} stays at ${figure(entropy.median)}, which is log ${choices}: the policy chooses blindly among ${choices}`,
      `${entropy.series.name} 一直停在 ${figure(entropy.median)}，即 log ${choices}：策略在 ${choices} 个选项中盲目选择`,
    );
    return found(
      entropy,
      entropy.onset(() => true),
      sentence,
      { median: figure(entropy.median), log_k: figure(Math.log(choices)) },
      { falls: true },
    );
  },
  suggests(view, seen): Weights {
    if (seen.has('kl-zero') || seen.has('learning-rate-zero')) return {};
    const logged = view.owner.get('entropy_coefficient', 1)?.median ?? 0;
    const { strongBonus } = logLimits;
    const strong = view.run.number('entropy_coefficient') >= strongBonus.value || logged >= strongBonus.value;
    return {
      'entropy-bonus-dominates': strong ? 0.3 : 0.18,
      'policy-head-flat': 0.15,
      'num-actions-defaulted': 0.08,
      'advantage-shuffled': 0.06,
    };
  },
};

const rising: Symptom = {
  id: 'entropy-rising',
  reads: ['entropy'],
  looksFor: ['an entropy that rises', '上升的熵'],
  find({ entropy, improved }) {
    if (!entropy || entropy.count < updates.value || improved) return undefined;
    const [before, after] = [median(entropy.early), median(entropy.late)];
    const { risenShare, risenLeast } = logLimits;
    if (after <= risenShare.value * Math.abs(before) + risenLeast.value || entropy.rise <= rise.value) return undefined;
    const sentence = told(
      `${entropy.series.name} rises from ${figure(before)} to ${figure(after)}`,
      `${entropy.series.name} 从 ${figure(before)} 升到 ${figure(after)}`,
    );
    return found(
      entropy,
      entropy.onset((value) => value > before),
      sentence,
      { early: figure(before), late: figure(after) },
      { falls: true },
    );
  },
  suggests: () => ({ 'entropy-bonus-dominates': 0.25, 'weight-decay-pull': 0.1, 'advantage-sign-flipped': 0.08 }),
};

const collapsed: Symptom = {
  id: 'entropy-collapsed',
  reads: ['entropy'],
  looksFor: ['an entropy that is gone in the first quarter', '在前四分之一就消失的熵'],
  find({ entropy, improved }) {
    if (!entropy || entropy.count < updates.value || improved) return undefined;
    const [first, after] = [entropy.values[0], median(entropy.late)];
    const quarter = entropy.values.slice(0, Math.ceil(entropy.count / 4)).at(-1)!;
    const gone = collapsedShare.value * first;
    if (first <= collapsedShare.value || entropy.least < 0 || quarter >= gone || after >= gone) return undefined;
    const sentence = told(
      `${entropy.series.name} falls from ${figure(first)} to ${figure(after)} in the first quarter of the log, and what episodes pay does not rise`,
      `${entropy.series.name} 在日志的前四分之一里从 ${figure(first)} 降到 ${figure(after)}，而回合所得并未上升`,
    );
    return found(
      entropy,
      entropy.onset((value) => value < gone),
      sentence,
      { first: figure(first), late: figure(after) },
      { falls: 'slowly' },
    );
  },
  suggests: () => ({ 'policy-collapsed': 0.35, 'entropy-sign-flipped': 0.15, 'learning-rate-too-large': 0.1 }),
};

export const entropySymptoms: readonly Symptom[] = [atLogK, rising, collapsed];
