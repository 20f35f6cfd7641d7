/** The candidate lists of a batch as columns that may be changed: identifiers, features, masks, lengths. The action keeps its place in the list. */
import type { Batch } from '../batch/batch.ts';
import type { Actions } from '../distributions/distribution.ts';
import type { BatchColumns } from './row-order.ts';

export class Lists {
  readonly candidates: Int32Array;
  readonly legal: Uint8Array;
  readonly features: Float32Array;
  /** Where a row's list begins: each has room for as many candidates as a row may have. */
  readonly first: Int32Array;
  readonly count: Int32Array;
  readonly action: Actions;

  constructor(readonly batch: Batch) {
    const { rows, shape } = batch;
    this.candidates = new Int32Array(rows * shape.candidates);
    this.legal = new Uint8Array(rows * shape.candidates);
    this.features = new Float32Array(rows * shape.candidates * shape.features);
    this.first = Int32Array.from({ length: rows }, (_, row) => row * shape.candidates);
    this.count = batch.numActions.slice();
    this.action = batch.action.slice();
    for (let row = 0; row < rows; row++) {
      for (let c = 0; c < this.count[row]; c++) {
        this.copyCandidate(row, c, row, c);
        this.legal[this.first[row] + c] = batch.legal[batch.first[row] + c];
      }
    }
  }

  get columns(): BatchColumns {
    const { candidates, legal, features, first, count, action } = this;
    return { subset: candidates, legal, candidateFeatures: features, first, numActions: count, action };
  }

  /** The row's identifiers as the game gave them. */
  ids(row: number): number[] {
    const { batch } = this;
    return Array.from(batch.subset.subarray(batch.first[row], batch.first[row] + batch.numActions[row]));
  }

  /** Candidate i becomes what candidate `order[i]` was; the mask stays where it was, because it is kept by place. */
  reorder(row: number, order: readonly number[]): void {
    order.forEach((from, to) => {
      this.copyCandidate(row, to, row, from);
    });
  }

  /** Identifiers 0, 1, 2 and so on. Only a fixed head scores by identifier. */
  prefix(row: number): void {
    for (let c = 0; c < this.count[row]; c++) this.candidates[this.first[row] + c] = c;
  }

  /** The whole list and mask of another row, where they allow the action that was taken; false where they do not. */
  borrow(row: number, from: number): boolean {
    const { batch } = this;
    const action = batch.action[row];
    if (action >= batch.numActions[from] || batch.legal[batch.first[from] + action] !== 1) return false;
    this.count[row] = batch.numActions[from];
    for (let c = 0; c < batch.numActions[from]; c++) {
      this.copyCandidate(row, c, from, c);
      this.legal[this.first[row] + c] = batch.legal[batch.first[from] + c];
    }
    return true;
  }

  /** Exactly `length` candidates, all legal: cut off, or filled up with the last one again; the action is the last one where it lies beyond. */
  resize(row: number, length: number): void {
    const { batch } = this;
    const own = batch.numActions[row];
    for (let c = 0; c < length; c++) {
      this.copyCandidate(row, c, row, Math.min(c, own - 1));
      this.legal[this.first[row] + c] = 1;
    }
    this.count[row] = length;
    this.action[row] = Math.min(batch.action[row], length - 1);
  }

  private copyCandidate(row: number, to: number, fromRow: number, from: number): void {
    const { features } = this.batch.shape;
    const target = this.first[row] + to;
    const source = this.batch.first[fromRow] + from;
    this.candidates[target] = this.batch.subset[source];
    for (let f = 0; f < features; f++)
      this.features[target * features + f] = this.batch.candidateFeatures[source * features + f];
  }
}
