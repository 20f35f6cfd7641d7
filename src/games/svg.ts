/** Small helpers for pictures as SVG text. Every picture is one whole `<svg>` with a viewBox, so that pictures can be put inside pictures. */

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly svg: string;
}

/** A number as short as it can be said. */
export function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** An element with attributes; numbers are shortened and undefined ones left out. */
export function tag(name: string, attributes: Record<string, string | number | undefined>, inside = ''): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? short(value) : escapeText(String(value))}"`)
    .join('');
  return inside === '' ? `<${name}${written}/>` : `<${name}${written}>${inside}</${name}>`;
}

export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

export function text(x: number, y: number, words: string, attributes: Record<string, string | number> = {}): string {
  return tag('text', { x, y, 'font-size': 13, fill: '#33383d', ...attributes }, escapeText(words));
}

const font = 'ui-sans-serif, system-ui, Helvetica, Arial, sans-serif';

export function picture(width: number, height: number, inside: string): Picture {
  const svg = tag(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      width,
      height,
      viewBox: `0 0 ${short(width)} ${short(height)}`,
      'font-family': font,
    },
    inside,
  );
  return { width, height, svg };
}

/** Pictures side by side in rows, on white. */
export function filmStrip(pictures: readonly Picture[], columns: number, gap = 16): Picture {
  if (pictures.length === 0) throw new RangeError('A film strip needs at least one picture and got none.');
  const across = Math.max(...pictures.map((p) => p.width)) + gap;
  const down = Math.max(...pictures.map((p) => p.height)) + gap;
  const used = Math.min(columns, pictures.length);
  const rows = Math.ceil(pictures.length / columns);
  const width = used * across + gap;
  const height = rows * down + gap;
  const placed = pictures.map((p, i) => {
    return shift(p.svg, gap + (i % columns) * across, gap + Math.floor(i / columns) * down);
  });
  return picture(width, height, tag('rect', { width, height, fill: '#ffffff' }) + placed.join(''));
}

/** Pictures one after the other, for ever; any page or image viewer that knows SVG plays it. */
export function animation(pictures: readonly Picture[], secondsEach = 0.8): Picture {
  if (pictures.length === 0) throw new RangeError('An animation needs at least one picture and got none.');
  const seconds = pictures.length * secondsEach;
  const frames = pictures.map((p, i) => {
    const values = pictures.map((_, j) => (i === j ? 'visible' : 'hidden')).join(';');
    const play = {
      attributeName: 'visibility',
      values,
      dur: `${short(seconds)}s`,
      calcMode: 'discrete',
      repeatCount: 'indefinite',
    };
    return tag('g', { visibility: i === 0 ? 'visible' : 'hidden' }, p.svg + tag('animate', play));
  });
  const width = Math.max(...pictures.map((p) => p.width));
  const height = Math.max(...pictures.map((p) => p.height));
  return picture(width, height, tag('rect', { width, height, fill: '#ffffff' }) + frames.join(''));
}

function shift(svg: string, x: number, y: number): string {
  return svg.replace('<svg', `<svg x="${short(x)}" y="${short(y)}"`);
}
