/** The studio's server, where there is one: its runs as they change. Without one the page works on what is dropped onto it. */
import type { RunEntry } from '../../../src/cli/studio/runs.ts';
import type { Training } from '../../../src/cli/studio/trainings.ts';
import { base, getJson } from './stores.ts';

class Server {
  /** Undefined until it is known. */
  present = $state<boolean | undefined>(undefined);
  runs = $state.raw<RunEntry[]>([]);
  trainings = $state.raw<Training[]>([]);

  async connect(): Promise<void> {
    try {
      this.runs = (await getJson<{ runs: RunEntry[] }>('api/runs')).runs;
      this.present = true;
    } catch {
      this.present = false;
      return;
    }
    const source = new EventSource(new URL('api/watch', base()));
    source.addEventListener('runs', (event) => {
      this.runs = JSON.parse((event as MessageEvent<string>).data) as RunEntry[];
    });
  }

  async train(name: string, settings: Record<string, unknown>, fault?: string): Promise<Training> {
    const response = await fetch(new URL('api/train', base()), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, settings, ...(fault ? { fault } : {}) }),
    });
    const answer = (await response.json()) as Training & { error?: string };
    if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
    return answer;
  }

  async stop(id: string): Promise<void> {
    await fetch(new URL(`api/train/${encodeURIComponent(id)}/stop`, base()), { method: 'POST' });
  }

  async refreshTrainings(): Promise<void> {
    this.trainings = (await getJson<{ trainings: Training[] }>('api/train')).trainings;
  }
}

export const server = new Server();
