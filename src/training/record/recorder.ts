/** Writes a run into its recording as it happens. What stages really used is what is written, row by row; nothing is recomputed here. */
import type { Learner } from '../../algorithms/learner.ts';
import type { TrainJob } from '../../algorithms/ppo/update.ts';
import { actorToOnnx } from '../../net/onnx.ts';
import type { StepReport } from '../../net/types.ts';
import type { ColumnData } from '../../recording/writer.ts';
import type { EpisodeResults } from '../collect/episodes.ts';
import type { Settings } from '../settings.ts';
import type { ReportedStep } from '../stages.ts';
import { bits, doubles, ints } from './growing.ts';
import type { Readings } from './readings.ts';
import { ReplayRows, type SeenStep } from './replay-rows.ts';

/** What the recorder needs of a recording writer; a page may hand in its own. */
export interface RecordingSink {
  append(table: string, columns: Record<string, ColumnData>): Promise<void>;
  flush(): Promise<void>;
  /** Where policies are to be kept. */
  snapshot?(policy: string, iteration: number, model: Uint8Array): Promise<void>;
  position(): Record<string, number>;
  /** Whoever watches the recording is told how the run ended. */
  close(patch?: { ended?: string }): Promise<void>;
}

/** Whether an iteration is kept whole: samples, replays and tensors. */
export function keptWhole(recording: Settings['recording'], iteration: number): boolean {
  if (recording.record === 'off') return false;
  return recording.record === 'all' || iteration < recording.first || iteration % recording.every === 0;
}

export class Recorder {
  /** Whether the current iteration is kept whole. */
  whole = false;
  private readonly steps = {
    iteration: ints(),
    epoch: ints(),
    minibatch: ints(),
    policy: ints(),
    loss: doubles(),
    policy_loss: doubles(),
    value_loss: doubles(),
    entropy: doubles(),
    approx_kl: doubles(),
    clip_fraction: doubles(),
    grad_norm: doubles(),
    policy_grad_norm: doubles(),
    value_grad_norm: doubles(),
    learning_rate: doubles(),
    valid_ratio: doubles(),
    skipped: bits(),
    stopped: bits(),
    delta_logits: doubles(),
    kl_after: doubles(),
    embed_std: doubles(),
    logits_std: doubles(),
  };
  private probes: string[] = [];
  private readonly tensors = {
    iteration: ints(),
    epoch: ints(),
    minibatch: ints(),
    tensor: ints(),
    grad_norm: doubles(),
    grad_nonzero: ints(),
    delta: doubles(),
    delta_norm: doubles(),
    norm: doubles(),
    learning_rate: doubles(),
    weight_decay: doubles(),
    bound: ints(),
  };
  private readonly replays = new ReplayRows();
  private readonly scalars = { value: doubles(), iteration: ints(), step: doubles(), policy: ints() };
  private readonly times = doubles();
  private scalarNames: string[] = [];
  private readonly counters = { iteration: ints(), agent: ints(), value: doubles() };
  private counterNames: string[] = [];

  /** `firstTensor` holds, per learner, the index of its first tensor in the manifest. */
  constructor(
    private readonly sink: RecordingSink,
    private readonly recording: Settings['recording'],
    private readonly firstTensor: readonly number[],
    private readonly clock?: () => number,
  ) {}

  begin(iteration: number): void {
    this.whole = keptWhole(this.recording, iteration);
  }

  /** The policies that are about to sample, where they are asked for. */
  async policies(learners: readonly Learner[], iteration: number): Promise<void> {
    if (!this.whole || !this.recording.policies) return;
    for (const { name, policy } of learners) await this.sink.snapshot?.(name, iteration, actorToOnnx(policy));
  }

  async samples(columns: Record<string, ColumnData>): Promise<void> {
    await this.sink.append('samples', columns);
  }

  step(job: TrainJob, reported: ReportedStep | null, report: StepReport | null, seen: SeenStep): void {
    const { steps } = this;
    const unknown = Number.NaN;
    steps.iteration.push(job.iteration);
    steps.epoch.push(job.epoch);
    steps.minibatch.push(job.minibatch);
    steps.policy.push(job.learner.index);
    steps.loss.push(reported?.loss ?? unknown);
    steps.policy_loss.push(reported?.policyLoss ?? unknown);
    steps.value_loss.push(reported?.valueLoss ?? unknown);
    steps.entropy.push(reported?.entropy ?? unknown);
    steps.approx_kl.push(reported?.approxKl ?? unknown);
    steps.clip_fraction.push(reported?.clipFraction ?? unknown);
    steps.grad_norm.push(reported?.gradNorm ?? unknown);
    steps.policy_grad_norm.push(reported?.policyGradNorm ?? unknown);
    steps.value_grad_norm.push(reported?.valueGradNorm ?? unknown);
    steps.learning_rate.push(reported?.learningRate ?? job.settings.groups.trunk.learningRate);
    steps.valid_ratio.push(seen.validRatio);
    steps.skipped.push(seen.skipped ? 1 : 0);
    steps.stopped.push(seen.stopped ? 1 : 0);
    steps.delta_logits.push(seen.deltaLogits);
    steps.kl_after.push(seen.klAfter);
    steps.embed_std.push(seen.inputSpread);
    steps.logits_std.push(seen.logitsStd);
    this.probes.push(job.probe);
    if (!this.whole) return;
    if (report) this.addTensors(job, report);
    this.replays.add(job, seen);
  }

  /** The rows of a pass that no step followed, because it was stopped before. */
  replayed(job: TrainJob): void {
    this.replays.addPass(job);
  }

  /** One count for each agent. */
  count(iteration: number, name: string, values: ArrayLike<number>): void {
    for (let agent = 0; agent < values.length; agent++) {
      this.counters.iteration.push(iteration);
      this.counters.agent.push(agent);
      this.counters.value.push(values[agent]);
      this.counterNames.push(name);
    }
  }

  readings(iteration: number, step: number, learner: Learner, readings: Readings): void {
    for (const [name, value] of Object.entries(readings)) this.scalar(iteration, step, learner.index, name, value);
    this.scalar(iteration, step, learner.index, 'value_normaliser.mean', learner.normaliser.mean);
    this.scalar(iteration, step, learner.index, 'value_normaliser.spread', learner.normaliser.spread);
  }

  scalar(iteration: number, step: number, policy: number, name: string, value: number): void {
    if (Number.isNaN(value)) return;
    this.scalarNames.push(name);
    this.scalars.value.push(value);
    this.scalars.iteration.push(iteration);
    this.scalars.step.push(step);
    this.scalars.policy.push(policy);
    if (this.clock) this.times.push(this.clock());
  }

  async episodes(results: EpisodeResults): Promise<void> {
    const view = <T extends Int32Array | Float64Array>(column: T) => column.subarray(0, results.length) as T;
    if (results.length === 0) return;
    await this.sink.append('episodes', {
      episode: view(results.episode),
      agent: view(results.agent),
      return: view(results.return),
      length: view(results.decisions),
      iteration: view(results.iteration),
      seat: view(results.seat),
    });
  }

  /** Hands over everything that was gathered since the last call. */
  async end(): Promise<void> {
    await this.put('steps', this.steps, { probe: this.probes });
    this.probes = [];
    await this.put('tensors', this.tensors);
    await this.put('replays', this.replays.columns);
    await this.put('counters', this.counters, { name: this.counterNames });
    this.counterNames = [];
    await this.put('scalars', this.clock ? { ...this.scalars, time: this.times } : this.scalars, {
      name: this.scalarNames,
    });
    this.scalarNames = [];
  }

  flush(): Promise<void> {
    return this.sink.flush();
  }

  position(): Record<string, number> {
    return this.sink.position();
  }

  private async put(
    table: string,
    columns: Record<string, { length: number; view: ColumnData; clear(): void }>,
    texts: Record<string, string[]> = {},
  ): Promise<void> {
    const data: Record<string, ColumnData> = {};
    for (const [name, column] of Object.entries(columns)) data[name] = column.view;
    if (columns.iteration.length > 0) await this.sink.append(table, { ...data, ...texts });
    for (const column of Object.values(columns)) column.clear();
  }

  private addTensors(job: TrainJob, report: StepReport): void {
    const { tensors } = this;
    report.tensors?.forEach((tensor, i) => {
      const group = job.settings.groups[job.policy.parameters[i].role];
      tensors.iteration.push(job.iteration);
      tensors.epoch.push(job.epoch);
      tensors.minibatch.push(job.minibatch);
      tensors.tensor.push(this.firstTensor[job.learner.index] + i);
      tensors.grad_norm.push(tensor.gradNorm);
      tensors.grad_nonzero.push(tensor.gradNonzero);
      tensors.delta.push(tensor.delta);
      tensors.delta_norm.push(tensor.deltaNorm);
      tensors.norm.push(tensor.norm);
      tensors.learning_rate.push(group.learningRate);
      tensors.weight_decay.push(group.weightDecay);
      tensors.bound.push(job.bound[i]);
    });
  }
}
