/** Limits that all checks share: how many rows, what share of them, and how exact recorded numbers are. */
import { type Limit, limit } from './limit.ts';

export const common = {
  fewestRows: limit(
    'test',
    8,
    'rows that must support a cause',
    'An exact agreement of one row by chance has a probability of 0.1 at most; of eight, less than 1e-7.',
  ),
  decidingRows: limit(
    'test',
    32,
    'rows that must answer each of the questions replay, credit and gradient before a run may be healthy',
    'A fault that strikes one row in ten is in none of 32 rows with a probability of 0.03.',
  ),
  sure: limit(
    'definition',
    0.4,
    'score from which a finding is a cause, and not only a candidate',
    'A transform that accounts for less than two fifths of the rows leaves more unexplained than it explains.',
  ),
  leftOver: limit(
    'definition',
    0.1,
    'share of the disagreeing rows without an explanation, from which it is said',
    'Less may be rows at the edges of a transform, where an end or a cut leaves nothing to compare with.',
  ),
  minor: limit(
    'definition',
    0.1,
    "rows of a finding over those of another of the same check, below which it is the other's to lead",
    'What accounts for a tenth of the rows is not what to fix first.',
  ),
  sigmas: limit(
    'test',
    4,
    'standard errors from what chance gives',
    'A chance of 3e-5 on one side, so that a hundred such tests in a recording raise a false alarm once in three hundred recordings at most.',
  ),
  narrowNumbers: limit(
    'test',
    32,
    'different numbers of a column that must all be of half precision before it is read as such',
    'A number of single precision ends in thirteen zeros by chance once in eight thousand times.',
  ),
  undone: limit(
    'definition',
    0.1,
    'median distance that a transform leaves, over what was there before',
    'Exact transforms leave rounding, a millionth; a tenth is what cannot be chance and is still worth to be drawn.',
  ),
  noticedShare: limit(
    'tolerance',
    0.02,
    'share of disagreeing rows that is noticed',
    'Fewer may be rows that a guard left out, or episodes that were cut while being recorded.',
  ),
  most: limit(
    'definition',
    0.5,
    'share from which something is the rule',
    'Half of them is a rule and no accident; and an explanation of less leaves more open than it explains.',
  ),
  clearly: limit(
    'definition',
    0.8,
    'share that must agree with a fit that is itself uncertain',
    'Rows without a partner, at the ends of episodes, pull a fit; four fifths must lie on it all the same.',
  ),
  nearlyAll: limit(
    'tolerance',
    0.9,
    'share that counts as all',
    'The rest may lie beside an end or a cut, or be rows that a guard left out.',
  ),
  exactly: limit(
    'tolerance',
    0.98,
    'share of rows that an exact rule must give',
    'What was computed so is given exactly, but for the rows at the ends of what was recorded; the counterpart of `noticedShare`.',
  ),
  steadily: limit(
    'definition',
    0.6,
    'share of the steps since the onset that must follow one formula',
    'More than half by a margin; the others may be steps that tell formulas badly apart.',
  ),
  fewestSteps: limit(
    'test',
    4,
    'rows of a step, or steps of a run, that a formula is told by',
    'One number follows from many formulas by chance; the same formula in four does not.',
  ),
  fitRows: limit('test', 3, 'rows or steps that one line, temperature or formula is fitted to', 'Two always fit.'),
  rounding: limit(
    'tolerance',
    1e-6,
    'relative difference of two numbers that are the same',
    'Ten times the spacing of single precision.',
  ),
  roundedSum: limit(
    'tolerance',
    2e-6,
    'the same of a short sum of such numbers',
    'Each of a few terms brings its own rounding.',
  ),
  smallScale: limit(
    'tolerance',
    0.001,
    'size below which a relative difference is taken of this instead',
    'Columns near 0 have rounding of what they were computed from, not of what they are.',
  ),
  vanishing: limit(
    'tolerance',
    1e-12,
    'what stands for 0 in a divisor, or beside the terms of a determinant',
    'Far below the rounding of anything that was recorded.',
  ),
  explainedLeast: limit(
    'definition',
    0.4,
    'share of the open rows that a transform must explain to be named',
    'As for a cause, `sure`: less leaves more unexplained than it explains.',
  ),
  explainedAny: limit(
    'definition',
    0.1,
    'share of the rows below which a transform explains nothing',
    'A tenth agrees by chance, where values repeat.',
  ),
  asGood: limit(
    'tolerance',
    0.97,
    'share of the best explanation from which a more specific one is preferred',
    'The two differ in rows at ends, which say nothing.',
  ),
} as const satisfies Record<string, Limit>;
