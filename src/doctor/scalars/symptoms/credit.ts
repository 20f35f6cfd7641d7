/** What the advantages and returns of a log say about credit. */
import { told } from '../../../language/language.ts';
import { mean, spread } from '../../../math/statistics.ts';
import { figure } from '../../diagnosis.ts';
import { logLimits } from '../../limits.ts';
import { found, type Symptom, type Weights } from '../symptom.ts';

const { few, fewUpdates, lostShare, mostUpdates, nearlyAlways, noCredit } = logLimits;

const flat: Symptom = {
  id: 'advantage-flat',
  reads: ['advantage_std', 'groups_without_signal'],
  looksFor: ['advantages without any spread', '没有任何差异的优势'],
  find({ owner }) {
    const spreads = owner.get('advantage_std', few.value);
    const none = (value: number) => Math.abs(value) < noCredit.value;
    if (spreads?.tells(0) && spreads.share(none) >= mostUpdates.value)
      return found(
        spreads,
        spreads.onset(none),
        told(
          `${spreads.series.name} is 0: every row has the same advantage`,
          `${spreads.series.name} 为 0：每一行的优势都相同`,
        ),
        { median: figure(spreads.median) },
        { above: 0 },
      );
    const without = owner.get('groups_without_signal', logLimits.updates.value);
    if (!without || without.median <= nearlyAlways.value) return undefined;
    const sentence = told(
      `${without.series.name} is ${figure(without.median)}: almost no group has answers of different reward`,
      `${without.series.name} 为 ${figure(without.median)}：几乎没有哪一组的回答奖励不同`,
    );
    return found(
      without,
      without.onset((value) => value > nearlyAlways.value),
      sentence,
      { median: figure(without.median) },
      { at_most: mostUpdates.value },
    );
  },
  suggests: () => ({ 'advantage-degenerate': 0.45 }),
};

const oneSided: Symptom = {
  id: 'advantage-one-sided',
  reads: ['advantage_mean', 'advantage_std'],
  looksFor: ['advantages that all have one sign', '全部同号的优势'],
  find({ owner }) {
    const [means, spreads] = [owner.get('advantage_mean'), owner.get('advantage_std')];
    if (!means || !spreads || spreads.median <= noCredit.value || (means.least <= 0 && means.greatest >= 0))
      return undefined;
    if (Math.abs(means.median) <= logLimits.oneSided.value * spreads.median) return undefined;
    const sentence = told(
      `${means.series.name} is ${figure(means.median)} with a spread of ${figure(spreads.median)}: all advantages have one sign`,
      `${means.series.name} 为 ${figure(means.median)}，标准差 ${figure(spreads.median)}：所有优势同号`,
    );
    return found(
      means,
      means.onset(() => true),
      sentence,
      { mean: figure(means.median), spread: figure(spreads.median) },
      { mean: 'within the spread' },
    );
  },
  suggests: () => ({ 'advantage-degenerate': 0.25, 'value-scale-mismatch': 0.1 }),
};

const notCentred: Symptom = {
  id: 'advantage-not-centred',
  reads: ['advantage_mean', 'advantage_std'],
  looksFor: ['advantages whose mean is far from 0', '均值远离 0 的优势'],
  find(view) {
    const means = view.owner.get('advantage_mean');
    if (!means || oneSided.find(view)) return undefined;
    const spreads = view.owner.get('advantage_std');
    const one = means.share((value) => value > 0);
    // Without the spread only the size speaks: advantages of normalised rewards stay well below 1.
    const far = Math.abs(means.median) > (spreads ? logLimits.offCentre.value * spreads.median : 1);
    if (!far || (one > fewUpdates.value && one < mostUpdates.value)) return undefined;
    const beside = spreads
      ? told(` with a spread of ${figure(spreads.median)}`, `，标准差 ${figure(spreads.median)}`)
      : '';
    const sentence = told(
      `${means.series.name} has a median of ${figure(means.median)}${beside}: the advantages were never centred, and the step follows their size`,
      `${means.series.name} 的中位数为 ${figure(means.median)}${beside}：优势从未去均值，步长随其大小而变`,
    );
    return found(
      means,
      means.onset(() => true),
      sentence,
      { mean: figure(means.median), ...(spreads ? { spread: figure(spreads.median) } : {}) },
      { mean: 'about 0' },
    );
  },
  suggests: (_, seen): Weights => ({
    'advantage-not-normalised': 0.4,
    'value-scale-mismatch': seen.has('value-loss-blows-up') ? 0.3 : 0.12,
    'return-crosses-episodes': 0.08,
  }),
};

const falling: Symptom = {
  id: 'return-falling',
  reads: ['return'],
  looksFor: ['returns that fall below where they began', '降到开始时以下的回报'],
  find({ returns }) {
    if (!returns || returns.count < logLimits.updates.value) return undefined;
    const range = returns.greatest - returns.least;
    // A policy that is pushed the wrong way is at its worst within a few updates: then only the first ones were better, and the rest goes down to the end.
    const first = returns.values.slice(0, few.value);
    const atOnce = returns.trend < -logLimits.fall.value && Math.max(...returns.late) < Math.min(...first);
    const early = atOnce ? first : returns.early;
    const gap = mean(early) - mean(returns.late);
    // Worse than at the very start, and never better in between.
    const later = Math.max(...returns.smooth.slice(2));
    const falls = atOnce || returns.rise < -logLimits.fall.value;
    if (!falls || gap <= lostShare.value * range || later > Math.max(...early)) return undefined;
    const sentence = told(
      `${returns.series.name} falls from ${figure(mean(early))} to ${figure(mean(returns.late))}, below where it began`,
      `${returns.series.name} 从 ${figure(mean(early))} 降到 ${figure(mean(returns.late))}，低于开始时`,
    );
    return found(
      returns,
      returns.onset((value) => value < mean(early) - lostShare.value * range),
      sentence,
      { early: figure(mean(early)), late: figure(mean(returns.late)) },
      { rises: true },
    );
  },
  suggests: () => ({
    'advantage-sign-flipped': 0.25,
    'advantage-agent-swapped': 0.08,
    'learning-rate-too-large': 0.08,
  }),
};

const afterPeak: Symptom = {
  id: 'return-falls-after-peak',
  reads: ['return'],
  looksFor: ['returns that fall again after a peak', '到达峰值后又下降的回报'],
  find(view) {
    const { returns } = view;
    if (!returns || returns.count < logLimits.updates.value || falling.find(view)) return undefined;
    const { smooth } = returns;
    const peak = Math.max(...smooth);
    const at = smooth.indexOf(peak);
    const [early, late] = [mean(returns.early), mean(returns.late)];
    const error = Math.sqrt((spread(returns.late).std ** 2 / returns.late.length) * 4);
    if (at > logLimits.peakBy.value * smooth.length || peak - early <= 0) return undefined;
    if (peak - late <= logLimits.afterPeak.value * (peak - early)) return undefined;
    if (peak - late <= logLimits.fall.value * error || peak - early <= logLimits.fall.value * error) return undefined;
    const step = returns.steps[Math.min(returns.count - 1, Math.floor((at / smooth.length) * returns.count))];
    const sentence = told(
      `${returns.series.name} rises from ${figure(early)} to ${figure(peak)} and falls again to ${figure(late)}`,
      `${returns.series.name} 从 ${figure(early)} 升到 ${figure(peak)}，又降到 ${figure(late)}`,
    );
    return found(
      returns,
      Number.isFinite(step) ? step : at,
      sentence,
      { early: figure(early), peak: figure(peak), late: figure(late) },
      { stays: true },
    );
  },
  suggests: (_, seen): Weights => ({
    'learning-rate-too-large': seen.has('kl-high') || seen.has('clip-high') ? 0.3 : 0.15,
    ...(seen.has('entropy-collapsed') ? { 'policy-collapsed': 0.3 } : {}),
    ...(seen.has('value-loss-blows-up') ? { 'value-scale-mismatch': 0.2 } : {}),
    ...(seen.has('entropy-rising') ? { 'entropy-bonus-dominates': 0.2 } : {}),
  }),
};

export const creditSymptoms: readonly Symptom[] = [flat, oneSided, notCentred, falling, afterPeak];
