/** The studio's server, where there is one: its runs, investigations and jobs as they change. Without one the page works on what is dropped onto it; one that has gone is waited for. */
import type { NewsOfRuns, ToldRun } from '../../../src/cli/studio/app.ts';
import type { Job } from '../../../src/cli/studio/jobs.ts';
import type { InvestigationEntry } from '../../../src/cli/studio/runs.ts';
import { restore } from '../../../src/report/studio/alike.ts';
import { keeping } from './news/same.ts';
import { answered, base } from './stores.ts';

/** Milliseconds between two tries to reach a server that has gone. */
const again = 1000;

class Server {
  /** Undefined until it is known. */
  present = $state<boolean | undefined>(undefined);
  /** It was there and does not answer now. */
  gone = $state(false);
  runs = $state.raw<ToldRun[]>([]);
  investigations = $state.raw<InvestigationEntry[]>([]);
  /** Folders with a matrix of who earns what beside whom. */
  crossplays = $state.raw<string[]>([]);
  /** What this server was asked to start. */
  jobs = $state.raw<Job[]>([]);
  /** Runs in the bin. */
  bin = $state.raw<string[]>([]);
  /** The name of the queue that it shows, if it shows one. */
  queue = $state<string | null>(null);
  private readonly keep = keeping<ToldRun>();
  private readonly byId = $derived(new Map(this.runs.map((run) => [run.id, run])));

  entry(id: string): ToldRun | undefined {
    return this.byId.get(id);
  }

  /** Resolves when it is known whether there is a server, and which runs it has. */
  connect(): Promise<void> {
    return new Promise((resolve) => this.listen(resolve));
  }

  private listen(known: () => void = () => undefined): void {
    const source = new EventSource(new URL('api/watch', base()));
    const on = (name: string, take: (data: never) => void) =>
      source.addEventListener(name, (event) => {
        this.gone = false;
        take(JSON.parse((event as MessageEvent<string>).data) as never);
      });
    let first = true;
    on('runs', ({ changed, gone, common }: NewsOfRuns) => {
      // The first news of a connection are everything that there is, and the last of what it begins with.
      const before = this.byId;
      const kept = new Map(first ? [] : before);
      for (const { manifest, ...run } of changed)
        kept.set(run.id, unlessSame(before.get(run.id), { ...run, manifest: restore(common, manifest) } as ToldRun));
      for (const id of gone) kept.delete(id);
      this.runs = this.keep([...kept.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
      this.present = true;
      if (first) known();
      first = false;
    });
    on('about', ({ queue }: { queue: string | null }) => {
      this.queue = queue;
    });
    on('investigations', (investigations: InvestigationEntry[]) => {
      this.investigations = investigations;
    });
    on('crossplays', (crossplays: string[]) => {
      this.crossplays = crossplays;
    });
    on('bin', (bin: string[]) => {
      this.bin = bin;
    });
    on('jobs', (jobs: Job[]) => {
      this.jobs = jobs;
    });
    source.onerror = () => {
      source.close();
      this.present ??= false;
      this.gone = this.present;
      if (this.gone) setTimeout(() => this.listen(), again);
      else known();
    };
  }

  train(name: string, settings: Record<string, unknown>, fault?: string): Promise<Job> {
    return this.post('api/train', { name, settings, ...(fault ? { fault } : {}) });
  }

  investigate(request: Record<string, unknown>): Promise<Job> {
    return this.post('api/symmetry', request);
  }

  /** Asks its doctor to look at these next. */
  async examine(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.post('api/examine', { ids });
  }

  async stop(id: string): Promise<void> {
    await fetch(new URL(`api/jobs/${encodeURIComponent(id)}/stop`, base()), { method: 'POST' });
  }

  async post<T>(path: string, body: object): Promise<T> {
    const response = await fetch(new URL(path, base()), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as T & { error?: string };
    if (!response.ok) throw new Error(answer.error ?? answered(response.status));
    return answer;
  }
}

/** What is told again is not new, and a run that has a verdict now has the settings that it had. */
function unlessSame(before: ToldRun | undefined, run: ToldRun): ToldRun {
  if (!before) return run;
  if (JSON.stringify(before) === JSON.stringify(run)) return before;
  const settled = JSON.stringify(before.manifest) === JSON.stringify(run.manifest);
  return settled ? { ...run, manifest: before.manifest } : run;
}

export const server = new Server();
