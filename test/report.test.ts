import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Diagnosis } from '../src/doctor/diagnosis.ts';
import { findChromium, openBrowser } from './support/browser.ts';
import { root, run, shortRun, temporaryFolder, trueline } from './support/run.ts';

const folder = temporaryFolder();
const faulty = join(folder, 'faulty');
const page = join(folder, 'report.html');
const hostile = '<img src=x onerror="document.title=1">';

beforeAll(() => {
  expect(trueline('train', ...shortRun, '--fault', 'advantage-of-next-agent', '--out', faulty).status).toBe(0);
  const file = join(faulty, 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { agents: { name: string }[] };
  for (const agent of manifest.agents) agent.name = `${hostile}${agent.name}`;
  writeFileSync(file, JSON.stringify(manifest));
  expect(trueline('diagnose', faulty, '--html', page).status).toBe(1);
});

describe.skipIf(!findChromium())('the HTML report in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it.each([
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('fits %i pixels in %s, asks for nothing and says nothing on the console', async (width, colorScheme) => {
    const opened = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const [asked, said]: string[][] = [[], []];
    opened.on('request', (request) => asked.push(request.url()));
    opened.on('console', (message) => said.push(message.text()));
    opened.on('pageerror', (error) => said.push(error.message));
    await opened.goto(`file://${page}`);
    const seen = (await opened.evaluate(`({
      overflow: document.documentElement.scrollWidth - innerWidth,
      images: document.images.length,
      scripts: document.scripts.length,
      drawings: document.querySelectorAll('svg[role=img]').length,
      named: [...document.querySelectorAll('svg[role=img]')].every((svg) => svg.querySelector('title')?.textContent),
      smallest: Math.min(...[...document.querySelectorAll('.panel svg, figure > svg')].map((svg) => 12 * svg.getBoundingClientRect().width / 420)),
      ground: getComputedStyle(document.body).backgroundColor,
      title: document.title,
      headings: [...document.querySelectorAll('h1,h2')].map((heading) => heading.textContent),
    })`)) as Record<string, unknown>;
    expect(seen).toMatchObject({ overflow: 0, images: 0, scripts: 0, named: true });
    expect(seen.title).toMatch(/^Faulty/);
    expect(seen.drawings).toBeGreaterThan(10);
    expect(seen.smallest).toBeGreaterThan(8.5);
    expect(seen.ground).toBe(colorScheme === 'dark' ? 'rgb(18, 21, 26)' : 'rgb(245, 246, 248)');
    expect((seen.headings as string[])[0]).toBe("Each agent uses another agent's advantage.");
    expect(asked).toEqual([`file://${page}`]);
    expect(said).toEqual([]);
    await opened.close();
  });
});

describe('accepted causes', () => {
  it('are silenced by a settings file beside the run, visibly and with the reason', () => {
    const file = join(folder, 'trueline.yaml');
    writeFileSync(file, 'diagnose:\n  ignore:\n    - cause: advantage-agent-swapped\n      reason: known since May\n');
    const text = trueline('diagnose', faulty);
    expect(text.stdout).toContain('Ignored, as asked: advantage-agent-swapped (known since May)');
    expect(text.stdout).toMatch(/^Healthy: .* 1 accepted cause aside/);
    expect(text.status).toBe(0);
    const data = JSON.parse(trueline('diagnose', faulty, '--json').stdout) as Diagnosis;
    expect(data.reasons).toEqual({ 'advantage-agent-swapped': 'known since May' });
    writeFileSync(file, '{}');
  });

  it('come from the file that --config names, and a wrong one is refused with a sentence', () => {
    const file = join(folder, 'accepted.json');
    writeFileSync(file, JSON.stringify({ diagnose: { ignore: ['advantage-agent-swapped'] } }));
    expect(trueline('diagnose', faulty, '--config', file).status).toBe(0);
    writeFileSync(file, JSON.stringify({ diagnose: { ignore: ['bad-luck'] } }));
    const unknown = trueline('diagnose', faulty, '--config', file);
    expect(unknown).toMatchObject({ status: 2 });
    expect(unknown.stderr).toContain('"bad-luck", but there is no such cause');
    writeFileSync(file, JSON.stringify({ diagnose: { ignored: [] } }));
    expect(trueline('diagnose', faulty, '--config', file).status).toBe(2);
  });
});

describe('the terminal', () => {
  it('keeps to its width, without colours where NO_COLOR asks for none', () => {
    const { stdout } = trueline('diagnose', faulty);
    expect(stdout.includes('\u001b')).toBe(false);
    const prose = stdout.split('\n').filter((line) => !line.startsWith('     '));
    expect(Math.max(...prose.map((line) => [...line].length))).toBeLessThanOrEqual(120);
    expect(stdout).toMatch(/In PyTorch:\n {5}\S/);
    expect(stdout).toMatch(/[\u2801-\u28ff]/);
  });
});

describe('diagnose --follow', () => {
  it('tells the verdict of a run that is being written and ends with it', async () => {
    const out = join(folder, 'followed');
    mkdirSync(out);
    const training: ChildProcess = spawn(
      process.execPath,
      [
        join(root, 'bin/trueline'),
        'train',
        ...shortRun,
        '--set',
        'checkpoint=1',
        // So that it takes its time.
        '--guard',
        'warn',
        '--fault',
        'advantage-of-next-agent',
        '--out',
        out,
      ],
      { stdio: 'ignore' },
    );
    const ended = new Promise((resolve) => training.on('exit', resolve));
    while (!readable(join(out, 'manifest.json'))) await new Promise((resolve) => setTimeout(resolve, 100));
    const { status, stdout } = run(process.execPath, [join(root, 'bin/trueline'), 'diagnose', out, '--follow']);
    expect(await ended).toBe(0);
    expect(stdout).toMatch(/^iteration \d+: /m);
    expect(stdout).toContain('Faulty: advantage-agent-swapped');
    expect(status).toBe(1);
  });

  it('gives up a run that never says it ended once nothing was written for a while', () => {
    const out = join(folder, 'silent');
    expect(run('cp', ['-r', faulty, out]).status).toBe(0);
    const manifest = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as { ended?: string };
    delete manifest.ended;
    writeFileSync(join(out, 'manifest.json'), JSON.stringify(manifest));
    const { status, stdout } = trueline('diagnose', out, '--follow', '--patience', '1', '--json');
    expect(status).toBe(1);
    const lines = stdout.trim().split('\n');
    expect(JSON.parse(lines[lines.length - 1])).toMatchObject({ verdict: 'faulty' });
  });
});

describe('the guard of a run', () => {
  it('names the cause in warn mode once, and stops with the sentence in strict mode', () => {
    const fault = ['--fault', 'advantage-of-next-agent', '--json'];
    const warned = trueline('train', ...shortRun, ...fault, '--guard', 'warn', '--out', join(folder, 'warned'));
    expect(warned.status).toBe(0);
    const { notices } = JSON.parse(warned.stdout) as { notices: string[] };
    expect(notices.filter((notice) => notice.startsWith('advantage-agent-swapped: ')).length).toBe(1);
    expect(notices.join()).toContain('What to change:');
    const strict = trueline('train', ...shortRun, ...fault, '--guard', 'strict', '--out', join(folder, 'strict'));
    expect(strict.status).toBe(1);
    expect(strict.stderr).toMatch(/stopped by the guard: Guard \(advantage-agent-swapped\): .*What to change:/);
    expect(trueline('diagnose', join(folder, 'strict')).stdout).toMatch(/^Faulty: advantage-agent-swapped/);
  });

  it('has nothing to say about a healthy run', () => {
    const { stdout } = trueline('train', ...shortRun, '--json', '--guard', 'strict', '--out', join(folder, 'fine'));
    expect(JSON.parse(stdout)).toMatchObject({ stopped: false, guard: {} });
  });
});

function readable(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}
