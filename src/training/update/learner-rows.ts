/** From the batch to one learner's rows in the units of its loss. Rows are copied whole, by one list of indices, so no column can slip against another. */

import type { Learner } from '../../algorithms/learner.ts';
import type { PpoSettings } from '../../algorithms/ppo/settings.ts';
import { clampAdvantages, type LearnerRows, normaliseAdvantages } from '../../algorithms/ppo/update.ts';
import type { Batch } from '../../batch/batch.ts';
import { copyFloatSpan, copyRows, Runs } from '../../batch/gather.ts';
import type { Actions } from '../../distributions/distribution.ts';
import { assignCredit } from '../credit/assign-credit.ts';

/** The rows of the learner's own agents, in batch order. */
export function selectRows(batch: Batch, learner: Learner, rows: Int32Array): number {
  const own = learner.agents;
  let count = 0;
  for (let row = 0; row < batch.rows; row++) if (own.includes(batch.agent[row])) rows[count++] = row;
  return count;
}

/**
 * Before the first update a normaliser has seen nothing: it takes the returns of the first batch, and the batch's values become what the critic
 * would have said in those units, so that the first iteration is like every other.
 */
export function calibrateValues(batch: Batch, learner: Learner, gamma: number): void {
  const { normaliser } = learner;
  if (!normaliser.fresh) return;
  const { rows, episode, agent, reward, terminated, truncated } = batch;
  const nothing = new Float32Array(rows);
  const sums = new Float32Array(rows);
  const columns = { rows, episode, agent, reward, terminated, truncated, value: nothing, nextValue: nothing };
  assignCredit({ ...columns, advantage: new Float32Array(rows), return: sums }, gamma, 1);
  const own: number[] = [];
  for (let row = 0; row < rows; row++) if (learner.agents.includes(agent[row])) own.push(row);
  normaliser.learn(
    Float32Array.from(own, (row) => sums[row]),
    own.length,
  );
  const { mean, spread } = normaliser;
  for (const row of own) {
    batch.value[row] = batch.value[row] * spread + mean;
    if (terminated[row] === 0) batch.nextValue[row] = batch.nextValue[row] * spread + mean;
  }
}

export function emptyRows(): LearnerRows {
  const floats = () => new Float32Array(0);
  const ints = () => new Int32Array(0);
  return {
    length: 0,
    obs: floats(),
    state: floats(),
    offsets: ints(),
    subset: ints(),
    legal: new Uint8Array(0),
    candidateFeatures: floats(),
    action: ints(),
    oldLogp: floats(),
    advantage: floats(),
    return: floats(),
    oldValue: floats(),
    iteration: ints(),
    sample: ints(),
    agent: ints(),
    logCount: floats(),
  };
}

function reserve(into: LearnerRows, batch: Batch, learner: Learner, rows: number, candidates: number): void {
  const pointer = learner.policy.shape.head === 'pointer';
  const { shape, room } = batch;
  const floats = (old: Float32Array, size: number) => (old.length >= size ? old : room.column(Float32Array, size));
  const ints = (old: Int32Array, size: number) => (old.length >= size ? old : room.column(Int32Array, size));
  into.obs = floats(into.obs, rows * learner.inputs);
  into.state = learner.view.width > 0 ? floats(into.state, rows * learner.view.width) : into.obs;
  into.offsets = ints(into.offsets, rows + 1);
  into.subset = ints(into.subset, candidates);
  into.legal = into.legal.length >= candidates ? into.legal : room.column(Uint8Array, candidates);
  into.candidateFeatures = floats(into.candidateFeatures, pointer ? candidates * shape.features : 0);
  const actions = rows * shape.action.width;
  into.action = into.action.length >= actions ? into.action : room.column<Actions>(shape.action.array, actions);
  into.oldLogp = floats(into.oldLogp, rows);
  into.advantage = floats(into.advantage, rows);
  into.return = floats(into.return, rows);
  into.oldValue = floats(into.oldValue, rows);
  into.iteration = ints(into.iteration, rows);
  into.sample = ints(into.sample, rows);
  into.agent = ints(into.agent, rows);
  into.logCount = floats(into.logCount, rows);
}

const found = new Runs();

export function prepareRows(
  batch: Batch,
  rows: Int32Array,
  count: number,
  learner: Learner,
  ppo: PpoSettings,
  into: LearnerRows,
): LearnerRows {
  const { shape } = batch;
  const pointer = learner.policy.shape.head === 'pointer';
  let candidates = 0;
  for (let i = 0; i < count; i++) candidates += batch.numActions[rows[i]];
  reserve(into, batch, learner, count, candidates);
  into.length = count;
  const runs = found.find(rows, count);
  copyRows(into.action, 0, batch.action, runs, shape.action.width);
  copyRows(into.oldLogp, 0, batch.oldLogp, runs, 1);
  copyRows(into.advantage, 0, batch.advantage, runs, 1);
  copyRows(into.return, 0, batch.return, runs, 1);
  copyRows(into.oldValue, 0, batch.value, runs, 1);
  copyRows(into.iteration, 0, batch.iteration, runs, 1);
  copyRows(into.sample, 0, batch.sample, runs, 1);
  copyRows(into.agent, 0, batch.agent, runs, 1);
  const seen = slotsOf(batch, rows, count);
  if (learner.inputs === shape.observation) batch.room.gather(into.obs, batch.obs, seen, count, shape.observation);
  else
    for (let i = 0; i < count; i++)
      copyFloatSpan(batch.obs, batch.slot[rows[i]] * shape.observation, into.obs, i * learner.inputs, learner.inputs);
  if (learner.view.width > 0) batch.room.gather(into.state, batch.state, seen, count, shape.criticState);
  gatherLists(batch, rows, count, into, pointer);
  if (learner.searches) gatherLogits(batch, rows, count, into);
  learner.normaliser.toCritic(into.return, count, into.return);
  learner.normaliser.toCritic(into.oldValue, count, into.oldValue);
  if (ppo.advantageNormalisation === 'batch') {
    normaliseAdvantages(into.advantage, into.agent, identity(count), 0, count, ppo.advantageClamp, into.advantage);
  } else if (ppo.advantageNormalisation === 'none' && ppo.advantageClamp !== null) {
    clampAdvantages(identity(count), 0, count, ppo.advantageClamp, into.advantage);
  }
  return into;
}

let slots = new Int32Array(0);

/** Where the batch has what the rows saw. */
function slotsOf(batch: Batch, rows: Int32Array, count: number): Int32Array {
  if (slots.length < count) slots = new Int32Array(batch.capacity);
  for (let i = 0; i < count; i++) slots[i] = batch.slot[rows[i]];
  return slots;
}

let kept = new Int32Array(0);

/** 0, 1, 2 and so on, at least so many. */
export function identity(count: number): Int32Array {
  if (kept.length < count) kept = Int32Array.from({ length: Math.max(count, kept.length * 2) }, (_, i) => i);
  return kept;
}

/** What a search chose from. */
function gatherLogits(batch: Batch, rows: Int32Array, count: number, into: LearnerRows): void {
  const logits = new Float32Array(into.offsets[count]);
  for (let i = 0; i < count; i++)
    copyFloatSpan(batch.logits, batch.first[rows[i]], logits, into.offsets[i], batch.numActions[rows[i]]);
  into.logits = logits;
}

/** Candidate lists and masks, one row's after the other's. */
function gatherLists(batch: Batch, rows: Int32Array, count: number, into: LearnerRows, pointer: boolean): void {
  const { features, candidates } = batch.shape;
  const { first: starts, numActions, subset: ids, legal: mask } = batch;
  const { offsets, subset, legal, logCount, candidateFeatures } = into;
  const logs = Float64Array.from({ length: candidates + 1 }, (_, possible) => Math.log(possible));
  let at = 0;
  offsets[0] = 0;
  for (let i = 0; i < count; i++) {
    const first = starts[rows[i]];
    const choices = numActions[rows[i]];
    let possible = 0;
    for (let c = 0; c < choices; c++) {
      subset[at + c] = ids[first + c];
      const able = mask[first + c];
      legal[at + c] = able;
      possible += able;
    }
    if (pointer)
      copyFloatSpan(batch.candidateFeatures, first * features, candidateFeatures, at * features, choices * features);
    at += choices;
    offsets[i + 1] = at;
    logCount[i] = logs[possible];
  }
}
