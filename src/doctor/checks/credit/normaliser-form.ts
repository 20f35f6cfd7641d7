/** How advantages were normalised, read off the rows: within a cell the ones in the loss are a line of the own ones, and its slope and intercept tell by what was divided and what was taken away. */
import { told } from '../../../language/language.ts';
import { Pairs, spread } from '../../../math/statistics.ts';
import { fewestRows } from '../../check.ts';
import { gather } from '../../evidence/rows.ts';
import { limits } from '../../limits.ts';
import { cellsOf } from '../../pairing/consensus.ts';

/** By the variance in place of the deviation, or with the mean alone divided, as where parentheses are missing. */
export type OddForm = 'variance' | 'parentheses';

/** The form of nearly all cells, where it is one of those and no other would give the same. */
export function oddForm(
  used: ArrayLike<number>,
  own: (row: number) => number,
  rows: Int32Array,
  levels: readonly ((row: number) => number)[],
): OddForm | null {
  for (const level of levels) {
    const found = { variance: 0, parentheses: 0 };
    const cells = cellsOf(rows, level, fewestRows).lists;
    // Hardly a run has such a form, and its first cells show that it has not.
    const others = (1 - limits.nearlyAll.value) * cells.length;
    for (let i = 0; i < cells.length && i - Math.max(found.variance, found.parentheses) <= others; i++) {
      const form = formOf(used, own, cells[i]);
      if (form) found[form]++;
    }
    for (const form of ['variance', 'parentheses'] as const)
      if (cells.length > 0 && found[form] >= limits.nearlyAll.value * cells.length) return form;
  }
  return null;
}

function formOf(used: ArrayLike<number>, own: (row: number) => number, cell: Int32Array): OddForm | null {
  const line = new Pairs();
  for (const row of cell) line.add(own(row), used[row]);
  if (!(line.correlation ** 2 > 1 - limits.rounding.value)) return null;
  const { slope, intercept, meanX: mean, spreadX: std } = line;
  // A deviation over n or n - 1 rows, and a small number against division by 0.
  const slack = limits.credit.value + 2 / cell.length;
  const same = (a: number, b: number) => Math.abs(a - b) <= slack * Math.abs(b);
  const apart = (a: number, b: number) => Math.abs(a - b) > limits.formTold.value * slack * Math.abs(b);
  if (same(slope * std * std, 1) && apart(slope * std, 1) && Math.abs(intercept + slope * mean) <= slack * slope * std)
    return 'variance';
  const [taken, divided] = [-intercept, mean / std];
  return same(slope, 1) && same(taken, divided) && apart(mean, divided) && Math.abs(divided - mean) > slack * std
    ? 'parentheses'
    : null;
}

export const formText = (form: OddForm): string =>
  form === 'variance'
    ? told(
        'Advantages in the loss are (A - mean) / variance: they are divided by the square of their deviation.',
        '损失中的优势是 (A - 均值) / 方差：除以的是标准差的平方。',
      )
    : told(
        'Advantages in the loss are A - mean / deviation: only the mean is divided, and the scale stays.',
        '损失中的优势是 A - 均值 / 标准差：只有均值被除，尺度不变。',
      );

/** Whether the mean of most cells was taken away. */
export function centred(used: ArrayLike<number>, rows: Int32Array, level: (row: number) => number): boolean {
  const cells = cellsOf(rows, level, fewestRows).lists.map((cell) => spread(gather(used, cell)));
  const right = cells.filter(({ mean, std }) => Math.abs(mean) <= limits.centredMean.value * std);
  return cells.length > 0 && right.length > limits.most.value * cells.length;
}

export function oneSign(used: ArrayLike<number>, rows: Int32Array): boolean {
  let positive = 0;
  for (const row of rows) if (used[row] > 0) positive++;
  return positive >= limits.oneSign.value * rows.length || rows.length - positive >= limits.oneSign.value * rows.length;
}
