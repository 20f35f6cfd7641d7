import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveMcp } from '../src/cli/mcp/command.ts';
import { Tools } from '../src/cli/mcp/tools.ts';
import { Jobs } from '../src/cli/studio/jobs.ts';
import { root, temporaryFolder } from './support/run.ts';

const folder = temporaryFolder();
const program = join(root, 'bin/trueline');
mkdirSync(join(folder, 'runs'));
cpSync(join(root, 'examples/echo'), join(folder, 'runs/well'), { recursive: true });
cpSync(join(root, 'test/recordings/advantage-time-shifted/advantage-late.zip'), join(folder, 'runs/late.zip'));

interface Answer {
  isError?: boolean;
  content: { text: string }[];
}

describe('trueline mcp over standard input and output', () => {
  const client = new Client({ name: 'test', version: '1' });
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: args }, undefined, { timeout: 300_000 })) as unknown as Answer;
  beforeAll(() =>
    client.connect(
      new StdioClientTransport({ command: process.execPath, args: [program, 'mcp', 'runs'], cwd: folder }),
    ),
  );
  afterAll(() => client.close());

  it('offers its tools, each with a schema', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'check',
      'compare',
      'diagnose',
      'explain',
      'list_runs',
      'read_curves',
      'start_training',
      'stop_training',
      'symmetry_plan',
    ]);
  });

  it('names the cause in a few lines, and gives detail on request', async () => {
    const { content } = await call('check', { path: 'late.zip' });
    expect(content[0].text).toMatch(/^late\.zip: faulty \(advantage-time-shifted\): /);
    expect(content[0].text.split('\n').length).toBeLessThan(10);
    expect(JSON.parse(content[1].text)).toMatchObject({ format: 'trueline/check/1', verdict: 'faulty' });
    const whole = await call('diagnose', { path: 'late.zip', detail: 'json' });
    expect(JSON.parse(whole.content[0].text)).toMatchObject({
      format: 'trueline/diagnosis/2',
      verdict: 'faulty',
      summary: expect.stringMatching(/^Faulty: advantage-time-shifted/),
    });
    expect((await call('explain', { cause: 'advantage-time-shifted' })).content[0].text).toContain('What to change');
    const { contents } = await client.readResource({ uri: 'trueline://report/late.zip' });
    expect((contents[0] as { text: string }).text).toMatch(/^Faulty: advantage-time-shifted/);
  });

  it('lists runs, reads curves, compares, and plans an investigation', async () => {
    expect(JSON.parse((await call('list_runs')).content[0].text).runs).toMatchObject([{ path: 'well' }]);
    const read = await call('read_curves', { path: 'well', points: 3 });
    const { curves } = JSON.parse(read.content[0].text) as { curves: { points: unknown[] }[] };
    expect(curves.length).toBeGreaterThan(3);
    expect(Math.max(...curves.map(({ points }) => points.length))).toBeLessThanOrEqual(3);
    expect(JSON.parse((await call('compare', { paths: ['well'] })).content[0].text)).toHaveLength(1);
    const plan = JSON.parse((await call('symmetry_plan', { game: 'stag-hunt', quick: true })).content[0].text);
    expect(plan).toMatchObject({ agents: 4, command: 'trueline symmetry stag-hunt --quick --html symmetry.html' });
  });

  it('starts a training, which the doctor can then look at, and stops it', async () => {
    const settings = { game: 'echo', steps: 50_000_000, seed: 1, worlds: 16, rollout: 32, network: { hidden: [16] } };
    const started = await call('start_training', { name: 'new', settings });
    expect(JSON.parse(started.content[0].text)).toMatchObject({ id: 'new', state: 'running' });
    // The folder is there as soon as the training has begun.
    while (!existsSync(join(folder, 'runs/new/manifest.json'))) await new Promise((wake) => setTimeout(wake, 100));
    expect(await call('stop_training', { name: 'new' })).not.toHaveProperty('isError', true);
    expect(await call('stop_training', { name: 'nothing' })).toMatchObject({ isError: true });
  });

  it.each([
    ['check', { path: '../outside' }, /nothing of that name/],
    ['check', { path: '/etc' }, /nothing of that name/],
    ['explain', { cause: 'bad-luck' }, /there is no cause "bad-luck"/],
    ['symmetry_plan', { game: 'chess' }, /chess/],
    ['start_training', { name: '../x', settings: { game: 'echo' } }, /a name of letters/],
  ])('answers %s of %j with a sentence', async (name, args, sentence) => {
    const answer = await call(name, args);
    expect(answer.isError).toBe(true);
    expect(answer.content[0].text).toMatch(sentence);
  });
});

describe('trueline mcp over HTTP', () => {
  it('answers the same, on loopback, and no page of another origin', async () => {
    const server = await serveMcp(new Tools(join(folder, 'runs'), await Jobs.open(join(folder, 'runs'), program)));
    const { port } = server.address() as { port: number };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
    const answer = (await client.callTool({ name: 'check', arguments: { path: 'late.zip' } })) as unknown as Answer;
    expect(answer.content[0].text).toContain('advantage-time-shifted');
    await client.close();
    const status = (headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        const asked = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        asked.on('error', reject).end();
      });
    expect(await status({ host: 'evil.example' })).toBe(403);
    expect(await status({ origin: 'http://evil.example' })).toBe(403);
    expect(await status({ 'content-length': '99999999' })).toBe(413);
    server.close();
    server.closeAllConnections();
  });
});
