/** Plain tables and numbers for people. */
import Table from 'cli-table3';
import { fold } from './charts/plot.ts';
import { terminalColumns, visible } from './style.ts';

const none = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '  ',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** A table that is wider than the terminal breaks its longest cells between words; numbers stay whole. */
export function table(
  head: string[],
  rows: string[][],
  align: ('left' | 'right')[] = [],
  width: number = terminalColumns(),
): string {
  const widths = fitting([head, ...rows], width);
  if (widths && widths.reduce((sum, one) => sum + one + 2, 0) > width) return stacked(head, rows, width);
  const made = new Table({
    head,
    ...(widths ? { colWidths: widths, wordWrap: true } : {}),
    chars: none,
    colAligns: head.map((_, i) => align[i] ?? 'left'),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
  });
  made.push(...rows);
  return made
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Each row as lines of its own, where not even its words stand side by side. */
function stacked(head: readonly string[], rows: readonly string[][], width: number): string {
  const entry = ([first, ...cells]: string[]) => [
    `  ${first}`,
    ...cells.flatMap((cell, i) =>
      cell === ''
        ? []
        : fold(`${head[i + 1]}${head[i + 1] ? ': ' : ''}${cell}`, width - 4).map((line) => `    ${line}`),
    ),
  ];
  return rows.flatMap(entry).join('\n');
}

/** Widths of the columns where the whole table would not fit; undefined where it does. */
function fitting(rows: readonly string[][], width: number): number[] | undefined {
  const columns = Math.max(0, ...rows.map(({ length }) => length));
  const each = (measure: (cell: string) => number) =>
    Array.from({ length: columns }, (_, i) => Math.max(1, ...rows.map((row) => measure(row[i] ?? ''))));
  const longest = (parts: string[]) => Math.max(0, ...parts.map(visible));
  const widths = each((cell) => longest(cell.split('\n')));
  const least = each((cell) => longest(cell.split(/\s+/)));
  const total = () => 2 * columns + widths.reduce((sum, one) => sum + one, 0);
  if (total() <= width) return undefined;
  // The widest gives way first, as long as it has blanks to break at.
  while (total() > width) {
    let at = -1;
    for (let i = 0; i < columns; i++) if (widths[i] > least[i] && (at < 0 || widths[i] > widths[at])) at = i;
    if (at < 0) break;
    widths[at]--;
  }
  return widths;
}

export { duration, number } from './number.ts';
