/** Which action a pass scored where it was neither the one that was drawn nor the one that the environment was given: a line of the latter per dimension, the same for all rows, kept inside 0 to 1 where the distribution ends there. The one thing to get wrong: the fit is not linear, so only one that gives the rows exactly counts. */
import { lineThrough, solve } from '../../math/linear.ts';
import { budgets } from '../budgets.ts';
import { limits } from '../limits.ts';
import { ScoredWith } from '../transforms/continuous/scored-with.ts';
import { type Form, usual } from './density.ts';
import { agrees, type Scoring } from './forms.ts';
import { BetaLaw, GaussianLaw } from './laws.ts';
import type { Refitted } from './other-deviation.ts';

/** Per dimension slope and start of the line, then the logarithm of the margin that is kept to 0 and 1. */
type Lines = number[];

interface Point {
  given: Float64Array;
  law: BetaLaw | GaussianLaw;
  recorded: number;
}

/** `known` is the form of the other pass: one that takes tanh's derivative off scored no such line. */
export function otherAction(rows: readonly Scoring[], side: 'old' | 'new', known: Form): Refitted | null {
  if (known.reduce !== usual.reduce || known.deviation !== usual.deviation || known.squash !== usual.squash)
    return null;
  const points = rows.flatMap((row): Point[] => {
    const { law } = side === 'old' ? row.sampled : row.updated;
    const usable = law instanceof BetaLaw || law instanceof GaussianLaw;
    return usable ? [{ given: keptOf(row), law, recorded: side === 'old' ? row.old : row.fresh }] : [];
  });
  if (points.length < rows.length) return null;
  const width = points[0].given.length;
  if (points.length < Math.max(limits.fewestRows.value, limits.rowsPerUnknown.value * (2 * width + 1))) return null;
  const few = points.filter((_, i) => i % Math.max(1, Math.floor(points.length / budgets.fitRows)) === 0);
  for (const start of starts(rows, width)) {
    const lines = descend(few, start, width);
    if (share(few, lines, width) < limits.formShare.value || share(points, lines, width) < limits.formShare.value)
      continue;
    const at = (from: number) => Array.from({ length: width }, (_, d) => lines[2 * d + from]);
    return {
      transform: new ScoredWith(side, 'line', at(0), at(1)),
      given: Float64Array.from(points, (point) => value(point, lines, width)),
    };
  }
  return null;
}

/** What the environment was given; without it, what was recorded. */
const keptOf = ({ sampled: { given, action } }: Scoring) => given ?? action;

/** The action as given, from -1 to 1 brought to 0 to 1, and brought back to what was drawn. */
function starts(rows: readonly Scoring[], width: number): Lines[] {
  const margin = Math.log(limits.rounding.value);
  const even = (slope: number, plus: number) => [...Array.from({ length: width }, () => [slope, plus]).flat(), margin];
  const back = Array.from({ length: width }, (_, d) => {
    const line = lineThrough(
      rows.map((row) => keptOf(row)[d]),
      rows.map(({ sampled }) => sampled.action[d]),
    );
    return [line.slope, line.at(0)];
  });
  return [even(1, 0), even(1 / 2, 1 / 2), [...back.flat(), margin]];
}

const scored = ({ given, law }: Point, lines: Lines, d: number, width: number): number => {
  const action = lines[2 * d] * given[d] + lines[2 * d + 1];
  if (!(law instanceof BetaLaw)) return action;
  const margin = Math.exp(lines[2 * width]);
  return Math.min(1 - margin, Math.max(margin, action));
};

function value(point: Point, lines: Lines, width: number): number {
  let total = 0;
  for (let d = 0; d < width; d++) total += point.law.logp(d, scored(point, lines, d, width), 'own');
  return total;
}

function share(points: readonly Point[], lines: Lines, width: number): number {
  return points.filter((point) => agrees(point.recorded, [value(point, lines, width), 0])).length / points.length;
}

/** Gauss and Newton's descent, damped the more the less a step helps. */
function descend(points: readonly Point[], start: Lines, width: number): Lines {
  const error = (lines: Lines) =>
    points.reduce((sum, point) => sum + (point.recorded - value(point, lines, width)) ** 2, 0);
  let [lines, best, damping] = [start, error(start), 1];
  for (let round = 0; round < budgets.descentSteps && Number.isFinite(best); round++) {
    const terms = points.map((point) => slopes(point, lines, width));
    const lengths = lines.map((_, i) => Math.sqrt(terms.reduce((sum, row) => sum + row[i] ** 2, 0)));
    const damped = lines.map((_, i) => lines.map((_, j) => (i === j ? Math.sqrt(damping) * lengths[i] || 1 : 0)));
    const step = solve(
      [...terms, ...damped],
      [...points.map((point) => point.recorded - value(point, lines, width)), ...lines.map(() => 0)],
    );
    const next = step && lines.map((at, i) => at + step[i]);
    const reached = next ? error(next) : Number.NaN;
    if (next && reached < best) [lines, best, damping] = [next, reached, damping / budgets.descentDamping];
    else damping *= budgets.descentDamping;
  }
  return lines;
}

/** How a row's log-probability moves with each of the numbers. */
function slopes(point: Point, lines: Lines, width: number): number[] {
  const out = new Array<number>(lines.length).fill(0);
  const margin = Math.exp(lines[2 * width]);
  for (let d = 0; d < width; d++) {
    const action = scored(point, lines, d, width);
    const steep = slopeAt(point.law, d, action);
    const line = lines[2 * d] * point.given[d] + lines[2 * d + 1];
    if (line === action) {
      out[2 * d] = steep * point.given[d];
      out[2 * d + 1] = steep;
    } else out[2 * width] += line < action ? steep * margin : -steep * margin;
  }
  return out;
}

function slopeAt(law: Point['law'], d: number, action: number): number {
  if (law instanceof GaussianLaw) return (law.mean[d] - action) / Math.exp(2 * law.logStd[d]);
  const [a, b] = law.concentrations(d);
  return (a - 1) / action - (b - 1) / (1 - action);
}
