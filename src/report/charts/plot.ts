/** Small plots of characters for the terminal: point clouds in braille, curves in blocks. They carry no colour of their own, so nothing is lost without it. */
import { told } from '../../language/language.ts';
import { number } from '../number.ts';
import type { Line, Lines, Picture, Scatter } from '../pictures/picture.ts';
import { visible } from '../style.ts';

const dots = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];

interface Range {
  min: number;
  max: number;
}

function rangeOf(values: readonly number[]): Range {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return max > min ? { min, max } : { min: min - 1, max: min + 1 };
}

/** `rows` lines of `columns` characters, each of 2 by 4 dots. */
export function brailleCloud(
  x: readonly number[],
  y: readonly number[],
  [across, up]: readonly [Range, Range],
  columns: number,
  rows: number,
): string[] {
  const cells = Array.from({ length: rows }, () => new Uint8Array(columns));
  for (let i = 0; i < x.length; i++) {
    const column = Math.round(((x[i] - across.min) / (across.max - across.min)) * (2 * columns - 1));
    const row = Math.round(((up.max - y[i]) / (up.max - up.min)) * (4 * rows - 1));
    if (!(column >= 0 && column < 2 * columns && row >= 0 && row < 4 * rows)) continue;
    cells[row >> 2][column >> 1] |= dots[row & 3][column & 1];
  }
  return cells.map((line) => Array.from(line, (bits) => String.fromCodePoint(0x2800 + bits)).join(''));
}

const blocks = '▁▂▃▄▅▆▇█';

/** One character for each stretch of the line, by its mean; a stretch without a value is a space. */
export function sparkline(line: Pick<Line, 'x' | 'y'>, across: Range, up: Range, columns: number): string {
  const sums = new Float64Array(columns);
  const counts = new Int32Array(columns);
  for (let i = 0; i < line.x.length; i++) {
    if (!Number.isFinite(line.y[i])) continue;
    const share = across.max > across.min ? (line.x[i] - across.min) / (across.max - across.min) : 0;
    const column = Math.min(columns - 1, Math.floor(share * columns));
    sums[column] += line.y[i];
    counts[column]++;
  }
  let out = '';
  for (let column = 0; column < columns; column++) {
    if (counts[column] === 0) {
      out += ' ';
      continue;
    }
    const share = (sums[column] / counts[column] - up.min) / (up.max - up.min);
    out += blocks[Math.max(0, Math.min(7, Math.round(share * 7)))];
  }
  return out;
}

const filled = (text: string, columns: number) => text + ' '.repeat(Math.max(0, columns - visible(text)));

export function plotText(picture: Picture, width: number): string[] {
  return picture.kind === 'scatter' ? scatterText(picture, width) : linesText(picture, width);
}

function scatterText(picture: Scatter, width: number): string[] {
  const all = (pick: 'x' | 'y') => picture.panels.flatMap((panel) => panel[pick]);
  const across = rangeOf(picture.diagonal ? [...all('x'), ...all('y')] : all('x'));
  const up = picture.diagonal ? across : rangeOf(all('y'));
  const beside = picture.panels.length > 1 && width >= 72;
  const columns = Math.max(12, Math.min(34, beside ? Math.floor((width - 8) / 2) : width - 6));
  const rows = Math.max(5, Math.round(columns / 4));
  const drawn = picture.panels.map((panel) => [
    ...fold(panel.label, columns, beside ? 2 : 1),
    ...brailleCloud(panel.x, panel.y, [across, up], columns, rows).map((line) => `│${line}`),
    `└${'─'.repeat(columns)}`,
    ...fold(panel.note, columns + 1, 2),
  ]);
  const lines = fold(
    told(
      `${picture.title}: ${picture.yName} (up, ${number(up.min)} to ${number(up.max)})`,
      `${picture.title}：${picture.yName}（向上，${number(up.min)} 到 ${number(up.max)}）`,
    ),
    width,
  );
  if (!beside) return [...lines, ...drawn.flat()];
  const height = Math.max(...drawn.map((panel) => panel.length));
  for (let i = 0; i < height; i++)
    lines.push(
      drawn
        .map((panel) => filled(panel[i] ?? '', columns + 4))
        .join('')
        .trimEnd(),
    );
  return lines;
}

function linesText(picture: Lines, width: number): string[] {
  const scaled = picture.lines.map((line) => ({
    ...line,
    shown: picture.logarithmic ? line.y.map((y) => (y > 0 ? Math.log10(y) : Number.NEGATIVE_INFINITY)) : line.y,
  }));
  const across = rangeOf(scaled.flatMap(({ x }) => x));
  const up = rangeOf(scaled.flatMap(({ shown }) => shown.filter(Number.isFinite)));
  const longest = Math.max(...scaled.map(({ name }) => visible(name)));
  const columns = Math.max(8, Math.min(40, width - longest - 16));
  return [
    ...fold(
      told(
        `${picture.title} (${picture.yName}${picture.logarithmic ? ', by orders of magnitude' : ''}; over ${picture.xName}, last value)`,
        `${picture.title}（${picture.yName}${picture.logarithmic ? '，按数量级' : ''}；横轴 ${picture.xName}，末尾是最后的值）`,
      ),
      width,
    ),
    ...scaled.map(({ name, x, shown, y }) => {
      const last = y[y.length - 1];
      const spark = sparkline(
        { x, y: shown.map((value) => (value === -Infinity ? up.min : value)) },
        across,
        up,
        columns,
      );
      return `${filled(name, longest)} ${spark} ${number(last)}`.trimEnd();
    }),
  ];
}

/** What is not broken, with the spaces before it: a word, or a sign of Chinese, and the brackets and stops that cling to it. */
const unbroken = /(\s*)([（“《]*(?:[^\s（“《\u2e80-\ua4cf\uf900-\ufaff\uff00-\uff60]+|.)[，。、；：！？）”》]*)/gu;

/** Text in lines of at most `width` columns of a terminal, `least` of them at least. */
export function fold(text: string, width: number, least = 1): string[] {
  const lines: string[] = [];
  let [line, columns] = ['', 0];
  for (const [, space, part] of text.trim().matchAll(unbroken)) {
    const own = visible(part);
    const gap = line !== '' && space !== '' ? 1 : 0;
    if (line !== '' && columns + gap + own > width) {
      lines.push(line);
      [line, columns] = [part, own];
    } else [line, columns] = [`${line}${gap ? ' ' : ''}${part}`, columns + gap + own];
  }
  lines.push(line);
  while (lines.length < least) lines.push('');
  return lines;
}
