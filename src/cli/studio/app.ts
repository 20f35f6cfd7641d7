/** The studio's server: the built page, the runs below one folder, and news of them. It reads; the only things it starts are `trueline train` and `trueline symmetry` into that folder. */
import { constants, existsSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { z } from 'zod';
import { BadInput } from '../../recording/bad-input.ts';
import { parseJson } from '../../recording/files/json.ts';
import { type Difference, difference } from '../../report/studio/alike.ts';
import { mostPoints } from '../../report/studio/summary.ts';
import { onlyOwnPages, requireToken, securityHeaders } from './guard.ts';
import type { Job, Jobs } from './jobs.ts';
import type { Known, Library } from './library.ts';
import type { QueueWatch } from './queue.ts';
import { confine, type RunEntry, runFiles } from './runs.ts';
import type { Note, Shelf } from './shelf.ts';
import type { FolderWatch } from './watch.ts';

export interface StudioOptions {
  /** The folder whose runs are shown; nothing outside it is served but the page itself. */
  folder: string;
  /** Where the built page lies. */
  assets: string;
  watch: FolderWatch;
  jobs: Jobs;
  library: Library;
  shelf: Shelf;
  queue?: QueueWatch;
  token?: string;
}

const kinds: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.png': 'image/png',
};

export function studioApp(options: StudioOptions): Hono {
  const app = new Hono();
  app.use(securityHeaders(), onlyOwnPages(options.token), requireToken(options.token));

  const told = (run: RunEntry): ToldRun => ({
    ...run,
    ...options.library.of(run.id),
    ...options.shelf.of(run.id),
  });
  const about = () => ({ queue: options.queue?.name ?? null });
  app.get('/api/runs', (context) => {
    const { runs, investigations, crossplays } = options.watch.found;
    return context.json({ runs: runs.map(told), investigations, crossplays, ...about() });
  });

  let listening = 0;
  /** News for one page after another, as long as it listens; `begin` returns what ends it. */
  const news = (context: Context, begin: (send: Send) => () => void) => {
    // Nobody reads what answers a HEAD, and nobody would ever say that it has ended.
    if (context.req.method === 'HEAD') return context.body(null);
    if (listening >= mostListeners)
      return context.json({ error: `${mostListeners} pages are listening already; close one of them.` }, 503);
    listening++;
    return streamSSE(context, async (stream) => {
      const left = new Promise<void>((resolve) => stream.onAbort(resolve));
      const end = begin(sender(stream));
      await left;
      end();
      listening--;
    });
  };

  app.get('/api/watch', (context) =>
    news(context, (send) => {
      const changes = newsOfRuns(() => options.watch.found.runs.map(told));
      const tell = () => {
        send('investigations', () => options.watch.found.investigations);
        send('crossplays', () => options.watch.found.crossplays);
        send('bin', () => options.shelf.binned());
        send('runs', changes);
      };
      const tellJobs = () => send('jobs', () => options.jobs.list());
      send('about', about);
      // The runs come last: with them a page knows everything.
      tellJobs();
      tell();
      const ends = [
        options.watch.subscribe(tell),
        options.library.subscribe(tell),
        options.shelf.subscribe(tell),
        options.jobs.subscribe(tellJobs),
      ];
      return () => {
        for (const end of ends) end();
      };
    }),
  );

  app.get('/api/queue', (context) => {
    const { queue } = options;
    if (!queue) return context.json({ error: 'The studio was started without a queue.' }, 404);
    return news(context, (send) => queue.subscribe((state) => send('queue', () => state)));
  });

  app.get('/api/files/*', async (context) => {
    const folder = await confine(options.folder, rest(context, '/api/files/'));
    if (!folder || !existsSync(join(folder, 'manifest.json'))) return context.text('There is no such run.\n', 404);
    return context.json({ files: await runFiles(folder) });
  });

  const known = (id: string) => options.watch.found.runs.some((run) => run.id === id);

  app.get('/api/curves/*', async (context) => {
    const id = rest(context, '/api/curves/');
    const cut = cutSchema.safeParse(context.req.query());
    if (!known(id)) return context.text('There is no such run.\n', 404);
    if (!cut.success) return context.text('Curves are asked for with points, and axis, from and to.\n', 400);
    try {
      const { points, axis, from, to } = cut.data;
      const view = from === undefined || to === undefined ? {} : { axis, from, to };
      context.header('Content-Type', 'application/octet-stream');
      context.header('Cache-Control', 'no-store');
      return context.body(await options.library.curves(id, { points, ...view }));
    } catch (error) {
      return context.text(`${(error as Error).message}\n`, 422);
    }
  });

  app.get('/api/compare', async (context) => {
    const ids = (context.req.queries('run') ?? []).filter(known);
    if (ids.length < 2) return context.text('Two runs or more are compared.\n', 400);
    try {
      return context.json(await options.library.compare(ids));
    } catch (error) {
      return context.text(`${(error as Error).message}\n`, 422);
    }
  });

  app.get('/api/examined/*', async (context) => {
    const id = rest(context, '/api/examined/');
    if (!known(id)) return context.text('There is no such run.\n', 404);
    const text = await options.library.examined(id);
    context.header('Content-Type', 'application/json');
    context.header('Cache-Control', 'no-store');
    return context.body(text ?? 'null');
  });

  app.get('/file/*', async (context) => {
    const path = await confine(options.folder, rest(context, '/file/'));
    // Never as what it claims to be: a recording's file is read by the page's code, not shown by the browser.
    const sent = path ? await send(context, path, 'application/octet-stream') : undefined;
    return sent ?? context.text('There is no such file.\n', 404);
  });

  const start = (path: string, work: (body: unknown) => Promise<Job | { error: string } | { done: true }>) =>
    app.post(path, limited, async (context) => {
      if (!context.req.header('content-type')?.startsWith('application/json'))
        return context.json({ error: 'Settings are sent as application/json.' }, 415);
      let body: unknown = null;
      try {
        body = parseJson(await context.req.text());
      } catch (error) {
        if (error instanceof BadInput) return context.json({ error: error.message }, 400);
      }
      const answer = await work(body).catch((error: Error) => ({ error: error.message }));
      return context.json(answer, 'error' in answer ? 400 : 201);
    });
  start('/api/train', (body) => options.jobs.train(body));
  start('/api/examine', async (body) => {
    const asked = idsSchema.safeParse(body);
    if (!asked.success) return { error: 'Runs to diagnose are named in a list.' };
    options.library.want(asked.data.ids.filter(known));
    return { done: true };
  });
  start('/api/bin', async (body) => {
    const asked = idsSchema.safeParse(body);
    if (!asked.success) return { error: 'Runs for the bin are named in a list.' };
    const { ids } = asked.data;
    return options.shelf.throwAway(options.watch.found.runs.filter(({ id }) => ids.includes(id)));
  });
  start('/api/put-back', async (body) => {
    const asked = idsSchema.safeParse(body);
    return asked.success ? options.shelf.putBack(asked.data.ids) : { error: 'Runs of the bin are named in a list.' };
  });
  start('/api/note', async (body) => {
    const asked = noteRequest.safeParse(body);
    if (!asked.success || !known(asked.data.id)) return { error: 'A note is about a run of the list.' };
    return options.shelf.write(asked.data.id, asked.data);
  });
  start('/api/symmetry', (body) => options.jobs.investigate(body));
  app.post('/api/jobs/:id/stop', async (context) => {
    const known = await options.jobs.stop(context.req.param('id'));
    return known ? context.json({ stopping: true }) : context.json({ error: 'Nothing of that name is running.' }, 404);
  });

  app.get('*', async (context) => {
    if (context.req.path === '/') options.library.visit();
    const asked = context.req.path === '/' ? 'index.html' : decode(context.req.path.slice(1));
    const path = asked === undefined ? undefined : await confine(options.assets, asked);
    // Built files carry a hash of their content in their names.
    if (asked?.startsWith('assets/')) context.header('Cache-Control', 'public, max-age=31536000, immutable');
    else context.header('Cache-Control', 'no-cache');
    const sent = path ? await send(context, path, kinds[extname(path)] ?? 'application/octet-stream') : undefined;
    return sent ?? context.text('There is no such page.\n', 404);
  });
  return app;
}

/** Browsers keep no more than a few open; a program that opens thousands is no page. */
const mostListeners = 64;
/** Settings of a run take a few kB; nothing larger is ever sent here. */
const longestBody = 2 ** 20;

const limited = bodyLimit({
  maxSize: longestBody,
  onError: (context) => context.json({ error: 'Settings of more than 1 MiB are not read.' }, 413),
});

const idsSchema = z.object({ ids: z.array(z.string().max(2000)).max(2000) });
const noteRequest = z.looseObject({ id: z.string().max(2000) });
const cutSchema = z.object({
  points: z.coerce.number().int().min(2).max(mostPoints),
  axis: z.enum(['iteration', 'step', 'elapsed', 'time']).default('iteration'),
  from: z.coerce.number().optional(),
  to: z.coerce.number().optional(),
});

/** A run as pages hear of it. */
export interface ToldRun extends RunEntry, Known, Partial<Note> {}

/** Which runs are new or have changed, and which are gone; of the changed ones' manifests how they differ from one. */
export interface NewsOfRuns {
  changed: (Omit<ToldRun, 'manifest'> & { manifest: Difference })[];
  gone: string[];
  common: unknown;
}

/** What is new since it was last asked. */
function newsOfRuns(list: () => readonly ToldRun[]): () => NewsOfRuns | undefined {
  const before = new Map<string, { manifest: unknown; text: string }>();
  let begun = false;
  return () => {
    const now = new Set<string>();
    const changed: NewsOfRuns['changed'] = [];
    let common: unknown = null;
    for (const { manifest, ...run } of list()) {
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
    const first = !begun;
    begun = true;
    return first || changed.length + gone.length > 0 ? { changed, gone, common } : undefined;
  };
}

type Send = (event: string, data: () => unknown) => void;

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

function rest(context: Context, prefix: string): string {
  return decode(context.req.path.slice(prefix.length)) ?? '\0';
}

/** Percent signs that mean nothing are no path of ours. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A file or a range of it, undefined where there is none. The file is opened once: by its name another may lie there a moment later. */
async function send(context: Context, path: string, kind: string): Promise<Response | undefined> {
  // To open a pipe waits for somebody to write to it, so what is no file is not opened.
  if (!(await stat(path).catch(() => undefined))?.isFile()) return undefined;
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  const found = await file?.stat();
  if (!file || !found?.isFile()) {
    await file?.close();
    return undefined;
  }
  const { size } = found;
  context.header('Content-Type', kind);
  context.header('Accept-Ranges', 'bytes');
  const range = /^bytes=(\d+)-(\d*)$/.exec(context.req.header('range') ?? '');
  const start = range ? Number(range[1]) : 0;
  const end = Math.min(size - 1, range?.[2] ? Number(range[2]) : size - 1);
  const refused = range !== null && (start >= size || end < start);
  if (refused) context.header('Content-Range', `bytes */${size}`);
  else if (range) context.header('Content-Range', `bytes ${start}-${end}/${size}`);
  if (!refused) context.header('Content-Length', String(size === 0 ? 0 : end - start + 1));
  const status = refused ? 416 : range ? 206 : 200;
  // What answers a HEAD is never read, so that a stream of it would keep the file open.
  if (refused || size === 0 || context.req.method === 'HEAD') {
    await file.close();
    return context.body(null, status);
  }
  return context.body(Readable.toWeb(file.createReadStream({ start, end })) as ReadableStream, status);
}
