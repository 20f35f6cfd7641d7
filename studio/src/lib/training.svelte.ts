/** A training in the page: its worker, its curves as the trainer reports them, an episode of its policies now and then, and the run that it writes. Switching the fault off goes on from where it is: the curves go on, and a mark says when. */
import { type Curve, CurveReader } from '../../../src/report/studio/curves.ts';
import { say, words } from '../texts/index.svelte.ts';
import { Caller } from '../workers/rpc.ts';
import type { TrainNews, TrainRequest } from '../workers/train.worker.ts';
import type { Mark } from './charts/plot.ts';
import type { Replay } from './episode.ts';
import { OpenRun, openRuns } from './open-run.svelte.ts';

/** Milliseconds between two looks of the doctor, and between two drawings of the curves. */
const look = 1500;
const draw = 200;
/** Milliseconds within which the files of one writing follow each other. */
const whole = 300;

class PageTraining {
  running = $state(false);
  /** The part that is being written, and those before it. */
  run = $state.raw<OpenRun | undefined>(undefined);
  parts = $state.raw<OpenRun[]>([]);
  name = $state('');
  curves = $state.raw<Curve[]>([]);
  marks = $state.raw<Mark[]>([]);
  episode = $state.raw<Replay | undefined>(undefined);
  steps = $state(0);
  done = $state(0);
  speed = $state(0);
  left = $state(0);
  threads = $state(0);
  notices = $state.raw<string[]>([]);
  error = $state('');
  /** Milliseconds from the start to the first report, for the bench. */
  firstReport = $state(0);
  /** What the form holds: settings as they were typed, by their paths. */
  changed = $state<Record<string, string>>({});
  /** The name for the next run, and the part of the curves in view. */
  wanted = $state('');
  view = $state.raw<[number, number] | undefined>(undefined);
  /** What the run under way was given, for going on without its fault. */
  private request: TrainRequest | undefined;
  private checkpoint: Uint8Array | undefined;
  private caller: Caller | undefined;
  private reader: CurveReader | undefined;
  private iteration = 0;

  get fault(): string | undefined {
    return this.request?.fault;
  }

  async start(name: string, request: TrainRequest): Promise<void> {
    if (this.running) return;
    this.name = name;
    this.reader = undefined;
    this.curves = [];
    this.marks = [];
    this.parts = [];
    this.episode = undefined;
    this.done = 0;
    this.firstReport = 0;
    await this.train(name, request);
  }

  private async train(name: string, request: TrainRequest): Promise<void> {
    const caller = this.worker();
    this.running = true;
    this.request = request;
    this.error = '';
    this.notices = [];
    const run = openRuns.add(OpenRun.files(name, [], true));
    this.run = run;
    this.parts = [...this.parts, run];
    const begun = performance.now();
    let [looked, drawn] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    let looking: ReturnType<typeof setTimeout> | undefined;
    let ended: Promise<unknown> = Promise.resolve();
    // Whoever reads what is written begins when the first chart stands: until then the trainer and the page have the machine for themselves.
    let reported = () => {};
    const first = new Promise<void>((resolve) => {
      reported = resolve;
    });
    try {
      const result = await caller.call<{ threads: number; checkpoint?: Uint8Array }, TrainNews>(
        'train',
        [request, words.language],
        (news) => {
          if (news.kind === 'file') {
            const { path, bytes } = news;
            ended = first.then(() => run.addFile(path, new Blob([bytes])));
            // The doctor looks again as the run grows, when all tables of what was written are there: from some of them it would take the run for a log.
            if (path !== 'manifest.json' && !looking)
              looking = setTimeout(
                () => {
                  looking = undefined;
                  looked = performance.now();
                  void ended.then(() => (this.running ? run.diagnose(false) : undefined));
                },
                Math.max(whole, looked + look - performance.now()),
              );
          } else if (news.kind === 'report') {
            this.firstReport ||= performance.now() - begun;
            this.iteration = news.told.iteration;
            this.done = news.told.step;
            if (news.pace) ({ speed: this.speed, left: this.left } = news.pace);
            this.reader?.report(news.told);
            if (performance.now() - drawn < draw) return;
            drawn = performance.now();
            this.curves = this.reader?.list() ?? [];
            setTimeout(reported, draw);
          } else if (news.kind === 'start') {
            this.steps = news.steps;
            const named = (names: string[]) => names.map((own) => ({ name: own }));
            this.reader ??= new CurveReader({ agents: named(news.agents), policies: named(news.policies) });
          } else if (news.kind === 'episode') this.episode = news.replay;
          else this.notices = [...this.notices, news.sentence];
        },
      );
      this.threads = result.threads;
      this.checkpoint = result.checkpoint;
      this.curves = this.reader?.list() ?? [];
      clearTimeout(looking);
      await ended;
      await run.refresh();
      await run.diagnose();
    } catch (error) {
      this.error = (error as Error).message;
    } finally {
      reported();
      clearTimeout(looking);
      this.running = false;
    }
  }

  /** Loads the trainer while its form is filled in. */
  prepare(): void {
    if (!this.caller)
      void this.worker()
        .call('prepare')
        .catch(() => undefined);
  }

  private worker(): Caller {
    this.caller ??= new Caller(new Worker(new URL('../workers/train.worker.ts', import.meta.url), { type: 'module' }));
    return this.caller;
  }

  async stop(): Promise<void> {
    await this.caller?.call('stop');
  }

  /** Ends the part and goes on from its last iteration with every stage as it should be. */
  async withoutFault(): Promise<void> {
    const { request, run } = this;
    if (!request || !run) return;
    await this.stop();
    while (this.running) await new Promise((resolve) => setTimeout(resolve, 50));
    if (!this.checkpoint) return;
    const { fault: _, ...rest } = request;
    this.marks = [...this.marks, { x: this.iteration + 0.5, label: say('train.off') }];
    await this.train(`${run.label}, ${say('train.off')}`, { ...rest, resume: this.checkpoint });
  }
}

export const training = new PageTraining();
