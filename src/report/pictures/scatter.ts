/** Proofs as pictures: agreement before and after the undoing transform; and log-ratio against advantage. */

import { recomputedAdvantages } from '../../doctor/credit-rule.ts';
import type { Iteration } from '../../doctor/evidence/iteration.ts';
import { drawable, type Proof, residual } from '../../doctor/proof.ts';
import { type Pair, told } from '../../language/language.ts';
import { Pairs } from '../../math/statistics.ts';
import { number } from '../number.ts';
import { type Line, type Lines, mostOnLine, type Panel, type Picture, type Scatter, thinPoints } from './picture.ts';

/** The proof of a cause: its rows against the diagonal, or their distances where points would collapse into one. */
export function proofPicture(proof: Proof, cause: string): Picture {
  return collapses(proof) ? residualPicture(proof, cause) : diagonalPicture(proof, cause);
}

const where = ({ iteration, point }: Proof) =>
  point === 'row'
    ? told(
        `Rows that disagree in iteration ${iteration}, where they differ most`,
        `第 ${iteration} 次迭代中不符的行，该处相差最大`,
      )
    : told(`${point === 'step' ? 'Steps' : 'Iterations'} that disagree`, `不符的${told(...pointWords[point])}`);

const pointWords: Record<Proof['point'], Pair> = {
  row: ['row', '行'],
  step: ['step', '步'],
  iteration: ['iteration', '迭代'],
};

const distance = (proof: Proof, side: 'before' | 'after') => {
  const [gap, count] = [number(residual(proof, side)), number(proof.target.length)];
  return told(
    `median distance ${gap} over ${count} ${proof.point}s`,
    `${count} ${told(...pointWords[proof.point])}的中位距离 ${gap}`,
  );
};

function diagonalPicture(proof: Proof, cause: string): Scatter {
  const { target, before, after, labels, quantity, point } = proof;
  const panels = [panel(told(`Before: ${labels.before}`, '还原前'), before, target, () => distance(proof, 'before'))];
  if (drawable(proof))
    panels.push(panel(`${told('After:', '还原后：')} ${labels.after}`, after, target, () => distance(proof, 'after')));
  const undone =
    panels.length > 1
      ? told(
          ` On the right the same ${point}s with the transform: where it is the cause, they lie on the diagonal.`,
          '右边是同样的点经变换之后：若它就是原因，点便落在对角线上。',
        )
      : '';
  return {
    kind: 'scatter',
    id: `proof-${cause}`,
    title: told(`The ${quantity}, as used and as it should be`, '所用的值与应有的值'),
    caption: told(
      `${where(proof)}. A point is one ${point}; what agrees lies on the diagonal.${undone}`,
      `${where(proof)}。一个点是一${told(...pointWords[point])}；相符的落在对角线上。${undone}`,
    ),
    xName: told(panels.length > 1 ? `what the ${point} gives, before and after` : labels.before, '由数据算出的值'),
    yName: told(labels.target, '所用的值'),
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
    return {
      name: `${told(side, side === 'before' ? '还原前' : '还原后')}${told(': ', '：')}${distance(proof, side)}`,
      x: kept.map((i) => i + 1),
      y: kept.map((i) => gaps[i]),
    };
  };
  return {
    kind: 'lines',
    id: `proof-${cause}`,
    title: told(
      `How far the ${quantity} is from what it should be, and from what the transform gives`,
      '所用的值离应有的值、离变换给出的值有多远',
    ),
    caption: told(
      `${where(proof)}, the farthest first: “${labels.target}” against “${labels.before}” before, and against “${labels.after}” after.`,
      `${where(proof)}，最远的在前。还原后：${labels.after}。`,
    ),
    xName: told(`${point}s`, told(...pointWords[point])),
    yName: told('distance', '距离'),
    logarithmic: true,
    spread: true,
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
  const plain = panel(
    told('Advantages recomputed from rewards, values and ends', '由奖励、价值和终止重算的优势'),
    own,
    ratio,
    correlation,
  );
  if (plain.total < 8 || plain.y.every((value) => value === 0)) return null;
  return {
    kind: 'scatter',
    id: 'ratio',
    title: told('Log-ratio against advantage', '对数比率与优势'),
    diagonal: false,
    caption: told(
      'An update that pairs rows with their own credit makes what paid more likely, so the correlation is positive. It is a weak test: row-by-row agreement decides.',
      '更新若把各行与自己的优势相配，有回报的动作会变得更可能，因此相关为正。这是弱检验：逐行一致才是判据。',
    ),
    xName: told('advantage', '优势'),
    yName: told('log-ratio after the update', '更新后的对数比率'),
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
  const [value, count] = [number(pairs.correlation), number(pairs.count)];
  return told(`correlation ${value} over ${count} rows`, `${count} 行的相关系数 ${value}`);
};
