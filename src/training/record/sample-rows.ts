/** The batch as columns of the `samples` table, in the trainer's own storage order. */

import type { Batch } from '../../batch/batch.ts';
import { copyFloatSpan, copyRows, Runs } from '../../batch/gather.ts';
import type { ColumnData } from '../../recording/writer.ts';

export function sampleColumns(batch: Batch): Record<string, ColumnData> {
  const { rows, shape } = batch;
  const lists = packCandidates(batch);
  const columns: Record<string, ColumnData> = {
    iteration: batch.iteration.subarray(0, rows),
    episode: batch.episode.subarray(0, rows),
    t: batch.t.subarray(0, rows),
    agent: batch.agent.subarray(0, rows),
    old_logp: batch.oldLogp.subarray(0, rows),
    action: batch.action.subarray(0, rows),
    num_actions: batch.numActions.subarray(0, rows),
    subset: { values: lists.subset, offsets: lists.offsets },
    legal: { values: lists.legal, offsets: lists.offsets },
    logits: { values: lists.logits, offsets: lists.offsets },
    temperature: batch.temperature.subarray(0, rows),
    obs: {
      values: bySlot(batch, batch.obs, shape.observation),
      offsets: evenOffsets(rows, shape.observation),
    },
    reward: batch.reward.subarray(0, rows),
    env_reward: batch.envReward.subarray(0, rows),
    terminated: batch.terminated.subarray(0, rows),
    truncated: batch.truncated.subarray(0, rows),
    value: batch.value.subarray(0, rows),
    next_value: batch.nextValue.subarray(0, rows),
    advantage: batch.advantage.subarray(0, rows),
    return: batch.return.subarray(0, rows),
    env: batch.env.subarray(0, rows),
    seat: batch.seat.subarray(0, rows),
    imagined: batch.imagined.subarray(0, rows),
  };
  if (batch.group.subarray(0, rows).some((group) => group >= 0)) columns.group = batch.group.subarray(0, rows);
  if (shape.features > 0) {
    const offsets = Int32Array.from(lists.offsets, (offset) => offset * shape.features);
    columns.candidate_features = { values: lists.candidateFeatures, offsets };
  }
  shape.extras.forEach(({ name, width }, k) => {
    columns[name] = width === 1 ? bySlot(batch, batch.extras[k], 1) : packExtra(batch, k, width);
  });
  return columns;
}

/** The candidate lists in the order of the rows. */
function packCandidates(batch: Batch) {
  const { rows, shape } = batch;
  const { features } = shape;
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) offsets[row + 1] = offsets[row] + batch.numActions[row];
  const total = offsets[rows];
  const subset = new Int32Array(total);
  const legal = new Uint8Array(total);
  const logits = new Float32Array(total);
  const candidateFeatures = new Float32Array(total * features);
  for (let row = 0; row < rows; row++) {
    const first = batch.first[row];
    const at = offsets[row];
    const count = batch.numActions[row];
    for (let c = 0; c < count; c++) {
      subset[at + c] = batch.subset[first + c];
      legal[at + c] = batch.legal[first + c];
      logits[at + c] = batch.logits[first + c];
    }
    copyFloatSpan(batch.candidateFeatures, first * features, candidateFeatures, at * features, count * features);
  }
  return { offsets, subset, legal, logits, candidateFeatures };
}

function packExtra(batch: Batch, k: number, width: number): ColumnData {
  const { rows, slot } = batch;
  const lengths = batch.extraLengths[k];
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row++) offsets[row + 1] = offsets[row] + lengths[slot[row]];
  const values = new Float64Array(offsets[rows]);
  for (let row = 0; row < rows; row++)
    for (let at = offsets[row], from = slot[row] * width; at < offsets[row + 1]; )
      values[at++] = batch.extras[k][from++];
  return { values, offsets };
}

const found = new Runs();

/** A column of what lies in slots, in the order of the rows. */
function bySlot<T extends Float32Array | Float64Array>({ rows, slot }: Batch, column: T, width: number): T {
  const values = new (column.constructor as new (length: number) => T)(rows * width);
  copyRows(values, 0, column, found.find(slot, rows), width);
  return values;
}

function evenOffsets(rows: number, width: number): Int32Array {
  return Int32Array.from({ length: rows + 1 }, (_, row) => row * width);
}
