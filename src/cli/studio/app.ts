/** The studio's server: the built page, the runs below one folder, and news of them. It reads; the only thing it starts is `trueline train` into that folder. */
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { onlyOwnPages, requireToken, securityHeaders } from './guard.ts';
import { confine, runFiles } from './runs.ts';
import type { Trainings } from './trainings.ts';
import type { RunWatch } from './watch.ts';

export interface StudioOptions {
  /** The folder whose runs are shown; nothing outside it is served but the page itself. */
  folder: string;
  /** Where the built page lies. */
  assets: string;
  watch: RunWatch;
  trainings: Trainings;
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

  app.get('/api/runs', async (context) => context.json({ runs: options.watch.runs }));

  app.get('/api/watch', (context) =>
    streamSSE(context, async (stream) => {
      const tell = () => void stream.writeSSE({ event: 'runs', data: JSON.stringify(options.watch.runs) });
      const stop = options.watch.subscribe(tell);
      tell();
      await new Promise<void>((resolve) => stream.onAbort(resolve));
      stop();
    }),
  );

  app.get('/api/files/*', async (context) => {
    const folder = await confine(options.folder, rest(context, '/api/files/'));
    if (!folder || !existsSync(join(folder, 'manifest.json'))) return context.text('There is no such run.\n', 404);
    return context.json({ files: await runFiles(folder) });
  });

  app.get('/file/*', async (context) => {
    const path = await confine(options.folder, rest(context, '/file/'));
    const found = path ? await stat(path).catch(() => undefined) : undefined;
    if (!path || !found?.isFile()) return context.text('There is no such file.\n', 404);
    // Never as what it claims to be: a recording's file is read by the page's code, not shown by the browser.
    return send(context, path, found.size, 'application/octet-stream');
  });

  app.get('/api/train', (context) => context.json({ trainings: options.trainings.list() }));
  app.post('/api/train', async (context) => {
    if (!context.req.header('content-type')?.startsWith('application/json'))
      return context.json({ error: 'Settings are sent as application/json.' }, 415);
    const answer = await options.trainings.start(await context.req.json().catch(() => null));
    return context.json(answer, 'error' in answer ? 400 : 201);
  });
  app.post('/api/train/:id/stop', (context) => {
    const known = options.trainings.stop(context.req.param('id'));
    return known ? context.json({ stopping: true }) : context.json({ error: 'There is no such training.' }, 404);
  });

  app.get('*', async (context) => {
    const asked = context.req.path === '/' ? 'index.html' : decode(context.req.path.slice(1));
    const path = asked === undefined ? undefined : await confine(options.assets, asked);
    const found = path ? await stat(path).catch(() => undefined) : undefined;
    if (!path || !found?.isFile()) return context.text('There is no such page.\n', 404);
    // Built files carry a hash of their content in their names.
    if (asked?.startsWith('assets/')) context.header('Cache-Control', 'public, max-age=31536000, immutable');
    else context.header('Cache-Control', 'no-cache');
    return send(context, path, found.size, kinds[extname(path)] ?? 'application/octet-stream');
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

/** A file or a range of it. */
function send(context: Context, path: string, size: number, kind: string): Response {
  context.header('Content-Type', kind);
  context.header('Accept-Ranges', 'bytes');
  const range = /^bytes=(\d+)-(\d*)$/.exec(context.req.header('range') ?? '');
  const start = range ? Number(range[1]) : 0;
  const end = Math.min(size - 1, range?.[2] ? Number(range[2]) : size - 1);
  if (range && (start >= size || end < start)) {
    context.header('Content-Range', `bytes */${size}`);
    return context.body(null, 416);
  }
  if (range) context.header('Content-Range', `bytes ${start}-${end}/${size}`);
  context.header('Content-Length', String(size === 0 ? 0 : end - start + 1));
  if (size === 0) return context.body(null, 200);
  const stream = Readable.toWeb(createReadStream(path, { start, end })) as ReadableStream;
  return context.body(stream, range ? 206 : 200);
}
