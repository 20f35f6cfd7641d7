/** Does one job, wherever it runs: trains into a folder, goes on from a checkpoint that is there, and writes the result last. A job that has a result is never done again. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Bench, type Outcome as BenchOutcome } from '../faults/bench/outcome.ts';
import { iterations } from '../faults/bench/setups.ts';
import { applyFault, findFault } from '../faults/index.ts';
import { gameMaker } from '../games/index.ts';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { writeWhole } from '../recording/node.ts';
import { version } from '../recording/version.ts';
import { playLearnt } from '../training/collect/evaluate.ts';
import { isBegun, resumeFrom, trainInto } from '../training/node.ts';
import type { TrainResult } from '../training/run.ts';
import type { SettingsInput } from '../training/settings.ts';
import { cleanStages, type Stages } from '../training/stages.ts';
import { type Job, type JobEvaluation, jobId } from './job.ts';
import type { JobProgress } from './runner.ts';

/** What a finished job leaves beside its recording, as `result.json`. */
export interface JobResult {
  format: 'trueline/result/1';
  id: string;
  job: Job;
  /** Time that the run took, without what was done before it was stopped and resumed. */
  seconds: number;
  iterations: number;
  steps: number;
  agents: string[];
  /** What the guard counted. */
  guard: Record<string, number>;
  evaluations: EvaluationResult[];
  /** Of a run of the zoo's bench. */
  bench?: BenchOutcome;
}

export interface EvaluationResult extends JobEvaluation {
  /** Mean return by agent and seat; null where the agent never sat there. */
  mean: (number | null)[][];
  /** Episodes by agent and seat. */
  count: number[][];
}

export interface WorkHooks {
  signal?: AbortSignal;
  onProgress?: (progress: JobProgress) => void;
  /** Threads of the engine; results do not depend on it. */
  threads?: 1 | 2;
  /** Called when a checkpoint and all that was recorded before it are on disk; the run goes on when it has ended. */
  onCheckpoint?: () => Promise<void>;
}

export const resultFile = 'result.json';

/** Trains the job to its end; null where the signal stopped it first. */
export async function runJob(job: Job, folder: string, hooks: WorkHooks = {}): Promise<JobResult | null> {
  const id = jobId(job);
  const finished = await readResult(folder);
  if (finished?.id === id) return finished;
  if (job.version !== version)
    throw new BadInput(
      told(
        `the job ${id} was made by version ${job.version} and this is ${version}; results of two versions are not to be mixed, so make the list anew`,
        `任务 ${id} 由版本 ${job.version} 生成，而这里是 ${version}；两个版本的结果不能混用，请重新生成列表`,
      ),
    );
  const begun = performance.now();
  if (job.bench) return benched(job, id, folder);
  const { settings, stages } = prepare(job);
  const shared = {
    ...(stages ? { stages } : {}),
    ...(hooks.signal ? { signal: hooks.signal } : {}),
    ...(hooks.onCheckpoint ? { onCheckpoint: hooks.onCheckpoint } : {}),
    onIteration: ({ steps, secondsLeft }: { steps: number; secondsLeft: number }) =>
      hooks.onProgress?.({ id, steps: Math.min(steps, job.settings.steps), allSteps: job.settings.steps, secondsLeft }),
  };
  const threads = hooks.threads ?? 1;
  const run = (await isBegun(folder))
    ? await resumeFrom(folder, { threads }, shared)
    : await trainInto(folder, { ...settings, threads }, shared);
  try {
    if (run.stopped) return null;
    const result: JobResult = {
      format: 'trueline/result/1',
      id,
      job,
      seconds: (performance.now() - begun) / 1000,
      iterations: run.trainer.iteration,
      steps: run.trainer.steps,
      agents: [...run.trainer.seating.names],
      guard: Object.fromEntries(run.trainer.guard.counts),
      evaluations: (job.evaluate ?? []).map((wanted) => evaluation(run, job, wanted)),
    };
    return await keepResult(folder, result);
  } finally {
    run.dispose();
  }
}

/** Kept from job to job, because the runs of one setup share a clean twin. */
const bench = new Bench();

async function benched(job: Job, id: string, folder: string): Promise<JobResult> {
  const outcome = await bench.run(job.bench!);
  return keepResult(folder, {
    format: 'trueline/result/1',
    id,
    job,
    seconds: outcome.seconds,
    iterations,
    steps: job.settings.steps,
    agents: [],
    guard: {},
    evaluations: [],
    bench: outcome,
  });
}

async function keepResult(folder: string, result: JobResult): Promise<JobResult> {
  await writeWhole(join(folder, resultFile), [new TextEncoder().encode(`${JSON.stringify(result, null, 1)}\n`)]);
  return result;
}

/** The result in a folder; null where the job has not ended there. */
export async function readResult(folder: string): Promise<JobResult | null> {
  const text = await readFile(join(folder, resultFile), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const result = JSON.parse(text) as JobResult;
    return result.format === 'trueline/result/1' ? result : null;
  } catch {
    return null;
  }
}

function prepare(job: Job): { settings: SettingsInput; stages?: Stages } {
  const settings: SettingsInput = { ...job.settings, seed: job.seed };
  if (!job.fault) return { settings };
  return applyFault(findFault(job.fault.id), job.fault.seed, cleanStages, settings);
}

function evaluation(run: TrainResult, job: Job, wanted: JobEvaluation): EvaluationResult {
  const { trainer } = run;
  const { names } = trainer.seating;
  const make = gameMaker(job.settings.game, job.settings.gameSettings);
  const results = playLearnt(trainer, make, { ...wanted, seed: job.seed, stages: trainer.stages });
  const sums = names.map(() => new Float64Array(names.length));
  const count = names.map(() => new Array<number>(names.length).fill(0));
  for (let i = 0; i < results.length; i++) {
    sums[results.agent[i]][results.seat[i]] += results.return[i];
    count[results.agent[i]][results.seat[i]]++;
  }
  const mean = sums.map((row, agent) =>
    Array.from(row, (sum, seat) => (count[agent][seat] > 0 ? sum / count[agent][seat] : null)),
  );
  return { ...wanted, mean, count };
}
