/**
 * What the studio knows of each run beyond its manifest: what a list shows, and its diagnosis. Both are made in threads of their own, the newest run first, and
 * kept in files, so that the next studio has them at once; a run that was written to since is read again.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeWhole } from '../../recording/disk/node.ts';
import type { ShortVerdict } from '../../report/studio/examined-short.ts';
import type { RunRow } from '../../report/studio/row.ts';
import type { Cut } from '../../report/studio/summary.ts';
import type { RunEntry } from './runs.ts';
import type { ComparedGroups } from './studio-reader.ts';
import { ReaderThread } from './threads.ts';

/** What is known of one run; each part with the state of the files that it was made from. */
export interface Known {
  row?: RunRow;
  verdict?: ShortVerdict;
  /** Why it could not be read, in a sentence. */
  error?: string;
  /** Whether the doctor is reading it now. */
  reading?: boolean;
}

interface Kept extends Known {
  rowOf?: string;
  verdictOf?: string;
  /** When the doctor began last, and how long it took, in milliseconds. */
  began?: number;
  took?: number;
}

const keptSchema = z.looseObject({
  id: z.string(),
  rowOf: z.string().optional(),
  verdictOf: z.string().optional(),
});

/** Before a run that nobody asked about is looked at, so many milliseconds pass since a page got curves, or since one began to load, and at most so many in all. */
const quiet = 300;
const arriving = 1000;
const longestWait = 5000;
/** The doctor rests so many times as long as a look at a growing run took, so that it never has more than a share of the machine. */
const rest = 5;

export class Library {
  private readonly known = new Map<string, Kept>();
  private readonly listeners = new Set<() => void>();
  private readonly curvesThread = new ReaderThread();
  private readonly doctorThread = new ReaderThread(true);
  /** When pages will have drawn what they were given. */
  private drawn = 0;
  /** Pages' questions for curves that have no answer yet. */
  private serving = 0;
  private runs: readonly RunEntry[] = [];
  /** Runs that somebody asked for, the last one first. */
  private wanted: string[] = [];
  private working = { rows: false, verdicts: false };
  private closed = false;

  constructor(
    private readonly folder: string,
    /** Where results are kept. */
    private readonly place: string,
  ) {}

  /** Reads what an earlier studio kept. */
  async open(): Promise<void> {
    for (const name of await readdir(this.place).catch(() => [] as string[])) {
      if (!name.endsWith('.row.json')) continue;
      try {
        const { id, ...kept } = keptSchema.parse(JSON.parse(await readFile(join(this.place, name), 'utf8')));
        if (name === `${this.hash(id)}.row.json`) this.known.set(id, kept as Kept);
      } catch {
        // Damaged, or of another version: it is made again.
      }
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([this.curvesThread, this.doctorThread].map((thread) => thread.close()));
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  of(id: string): Known {
    const { row, verdict, error, reading } = this.known.get(id) ?? {};
    return {
      ...(row ? { row } : {}),
      ...(verdict ? { verdict } : {}),
      ...(error ? { error } : {}),
      ...(reading ? { reading } : {}),
    };
  }

  /** Tells of the runs that there are; what is not known of them is found out. */
  update(runs: readonly RunEntry[]): void {
    this.runs = [...runs].sort((a, b) => b.modified - a.modified);
    void this.work(
      'rows',
      (run) => this.lacksRow(run),
      (run) => this.makeRow(run),
    );
    void this.work(
      'verdicts',
      (run) => this.lacksVerdict(run),
      (run) => this.makeVerdict(run),
    );
  }

  /** Puts runs first in line. */
  want(ids: readonly string[]): void {
    this.wanted = [...new Set([...ids, ...this.wanted])].slice(0, 500);
    for (const id of ids) {
      const kept = this.known.get(id);
      // What failed is tried again where it is asked for.
      if (kept?.error) this.known.set(id, {});
      else if (kept) delete kept.began;
    }
    this.update(this.runs);
  }

  async curves(id: string, cut: Cut): Promise<Uint8Array<ArrayBuffer>> {
    this.serving++;
    try {
      return await this.curvesThread.call('curves', join(this.folder, id), cut);
    } finally {
      this.serving--;
      this.drawn = Math.max(this.drawn, Date.now() + quiet);
    }
  }

  /** Somebody opens a page. */
  visit(): void {
    this.drawn = Date.now() + arriving;
  }

  /** Lets pages that load, or wait for curves, go first. */
  private async untilQuiet(): Promise<void> {
    const begun = Date.now();
    const busy = () => this.serving > 0 || Date.now() < this.drawn;
    while (!this.closed && busy() && Date.now() - begun < longestWait)
      await new Promise((resolve) => setTimeout(resolve, quiet / 2).unref());
  }

  compare(ids: readonly string[]): Promise<ComparedGroups> {
    return this.curvesThread.call(
      'compare',
      ids.map((id) => join(this.folder, id)),
    );
  }

  /** The whole diagnosis as JSON in both languages, where there is one. */
  async examined(id: string): Promise<string | undefined> {
    if (!this.known.get(id)?.verdict) return undefined;
    return readFile(this.file(id, 'diagnosis'), 'utf8').catch(() => {
      // Somebody tidied up; it is made again.
      const { verdict: _, verdictOf: __, ...rest } = this.known.get(id) ?? {};
      this.known.set(id, rest);
      this.update(this.runs);
      return undefined;
    });
  }

  private lacksRow(run: RunEntry): boolean {
    const kept = this.known.get(run.id);
    return kept?.rowOf !== stamp(run) && !kept?.error;
  }

  private lacksVerdict(run: RunEntry): boolean {
    const kept = this.known.get(run.id);
    if (kept?.error) return false;
    if (kept?.verdictOf === stamp(run)) return false;
    return kept?.began === undefined || Date.now() - kept.began > (1 + rest) * (kept.took ?? 0);
  }

  private async work(
    kind: 'rows' | 'verdicts',
    lacks: (run: RunEntry) => boolean,
    make: (run: RunEntry) => Promise<void>,
  ): Promise<void> {
    if (this.working[kind]) return;
    this.working[kind] = true;
    try {
      while (!this.closed) {
        const asked = this.wanted.map((id) => this.runs.find((run) => run.id === id)).find((run) => run && lacks(run));
        const run = asked ?? this.runs.find(lacks);
        if (!run) break;
        if (!asked) await this.untilQuiet();
        await make(run).catch((error: Error) => {
          if (!this.closed) this.set(run.id, { error: error.message, reading: false });
        });
      }
    } finally {
      this.working[kind] = false;
    }
  }

  private async makeRow(run: RunEntry): Promise<void> {
    const row = await this.curvesThread.call('row', join(this.folder, run.id));
    this.set(run.id, { row, rowOf: stamp(run) });
    await this.keep(run.id);
  }

  private async makeVerdict(run: RunEntry): Promise<void> {
    const { id, live } = run;
    const began = Date.now();
    this.set(id, { reading: true, began });
    const { text, short } = await this.doctorThread.call('examine', join(this.folder, id), live);
    // A verdict that was reached while the run was growing is one so far: it is looked at again when the run is still.
    const verdictOf = live ? `${stamp(run)} growing` : stamp(run);
    await this.write(id, 'diagnosis', text);
    this.set(id, { verdict: short, verdictOf, reading: false, took: Date.now() - began });
    await this.keep(id);
  }

  private set(id: string, change: Kept): void {
    const { error: _, ...before } = this.known.get(id) ?? {};
    this.known.set(id, { ...before, ...change });
    for (const listener of this.listeners) listener();
  }

  private async keep(id: string): Promise<void> {
    const { reading: _, began: __, error: ___, ...kept } = this.known.get(id) ?? {};
    await this.write(id, 'row', JSON.stringify({ id, ...kept }));
  }

  private async write(id: string, kind: 'row' | 'diagnosis', text: string): Promise<void> {
    await mkdir(this.place, { recursive: true }).catch(() => undefined);
    // On a disk that is full or read-only the studio of today still knows.
    await writeWhole(this.file(id, kind), [new TextEncoder().encode(text)]).catch(() => undefined);
  }

  private file(id: string, kind: 'row' | 'diagnosis'): string {
    return join(this.place, `${this.hash(id)}.${kind}.json`);
  }

  private hash(id: string): string {
    return createHash('sha256').update(id).digest('hex').slice(0, 24);
  }
}

/** Changes whenever a run is written to, and with the program that reads it. */
function stamp(run: RunEntry): string {
  return `4 ${run.modified} ${run.ended ?? ''}`;
}
