/** Trains from settings to the end, with reports on the way. Stopping finishes the iteration and saves, so a stopped run goes on as if it had not stopped. */

import { policyPlayer } from '../algorithms/policy-player.ts';
import type { Game, GameMaker } from '../games/game.ts';
import { gameMaker } from '../games/index.ts';
import type { Player } from '../games/players.ts';
import { told } from '../language/language.ts';
import { createEngine, EngineRefusal } from '../net/engine.ts';
import type { Engine } from '../net/types.ts';
import { BadInput } from '../recording/bad-input.ts';
import type { Manifest } from '../recording/manifest.ts';
import type { BegunFault } from './checkpoint.ts';
import type { AgentReturn } from './collect/episodes.ts';
import { evaluate } from './collect/evaluate.ts';
import { type GuardKind, GuardStop } from './guard/guard.ts';
import type { Origins } from './lineup/origin.ts';
import type { RecordingSink } from './record/recorder.ts';
import type { IterationReport } from './report.ts';
import { readSettings, type SettingsInput } from './settings.ts';
import { cleanStages, type Stages } from './stages.ts';
import { Trainer } from './trainer.ts';

/**
 * What a caller may put into a run: a game, stages, an engine, somewhere to record to, and functions that hear how it goes.
 *
 * @example
 * const store = memoryStore('run');
 * const hooks: TrainHooks = { recording: (manifest) => RecordingWriter.create(store, manifest) };
 * await train({ game: 'echo' }, hooks);
 */
export interface TrainHooks {
  /** A game in place of the one that settings.game names. */
  game?: GameMaker;
  /** Stages in place of the clean ones. */
  stages?: Partial<Stages>;
  /** The agents of other runs that `players` names; `trainInto` reads them from their folders. */
  origins?: Origins;
  /** The fault that these stages make, kept with every checkpoint: a run that is gone on with must have it again. */
  fault?: BegunFault;
  /** An engine to share; otherwise one is made and disposed of. */
  engine?: Engine;
  /** Opens the recording, from the position given where the run is resumed. */
  recording?: (manifest: Manifest, position: Record<string, number> | null) => Promise<RecordingSink>;
  /** Seconds since 1970, recorded beside the readings; without it a recording depends on nothing but its settings. */
  clock?: () => number;
  /** Keeps a checkpoint. */
  checkpoint?: (bytes: Uint8Array, iteration: number) => Promise<void>;
  /** A checkpoint to go on from. */
  resume?: Uint8Array;
  /** Finishes the iteration, saves and returns. */
  signal?: AbortSignal;
  /** Called once, before the first iteration. `play` gives players with the policies as they are at that moment, one for each seat of a game like the trained one. */
  onStart?: (run: { steps: number; policies: string[]; agents: string[]; play: (game: Game) => Player[] }) => void;
  /** Called when the episodes of an iteration are played: the first thing that there is to show of a run. Learning from them waits for what it returns. */
  onPlayed?: (played: Pick<IterationReport, 'iteration' | 'steps' | 'returns'>) => void | Promise<void>;
  onIteration?: (report: ProgressReport) => void;
  onNotice?: (sentence: string, kind?: GuardKind) => void;
}

/**
 * An iteration's report with the speed, the time left and what the guard has counted.
 *
 * @example
 * await train({ game: 'echo' }, { onIteration: ({ steps, stepsPerSecond }: ProgressReport) => console.log(steps, stepsPerSecond) });
 */
export interface ProgressReport extends IterationReport {
  stepsPerSecond: number;
  secondsLeft: number;
  /** What the guard has counted so far. */
  guard: Partial<Record<GuardKind, number>>;
}

/**
 * A run that has ended: its trainer, and play with the policies as they are. Call `dispose` when nothing more is asked of it.
 *
 * @example
 * const run: TrainResult = await train({ game: 'echo', steps: 50_000 });
 * for (const { mean, standardError } of run.evaluate(1000)) console.log(mean, standardError);
 * run.dispose();
 */
export interface TrainResult {
  trainer: Trainer;
  /** True where the signal ended the run before its last step. */
  stopped: boolean;
  last: ProgressReport | null;
  /** Sampled play on fresh episodes with the policies as they are; needs the engine, so call it before `dispose`. */
  evaluate(episodes: number, seed?: number): AgentReturn[];
  dispose(): void;
}

const hookNames = {
  game: true,
  stages: true,
  origins: true,
  fault: true,
  engine: true,
  recording: true,
  clock: true,
  checkpoint: true,
  resume: true,
  signal: true,
  onStart: true,
  onPlayed: true,
  onIteration: true,
  onNotice: true,
} satisfies Record<keyof TrainHooks, true>;

/** A hook that is misspelt would never be called, and a stage never replace anything. */
function refuseUnknown(what: string, given: object, known: object): void {
  for (const name of Object.keys(given))
    if (!(name in known))
      throw new BadInput(
        told(
          `there is no ${what} ${JSON.stringify(name)}; there are ${Object.keys(known).join(', ')}`,
          `没有${what} ${JSON.stringify(name)}；可用的有 ${Object.keys(known).join(', ')}`,
        ),
      );
}

/** How long ago the iterations that the speed is measured over began, in milliseconds. */
const speedWindow = 10_000;
/** Who watches a run sees its first iteration at once, unless the run is over in a few, and with a clock whatever is older than this, in milliseconds. Without a clock the files of a run are its settings' alone. */
const newsAge = 1000;
const fewIterations = 10;

/**
 * Trains agents on a game, in Node or in a page: the same settings and seed give the same bits. Recording and checkpoints are hooks; `trainInto` of `trueline/training/node` writes both into a folder.
 *
 * @example
 * const run = await train({ game: 'echo', seed: 3, steps: 50_000 }, { onIteration: ({ steps, returns }) => console.log(steps, returns) });
 * console.log(run.evaluate(1000));
 * run.dispose();
 */
export async function train(input: SettingsInput, hooks: TrainHooks = {}): Promise<TrainResult> {
  refuseUnknown(told('hook', '钩子'), hooks, hookNames);
  refuseUnknown(told('stage', '阶段'), hooks.stages ?? {}, cleanStages);
  const settings = readSettings(input);
  const engine =
    hooks.engine ??
    (await createEngine({
      kernel: settings.kernel,
      engine: settings.engine,
      ...(settings.threads ? { threads: settings.threads } : {}),
    }).catch((error: unknown) => {
      throw error instanceof EngineRefusal ? new BadInput(error.message.replace(/\.$/, '')) : error;
    }));
  const dispose = () => {
    if (!hooks.engine) engine.dispose();
  };
  let sink: RecordingSink | null = null;
  try {
    const trainer = new Trainer(settings, { ...hooks, engine });
    const position = hooks.resume ? trainer.load(hooks.resume).recording : null;
    sink = hooks.recording ? await hooks.recording(trainer.manifest(), position) : null;
    if (sink) trainer.record(sink, hooks.clock);
    const policies = trainer.learners.map((learner) => learner.name);
    const agents = [...trainer.seating.names];
    hooks.onStart?.({ steps: settings.steps, policies, agents, play: (game) => currentPlayers(trainer, game) });
    const run = await loop(trainer, hooks);
    await sink?.close({ ended: run.stopped ? 'stopped' : 'finished' });
    const make = hooks.game ?? gameMaker(settings.game, settings.gameSettings);
    return {
      ...run,
      trainer,
      evaluate: (episodes, seed = settings.seed) => evaluate(trainer, make, { episodes, seed }),
      dispose,
    };
  } catch (error) {
    dispose();
    // What led to the stop is evidence, so it is kept.
    if (error instanceof GuardStop) await sink?.close({ ended: 'stopped by the guard' });
    throw error;
  }
}

/** The policies of a run at a game, as they are now. */
function currentPlayers(trainer: Trainer, game: Game): Player[] {
  const table = trainer.crew?.table(game) ?? null;
  return Array.from({ length: game.shape.seats }, (_, seat) => {
    const scripted = trainer.seating.players[seat];
    if (scripted) return table ? table.watch(scripted) : scripted;
    const learner = trainer.seated.find((item) => item.agents.includes(seat)) ?? trainer.learners[0];
    return table ? table.player(learner) : policyPlayer(learner);
  });
}

async function loop(trainer: Trainer, hooks: TrainHooks): Promise<{ stopped: boolean; last: ProgressReport | null }> {
  const { settings } = trainer;
  const marks: { time: number; steps: number }[] = [{ time: performance.now(), steps: trainer.steps }];
  let last: ProgressReport | null = null;
  let saved = -1;
  let shown = performance.now();
  const save = async () => {
    if (!hooks.checkpoint || saved === trainer.iteration) return;
    await hooks.checkpoint(await trainer.save(), trainer.iteration);
    saved = trainer.iteration;
    shown = performance.now();
  };
  const isNews = (now: number) =>
    (trainer.iteration === 1 && fewIterations * trainer.steps <= settings.steps) ||
    (hooks.clock !== undefined && now - shown > newsAge);
  // Before anything is recorded, so that whatever has rows can be gone on with.
  if (trainer.iteration === 0) await save();
  while (!trainer.done && !hooks.signal?.aborted) {
    const report = await trainer.iterate();
    const now = performance.now();
    marks.push({ time: now, steps: trainer.steps });
    while (marks.length > 2 && now - marks[1].time > speedWindow) marks.shift();
    const stepsPerSecond = ((trainer.steps - marks[0].steps) / Math.max(1e-3, now - marks[0].time)) * 1000;
    last = {
      ...report,
      stepsPerSecond,
      secondsLeft: Math.max(0, settings.steps - trainer.steps) / stepsPerSecond,
      guard: Object.fromEntries(trainer.guard.counts),
    };
    hooks.onIteration?.(last);
    if (settings.checkpoint > 0 && trainer.iteration % settings.checkpoint === 0) await save();
    else if (isNews(now)) {
      await trainer.flush();
      shown = performance.now();
    }
    // Lets a page draw, and a signal arrive.
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
  }
  await save();
  return { stopped: !trainer.done, last };
}
