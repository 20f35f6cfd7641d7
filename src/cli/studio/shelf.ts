/** What people do with runs in the studio: tags, notes, and a bin. A run in the bin lies whole in a hidden folder beside the others and can be put back; nothing is ever deleted here. */
import { existsSync } from 'node:fs';
import { readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { isBeingWritten } from '../../recording/claim/node.ts';
import { makeFolder, writeWhole } from '../../recording/disk/node.ts';
import { confine, type RunEntry } from './runs.ts';

const noteSchema = z.object({
  tags: z.array(z.string().min(1).max(60)).max(30),
  note: z.string().max(4000),
});
export type Note = z.output<typeof noteSchema>;

const fileSchema = z.object({ format: z.literal('trueline/studio-notes/1'), notes: z.record(z.string(), noteSchema) });

export class Shelf {
  private notes = new Map<string, Note>();
  private bin: string[] = [];
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly folder: string,
    private readonly place: string,
  ) {}

  async open(): Promise<void> {
    const text = await readFile(this.file(), 'utf8').catch(() => undefined);
    if (text !== undefined) {
      const parsed = fileSchema.safeParse(safely(text));
      if (parsed.success) this.notes = new Map(Object.entries(parsed.data.notes));
    }
    await this.look();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  of(id: string): Partial<Note> {
    return this.notes.get(id) ?? {};
  }

  /** Ids of the runs in the bin. */
  binned(): readonly string[] {
    return this.bin;
  }

  async write(id: string, body: unknown): Promise<{ done: true } | { error: string }> {
    const note = noteSchema.safeParse(body);
    if (!note.success) return { error: 'A note has up to 30 tags of 60 letters, and a text of up to 4000.' };
    if (note.data.tags.length === 0 && note.data.note === '') this.notes.delete(id);
    else this.notes.set(id, note.data);
    const whole = { format: 'trueline/studio-notes/1', notes: Object.fromEntries(this.notes) };
    await writeWhole(this.file(), [new TextEncoder().encode(JSON.stringify(whole))]);
    this.tell();
    return { done: true };
  }

  /** Moves runs into the bin; one that a program is writing stays, also where it began a moment ago and no list says so yet. */
  async throwAway(runs: readonly Pick<RunEntry, 'id' | 'live'>[]): Promise<{ done: true } | { error: string }> {
    for (const { id, live } of runs) {
      const from = id === '.' ? undefined : await confine(this.folder, id);
      if (!from) return { error: `${id} is not below the studio's folder and stays.` };
      if (live || (await isBeingWritten(from))) return { error: `${id} is being written; stop it first.` };
      const to = join(this.place, 'bin', encodeURIComponent(id));
      if (existsSync(to)) return { error: `There is already a run called ${id} in the bin; put that one back first.` };
      await makeFolder(dirname(to));
      await rename(from, to);
    }
    await this.look();
    return { done: true };
  }

  async putBack(ids: readonly string[]): Promise<{ done: true } | { error: string }> {
    for (const id of ids) {
      if (!this.bin.includes(id)) return { error: `${id} is not in the bin.` };
      const to = join(this.folder, ...id.split('/'));
      if (existsSync(to)) return { error: `There is something called ${id} again; it stays in the bin.` };
      await makeFolder(dirname(to));
      await rename(join(this.place, 'bin', encodeURIComponent(id)), to);
    }
    await this.look();
    return { done: true };
  }

  private async look(): Promise<void> {
    const names = await readdir(join(this.place, 'bin')).catch(() => [] as string[]);
    this.bin = names.flatMap((name) => {
      const id = safely(() => decodeURIComponent(name));
      // Only names that were made here lead back below the folder.
      return typeof id === 'string' &&
        encodeURIComponent(id) === name &&
        !id.split('/').some((part) => /^\.*$/.test(part))
        ? [id]
        : [];
    });
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  private file(): string {
    return join(this.place, 'notes.json');
  }
}

function safely(text: string | (() => unknown)): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : text();
  } catch {
    return undefined;
  }
}
