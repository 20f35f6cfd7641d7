/** A run that the page has opened: its worker, its curves, its diagnosis. */
import type { Manifest } from '../../../src/recording/manifest.ts';
import { Caller } from '../workers/rpc.ts';
import type { Examined, RunSource } from '../workers/run.worker.ts';
import type { Curve } from './charts/curves.ts';
import type { Replay } from './episode.ts';
import { server } from './server.svelte.ts';
import type { DroppedFile } from './stores.ts';

export class OpenRun {
  readonly label: string;
  manifest = $state.raw<Manifest | undefined>(undefined);
  tables = $state.raw<string[]>([]);
  curves = $state.raw<Curve[]>([]);
  examined = $state.raw<Examined | undefined>(undefined);
  /** The iteration that the doctor is reading; undefined where it is not at work. */
  reading = $state<number | undefined>(undefined);
  error = $state('');
  private readonly caller: Caller;
  private readonly opened: Promise<void>;
  private refreshing: Promise<void> | undefined;

  constructor(
    readonly id: string,
    source: RunSource,
  ) {
    this.label = source.kind === 'files' ? source.name : id;
    this.caller = new Caller(new Worker(new URL('../workers/run.worker.ts', import.meta.url), { type: 'module' }));
    this.opened = this.caller.call<{ manifest: Manifest; tables: string[] } | null>('open', [source]).then((opened) => {
      this.manifest = opened?.manifest;
      this.tables = opened?.tables ?? [];
    });
    this.opened.catch((error: Error) => {
      this.error = error.message;
    });
  }

  static files(name: string, files: DroppedFile[]): OpenRun {
    return new OpenRun(`dropped ${name}`, { kind: 'files', name, files });
  }

  static remote(id: string): OpenRun {
    return new OpenRun(id, { kind: 'remote', id, base: document.baseURI });
  }

  /** Reads what is new. Calls while one is under way wait for that one. */
  async refresh(): Promise<void> {
    this.refreshing ??= this.opened
      .then(() => this.caller.call<Curve[]>('curves'))
      .then((curves) => {
        this.curves = curves;
      })
      .catch((error: Error) => {
        this.error = error.message;
      })
      .finally(() => {
        this.refreshing = undefined;
      });
    return this.refreshing;
  }

  /** Without pictures the verdict comes sooner. */
  async diagnose(pictures = true): Promise<void> {
    if (this.reading !== undefined) return;
    this.reading = 0;
    try {
      await this.opened;
      this.examined = await this.caller.call<Examined, number>('diagnose', [pictures], (iteration) => {
        this.reading = iteration;
      });
    } catch (error) {
      this.error = (error as Error).message;
    } finally {
      this.reading = undefined;
    }
  }

  /** A file that was written since; the run is opened with its first manifest. */
  async addFile(path: string, blob: Blob): Promise<void> {
    const opened = await this.caller.call<{ manifest: Manifest; tables: string[] } | null>('add', [{ path, blob }]);
    if (!opened) return;
    this.error = '';
    this.manifest = opened.manifest;
    this.tables = opened.tables;
  }

  async episodes(): Promise<{ episode: number; iteration: number }[]> {
    await this.opened;
    return this.caller.call('episodes');
  }

  async replay(episode: number): Promise<Replay> {
    await this.opened;
    return this.caller.call('replay', [episode]);
  }

  dispose(): void {
    this.caller.dispose();
  }
}

/** Every run that is open, by id. */
class OpenRuns {
  all = $state.raw<OpenRun[]>([]);

  get(id: string): OpenRun | undefined {
    return this.all.find((run) => run.id === id);
  }

  add(run: OpenRun): OpenRun {
    this.close(run.id);
    this.all = [...this.all, run];
    return run;
  }

  /** A run on the server, opened once. */
  remote(id: string): OpenRun {
    return this.get(id) ?? this.add(OpenRun.remote(id));
  }

  /** Opens those that lie on the server, and reads what is new in all of them. */
  refresh(ids: readonly string[]): void {
    for (const id of ids) {
      const run = server.runs.some((entry) => entry.id === id) ? this.remote(id) : this.get(id);
      void run?.refresh();
    }
  }

  close(id: string): void {
    this.get(id)?.dispose();
    this.all = this.all.filter((run) => run.id !== id);
  }
}

export const openRuns = new OpenRuns();
