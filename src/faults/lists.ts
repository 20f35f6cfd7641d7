/** The candidate lists of a batch as columns that may be changed: identifiers, features, masks, lengths. The action keeps its place in the list. */
import type { Batch } from '../batch/batch.ts';
import type { Actions } from '../distributions/distribution.ts';
import type { BatchColumns } from './row-order.ts';

export class Lists {
  readonly candidates: Int32Array;
  readonly legal: Uint8Array;
  readonly features: Float32Array;
  readonly count: Int32Array;
  readonly action: Actions;

  constructor(readonly batch: Batch) {
    this.candidates = batch.subset.slice();
    this.legal = batch.legal.slice();
    this.features = batch.candidateFeatures.slice();
    this.count = batch.numActions.slice();
    this.action = batch.action.slice();
  }

  get columns(): BatchColumns {
    const { candidates, legal, features, count, action } = this;
    return { subset: candidates, legal, candidateFeatures: features, numActions: count, action };
  }

  /** The row's identifiers as the game gave them. */
  ids(row: number): number[] {
    const { batch } = this;
    const first = row * batch.shape.candidates;
    return Array.from(batch.subset.subarray(first, first + batch.numActions[row]));
  }

  /** Candidate i becomes what candidate `order[i]` was; the mask stays where it was, because it is kept by place. */
  reorder(row: number, order: readonly number[]): void {
    order.forEach((from, to) => {
      this.copyCandidate(row, to, row, from);
    });
  }

  /** Identifiers 0, 1, 2 and so on. Only a fixed head scores by identifier. */
  prefix(row: number): void {
    const first = row * this.batch.shape.candidates;
    for (let c = 0; c < this.count[row]; c++) this.candidates[first + c] = c;
  }

  /** The whole list and mask of another row, where they allow the action that was taken; false where they do not. */
  borrow(row: number, from: number): boolean {
    const { batch } = this;
    const { candidates } = batch.shape;
    const action = batch.action[row];
    if (action >= batch.numActions[from] || batch.legal[from * candidates + action] !== 1) return false;
    this.count[row] = batch.numActions[from];
    for (let c = 0; c < batch.numActions[from]; c++) {
      this.copyCandidate(row, c, from, c);
      this.legal[row * candidates + c] = batch.legal[from * candidates + c];
    }
    return true;
  }

  /** Exactly `length` candidates, all legal: cut off, or filled up with the last one again; the action is the last one where it lies beyond. */
  resize(row: number, length: number): void {
    const { batch } = this;
    const { candidates } = batch.shape;
    const own = batch.numActions[row];
    for (let c = 0; c < length; c++) {
      this.copyCandidate(row, c, row, Math.min(c, own - 1));
      this.legal[row * candidates + c] = 1;
    }
    this.count[row] = length;
    this.action[row] = Math.min(batch.action[row], length - 1);
  }

  private copyCandidate(row: number, to: number, fromRow: number, from: number): void {
    const { candidates, features } = this.batch.shape;
    const target = row * candidates + to;
    const source = fromRow * candidates + from;
    this.candidates[target] = this.batch.subset[source];
    for (let f = 0; f < features; f++)
      this.features[target * features + f] = this.batch.candidateFeatures[source * features + f];
  }
}
