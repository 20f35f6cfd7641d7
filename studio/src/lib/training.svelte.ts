/** A training in the page: its worker, and the run that it writes. Switching the fault off goes on from where it is, as a run of its own beside the first. */
import { Caller } from '../workers/rpc.ts';
import type { TrainNews, TrainRequest } from '../workers/train.worker.ts';
import { OpenRun, openRuns } from './open-run.svelte.ts';

class PageTraining {
  running = $state(false);
  run = $state.raw<OpenRun | undefined>(undefined);
  steps = $state(0);
  done = $state(0);
  speed = $state(0);
  left = $state(0);
  threads = $state(0);
  notices = $state.raw<string[]>([]);
  error = $state('');
  /** What the run under way was given, for going on without its fault. */
  private request: TrainRequest | undefined;
  private checkpoint: Uint8Array | undefined;
  private caller: Caller | undefined;

  get fault(): string | undefined {
    return this.request?.fault;
  }

  async start(name: string, request: TrainRequest): Promise<void> {
    if (this.running) return;
    this.caller ??= new Caller(new Worker(new URL('../workers/train.worker.ts', import.meta.url), { type: 'module' }));
    this.running = true;
    this.request = request;
    this.error = '';
    this.notices = [];
    const run = openRuns.add(OpenRun.files(name, []));
    this.run = run;
    let looked = 0;
    try {
      const result = await this.caller.call<{ threads: number; checkpoint?: Uint8Array }, TrainNews>(
        'train',
        [request],
        (news) => {
          if (news.kind === 'file') {
            void run.addFile(news.path, new Blob([news.bytes]));
            // The doctor looks again as the run grows, and never waits in line behind itself.
            if (news.path !== 'manifest.json' && performance.now() - looked > 1500) {
              looked = performance.now();
              void run.refresh();
              void run.diagnose(false);
            }
          } else if (news.kind === 'report') {
            this.done = news.report.steps;
            this.speed = news.report.stepsPerSecond;
            this.left = news.report.secondsLeft;
          } else if (news.kind === 'start') this.steps = news.steps;
          else this.notices = [...this.notices, news.sentence];
        },
      );
      this.threads = result.threads;
      this.checkpoint = result.checkpoint;
      await run.refresh();
      await run.diagnose();
    } catch (error) {
      this.error = (error as Error).message;
    } finally {
      this.running = false;
    }
  }

  async stop(): Promise<void> {
    await this.caller?.call('stop');
  }

  /** Ends the run and goes on from its last iteration with every stage as it should be. */
  async withoutFault(): Promise<void> {
    const { request, run } = this;
    if (!request || !run) return;
    await this.stop();
    while (this.running) await new Promise((resolve) => setTimeout(resolve, 50));
    if (!this.checkpoint) return;
    const { fault: _, ...rest } = request;
    await this.start(`${run.label}, fault off`, { ...rest, resume: this.checkpoint });
  }
}

export const training = new PageTraining();
