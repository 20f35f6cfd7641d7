/** What the studio's server refuses: large requests, pipes, more listeners than pages, redirects to other hosts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { studioApp } from './app.ts';
import { Jobs } from './jobs.ts';
import { Library } from './library.ts';
import type { FirstNews } from './news.ts';
import { Shelf } from './shelf.ts';
import { FolderWatch } from './watch.ts';

let folder: string;
let watch: FolderWatch;
let jobs: Jobs;
let library: Library;
const host = { Host: '127.0.0.1' };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trueline-app-'));
  mkdirSync(join(folder, 'run'));
  writeFileSync(join(folder, 'run', 'manifest.json'), '{"format": "trueline/1"}');
  writeFileSync(join(folder, 'index.html'), '<body></body>');
  spawnSync('mkfifo', [join(folder, 'run', 'pipe.json')]);
  jobs = await Jobs.open(folder, 'none');
  library = new Library(folder, join(folder, '.studio'));
  watch = new FolderWatch(folder, 20);
  await watch.start();
});
afterAll(() => {
  watch.stop();
  rmSync(folder, { recursive: true, force: true });
});

const app = (token?: string) =>
  studioApp({
    folder,
    assets: folder,
    watch,
    jobs,
    library,
    shelf: new Shelf(folder, join(folder, '.studio')),
    ...(token ? { token } : {}),
  });

it('reads no request of more than 1 MiB', async () => {
  const body = JSON.stringify({ name: 'x', settings: { game: 'x'.repeat(2 ** 20) } });
  const headers = { ...host, 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
  expect((await app().request('/api/train', { method: 'POST', headers, body })).status).toBe(413);
});

it('refuses the key __proto__ by name', async () => {
  const headers = { ...host, 'Content-Type': 'application/json' };
  const answer = await app().request('/api/train', { method: 'POST', headers, body: '{"__proto__": {}}' });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('__proto__')]);
});

it('opens no pipe', async () => {
  expect((await app().request('/file/run/pipe.json', { headers: host })).status).toBe(404);
  expect((await app().request('/file/run/manifest.json', { headers: host })).status).toBe(200);
});

it('redirects to no other host', async () => {
  const answer = await app('secret').request('http://127.0.0.1//evil.example/x?token=secret', { headers: host });
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/evil.example/x']);
});

it('tells news, to so many pages and no more', async () => {
  const own = app();
  const first = await own.request('/api/watch', { headers: host });
  const reader = first.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('event: runs')) text += (await reader.read()).value ?? '';
  expect(text).toContain('"run"');
  const others = [];
  for (let i = 1; i < 64; i++) others.push(await own.request('/api/watch', { headers: host }));
  expect((await own.request('/api/watch', { headers: host })).status).toBe(503);
  await reader.cancel();
  for (const other of others) await other.body!.cancel();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const again = await own.request('/api/watch', { headers: host });
  expect(again.status).toBe(200);
  await again.body!.cancel();
});

it('gives a page its runs along, and tells it afterwards only what is new', async () => {
  const own = app();
  const text = await (await own.request('/', { headers: host })).text();
  const [, written] = /<template id="news">(.*)<\/template>/.exec(text)!;
  const { visit, runs } = JSON.parse(written.replaceAll('&lt;', '<').replaceAll('&amp;', '&')) as FirstNews;
  expect([runs.whole, runs.changed.map(({ id }) => id)]).toEqual([true, ['run']]);
  const news = async (query: string) => {
    const answer = await own.request(`/api/watch${query}`, { headers: host });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    const until = async (wanted: string) => {
      while (!heard.includes(wanted)) heard += (await reader.read()).value ?? '';
      return heard;
    };
    return { until, end: () => reader.cancel() };
  };
  const first = await news(`?visit=${visit}`);
  expect(await first.until('event: bin')).not.toContain('event: runs');
  mkdirSync(join(folder, 'later'));
  writeFileSync(join(folder, 'later', 'manifest.json'), '{"format": "trueline/1"}');
  expect(await first.until('event: runs')).toMatch(/"changed":\[\{"id":"later"[^\n]*"whole":false/);
  await first.end();
  // A visit is continued once; whoever comes back after that is told everything.
  const again = await news(`?visit=${visit}`);
  expect(await again.until('"whole":true')).toContain('"id":"run"');
  await again.end();
});

it('keeps nothing open for a HEAD, however often it is asked', async () => {
  const own = app();
  const open = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const files = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
  const before = [open(), files()];
  for (let i = 0; i < 70; i++) {
    expect((await own.request('/api/watch', { method: 'HEAD', headers: host })).status).toBe(200);
    const file = await own.request('/file/run/manifest.json', { method: 'HEAD', headers: host });
    expect([file.status, file.headers.get('content-length')]).toEqual([200, '24']);
  }
  expect(open() - before[0]).toBeLessThan(10);
  expect(files() - before[1]).toBeLessThan(10);
  const page = await own.request('/api/watch', { headers: host });
  expect(page.status).toBe(200);
  await page.body!.cancel();
});
