/** The way of a run's batch through its stages. Only a stage is handed the batch itself; whoever looks on gets `batch`, whose columns cannot be written. */
import type { Crew } from '../algorithms/algorithm.ts';
import type { Learner } from '../algorithms/learner.ts';
import type { PpoSettings } from '../algorithms/ppo/settings.ts';
import type { LearnerRows } from '../algorithms/ppo/update.ts';
import { Batch, type BatchShape, type ReadonlyBatch } from '../batch/batch.ts';
import type { Room } from '../net/types.ts';
import type { ColumnData } from '../recording/writer.ts';
import type { Collector } from './collect/collector.ts';
import { sampleColumns } from './record/sample-rows.ts';
import type { Stages } from './stages.ts';

export class Flow {
  readonly #batch: Batch;
  #own = new Int32Array(0);

  constructor(
    shape: BatchShape,
    readonly stages: Stages,
    readonly learners: readonly Learner[],
    room: Room,
  ) {
    this.#batch = new Batch(shape, room);
  }

  get batch(): ReadonlyBatch {
    return this.#batch;
  }

  /** From play to rows in order, each with its number; returns how many of them are real. */
  collect(collector: Collector, crew: Crew | null): number {
    const { stages, learners } = this;
    const batch = this.#batch;
    stages.collect(collector, batch);
    const real = batch.rows;
    if (crew) stages.imagine(crew, batch, learners, stages);
    stages.arrange(batch);
    batch.number();
    return real;
  }

  credit(ppo: PpoSettings): void {
    this.stages.calibrate(this.#batch, this.learners, ppo);
    this.stages.credit(this.#batch, ppo);
  }

  /** A learner's rows, in the units of its loss. */
  prepare(learner: Learner, ppo: PpoSettings, into: LearnerRows): LearnerRows {
    const batch = this.#batch;
    if (this.#own.length < batch.rows) this.#own = new Int32Array(batch.capacity);
    const count = this.stages.select(batch, learner, this.#own);
    return this.stages.prepare(batch, this.#own, count, learner, ppo, into);
  }

  /** The batch as the `samples` table shows it. Columns are not copied: they are to be written before the next iteration. */
  samples(): Record<string, ColumnData> {
    return sampleColumns(this.#batch);
  }
}
