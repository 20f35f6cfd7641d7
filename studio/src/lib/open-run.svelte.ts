/** A run that the page has opened: its curves, its diagnosis, its episodes. Of a run on the server the server tells them; one that was dropped is read in a worker, and so is every replay. */
import { tell } from '../../../src/language/language.ts';
import type { Manifest } from '../../../src/recording/manifest.ts';
import type { Curve } from '../../../src/report/studio/curves.ts';
import type { Examined } from '../../../src/report/studio/examined-short.ts';
import { type Axis, decodeSummary, mostPoints, refine } from '../../../src/report/studio/summary.ts';
import { words } from '../texts/index.svelte.ts';
import { type Desk, takeDesk } from '../workers/pool.ts';
import type { RunSource } from '../workers/run.worker.ts';
import type { EpisodeEntry, Replay } from './episode.ts';
import { forgetRun } from './kept.ts';
import { Together } from './news/together.ts';
import { server } from './server.svelte.ts';
import { answered, base, type DroppedFile } from './stores.ts';

export interface View {
  axis: Axis;
  from: number;
  to: number;
}

/** Curves of many runs are drawn together, or every chart would be drawn anew for each of them. */
const together = new Together(700);

export class OpenRun {
  readonly label: string;
  /** Of a dropped run, from its recording; of one on the server it is in the list. */
  private own = $state.raw<Manifest | undefined>(undefined);
  tables = $state.raw<string[]>([]);
  curves = $state.raw<Curve[]>([]);
  /** The diagnosis as JSON, in both languages. */
  told = $state.raw('');
  /** It in the language that is spoken. */
  readonly examined = $derived(this.told ? (JSON.parse(tell(this.told, words.language)) as Examined) : undefined);
  /** The iteration that the doctor is reading in this page; undefined where it is not at work. */
  reading = $state<number | undefined>(undefined);
  loading = $state(false);
  error = $state('');
  private desk: Desk | undefined;
  private opened: Promise<void> | undefined;
  private refreshing: Promise<void> | undefined;
  private whole: { curves: Curve[]; exact: boolean; of: string } | undefined;
  private view: View | undefined;
  private examinedOf = '';

  constructor(
    readonly id: string,
    private readonly source: RunSource,
    /** Being trained in this page. */
    private readonly training = false,
  ) {
    this.label = source.kind === 'files' ? source.name : id;
    if (source.kind === 'files' && !training) void this.open().catch(() => undefined);
  }

  static files(name: string, files: DroppedFile[], training = false): OpenRun {
    return new OpenRun(`dropped ${name}`, { kind: 'files', name, files }, training);
  }

  static remote(id: string): OpenRun {
    return new OpenRun(id, { kind: 'remote', id, base: document.baseURI });
  }

  get remote(): boolean {
    return this.source.kind === 'remote';
  }

  get manifest(): Manifest | undefined {
    return this.own ?? (server.entry(this.id)?.manifest as Manifest | undefined);
  }

  set manifest(manifest: Manifest | undefined) {
    this.own = manifest;
  }

  /** Whether every point of the curves is here; on the server there may be more of them. */
  get exact(): boolean {
    return this.whole?.exact ?? true;
  }

  private open(): Promise<void> {
    this.desk ??= takeDesk(this.training);
    this.opened ??= this.desk.caller
      .call<{ manifest: Manifest; tables: string[] } | null>('open', [this.id, this.source])
      .then((opened) => {
        if (opened) this.own = opened.manifest;
        this.tables = opened?.tables ?? [];
      })
      .catch((error: Error) => {
        this.error = error.message;
        throw error;
      });
    return this.opened;
  }

  /** Reads what is new, with so many points a curve, and where the verdict is shown too all that the doctor found. Calls while one is under way wait for that one. */
  async refresh(points = mostPoints, findings = true): Promise<void> {
    if (this.remote && findings && server.entry(this.id)?.verdict) void this.readExamined();
    this.refreshing ??= (this.remote ? this.fromServer(points) : this.fromWorker())
      .then(() => {
        this.error = '';
      })
      .catch((error: Error) => {
        this.error = error.message;
      })
      .finally(() => {
        this.refreshing = undefined;
        this.loading = false;
      });
    return this.refreshing;
  }

  private async fromWorker(): Promise<void> {
    this.loading = this.curves.length === 0;
    await this.open();
    this.curves = await this.desk!.caller.call<Curve[]>('curves', [this.id]);
  }

  private async fromServer(points: number): Promise<void> {
    const entry = server.entry(this.id);
    const of = `${entry?.modified} ${points}`;
    if (this.whole?.of === of) return;
    this.loading = this.curves.length === 0;
    await together.take(this.ask({ points }), (summary) => {
      this.whole = { ...summary, of };
      if (!this.view || summary.exact) this.curves = summary.curves;
    });
    if (this.view && !this.exact) await this.look(this.view);
  }

  /** Asks for all points of what is in view, as far as a message holds them; undefined shows everything again. */
  async look(view: View | undefined): Promise<void> {
    this.view = view;
    const { whole } = this;
    if (!whole || whole.exact) return;
    if (!view) {
      this.curves = whole.curves;
      return;
    }
    try {
      const detail = await this.ask({ points: mostPoints, ...view });
      // Another view may have been chosen meanwhile.
      if (this.view === view) this.curves = refine(whole.curves, detail.curves, view.axis);
    } catch (error) {
      this.error = (error as Error).message;
    }
  }

  private async ask(cut: Partial<View> & { points: number }) {
    const address = new URL(`api/curves/${this.id.split('/').map(encodeURIComponent).join('/')}`, base());
    for (const [name, value] of Object.entries(cut)) address.searchParams.set(name, String(value));
    const response = await fetch(address);
    if (!response.ok) throw new Error((await response.text()).trim() || answered(response.status));
    return decodeSummary(await response.arrayBuffer());
  }

  /** What the server's doctor found, where it is new. */
  private async readExamined(): Promise<void> {
    const { modified, verdict } = server.entry(this.id) ?? {};
    const of = `${modified} ${JSON.stringify(verdict)}`;
    if (of === this.examinedOf) return;
    this.examinedOf = of;
    const path = `api/examined/${this.id.split('/').map(encodeURIComponent).join('/')}`;
    const found = await fetch(new URL(path, base())).catch(() => undefined);
    const text = found?.ok ? await found.text() : 'null';
    if (text !== 'null' && of === this.examinedOf) this.told = text;
  }

  /** Of a run on the server its doctor is asked to look soon. Without pictures the verdict comes sooner. */
  async diagnose(pictures = true): Promise<void> {
    if (this.remote) {
      await server.examine([this.id]);
      return;
    }
    if (this.reading !== undefined) return;
    this.reading = 0;
    try {
      await this.open();
      this.told = await this.desk!.caller.call<string, number>('diagnose', [this.id, pictures], (iteration) => {
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
    await this.open();
    const opened = await this.desk!.caller.call<{ manifest: Manifest; tables: string[] } | null>('add', [
      this.id,
      { path, blob },
    ]);
    if (!opened) return;
    this.error = '';
    this.own = opened.manifest;
    this.tables = opened.tables;
  }

  async episodes(): Promise<EpisodeEntry[]> {
    await this.open();
    return this.desk!.caller.call('episodes', [this.id]);
  }

  async replays(episodes: number[]): Promise<Replay[]> {
    await this.open();
    return this.desk!.caller.call('replays', [this.id, episodes]);
  }

  dispose(): void {
    void this.desk?.caller.call('close', [this.id]).catch(() => undefined);
    this.desk?.leave();
  }
}

/** Of more runs together no verdicts are shown: they would fill the page before the first curve. */
export const mostVerdicts = 4;

/** Every run that is open, by id. */
class OpenRuns {
  all = $state.raw<OpenRun[]>([]);
  /** Whether the browser's storage is still being read for runs of an earlier visit. */
  keeping = $state(true);

  private readonly byId = $derived(new Map(this.all.map((run) => [run.id, run])));

  get(id: string): OpenRun | undefined {
    return this.byId.get(id);
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

  /** Opens those that lie on the server, and reads what is new in all of them. Of many runs fewer points are read of each: a picture has only so many pixels. */
  refresh(ids: readonly string[]): void {
    const points = ids.length <= 4 ? mostPoints : Math.max(200, Math.round((4 * mostPoints) / ids.length));
    const opened = ids.filter((id) => server.entry(id) && !this.get(id)).map((id) => OpenRun.remote(id));
    if (opened.length > 0) this.all = [...this.all, ...opened];
    for (const id of ids) {
      const run = this.get(id);
      if (run) void run.refresh(points, ids.length <= mostVerdicts);
    }
  }

  close(id: string): void {
    const run = this.get(id);
    if (!run) return;
    run.dispose();
    this.all = this.all.filter((other) => other.id !== id);
    if (!run.remote) void forgetRun(id);
  }
}

export const openRuns = new OpenRuns();
