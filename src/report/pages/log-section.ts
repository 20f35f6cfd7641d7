/** What a log says, as a section of the page: each symptom with its curve, what cannot be, and what to record next. Nothing in it is proof, and the headline says so. */

import type { ScalarReading, Symptom } from '../../doctor/scalars/scalars.ts';
import { told } from '../../language/language.ts';
import type { Draw } from '../charts/svg.ts';
import type { Lines } from '../pictures/picture.ts';
import { safeText } from '../safe-text.ts';
import { pictureFigure } from './page-pictures.ts';

/** A symptom's column over the log's steps; by orders of magnitude where it spans several. The studio draws the same. */
export function symptomPicture({ id, metric, summary, curve, agents }: Symptom): Lines | null {
  const { step, value } = curve;
  if (value.length < 2) return null;
  const [least, greatest] = [Math.min(...value), Math.max(...value)];
  const steps = step.some((at) => at === null) ? value.map((_, i) => i) : (step as number[]);
  return {
    kind: 'lines',
    id: `symptom-${id}`,
    title: metric,
    caption: summary,
    xName: step.some((at) => at === null) ? told('row of the log', '日志的行') : told('step of the log', '日志的步'),
    yName: metric,
    logarithmic: least > 0 && greatest > 100 * least,
    lines: [{ name: agents.length > 0 ? agents.join(', ') : metric, x: steps, y: [...value], reference: false }],
  };
}

export function logSection(reading: ScalarReading | undefined, draw: Draw): string {
  if (!reading) return '';
  const list = (title: string, items: readonly string[]) =>
    items.length === 0
      ? ''
      : `<h3>${title}</h3><ul class="plain">${items.map((item) => `<li>${safeText(item)}</li>`).join('')}</ul>`;
  const symptoms = reading.symptoms.map((symptom) => {
    const picture = symptomPicture(symptom);
    const whose = symptom.agents.length > 0 ? ` (${symptom.agents.join(', ')})` : '';
    const next =
      symptom.record_next.length > 0
        ? told(
            ` To prove it, record ${symptom.record_next.join(', ')}.`,
            `要证明它，请记录 ${symptom.record_next.join('、')}。`,
          )
        : '';
    return [
      `<h3>${safeText(symptom.id)}</h3><p>${safeText(`${symptom.summary}${whose}${told('.', '。')}${next}`)}</p>`,
      picture ? `<div class="pictures">${pictureFigure(picture, draw)}</div>` : '',
    ].join('');
  });
  const unknown = reading.not_understood.map(({ name, guesses }) =>
    guesses.length > 0
      ? told(`${name}: is it ${guesses.join(' or ')}?`, `${name}：是 ${guesses.join(' 或 ')} 吗？`)
      : name,
  );
  return [
    `<section aria-labelledby="log"><h2 id="log">${told('What the log shows', '日志显示了什么')}</h2>`,
    symptoms.length > 0
      ? symptoms.join('')
      : `<p>${told('No symptom in the figures that it has.', '它所含的数值里没有症状。')}</p>`,
    list(
      told('Ruled out', '已排除'),
      reading.ruled_out.map(({ id, by }) => `${id}: ${by}`),
    ),
    list(
      told('What to record next', '接下来记录什么'),
      reading.record_next.map(({ columns, decides }) =>
        told(
          `${columns.join(', ')} (decides ${decides.join(', ')})`,
          `${columns.join('、')}（可判定 ${decides.join('、')}）`,
        ),
      ),
    ),
    list(told('Not understood', '没有看懂的列'), unknown),
    list(told('Worth knowing', '值得知道的'), reading.notes),
    '</section>',
  ].join('\n');
}
