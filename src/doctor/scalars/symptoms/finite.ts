/** A figure that is not a number. Explained variance and returns are NaN in healthy logs, where nothing varies or no episode has ended. */
import { told } from '../../../language/language.ts';
import { logLimits } from '../../limits.ts';
import { Figures } from '../series.ts';
import { type Found, found, most, type Symptom } from '../symptom.ts';

const mustBeFinite = [
  'kl',
  'kl_k1',
  'entropy',
  'policy_loss',
  'value_loss',
  'loss',
  'ratio',
  'grad_norm',
  'policy_grad_norm',
];

export const nonFinite: Symptom = {
  id: 'non-finite',
  reads: mustBeFinite,
  looksFor: ['a figure that is not a number', '不是数的数值'],
  find({ owner }) {
    let first: Found | undefined;
    for (const series of owner.all()) {
      if (!mustBeFinite.includes(series.metric)) continue;
      const bad = series.value.flatMap((value, i) => (Number.isFinite(value) ? [] : [i]));
      // Mixed precision skips a step whose gradient overflows; a loss that stays NaN does not come back.
      const lasting = bad.length > 0 && !Number.isFinite(series.value.at(-1)!);
      if (!lasting && (/grad/.test(series.metric) || bad.length < logLimits.few.value)) continue;
      const step = Number.isFinite(series.step[bad[0]]) ? series.step[bad[0]] : bad[0];
      if (first && first.onset <= step) continue;
      const sentence = told(
        `${series.name} is not a number in ${bad.length} of ${series.value.length} rows, first at step ${step}`,
        `${series.name} 在 ${series.value.length} 行中有 ${bad.length} 行不是数，最早在第 ${step} 步`,
      );
      const measured = { not_finite: bad.length, of: series.value.length, first_step: step };
      first = found(new Figures(series), step, sentence, measured, { not_finite: 0 });
    }
    return first;
  },
  suggests: () => ({ 'non-finite': most }),
};
