/** Keeps the list of what is below a folder up to date by looking again and again: it works on every file system, shared ones too. */
import { type Found, listFolder } from './runs.ts';

export class FolderWatch {
  found: Found = { runs: [], investigations: [], crossplays: [] };
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private seen = '';

  constructor(
    private readonly folder: string,
    private readonly interval = 1000,
    /** Hears of every look, whether or not anything has changed: what was being written a moment ago may be still now. */
    private readonly onLook: (found: Found) => void = () => undefined,
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
    const found = await listFolder(this.folder);
    this.onLook(found);
    const now = JSON.stringify(found);
    if (now === this.seen) return;
    this.seen = now;
    this.found = found;
    for (const listener of this.listeners) listener();
  }
}
