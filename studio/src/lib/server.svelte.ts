/** The studio's server, where there is one: its runs, investigations and jobs as they change. Without one the page works on what is dropped onto it. */
import type { Job } from '../../../src/cli/studio/jobs.ts';
import type { Found, InvestigationEntry, RunEntry } from '../../../src/cli/studio/runs.ts';
import { base, getJson } from './stores.ts';

class Server {
  /** Undefined until it is known. */
  present = $state<boolean | undefined>(undefined);
  runs = $state.raw<RunEntry[]>([]);
  investigations = $state.raw<InvestigationEntry[]>([]);
  /** What this server was asked to start. */
  jobs = $state.raw<Job[]>([]);
  /** The name of the queue that it shows, if it shows one. */
  queue = $state<string | null>(null);

  async connect(): Promise<void> {
    try {
      const { runs, investigations, queue } = await getJson<Found & { queue: string | null }>('api/runs');
      this.runs = runs;
      this.investigations = investigations;
      this.queue = queue;
      this.present = true;
    } catch {
      this.present = false;
      return;
    }
    const source = new EventSource(new URL('api/watch', base()));
    const on = (name: string, take: (data: never) => void) =>
      source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as never));
    on('runs', (runs: RunEntry[]) => {
      this.runs = runs;
    });
    on('investigations', (investigations: InvestigationEntry[]) => {
      this.investigations = investigations;
    });
    on('jobs', (jobs: Job[]) => {
      this.jobs = jobs;
    });
  }

  train(name: string, settings: Record<string, unknown>, fault?: string): Promise<Job> {
    return this.start('api/train', { name, settings, ...(fault ? { fault } : {}) });
  }

  investigate(request: Record<string, unknown>): Promise<Job> {
    return this.start('api/symmetry', request);
  }

  async stop(id: string): Promise<void> {
    await fetch(new URL(`api/jobs/${encodeURIComponent(id)}/stop`, base()), { method: 'POST' });
  }

  private async start(path: string, body: object): Promise<Job> {
    const response = await fetch(new URL(path, base()), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Job & { error?: string };
    if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
    return answer;
  }
}

export const server = new Server();
