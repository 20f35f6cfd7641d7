/** The responses that disagree most, as text whose tokens are coloured twice: by how far sampler and trainer are apart, and by what the loss does with them. Numbers show on hover. */
import type { ReadResponse, ReadToken, TokenReading } from '../../doctor/tokens/reading.ts';
import { number } from '../number.ts';
import { safeText } from '../safe-text.ts';
import type { Decode } from './tokenizer.ts';

export function tokenSection(reading: TokenReading | undefined, decode?: Decode): string {
  if (!reading || reading.worst.length === 0) return '';
  const side = reading.of === 'sampler' ? 'sampler' : 'update';
  const note = decode
    ? ''
    : ' Tokens are shown by their ids; <code>--tokenizer FILE</code> (a tokenizer.json or a vocabulary) shows their text.';
  return [
    `<section aria-labelledby="responses"><h2 id="responses">The responses that disagree most</h2>`,
    `<p>By the mean gap between trainer and ${side}. Point at a token to see its numbers.${note}</p>`,
    ...reading.worst.map((response) => responseFigure(response, reading, side, decode)),
    '</section>',
  ].join('');
}

function responseFigure(response: ReadResponse, { floor }: TokenReading, side: string, decode?: Decode): string {
  const { tokens } = response;
  const most = (value: (token: ReadToken) => number) => Math.max(...tokens.map((token) => Math.abs(value(token)) || 0));
  const [widest, steepest] = [
    Math.max(
      most(({ gap }) => gap),
      floor.q98,
    ),
    most(({ coef }) => coef),
  ];
  const facts = (['iteration', 'group', 'reward', 'advantage', 'gap'] as const)
    .filter((name) => Number.isFinite(response[name]))
    .map((name) => `${name === 'gap' ? 'mean gap' : name} ${number(response[name])}`);
  const strip = (share: (token: ReadToken) => number, colour: (token: ReadToken) => string) =>
    `<p class="tokens">${tokens.map((token) => mark(token, share(token), colour(token), side, decode)).join('')}</p>`;
  return [
    `<h3>Response ${number(response.episode)} <span class="kicker">${safeText(facts.join(', '))}</span></h3>`,
    `<p class="kicker">By disagreement: the darker, the farther apart.</p>`,
    strip(
      ({ gap }) => Math.abs(gap) / widest,
      () => '--c2',
    ),
    steepest > 0
      ? `<p class="kicker">By what the loss does: blue raises the token, red lowers it.</p>${strip(
          ({ coef }) => Math.abs(coef) / steepest,
          ({ coef }) => (coef < 0 ? '--c1' : '--bad'),
        )}`
      : '',
  ].join('');
}

function mark(token: ReadToken, share: number, colour: string, side: string, decode?: Decode): string {
  const text = decode?.(token.token);
  const facts = [
    `token ${token.token} at ${token.t}${token.source === 'sampled' ? '' : ` (${token.source})`}`,
    ...(Number.isFinite(token.said) ? [`${side} ${number(token.said)}`] : []),
    ...(Number.isFinite(token.expected) ? [`trainer ${number(token.expected)}`] : []),
    ...(Number.isFinite(token.gap) ? [`apart ${number(token.gap)}`] : []),
    ...(Number.isFinite(token.coef) ? [`coef ${number(token.coef)}`] : []),
  ];
  const strength = Number.isFinite(share) ? Math.round(60 * Math.min(1, share)) : 0;
  const ground = strength > 0 ? ` style="background:color-mix(in srgb,var(${colour}) ${strength}%,transparent)"` : '';
  const own = text === undefined ? `<i>${number(token.token)}</i>` : safeText(text.replaceAll('\n', '⏎\n'));
  return `<span title="${safeText(facts.join(', '))}"${token.source === 'sampled' ? '' : ' class="other"'}${ground}>${own}</span>`;
}
