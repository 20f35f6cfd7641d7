/** Proofs as point clouds: agreement before and after the undoing transform, and log-ratio against advantage. */
import type { Iteration } from '../../doctor/iteration.ts';
import type { Proof } from '../../doctor/proof.ts';
import { recomputedAdvantages, referenceAdvantages } from '../../doctor/proof-credit.ts';
import { median, Pairs } from '../../math/statistics.ts';
import { number } from '../number.ts';
import { type Panel, type Scatter, thinPoints } from './picture.ts';

export function proofPicture(proof: Proof, cause: string, iteration: number): Scatter {
  const { target, before, after, labels, quantity } = proof;
  const panels = [panel(`Before: ${labels.before}`, before, target, gap)];
  if (after) panels.push(panel(`After: ${labels.after}`, after, target, gap));
  const undone = after
    ? ' On the right the same rows with the transform undone: where it is the cause, they lie on the diagonal.'
    : '';
  return {
    kind: 'scatter',
    id: `proof-${cause}`,
    title: `The ${quantity} of every row, as used and as it should be`,
    caption: `Iteration ${iteration}. A point is one row; rows that agree lie on the diagonal.${undone}`,
    xName: after ? 'what the row gives, before and after' : labels.before,
    yName: labels.target,
    diagonal: true,
    panels,
  };
}

/** With a proof, before and after; without one, a single panel with advantages recomputed from rewards, values and ends. */
export function ratioPicture(iteration: Iteration, proof: Proof | null, cause: string): Scatter | null {
  const common = {
    kind: 'scatter' as const,
    id: proof ? `ratio-${cause}` : 'ratio',
    title: 'Log-ratio against advantage',
    diagonal: false,
  };
  const own = recomputedAdvantages(iteration) ?? referenceAdvantages(iteration);
  if (proof?.orientation !== undefined) {
    if (!own) return null;
    const x = Float64Array.from(proof.sample, (row) => own[row]);
    const ratio = (column: Float64Array) => column.map((value, i) => (proof.target[i] - value) * proof.orientation!);
    const panels = [panel('Before', x, ratio(proof.before), size)];
    if (proof.after) panels.push(panel('After undoing the transform', x, ratio(proof.after), size));
    return {
      ...common,
      caption: 'Before the first step of the update every log-ratio must be 0.',
      xName: 'advantage',
      yName: 'log-ratio before the first step',
      panels,
    };
  }
  const ratio = lastLogRatio(iteration);
  if (!ratio || !own) return null;
  const caption =
    'An update that pairs rows with their own credit makes what paid more likely, so the correlation is positive. It is a weak test: row-by-row agreement decides.';
  const axes = { xName: 'advantage', yName: 'log-ratio after the update' };
  if (proof && /advantage/.test(proof.quantity)) {
    const y = Float64Array.from(proof.sample, (row) => ratio[row]);
    const panels = [panel("Before: the row's own advantage", proof.before, y, correlation)];
    if (proof.after) panels.push(panel(`After: ${proof.labels.after}`, proof.after, y, correlation));
    return { ...common, ...axes, caption, panels };
  }
  const plain = panel('Advantages recomputed from rewards, values and ends', own, ratio, correlation);
  if (plain.total < 8 || plain.y.every((value) => value === 0)) return null;
  return { ...common, ...axes, caption, panels: [plain] };
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

/** Rows in which either side is not known say nothing. */
const gap: Note = (x, y) =>
  `median distance from the diagonal ${number(median(Float64Array.from(x, (value, i) => Math.abs(value - y[i]))))}`;

const size: Note = (_, y) => `median size of the log-ratio ${number(median(Float64Array.from(y, Math.abs)))}`;

const correlation: Note = (x, y) => {
  const pairs = new Pairs();
  for (let i = 0; i < x.length; i++) if (Number.isFinite(x[i]) && Number.isFinite(y[i])) pairs.add(x[i], y[i]);
  return `correlation ${number(pairs.correlation)} over ${number(pairs.count)} rows`;
};
