/** Does the update see what acting saw? Inputs that one scale and offset per step and dimension turn into each other were normalised with other statistics. Others are those of another row, or were changed in between; raw inputs in place of normalised ones are told by what they do to the log-probabilities. */
import { told } from '../../../language/language.ts';
import { lineThrough } from '../../../math/linear.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Lists } from '../../evidence/rows.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Affine } from '../../transforms/rows/affine.ts';

const check = 'normaliser';

export const normaliser: Check = {
  id: check,
  group: 'replay',
  question: ['Does the update see the observations that acting saw?', '更新看到的观测与行动时相同吗？'],
  needs: [['replays.obs'], ['samples.obs']],
  causes: ['normaliser-drifts', 'inputs-differ'],
  start: () => new NormaliserPass(),
};

class NormaliserPass implements Pass {
  private looked = 0;
  private differing = 0;
  /** Groups of rows of one step, and those that one map per dimension gives exactly. */
  private groups = 0;
  private mapped = 0;
  /** Scales and offsets of the last iteration that had any. */
  private slopes: number[] = [];
  private far = 0;
  private onset = Number.POSITIVE_INFINITY;
  /** Rows before the first step whose inputs differ, and those of them that get another log-probability. */
  private told = 0;
  private moved = 0;
  private readonly proof = new ProofStore();
  private readonly shown = new ProofStore();
  /** Entries of the iteration at hand: as the update sees them, as acting did, and by the map. */
  private entries: [number, number, number][] = [];

  iteration(iteration: Iteration): void {
    const { samples, replays, chains } = iteration;
    const [seen, given] = [samples?.list('obs'), replays?.list('obs')];
    if (!seen || !given || !chains) return;
    const sample = replays!.column('sample')!;
    const spread = spreadOf(seen);
    const bySteps = new Map<number, number[]>();
    const place = placesOf(chains.order, chains.streamPrevious);
    const [fresh, old] = [replays!.measured('new_logp'), samples!.measured('old_logp')];
    const { before } = iteration;
    const pairs: [number, number][] = [];
    let differing = 0;
    // What an input is does not depend on the steps before: a whole pass over the rows tells.
    for (const i of iteration.pass(0)) {
      this.looked++;
      if (!this.differs(seen, sample[i], given, i, spread)) continue;
      differing++;
      if (before?.[i] && fresh && old) {
        this.told++;
        if (!(Math.abs(fresh[i] - old[sample[i]]) <= limits.replayExact.value)) this.moved++;
      }
      for (let d = 0; d < spread.length && pairs.length < budgets.fitRows; d++)
        pairs.push([given.values[given.offsets[i] + d], seen.values[seen.offsets[sample[i]] + d]]);
      const list = bySteps.get(place[sample[i]]);
      if (list) list.push(i);
      else bySteps.set(place[sample[i]], [i]);
    }
    this.differing += differing;
    if (differing > 0) this.onset = Math.min(this.onset, iteration.number);
    this.shown.rows(
      iteration.number,
      Float64Array.from(pairs, ([now]) => now),
      Float64Array.from(pairs, ([, then]) => then),
    );
    if (bySteps.size > 0) [this.slopes, this.far] = [[], 0];
    this.entries = [];
    for (const rows of bySteps.values())
      if (rows.length >= limits.boundTies.value + 1) this.fit(rows, sample, seen, given, spread);
    const column = (side: 0 | 1 | 2) => Float64Array.from(this.entries, (entry) => entry[side]);
    this.proof.rows(iteration.number, column(0), column(1), column(2));
  }

  private differs(seen: Lists, row: number, given: Lists, at: number, spread: Float64Array): boolean {
    const [from, to] = [seen.offsets[row], given.offsets[at]];
    if (given.offsets[at + 1] - to !== spread.length) return false;
    return spread.some(
      (size, d) => Math.abs(seen.values[from + d] - given.values[to + d]) > limits.normaliserMoved.value * size,
    );
  }

  private fit(
    rows: readonly number[],
    sample: ArrayLike<number>,
    seen: Lists,
    given: Lists,
    spread: Float64Array,
  ): void {
    this.groups++;
    for (let d = 0; d < spread.length; d++) {
      if (spread[d] === 0) continue;
      const x = rows.map((i) => seen.values[seen.offsets[sample[i]] + d]);
      const y = rows.map((i) => given.values[given.offsets[i] + d]);
      const { slope, middle, at, error } = lineThrough(x, y);
      if (Number.isNaN(slope)) continue;
      // What became one number for all rows was not scaled but replaced.
      if (error > limits.normaliserFit.value * spread[d] || Math.abs(slope) <= limits.normaliserMoved.value) return;
      this.slopes.push(slope);
      for (let k = 0; k < x.length && this.entries.length < budgets.fitRows; k++)
        this.entries.push([y[k], x[k], at(x[k])]);
      if (!(slope > limits.most.value && slope < 1 / limits.most.value && Math.abs(at(middle) - middle) < spread[d]))
        this.far++;
    }
    this.mapped++;
  }

  finish(): Outcome {
    const share = this.differing / Math.max(1, this.looked);
    const measured: Outcome['measured'] = {
      rows: this.looked,
      differing: this.differing,
      steps: this.groups,
      steps_of_one_map: this.mapped,
    };
    const expected = { differing: 0 };
    if (this.looked === 0) return { status: 'not-checked', measured, expected, findings: [] };
    const drifts =
      this.differing >= Math.max(fewestRows, limits.noticedShare.value * this.looked) &&
      this.mapped >= fewestRows &&
      this.mapped >= limits.formShare.value * this.groups &&
      // Statistics settle; another unit altogether stays, and is no drift.
      this.far < limits.most.value * this.slopes.length;
    if (!drifts) return this.others(measured, expected);
    const scale = mean(this.slopes);
    const transform = new Affine('input', scale, 0);
    const finding: Finding = {
      cause: 'normaliser-drifts',
      confidence: confidence(1, this.differing),
      agents: [],
      onset: this.onset,
      rows: this.differing,
      transform,
      ...this.proof.prove('observation', 'in the update', 'when acting', transform),
      told: true,
      summary: told(
        `The update sees ${percent(share)} of the observations normalised with other statistics than acting did: step by step, one scale (${figure(scale)} on average) and offset per dimension turn one into the other.`,
        `更新所见的观测中有 ${percent(share)} 是用与行动时不同的统计量归一化的：逐步、逐维，一个系数（平均 ${figure(scale)}）和一个偏移即可互相转换。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }

  /** Inputs that no map turns into those of acting, where log-probabilities differ with them before any step was made. */
  private others(measured: Outcome['measured'], expected: Outcome['expected']): Outcome {
    const many = Math.max(fewestRows, limits.most.value * this.looked);
    const clear =
      this.differing >= many &&
      this.groups >= fewestRows &&
      this.mapped <= (1 - limits.most.value) * this.groups &&
      this.told >= fewestRows &&
      this.moved >= limits.most.value * this.told;
    if (!clear) return { status: 'pass', measured, expected, findings: [] };
    const finding: Finding = {
      cause: 'inputs-differ',
      confidence: confidence(this.moved / this.told, this.differing),
      agents: [],
      onset: this.onset,
      rows: this.differing,
      ...this.shown.prove('observation', 'in the update', 'when acting'),
      told: true,
      summary: told(
        `${percent(this.differing / this.looked)} of the observations in the update are not those that acting saw, no scale and offset turns one into the other, and ${percent(this.moved / this.told)} of them get another log-probability before any step was made.`,
        `更新所用的观测中有 ${percent(this.differing / this.looked)} 与行动时所见不同，没有缩放和平移能使其一致，其中 ${percent(this.moved / this.told)} 在任何更新步之前就得到不同的对数概率。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}

const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;

function spreadOf({ values, offsets }: Lists): Float64Array {
  const width = offsets[1] - offsets[0];
  const [sum, squares] = [new Float64Array(width), new Float64Array(width)];
  const rows = offsets.length - 1;
  for (let row = 0; row < rows; row++)
    for (let d = 0; d < width; d++) {
      const value = values[offsets[row] + d];
      sum[d] += value;
      squares[d] += value * value;
    }
  return sum.map((total, d) => Math.sqrt(Math.max(0, squares[d] / rows - (total / rows) ** 2)));
}

/** How many rows of its stream come before each row in the rollout. */
function placesOf(order: ArrayLike<number>, previous: ArrayLike<number>): Int32Array {
  const place = new Int32Array(previous.length);
  const done = new Uint8Array(previous.length);
  for (let i = 0; i < order.length; i++) {
    const chain: number[] = [];
    let row = order[i];
    while (row >= 0 && done[row] === 0) {
      chain.push(row);
      row = previous[row];
    }
    for (const at of chain.reverse()) {
      place[at] = previous[at] < 0 ? 0 : place[previous[at]] + 1;
      done[at] = 1;
    }
  }
  return place;
}
