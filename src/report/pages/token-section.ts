/** The responses that disagree most, as text whose tokens are coloured twice: by how far sampler and trainer are apart, and by what the loss does with them. Numbers show on hover. */
import type { TokenReading } from '../../doctor/tokens/reading.ts';
import { told } from '../../language/language.ts';
import { number } from '../number.ts';
import { safeText } from '../safe-text.ts';
import { type Mark, type MarkedResponse, markedHeading, markedResponses, type Tone } from './response-marks.ts';
import type { Decode } from './tokenizer.ts';

const colours: Record<Tone, string> = { apart: '--c2', raised: '--c1', lowered: '--bad' };

export function tokenSection(reading: TokenReading | undefined, decode?: Decode): string {
  if (!reading || reading.worst.length === 0) return '';
  const { title, text } = markedHeading(reading);
  const note = decode
    ? ''
    : told(
        ' Tokens are shown by their ids; <code>--tokenizer FILE</code> (a tokenizer.json or a vocabulary) shows their text.',
        '词元以编号显示；<code>--tokenizer FILE</code>（tokenizer.json 或词表）可显示其文本。',
      );
  return [
    `<section aria-labelledby="responses"><h2 id="responses">${title}</h2>`,
    `<p>${text}${note}</p>`,
    ...markedResponses(reading, decode).map(responseFigure),
    '</section>',
  ].join('');
}

const responseFigure = ({ title, facts, strips }: MarkedResponse): string =>
  [
    `<h3>${title} <span class="kicker">${safeText(facts)}</span></h3>`,
    ...strips.map(
      ({ legend, marks }) => `<p class="kicker">${legend}</p><p class="tokens">${marks.map(markup).join('')}</p>`,
    ),
  ].join('');

function markup({ id, text, tone, strength, numbers, own }: Mark): string {
  const share = Math.round(60 * strength);
  const ground = share > 0 ? ` style="background:color-mix(in srgb,var(${colours[tone]}) ${share}%,transparent)"` : '';
  const shown = text === undefined ? `<i>${number(id)}</i>` : safeText(text.replaceAll('\n', '⏎\n'));
  return `<span title="${safeText(numbers)}"${own ? '' : ' class="other"'}${ground}>${shown}</span>`;
}
