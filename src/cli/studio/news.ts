/** What pages hear of a folder: everything that there is with the page itself, so that it can be drawn at once, and from then on what changes. */

import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { type Difference, difference } from '../../report/studio/alike.ts';
import type { Job, Jobs } from './jobs.ts';
import type { Known, Library } from './library.ts';
import type { InvestigationEntry, RunEntry } from './runs.ts';
import type { Note, Shelf } from './shelf.ts';
import type { FolderWatch } from './watch.ts';

/** A run as pages hear of it. */
export interface ToldRun extends RunEntry, Known, Partial<Note> {}

/** Which runs are new or have changed, and which are gone; of the changed ones' manifests how they differ from one. */
export interface NewsOfRuns {
  changed: (Omit<ToldRun, 'manifest'> & { manifest: Difference })[];
  gone: string[];
  common: unknown;
  /** Whether these are all runs that there are. */
  whole: boolean;
}

/** News by their kinds. */
export interface AllNews {
  /** The name of the queue that is shown, if one is. */
  about: { queue: string | null };
  jobs: readonly Job[];
  investigations: InvestigationEntry[];
  crossplays: string[];
  bin: readonly string[];
  runs: NewsOfRuns;
}

/** What a page is given with its first answer; by the name of its visit it hears only of what has changed since. */
export interface FirstNews extends AllNews {
  visit: string;
}

export interface NewsOptions {
  watch: FolderWatch;
  jobs: Jobs;
  library: Library;
  shelf: Shelf;
  queue?: { name: string };
}

type Changes = () => NewsOfRuns | undefined;
type Send = (event: string, data: () => unknown) => void;

/** Browsers keep no more than a few open; a program that opens thousands is no page. */
const mostListeners = 64;
/** Pages that were given out and do not listen yet; whoever comes later hears everything once more. */
const mostVisits = 8;

export class News {
  private listening = 0;
  private visits = 0;
  private readonly begun = new Map<string, Changes>();

  constructor(private readonly options: NewsOptions) {}

  told(run: RunEntry): ToldRun {
    return { ...run, ...this.options.library.of(run.id), ...this.options.shelf.of(run.id) };
  }

  private readonly parts: { [kind in Exclude<keyof AllNews, 'runs'>]: () => AllNews[kind] } = {
    about: () => ({ queue: this.options.queue?.name ?? null }),
    jobs: () => this.options.jobs.list(),
    investigations: () => this.options.watch.found.investigations,
    crossplays: () => this.options.watch.found.crossplays,
    bin: () => this.options.shelf.binned(),
  };

  /** Everything, for a page that is about to be sent. */
  first(): FirstNews {
    const visit = String(++this.visits);
    const changes = this.changes();
    const runs = changes()!;
    this.begun.set(visit, changes);
    for (const oldest of this.begun.keys()) {
      if (this.begun.size <= mostVisits) break;
      this.begun.delete(oldest);
    }
    const parts = Object.entries(this.parts).map(([kind, part]) => [kind, part()]);
    return { ...(Object.fromEntries(parts) as AllNews), runs, visit };
  }

  /** News of the folder for a page, as long as it listens. */
  folder(context: Context): Response {
    const visit = context.req.query('visit') ?? '';
    return this.listen(context, (send) => {
      const { watch, library, shelf, jobs } = this.options;
      const changes = this.begun.get(visit) ?? this.changes();
      this.begun.delete(visit);
      const tell = () => {
        for (const kind of ['investigations', 'crossplays', 'bin'] as const) send(kind, this.parts[kind]);
        send('runs', changes);
      };
      const tellJobs = () => send('jobs', this.parts.jobs);
      send('about', this.parts.about);
      // The runs come last: with them a page knows everything.
      tellJobs();
      tell();
      const ends = [watch.subscribe(tell), library.subscribe(tell), shelf.subscribe(tell), jobs.subscribe(tellJobs)];
      return () => {
        for (const end of ends) end();
      };
    });
  }

  /** News for one page after another, as long as it listens; `begin` returns what ends it. */
  listen(context: Context, begin: (send: Send) => () => void): Response {
    // Nobody reads what answers a HEAD, and nobody would ever say that it has ended.
    if (context.req.method === 'HEAD') return context.body(null);
    if (this.listening >= mostListeners)
      return context.json({ error: `${mostListeners} pages are listening already; close one of them.` }, 503);
    this.listening++;
    return streamSSE(context, async (stream) => {
      const left = new Promise<void>((resolve) => stream.onAbort(resolve));
      const end = begin(sender(stream));
      await left;
      end();
      this.listening--;
    });
  }

  /** What is new since it was last asked; at first that is everything. */
  private changes(): Changes {
    const before = new Map<string, { manifest: unknown; text: string }>();
    let whole = true;
    return () => {
      const now = new Set<string>();
      const changed: NewsOfRuns['changed'] = [];
      let common: unknown = null;
      for (const entry of this.options.watch.found.runs) {
        const { manifest, ...run } = this.told(entry);
        now.add(run.id);
        const text = JSON.stringify(run);
        const old = before.get(run.id);
        if (old?.text === text && old.manifest === manifest) continue;
        before.set(run.id, { manifest, text });
        common ??= manifest;
        changed.push({ ...run, manifest: difference(common, manifest) });
      }
      const gone = [...before.keys()].filter((id) => !now.has(id));
      for (const id of gone) before.delete(id);
      const news = whole || changed.length + gone.length > 0 ? { changed, gone, common, whole } : undefined;
      whole = false;
      return news;
    };
  }
}

/** Puts news into a page as text that no browser takes for anything else, whatever runs are called. */
export function withNews(page: string, news: FirstNews): string {
  const text = JSON.stringify(news).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return page.replace('</body>', () => `<template id="news">${text}</template></body>`);
}

/** Milliseconds between two pieces of news of one kind: a doctor that goes through hundreds of runs has some all the time. */
const between = 200;

/** Sends the latest of each kind of news. A page that does not read keeps one of each waiting, however many there were. */
function sender(stream: SSEStreamingApi): Send {
  const waiting = new Map<string, () => unknown>();
  let busy = false;
  const sent = new Map<string, number>();
  const flush = async () => {
    busy = true;
    for (let next = waiting.entries().next(); !next.done && !stream.aborted; next = waiting.entries().next()) {
      const [event, data] = next.value;
      const wait = (sent.get(event) ?? 0) + between - Date.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      sent.set(event, Date.now());
      waiting.delete(event);
      const news = data();
      if (news !== undefined) await stream.writeSSE({ event, data: JSON.stringify(news) }).catch(() => undefined);
    }
    busy = false;
  };
  return (event, data) => {
    waiting.set(event, data);
    if (!busy) void flush();
  };
}
