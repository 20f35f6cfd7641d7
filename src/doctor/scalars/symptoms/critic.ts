/** The critic foresees nothing, or its loss explodes. */
import { told } from '../../../language/language.ts';
import { median } from '../../../math/statistics.ts';
import { figure } from '../../diagnosis.ts';
import { logLimits } from '../../limits.ts';
import { found, type Symptom } from '../symptom.ts';

const worseThanConstant: Symptom = {
  id: 'value-worse-than-constant',
  reads: ['explained_variance'],
  looksFor: ['an explained variance that stays below 0', '一直低于 0 的解释方差'],
  find({ owner, improved }) {
    // A critic begins worse than a constant, and with few steps per batch it takes a while.
    const explained = owner.get('explained_variance', 2 * logLimits.updates.value);
    if (
      !explained ||
      median(explained.half) >= logLimits.explained.value ||
      explained.rise >= logLimits.rise.value ||
      improved
    )
      return undefined;
    const late = median(explained.half);
    const sentence = told(
      `${explained.series.name} has a median of ${figure(late)} in the second half: the critic is worse than a constant`,
      `${explained.series.name} 在后半段的中位数为 ${figure(late)}：评论家还不如一个常数`,
    );
    return found(
      explained,
      explained.onset((value) => value < 0),
      sentence,
      { late: figure(late) },
      { at_least: 0 },
    );
  },
  suggests: () => ({
    'critic-context-misaligned': 0.15,
    'value-scale-mismatch': 0.15,
    'return-inconsistent': 0.1,
    'return-crosses-episodes': 0.06,
  }),
};

const blowsUp: Symptom = {
  id: 'value-loss-blows-up',
  reads: ['value_loss'],
  looksFor: ['a value loss that grows more than the returns explain', '增长超出回报所能解释的价值损失'],
  find(view) {
    const loss = view.owner.get('value_loss', logLimits.growth.value);
    if (!loss) return undefined;
    const [before, after] = [median(loss.early), median(loss.late)];
    const times = view.improved ? logLimits.growsLearning.value : logLimits.grows.value;
    if (!(before > 0) || after <= times * view.returnsGrew * before || loss.trend < logLimits.trend.value)
      return undefined;
    const unknown = view.returns
      ? ''
      : told('; the log has no returns that could have grown with it', '；日志里没有可能随之增长的回报');
    const sentence = told(
      `${loss.series.name} grows from ${figure(before)} to ${figure(after)}, ${figure(Math.round(after / before))} times, in ${loss.count} rows${unknown}`,
      `${loss.series.name} 在 ${loss.count} 行里从 ${figure(before)} 增长到 ${figure(after)}，达 ${figure(Math.round(after / before))} 倍${unknown}`,
    );
    return found(
      loss,
      loss.onset((value) => value > times * before),
      sentence,
      { early: figure(before), late: figure(after) },
      { falls: true },
    );
  },
  suggests: (_, seen) => ({
    'value-scale-mismatch': 0.2,
    'return-crosses-episodes': 0.12,
    'learning-rate-too-large': 0.1,
    ...(seen.has('advantage-not-centred') ? { 'advantage-not-normalised': 0.1 } : {}),
  }),
};

export const criticSymptoms: readonly Symptom[] = [blowsUp, worseThanConstant];
