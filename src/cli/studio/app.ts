/** The studio's server: the built page, the runs below one folder, and news of them. It reads; the only things it starts are `trueline train` and `trueline symmetry` into that folder. */
import { constants, existsSync } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { BadInput } from '../../recording/bad-input.ts';
import { parseJson } from '../../recording/files/json.ts';
import { mostPoints } from '../../report/studio/summary.ts';
import { onlyOwnPages, requireToken, securityHeaders } from './guard.ts';
import type { Job, Jobs } from './jobs.ts';
import type { Library } from './library.ts';
import { News, withNews } from './news.ts';
import type { QueueWatch } from './queue.ts';
import { confine, runFiles } from './runs.ts';
import type { Shelf } from './shelf.ts';
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

  const news = new News(options);
  app.get('/api/runs', (context) => {
    const { runs, ...rest } = options.watch.found;
    return context.json({ runs: runs.map((run) => news.told(run)), ...rest, queue: options.queue?.name ?? null });
  });
  app.get('/api/watch', (context) => news.folder(context));
  app.get('/api/queue', (context) => {
    const { queue } = options;
    if (!queue) return context.json({ error: 'The studio was started without a queue.' }, 404);
    return news.listen(context, (send) => queue.subscribe((state) => send('queue', () => state)));
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

  app.get('/', async (context) => {
    const page = await readFile(join(options.assets, 'index.html'), 'utf8').catch(() => undefined);
    if (page === undefined) return context.text('There is no such page.\n', 404);
    options.library.visit();
    context.header('Cache-Control', 'no-store');
    return context.html(context.req.method === 'HEAD' ? '' : withNews(page, news.first()));
  });
  app.get('*', async (context) => {
    const asked = decode(context.req.path.slice(1));
    const path = asked === undefined ? undefined : await confine(options.assets, asked);
    // Built files carry a hash of their content in their names.
    if (asked?.startsWith('assets/')) context.header('Cache-Control', 'public, max-age=31536000, immutable');
    else context.header('Cache-Control', 'no-cache');
    const sent = path ? await send(context, path, kinds[extname(path)] ?? 'application/octet-stream') : undefined;
    return sent ?? context.text('There is no such page.\n', 404);
  });
  return app;
}

/** What is smaller than so many bytes is read in one piece, which is quicker than a stream. */
const atOnce = 2 ** 20;
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
  if (end - start >= atOnce)
    return context.body(Readable.toWeb(file.createReadStream({ start, end })) as ReadableStream, status);
  const bytes = new Uint8Array(end - start + 1);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, start).finally(() => file.close());
  // It may have been cut while it was read.
  context.header('Content-Length', String(bytesRead));
  return context.body(bytes.subarray(0, bytesRead), status);
}
