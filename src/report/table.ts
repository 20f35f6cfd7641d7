/** Plain tables and numbers for people. */
import Table from 'cli-table3';

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

export function table(head: string[], rows: string[][], align: ('left' | 'right')[] = []): string {
  const made = new Table({
    head,
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

export { duration, number } from './number.ts';
