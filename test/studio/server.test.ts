/** The studio's server: what it serves, and everyone it turns away. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request as plainRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { root, trueline } from '../support/run.ts';
import { type Served, serveStudio } from '../support/studio.ts';

const hostile = '<img src=x onerror=alert(1)>';
const manifest = { format: 'trueline/1', name: hostile, seed: 3, agents: [{ name: hostile }] };
let base: string;
let folder: string;
let server: Served;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'trueline-studio-'));
  folder = join(base, 'runs');
  await mkdir(join(folder, 'one', 'samples'), { recursive: true });
  await mkdir(join(folder, hostile), { recursive: true });
  await writeFile(join(folder, 'one', 'manifest.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'one', 'samples', '000000.jsonl'), '0123456789');
  await writeFile(join(folder, 'one', 'samples', '.000001.jsonl.tmp'), 'half written');
  await writeFile(join(folder, hostile, 'manifest.json'), JSON.stringify(manifest));
  await writeFile(join(base, 'secret.txt'), 'secret');
  await symlink(join(base, 'secret.txt'), join(folder, 'one', 'link.json'));
  server = await serveStudio(folder, { interval: 50 });
});
afterAll(async () => {
  await server?.close();
  await rm(base, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.address}${path}`, { headers });

/** As fetch, but the path goes out as it is and headers such as Host may be anything. */
function raw(path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(server.address);
  return new Promise((resolve, reject) => {
    const asked = plainRequest({ hostname, port, path, headers }, (response) => {
      let body = '';
      response.on('data', (part: Buffer) => {
        body += part.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('the studio serves', () => {
  it('the runs of its folder with what they declare, names as data', async () => {
    const { runs } = (await (await get('api/runs')).json()) as { runs: { id: string; manifest: { name: string } }[] };
    expect(runs.map(({ id }) => id).sort()).toEqual([hostile, 'one'].sort());
    expect(runs[0].manifest.name).toBe(hostile);
  });

  it('the files of a run, without what is still being written', async () => {
    const { files } = (await (await get('api/files/one')).json()) as { files: { path: string; size: number }[] };
    expect(files.map(({ path }) => path)).toContain('samples/000000.jsonl');
    expect(files.some(({ path }) => path.includes('tmp'))).toBe(false);
  });

  it('a file whole or by range, and never as something that a browser would show', async () => {
    const whole = await get('file/one/samples/000000.jsonl');
    expect(await whole.text()).toBe('0123456789');
    expect(whole.headers.get('content-type')).toBe('application/octet-stream');
    expect(whole.headers.get('x-content-type-options')).toBe('nosniff');
    const part = await get('file/one/samples/000000.jsonl', { Range: 'bytes=2-4' });
    expect([part.status, await part.text()]).toEqual([206, '234']);
    expect(part.headers.get('content-range')).toBe('bytes 2-4/10');
    expect((await get('file/one/samples/000000.jsonl', { Range: 'bytes=10-12' })).status).toBe(416);
  });

  it('the page with headers that allow threads and forbid foreign or inline script', async () => {
    const page = await get('');
    expect(page.status).toBe(200);
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(page.headers.get('cross-origin-embedder-policy')).toBe('require-corp');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(/script-src[^;]*/.exec(policy)?.[0]).not.toMatch(
      /unsafe-inline|unsafe-eval'(?<!wasm-unsafe-eval')|\*|https?:/,
    );
    const text = await page.text();
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)/);
    // The runs are in it as text, whatever they are called.
    expect(text).toContain(hostile.replace('<', '&lt;'));
    expect(text).not.toContain(hostile);
  });

  it('news of runs as they change', async () => {
    const stop = new AbortController();
    const response = await fetch(`${server.address}api/watch`, { signal: stop.signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (wanted: string) => {
      while (!text.includes(wanted)) text += (await reader.read()).value ?? '';
    };
    await until('"one"');
    await mkdir(join(folder, 'two'));
    await writeFile(join(folder, 'two', 'manifest.json'), JSON.stringify(manifest));
    await until('"two"');
    stop.abort();
    expect(text).toContain('event: runs');
  });
});

describe('the studio turns away', () => {
  it.each([
    '/file/../secret.txt',
    '/file/one/../../secret.txt',
    '/file/%2e%2e/secret.txt',
    '/file/..%2fsecret.txt',
    '/file/one/..%5c..%5csecret.txt',
    '/file/one/link.json',
    '/file/one/samples/.000001.jsonl.tmp',
    '/file//etc/passwd',
    '/file/%00',
    '/file/%zz',
    '/../package.json',
    '/..%2f..%2fpackage.json',
    '/api/files/..',
  ])('a path that leads out of its folder or is hidden: %s', async (path) => {
    const { status, body } = await raw(path);
    expect(status).toBe(404);
    expect(body).not.toContain('secret');
  });

  it('a page that points its own name at it (DNS rebinding)', async () => {
    expect((await raw('/api/runs', { Host: 'evil.example:80' })).status).toBe(403);
    expect((await raw('/api/runs', { Host: 'localhost:1' })).status).toBe(200);
  });

  it('requests from other origins, and settings that are not JSON', async () => {
    expect((await get('api/runs', { Origin: 'http://evil.example' })).status).toBe(403);
    const post = (headers: Record<string, string>, body: string) =>
      fetch(`${server.address}api/train`, { method: 'POST', headers, body });
    const settings = JSON.stringify({ name: 'x', settings: {} });
    expect((await post({ Origin: 'http://evil.example', 'Content-Type': 'application/json' }, settings)).status).toBe(
      403,
    );
    expect((await post({ 'Content-Type': 'text/plain' }, settings)).status).toBe(415);
    expect((await post({ 'Content-Type': 'application/json' }, '{')).status).toBe(400);
  });

  it('trainings whose name is a path, or whose settings are wrong, with a sentence', async () => {
    const ask = async (body: object) => {
      const response = await fetch(`${server.address}api/train`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, ...((await response.json()) as { error?: string }) };
    };
    expect((await ask({ name: '../x', settings: {} })).status).toBe(400);
    expect(await ask({ name: 'x', settings: { steps: 'many' } })).toMatchObject({
      status: 400,
      error: expect.stringMatching(/steps/),
    });
    expect(await ask({ name: 'x', settings: {}, fault: 'none-such' })).toMatchObject({
      status: 400,
      error: /no fault "none-such"/,
    });
    expect(await ask({ name: 'one', settings: {} })).toMatchObject({
      status: 400,
      error: expect.stringMatching(/already/),
    });
  });

  it('whoever lacks the token, where others can reach it', async () => {
    const open = await serveStudio(folder, { host: '0.0.0.0' });
    const { port, searchParams } = new URL(open.address);
    const at = `http://127.0.0.1:${port}/`;
    const token = searchParams.get('token')!;
    expect(token.length).toBeGreaterThan(20);
    expect((await fetch(`${at}api/runs`)).status).toBe(401);
    expect((await fetch(`${at}?token=wrong`)).status).toBe(401);
    const entered = await fetch(`${at}?token=${token}`, { redirect: 'manual' });
    expect(entered.status).toBe(302);
    expect(entered.headers.get('location')).toBe('/');
    const cookie = entered.headers.get('set-cookie')!;
    expect(cookie).toMatch(/HttpOnly/i);
    expect(cookie).toMatch(/SameSite=Strict/i);
    expect((await fetch(`${at}api/runs`, { headers: { Cookie: cookie.split(';')[0] } })).status).toBe(200);
    await open.close();
  });
});

describe('a training that the studio started', () => {
  const studio = async (own: string) => {
    const process_ = spawn(process.execPath, [join(root, 'bin', 'trueline'), 'studio', own, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(process_.stdout, 'data')) as [Buffer];
    return { process_, address: /http:\S+/.exec(said.toString())![0] };
  };
  const jobsOf = async (address: string) => {
    const stop = new AbortController();
    const response = await fetch(`${address}api/watch`, { signal: stop.signal });
    let text = '';
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      const jobs = /event: jobs\ndata: (.*)\n/.exec(text);
      if (!jobs) continue;
      stop.abort();
      return JSON.parse(jobs[1]) as { id: string; state: string }[];
    }
    throw new Error('no news');
  };
  const post = (address: string, path: string, body: object = {}) =>
    fetch(`${address}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'outlives the studio (%s); the next one finds it, stops it, and it is saved',
    async (signal) => {
      const own = join(base, signal);
      const first = await studio(own);
      const settings = { game: 'echo', steps: 50_000_000, kernel: 'simd', worlds: 4, rollout: 8, guard: 'off' };
      expect((await post(first.address, 'api/train', { name: 'long', settings })).status).toBe(201);
      await vi.waitFor(() => expect(existsSync(join(own, 'long', 'checkpoints'))).toBe(true), { timeout: 60_000 });
      first.process_.kill(signal);
      await once(first.process_, 'exit');
      const second = await studio(own);
      try {
        expect(await jobsOf(second.address)).toEqual([{ id: 'long', kind: 'training', state: 'running' }]);
        expect((await post(second.address, 'api/jobs/long/stop')).status).toBe(200);
        // Its lock goes when it has saved.
        await vi.waitFor(() => expect(existsSync(join(own, 'long', '.trueline-lock'))).toBe(false), {
          timeout: 60_000,
        });
        expect(trueline('validate', join(own, 'long')).status).toBe(0);
      } finally {
        await post(second.address, 'api/jobs/long/stop');
        second.process_.kill('SIGINT');
        await once(second.process_, 'exit');
      }
    },
  );
});
