/** Keeps the list of runs below a folder up to date by looking again and again: it works on every file system, shared ones too. */
import { listRuns, type RunEntry } from './runs.ts';

export class RunWatch {
  runs: RunEntry[] = [];
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private seen = '';

  constructor(
    private readonly folder: string,
    private readonly interval = 1000,
  ) {}

  async start(): Promise<void> {
    await this.look();
    const again = async () => {
      await this.look();
      if (this.timer) this.timer = setTimeout(again, this.interval);
    };
    this.timer = setTimeout(again, this.interval);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private async look(): Promise<void> {
    const runs = await listRuns(this.folder);
    const now = JSON.stringify(runs);
    if (now === this.seen) return;
    this.seen = now;
    this.runs = runs;
    for (const listener of this.listeners) listener();
  }
}
