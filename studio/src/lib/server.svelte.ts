/** The studio's server, where there is one: its runs, investigations and jobs as they change. Without one the page works on what is dropped onto it; one that has gone is waited for. */
import type { Job } from '../../../src/cli/studio/jobs.ts';
import type { AllNews, FirstNews, NewsOfRuns, ToldRun } from '../../../src/cli/studio/news.ts';
import type { InvestigationEntry } from '../../../src/cli/studio/runs.ts';
import { restore } from '../../../src/report/studio/alike.ts';
import { keeping } from './news/same.ts';
import { answered, base } from './stores.ts';

/** Milliseconds between two tries to reach a server that has gone. */
const again = 1000;
/** In this order, so that with the runs everything is known. */
const kinds = ['about', 'jobs', 'investigations', 'crossplays', 'bin', 'runs'] as const;

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

  /** Resolves when it is known whether there is a server, and which runs it has: at once where the page brought its news along. */
  connect(): Promise<void> {
    const text = document.querySelector<HTMLTemplateElement>('template#news')?.content.textContent;
    if (!text) return new Promise((resolve) => this.listen('', resolve));
    const { visit, ...news } = JSON.parse(text) as FirstNews;
    for (const kind of kinds) this.take[kind](news[kind] as never);
    this.listen(`?visit=${visit}`);
    return Promise.resolve();
  }

  private readonly take: { [kind in keyof AllNews]: (news: AllNews[kind]) => void } = {
    about: ({ queue }) => {
      this.queue = queue;
    },
    jobs: (jobs) => {
      this.jobs = jobs as Job[];
    },
    investigations: (investigations) => {
      this.investigations = investigations;
    },
    crossplays: (crossplays) => {
      this.crossplays = crossplays;
    },
    bin: (bin) => {
      this.bin = bin as string[];
    },
    runs: (news) => this.takeRuns(news),
  };

  private takeRuns({ changed, gone, common, whole }: NewsOfRuns): void {
    const before = this.byId;
    const kept = new Map(whole ? [] : before);
    for (const { manifest, ...run } of changed)
      kept.set(run.id, unlessSame(before.get(run.id), { ...run, manifest: restore(common, manifest) } as ToldRun));
    for (const id of gone) kept.delete(id);
    this.runs = this.keep([...kept.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
    this.present = true;
  }

  private listen(visit = '', known: () => void = () => undefined): void {
    const source = new EventSource(new URL(`api/watch${visit}`, base()));
    for (const kind of kinds)
      source.addEventListener(kind, (event) => {
        this.gone = false;
        this.take[kind](JSON.parse((event as MessageEvent<string>).data) as never);
        // The runs are the last of what a connection begins with.
        if (kind === 'runs') known();
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
