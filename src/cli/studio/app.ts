/** The studio's server: the built page, the runs below one folder, and news of them. It reads; the only things it starts are `trueline train` and `trueline symmetry` into that folder. */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { onlyOwnPages, requireToken, securityHeaders } from './guard.ts';
import type { Job, Jobs } from './jobs.ts';
import type { QueueWatch } from './queue.ts';
import { confine, runFiles } from './runs.ts';
import type { FolderWatch } from './watch.ts';

export interface StudioOptions {
  /** The folder whose runs are shown; nothing outside it is served but the page itself. */
  folder: string;
  /** Where the built page lies. */
  assets: string;
  watch: FolderWatch;
  jobs: Jobs;
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

  app.get('/api/runs', (context) => context.json({ ...options.watch.found, queue: options.queue?.name ?? null }));

  app.get('/api/watch', (context) =>
    streamSSE(context, async (stream) => {
      const tell = () => {
        const { runs, investigations } = options.watch.found;
        void stream.writeSSE({ event: 'runs', data: JSON.stringify(runs) });
        void stream.writeSSE({ event: 'investigations', data: JSON.stringify(investigations) });
      };
      const tellJobs = () => void stream.writeSSE({ event: 'jobs', data: JSON.stringify(options.jobs.list()) });
      const ends = [options.watch.subscribe(tell), options.jobs.subscribe(tellJobs)];
      tell();
      tellJobs();
      await new Promise<void>((resolve) => stream.onAbort(resolve));
      for (const end of ends) end();
    }),
  );

  app.get('/api/queue', (context) => {
    const { queue } = options;
    if (!queue) return context.json({ error: 'The studio was started without a queue.' }, 404);
    return streamSSE(context, async (stream) => {
      const stop = queue.subscribe((news) => void stream.writeSSE({ event: 'queue', data: JSON.stringify(news) }));
      await new Promise<void>((resolve) => stream.onAbort(resolve));
      stop();
    });
  });

  app.get('/api/files/*', async (context) => {
    const folder = await confine(options.folder, rest(context, '/api/files/'));
    if (!folder || !existsSync(join(folder, 'manifest.json'))) return context.text('There is no such run.\n', 404);
    return context.json({ files: await runFiles(folder) });
  });

  app.get('/file/*', async (context) => {
    const path = await confine(options.folder, rest(context, '/file/'));
    // Never as what it claims to be: a recording's file is read by the page's code, not shown by the browser.
    const sent = path ? await send(context, path, 'application/octet-stream') : undefined;
    return sent ?? context.text('There is no such file.\n', 404);
  });

  const start = (path: string, work: (body: unknown) => Promise<Job | { error: string }>) =>
    app.post(path, async (context) => {
      if (!context.req.header('content-type')?.startsWith('application/json'))
        return context.json({ error: 'Settings are sent as application/json.' }, 415);
      const answer = await work(await context.req.json().catch(() => null));
      return context.json(answer, 'error' in answer ? 400 : 201);
    });
  start('/api/train', (body) => options.jobs.train(body));
  start('/api/symmetry', (body) => options.jobs.investigate(body));
  app.post('/api/jobs/:id/stop', (context) => {
    const known = options.jobs.stop(context.req.param('id'));
    return known ? context.json({ stopping: true }) : context.json({ error: 'Nothing of that name is running.' }, 404);
  });

  app.get('*', async (context) => {
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
  const file = await open(path).catch(() => undefined);
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
  if (refused || size === 0) {
    await file.close();
    return context.body(null, refused ? 416 : 200);
  }
  const stream = Readable.toWeb(file.createReadStream({ start, end })) as ReadableStream;
  return context.body(stream, range ? 206 : 200);
}
