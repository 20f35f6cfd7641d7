/** A training run, one iteration at a time: collect, credit, batch, replay, loss, step. Every number passes through the stages and nowhere else. */

import type { Crew } from '../algorithms/algorithm.ts';
import { type Learner, reinitialiseHead } from '../algorithms/learner.ts';
import type { LearnerRows, UpdatePart, UpdatePlan } from '../algorithms/ppo/update.ts';
import { batchShape, rowBytes } from '../batch/batch.ts';
import type { Game, GameMaker } from '../games/game.ts';
import { gameMaker } from '../games/index.ts';
import { told } from '../language/language.ts';
import type { Engine } from '../net/types.ts';
import { BadInput } from '../recording/bad-input.ts';
import type { Manifest } from '../recording/manifest.ts';
import { version } from '../recording/version.ts';
import {
  type BegunFault,
  type Checkpoint,
  decodeCheckpoint,
  encodeCheckpoint,
  loadLearner,
  requireSameMaker,
  requireSameSettings,
  saveLearner,
} from './checkpoint.ts';
import { Collector } from './collect/collector.ts';
import { agentNames, makeSeating, type Seating } from './collect/seating.ts';
import { assignCredit } from './credit/assign-credit.ts';
import { Flow } from './flow.ts';
import { Guard, type GuardKind, GuardStop } from './guard/guard.ts';
import { LiveDoctor } from './guard/live-doctor.ts';
import { Replay } from './guard/replay-check.ts';
import { Watch } from './guard/step-watch.ts';
import { readLineup } from './lineup/lineup.ts';
import type { Origins } from './lineup/origin.ts';
import { makeTable, updateInGroups, updateOrder } from './lineup/table.ts';
import { firstTensors, makeManifest } from './record/declare.ts';
import type { Readings } from './record/readings.ts';
import { Recorder, type RecordingSink } from './record/recorder.ts';
import type { IterationReport } from './report.ts';
import { checkSettings, readSettings, requireRoom, type Settings, type SettingsInput } from './settings.ts';
import { cleanStages, type Stages } from './stages.ts';
import { applyProbes } from './update/diagnostic-probes.ts';
import { emptyRows } from './update/learner-rows.ts';

export interface TrainerOptions {
  /** The engine that computes; the trainer does not dispose of it. */
  engine: Engine;
  /** A game in place of the one that settings.game names. */
  game?: GameMaker;
  /** Stages in place of the clean ones. */
  stages?: Partial<Stages>;
  /** The agents of other runs that `players` names; `trainInto` reads them from their folders. */
  origins?: Origins;
  /** The fault that these stages make, to be kept with every checkpoint. */
  fault?: BegunFault;
  /** Hears what the guard has to say in `warn`, and what the settings say about themselves. */
  onNotice?: (sentence: string, kind?: GuardKind) => void;
  /** Hears how the episodes of an iteration went as soon as they are played; learning from them waits for what it returns. */
  onPlayed?: (played: Pick<IterationReport, 'iteration' | 'steps' | 'returns'>) => void | Promise<void>;
}

/** What is kept of a learner between iterations. */
interface Seat {
  learner: Learner;
  rows: LearnerRows;
  replay: Replay;
}

/**
 * A run that its caller drives, one iteration at a time. `train` is the usual way; this one is for programs with a loop of their own.
 *
 * @example
 * const engine = await createEngine();
 * const trainer = new Trainer({ game: 'echo' }, { engine });
 * for (let i = 0; i < 20; i++) console.log((await trainer.iterate()).steps);
 * engine.dispose();
 */
export class Trainer {
  readonly game: Game;
  readonly learners: readonly Learner[];
  /** Those that learn, then those that only play. */
  readonly seated: readonly Learner[];
  readonly seating: Seating;
  readonly guard: Guard;
  /** How much of the current iteration is done and written. */
  private written = { credit: false, samples: false };
  readonly stages: Stages;
  /** What accompanies the policies, where the algorithm has anything. */
  readonly crew: Crew | null;
  iteration = 0;
  steps = 0;
  private readonly collector: Collector;
  private readonly flow: Flow;
  private readonly seats: Seat[];
  readonly engine: Engine;
  private recorder: Recorder | null = null;
  private live: LiveDoctor | null = null;
  private watch: Watch;
  private recomputed = new Float32Array(0);
  private spare = new Float32Array(0);

  readonly settings: Settings;

  private readonly origins: Origins;

  constructor(
    input: SettingsInput,
    private readonly options: TrainerOptions,
  ) {
    const settings = readSettings(input);
    this.settings = settings;
    this.engine = options.engine;
    this.stages = { ...cleanStages, ...options.stages };
    const make = options.game ?? gameMaker(settings.game, settings.gameSettings);
    this.game = this.stages.game(make(settings.worlds));
    const { shape } = this.game;
    const names = agentNames(settings, this.game);
    this.origins = options.origins ?? {};
    const lineup = readLineup(names, settings, this.origins);
    const learning = lineup.plans.slice(0, lineup.learning).reduce((sum, plan) => sum + plan.agents.length, 0);
    for (const sentence of checkSettings(settings, shape.seats, learning, shape.features > 0))
      options.onNotice?.(sentence);
    const { engine, stages, game } = this;
    const table = makeTable({ engine, game, make, names, plans: lineup.plans, settings, stages }, lineup, this.origins);
    const { crew, seated, widest } = table;
    this.crew = crew;
    this.seated = seated;
    this.learners = seated.slice(0, lineup.learning);
    const rows = batchShape(game, widest.state, widest.accompanying, crew?.companion.notes);
    requireRoom(settings, learning, rowBytes(rows));
    this.seating = makeSeating(this.game, names, settings, seated);
    this.collector = new Collector(engine, game, this.seating, seated, settings, stages, crew?.companion ?? null);
    this.flow = new Flow(rows, stages, this.learners, engine.room);
    this.seats = this.learners.map((learner) => ({ learner, rows: emptyRows(), replay: new Replay() }));
    this.guard = new Guard(settings.guard, names, (kind, sentence) => options.onNotice?.(sentence, kind));
    this.watch = new Watch(this.stages, this.guard, null);
  }

  get done(): boolean {
    return this.steps >= this.settings.steps;
  }

  manifest(): Manifest {
    const manifest = makeManifest(this.settings, this.game, this.seating, this.learners, this.engine, version);
    const { fault } = this.options;
    return fault ? { ...manifest, fault: fault.name } : manifest;
  }

  /** From now on everything goes into this recording, with the time of day where a clock is given. */
  record(sink: RecordingSink, clock?: () => number): void {
    this.live = this.guard.on ? new LiveDoctor(this.manifest(), this.guard) : null;
    this.recorder = new Recorder(
      this.live?.tee(sink) ?? sink,
      this.settings.recording,
      firstTensors(this.learners),
      clock,
    );
    this.watch = new Watch(this.stages, this.guard, this.recorder);
  }

  async iterate(): Promise<IterationReport> {
    return this.goOn().catch(async (error: unknown) => {
      if (error instanceof GuardStop) await this.recordStop();
      throw error;
    });
  }

  /** What stopped a run is evidence: the rows that were collected and the steps so far are written, so that the doctor can name the cause. */
  private async recordStop(): Promise<void> {
    const { recorder, flow, written } = this;
    if (!written.credit) flow.credit(this.settings.ppo);
    if (!written.samples) await recorder?.samples(flow.samples());
    await recorder?.end();
    await recorder?.flush();
  }

  private async goOn(): Promise<IterationReport> {
    this.written = { credit: false, samples: false };
    const { flow, crew, stages, guard, iteration, recorder, live, written } = this;
    const probed = applyProbes(this.settings.ppo, this.settings.probes, iteration);
    recorder?.begin(iteration);
    live?.begin(recorder?.whole ?? false);
    // Before the rows are collected, because they must come from the policy that is updated.
    if (probed.searched) for (const learner of this.learners) learner.rateFactor = 1;
    if (probed.reinitialiseHead !== null) {
      const { seed } = this.settings;
      for (const learner of this.learners)
        reinitialiseHead(this.engine, learner, probed.reinitialiseHead, seed, iteration);
    }

    await recorder?.policies(this.learners, iteration);
    crew?.begin(iteration);
    const real = flow.collect(this.collector, crew);
    const returns = this.collector.results.means(this.seating.names.length);
    await this.options.onPlayed?.({ iteration, steps: this.steps + real, returns });
    guard.checkBatch(flow.batch);
    flow.credit(probed.ppo);
    written.credit = true;
    guard.checkCredit(flow.batch);
    this.recompute();
    written.samples = recorder?.whole ?? false;
    if (written.samples) await recorder!.samples(flow.samples());

    const shared: Omit<UpdatePlan, 'ppo'> = {
      seed: this.settings.seed,
      iteration,
      progress: this.steps / this.settings.steps,
      temperature: probed.temperature,
      advantageScale: probed.advantageScale,
      probe: probed.name,
      searchKl: probed.searchKl,
      measureAfter: guard.on || (recorder?.whole ?? false),
    };
    const order = updateOrder(this.learners.length, this.settings, iteration);
    const plans = this.learners.map(({ seat }) => ({
      ...shared,
      ppo: applyProbes(seat.ppo, this.settings.probes, iteration).ppo,
    }));
    const parts = order.map((index) => this.prepare(this.seats[index], plans[index]));
    const results = updateInGroups(this.engine, parts, plans, stages, this.watch);
    for (const { learner, rows } of parts) learner.normaliser.learnFromCritic(rows.return, rows.length);

    crew?.learn(this.learners, order);
    const readings: Readings[] = [];
    order.forEach((index, position) => {
      readings[index] = this.watch.finish(this.learners[index], results[position]);
      const usual = crew?.blownUp(index, readings[index].value_loss) ?? null;
      if (usual !== null)
        guard.valueLossBlownUp(this.learners[index].name, iteration, readings[index].value_loss, usual);
    });
    this.iteration++;
    this.steps += real;
    const modules = crew?.readings() ?? [];
    await this.recordIteration(iteration, order, readings, modules);
    await live?.examine();
    return {
      iteration,
      rows: real,
      steps: this.steps,
      readings,
      modules,
      returns,
      order,
      recorded: recorder?.whole ?? false,
      probe: probed.name,
    };
  }

  /** Writes what is still buffered, so that readers see it. */
  flush = async (): Promise<void> => this.recorder?.flush();

  /** Flushes, and gives everything that a continuation needs. */
  async save(): Promise<Uint8Array> {
    await this.flush();
    const checkpoint: Checkpoint = {
      settings: this.settings,
      iteration: this.iteration,
      steps: this.steps,
      kernel: this.engine.kernel,
      learners: this.learners.map(saveLearner),
      worlds: this.collector.save(),
      crew: this.crew?.save() ?? null,
      guard: [...this.guard.counts],
      recording: this.recorder?.position() ?? null,
      ...(this.options.fault ? { fault: this.options.fault } : {}),
      ...(Object.keys(this.origins).length > 0 ? { origins: this.origins } : {}),
    };
    return encodeCheckpoint(checkpoint);
  }

  load(bytes: Uint8Array): Checkpoint {
    const checkpoint = decodeCheckpoint(bytes);
    requireSameSettings(checkpoint.settings, this.settings);
    requireSameMaker(checkpoint, this.options.fault?.name, this.engine.kernel);
    this.iteration = checkpoint.iteration;
    this.steps = checkpoint.steps;
    for (const [i, learner] of this.learners.entries()) loadLearner(learner, checkpoint.learners[i]);
    this.collector.load(checkpoint.worlds);
    if (this.crew && !checkpoint.crew)
      throw new BadInput(
        told(
          `the checkpoint holds no models of ${this.settings.algorithm}: an earlier version made it; begin a new run`,
          `检查点里没有 ${this.settings.algorithm} 的模型：它由更早的版本生成；请重新开始训练`,
        ),
      );
    this.crew?.load(checkpoint.crew);
    for (const [kind, count] of checkpoint.guard) this.guard.counts.set(kind as GuardKind, count);
    return checkpoint;
  }

  /** A learner's own rows, checked against the distribution they were sampled from. */
  private prepare(seat: Seat, plan: UpdatePlan): UpdatePart {
    const { flow, stages, guard } = this;
    const { batch } = flow;
    const { learner, replay } = seat;
    const rows = flow.prepare(learner, plan.ppo, seat.rows);
    if (guard.on && !learner.searches) {
      replay.run(learner, rows, plan, stages, this.recorder?.whole ?? false);
      // A strict guard stops at rows that differ, before any step could show them.
      if (guard.mode === 'strict' && replay.failed > 0 && replay.job) this.recorder?.replayed(replay.job);
      guard.checkReplay(batch, rows, replay);
    } else replay.skip(rows);
    this.watch.begin(learner, rows, learner.inputs, plan.iteration, this.recomputed, replay);
    return { learner, rows, valid: replay.valid };
  }

  /** Advantages from rewards, values and ends alone, whatever the credit stage did; only a reading uses them. */
  private recompute(): void {
    const { batch } = this.flow;
    const { gamma, lambda } = this.settings.ppo;
    if (this.recomputed.length < batch.rows) {
      this.recomputed = new Float32Array(batch.capacity);
      this.spare = new Float32Array(batch.capacity);
    }
    const { rows, episode, agent, reward, value, nextValue, terminated, truncated } = batch;
    const columns = { rows, episode, agent, reward, value, nextValue, terminated, truncated };
    assignCredit({ ...columns, advantage: this.recomputed, return: this.spare }, gamma, lambda);
  }

  private async recordIteration(
    iteration: number,
    order: readonly number[],
    readings: readonly Readings[],
    modules: readonly Record<string, number>[],
  ): Promise<void> {
    const { recorder, collector, learners, seating } = this;
    const { batch } = this.flow;
    if (!recorder) return;
    await recorder.episodes(collector.results);
    const perAgent = (value: (learner: number) => number) =>
      Array.from(seating.learnerOf, (learner) => (learners[learner] ? value(learner) : 0));
    const rows = new Int32Array(seating.names.length);
    for (let row = 0; row < batch.rows; row++) if (batch.imagined[row] === 0) rows[batch.agent[row]]++;
    const updates = perAgent((learner) => learners[learner].updates);
    recorder.count(iteration, 'updates.policy', updates);
    const places = perAgent((learner) => order.indexOf(learner));
    recorder.count(iteration, 'order', places);
    recorder.count(iteration, 'push.real', rows);
    recorder.count(iteration, 'buffer.real', rows);
    for (const [name, values] of this.crew?.counters(learners, rows) ?? []) recorder.count(iteration, name, values);
    modules.forEach((values, index) => {
      for (const [name, value] of Object.entries(values)) recorder.scalar(iteration, this.steps, index, name, value);
    });
    for (const learner of learners) recorder.readings(iteration, this.steps, learner, readings[learner.index]);
    await recorder.end();
  }
}
