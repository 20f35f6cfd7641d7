/** Proofs as pictures: agreement before and after the undoing transform; and log-ratio against advantage. */
import { recomputedAdvantages } from '../../doctor/credit-rule.ts';
import type { Iteration } from '../../doctor/evidence/iteration.ts';
import { drawable, type Proof, residual } from '../../doctor/proof.ts';
import { Pairs } from '../../math/statistics.ts';
import { number } from '../number.ts';
import { type Line, type Lines, mostOnLine, type Panel, type Picture, type Scatter, thinPoints } from './picture.ts';

/** The proof of a cause: its rows against the diagonal, or their distances where points would collapse into one. */
export function proofPicture(proof: Proof, cause: string): Picture {
  return collapses(proof) ? residualPicture(proof, cause) : diagonalPicture(proof, cause);
}

const where = ({ iteration, point }: Proof) =>
  point === 'row'
    ? `Rows that disagree in iteration ${iteration}, where they differ most`
    : `${point === 'step' ? 'Steps' : 'Iterations'} that disagree`;

const distance = (proof: Proof, side: 'before' | 'after') =>
  `median distance ${number(residual(proof, side))} over ${number(proof.target.length)} ${proof.point}s`;

function diagonalPicture(proof: Proof, cause: string): Scatter {
  const { target, before, after, labels, quantity, point } = proof;
  const panels = [panel(`Before: ${labels.before}`, before, target, () => distance(proof, 'before'))];
  if (drawable(proof)) panels.push(panel(`After: ${labels.after}`, after, target, () => distance(proof, 'after')));
  const undone =
    panels.length > 1
      ? ` On the right the same ${point}s with the transform: where it is the cause, they lie on the diagonal.`
      : '';
  return {
    kind: 'scatter',
    id: `proof-${cause}`,
    title: `The ${quantity}, as used and as it should be`,
    caption: `${where(proof)}. A point is one ${point}; what agrees lies on the diagonal.${undone}`,
    xName: panels.length > 1 ? `what the ${point} gives, before and after` : labels.before,
    yName: labels.target,
    diagonal: true,
    panels,
  };
}

/** Distances from largest to smallest, by orders of magnitude. */
function residualPicture(proof: Proof, cause: string): Lines {
  const { target, labels, quantity, point } = proof;
  const line = (side: 'before' | 'after'): Line => {
    const gaps = [...target.map((value, i) => Math.abs(value - proof[side][i]))]
      .filter((gap) => Number.isFinite(gap))
      .sort((a, b) => b - a);
    const step = Math.max(1, Math.ceil(gaps.length / mostOnLine));
    const kept = gaps.map((_, i) => i).filter((i) => i % step === 0);
    return { name: `${side}: ${distance(proof, side)}`, x: kept.map((i) => i + 1), y: kept.map((i) => gaps[i]) };
  };
  return {
    kind: 'lines',
    id: `proof-${cause}`,
    title: `How far the ${quantity} is from what it should be, and from what the transform gives`,
    caption: `${where(proof)}, the farthest first. Before: ${labels.target} beside ${labels.before}; after: beside ${labels.after}.`,
    xName: `${point}s`,
    yName: 'distance',
    logarithmic: true,
    lines: drawable(proof) ? [line('before'), line('after')] : [line('before')],
  };
}

/** Beside the width of the picture the distances cannot be seen, or all points have one height. */
function collapses(proof: Proof): boolean {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [lowest, highest] = [low, high];
  proof.target.forEach((value, i) => {
    if (!Number.isFinite(value + proof.before[i])) return;
    [low, high] = [Math.min(low, value), Math.max(high, value)];
    [lowest, highest] = [Math.min(lowest, value, proof.before[i]), Math.max(highest, value, proof.before[i])];
  });
  return high - low <= seen * (highest - lowest) || residual(proof, 'before') <= seen * (highest - lowest);
}

/** Share of a picture's width that the eye tells apart. */
const seen = 0.02;

/** How log-ratio and advantage go together in one iteration, with advantages recomputed from rewards, values and ends. */
export function ratioPicture(iteration: Iteration): Scatter | null {
  const own = recomputedAdvantages(iteration) ?? iteration.samples?.column('advantage');
  const ratio = lastLogRatio(iteration);
  if (!ratio || !own) return null;
  const plain = panel('Advantages recomputed from rewards, values and ends', own, ratio, correlation);
  if (plain.total < 8 || plain.y.every((value) => value === 0)) return null;
  return {
    kind: 'scatter',
    id: 'ratio',
    title: 'Log-ratio against advantage',
    diagonal: false,
    caption:
      'An update that pairs rows with their own credit makes what paid more likely, so the correlation is positive. It is a weak test: row-by-row agreement decides.',
    xName: 'advantage',
    yName: 'log-ratio after the update',
    panels: [plain],
  };
}

/** Per sample, how far the update moved its action's log-probability: at its last pass, or after it where there was only one. NaN where unknown. */
export function lastLogRatio(iteration: Iteration): Float64Array | null {
  const { samples, replays } = iteration;
  const fresh = replays?.column('new_logp');
  const stored = samples?.column('old_logp');
  if (!replays || !samples || !fresh || !stored) return null;
  const sample = replays.column('sample')!;
  const epoch = replays.column('epoch')!;
  const used = replays.column('old_logp');
  const after = replays.column('after_logp');
  const weight = replays.column('weight');
  const source = replays.column('source_iteration');
  let last = 0;
  for (let i = 0; i < replays.rows; i++) if (epoch[i] > last) last = epoch[i];
  const out = new Float64Array(samples.rows).fill(Number.NaN);
  for (let i = 0; i < replays.rows; i++) {
    if (epoch[i] !== last || weight?.[i] === 0 || sample[i] >= samples.rows) continue;
    if (source && source[i] !== iteration.number && !Number.isNaN(source[i])) continue;
    const old = used && !Number.isNaN(used[i]) ? used[i] : stored[sample[i]];
    const moved = last === 0 && after && !Number.isNaN(after[i]) ? after[i] : fresh[i];
    out[sample[i]] = moved - old;
  }
  return out;
}

type Note = (x: ArrayLike<number>, y: ArrayLike<number>) => string;

function panel(label: string, x: ArrayLike<number>, y: ArrayLike<number>, note: Note): Panel {
  let total = 0;
  for (let i = 0; i < x.length; i++) if (Number.isFinite(x[i]) && Number.isFinite(y[i])) total++;
  return { label, note: note(x, y), ...thinPoints(x, y), total };
}

const correlation: Note = (x, y) => {
  const pairs = new Pairs();
  for (let i = 0; i < x.length; i++) if (Number.isFinite(x[i]) && Number.isFinite(y[i])) pairs.add(x[i], y[i]);
  return `correlation ${number(pairs.correlation)} over ${number(pairs.count)} rows`;
};
