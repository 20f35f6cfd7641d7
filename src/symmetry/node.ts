/** The laboratory of one machine: training by sweep, random play on threads, everything kept in one folder so that nothing finished is done twice. */
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Piscina } from 'piscina';
import { gameMaker } from '../games/index.ts';
import { joinSums } from '../math/block-sums.ts';
import { RandomStream } from '../math/random.ts';
import { openRecording, writeWhole } from '../recording/node.ts';
import { version } from '../recording/version.ts';
import { canonical, jobId, makeJob } from '../sweep/job.ts';
import type { Runner } from '../sweep/runner.ts';
import { runSweep, type SweepProgress } from '../sweep/sweep.ts';
import { ThreadRunner } from '../sweep/threads.ts';
import { mergeSettings } from '../training/recommended.ts';
import type { Settings } from '../training/settings.ts';
import { cleanStages } from '../training/stages.ts';
import { relabelFindings } from './fairness.ts';
import { watchViews } from './play.ts';
import { type PlayTask, stagesOf } from './play-worker.ts';
import type { Laboratory, PlayedSums, PlayOrder, TrainedRun, TrainOrder, ViewSums } from './stage.ts';

export interface LabOptions {
  settings: Settings;
  names: readonly string[];
  out: string;
  /** Names the streams of play. */
  seed: number;
  fault?: { id: string; seed: number };
  threads?: number;
  /** What trains; threads of this machine unless given. Play at random is always here. */
  runner?: Runner;
  signal?: AbortSignal;
  onProgress?: (progress: SweepProgress) => void;
  onPlayed?: (done: number, all: number) => void;
  onFailure?: (label: string, error: string) => void;
}

/** Ctrl-C was pressed; what is finished is kept. */
export class Stopped extends Error {}

/** Episodes that one thread plays before it tells. */
const portion = 10_000;

export class NodeLaboratory implements Laboratory {
  private pool: Piscina | null = null;
  private readonly threads: number;
  private readonly trainers: ThreadRunner;

  constructor(private readonly options: LabOptions) {
    this.threads = options.threads ?? availableParallelism();
    this.trainers = new ThreadRunner({ threads: this.threads, keep: true });
  }

  /** The fault, where it has to do with play at all: what strikes only the update leaves play as it is, and known. */
  private get playFault(): LabOptions['fault'] {
    const { settings, fault } = this.options;
    const { game, collect } = stagesOf(settings, fault);
    return game === cleanStages.game && collect === cleanStages.collect ? undefined : fault;
  }

  async play(order: PlayOrder): Promise<PlayedSums> {
    const { settings, names, seed } = this.options;
    const fault = this.playFault;
    return this.kept('play', { order, settings, fault, names, seed }, async () => {
      const count = Math.ceil(order.episodes / portion);
      let done = 0;
      const parts = await Promise.all(
        Array.from({ length: count }, async (_, i) => {
          const task: PlayTask = {
            settings,
            ...(fault ? { fault } : {}),
            names: [...names],
            order: {
              episodes: Math.min(portion, order.episodes - i * portion),
              deal: order.deal,
              seed: RandomStream.of(seed, 'play', order.purpose, i).int32() >>> 0,
            },
          };
          this.requireGoing();
          const sums = (await this.playPool().run(task)) as PlayedSums;
          this.requireGoing();
          this.options.onPlayed?.(++done, count);
          return sums;
        }),
      );
      return {
        seats: {
          values: joinSums(parts.map(({ seats }) => seats.values)),
          ranks: joinSums(parts.map(({ seats }) => seats.ranks)),
        },
        names: joinSums(parts.map((part) => part.names)),
      };
    });
  }

  async views(episodes: number): Promise<ViewSums> {
    const { settings, seed } = this.options;
    const fault = this.playFault;
    return this.kept('views', { episodes, settings, fault, seed }, async () =>
      watchViews(gameMaker(settings.game, settings.gameSettings), stagesOf(settings, fault), episodes, seed),
    );
  }

  async relabel(episodes: number): Promise<string[] | null> {
    const { settings, seed } = this.options;
    const fault = this.playFault;
    return this.kept('relabel', { episodes, settings, fault, seed }, async () =>
      relabelFindings(gameMaker(settings.game, settings.gameSettings), stagesOf(settings, fault), episodes, seed),
    );
  }

  async train(orders: readonly TrainOrder[]): Promise<TrainedRun[]> {
    const { settings, fault, out, signal, onProgress, onFailure } = this.options;
    const jobs = orders.map(({ label, settings: own, seed, evaluate }) => ({
      label,
      job: makeJob(mergeSettings(settings as unknown as Record<string, unknown>, own), seed, {
        ...(fault ? { fault } : {}),
        ...(evaluate ? { evaluate } : {}),
      }),
    }));
    const outcome = await runSweep(jobs, join(out, 'runs'), {
      name: 'symmetry',
      runner: this.options.runner ?? this.trainers,
      ...(signal ? { signal } : {}),
      ...(onProgress ? { onProgress } : {}),
      onOutcome: ({ status, error }, label) => {
        if (status === 'failed') onFailure?.(label, error ?? '');
      },
    });
    if (outcome.stopped) throw new Stopped('stopped');
    const done = new Map(outcome.jobs.filter(({ status }) => status === 'done').map((job) => [job.id, job]));
    const runs: TrainedRun[] = [];
    for (const { label, job } of jobs) {
      const found = done.get(jobId(job));
      if (!found) continue;
      const recording = await openRecording(found.folder);
      runs.push({
        label,
        seed: job.seed,
        recording,
        folder: found.folder,
        evaluations: found.result?.evaluations ?? [],
      });
    }
    return runs;
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.trainers.close();
    await this.pool?.destroy();
    this.pool = null;
  }

  private requireGoing(): void {
    if (this.options.signal?.aborted) throw new Stopped('stopped');
  }

  private playPool(): Piscina {
    this.pool ??= new Piscina({
      filename: new URL('./play-worker.js', import.meta.url).href,
      maxThreads: this.threads,
      execArgv: [],
    });
    return this.pool;
  }

  /** The result of the same work, if it was done before. */
  private async kept<T>(kind: string, of: unknown, work: () => Promise<T>): Promise<T> {
    const id = createHash('sha256').update(canonical({ kind, of, version })).digest('hex').slice(0, 16);
    const folder = join(this.options.out, 'play');
    const file = join(folder, `${kind}-${id}.json`);
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text !== null) return JSON.parse(text) as T;
    const result = await work();
    await mkdir(folder, { recursive: true });
    await writeWhole(file, [new TextEncoder().encode(JSON.stringify(result))]);
    return result;
  }
}
