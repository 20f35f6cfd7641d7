/** `npm start`: without a terminal it ends by itself; on one it ends by serving the studio until Ctrl-C. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findChromium, openBrowser } from './support/browser.ts';
import { root, run, temporaryFolder } from './support/run.ts';

const folder = temporaryFolder();
const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
});
const start = join(root, 'scripts', 'start.mjs');

describe('npm start', () => {
  it('trains, diagnoses and ends where no terminal is attached', () => {
    const { status, stdout, stderr } = run(process.execPath, [start], { cwd: folder });
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('3. Side by side');
    expect(stdout).not.toContain('The studio shows');
    expect(existsSync(join(folder, 'runs', 'demo', 'faulty', 'manifest.json'))).toBe(true);
  });

  it("serves the studio on the demo's results where one is, prints its address, lands on the faulty run beside the healthy one, and ends with Ctrl-C", async () => {
    // script(1) of util-linux gives the program a terminal of its own.
    const child = spawn('script', ['-qefc', `${process.execPath} ${start}`, '/dev/null'], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1', TERM: 'xterm' },
    });
    started.push(child);
    let said = '';
    const address = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (bytes: Buffer) => {
        said += bytes.toString();
        const found = /The studio shows runs\/demo at (http:\/\/127\.0\.0\.1:\d+\/)/.exec(said);
        if (found) resolve(found[1]);
      });
      child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${said.slice(-500)}`)));
    });
    const { runs } = (await (await fetch(`${address}api/runs`)).json()) as { runs: { id: string }[] };
    expect(runs.map(({ id }) => id)).toEqual(['faulty', 'healthy']);
    expect((await fetch(address)).headers.get('content-type')).toContain('text/html');
    if (findChromium()) {
      const browser = await openBrowser();
      const page = await browser.newPage();
      page.setDefaultTimeout(240_000);
      await page.goto(address);
      await page.waitForURL(/runs=faulty%7Chealthy/);
      await page.waitForSelector('[data-testid=headline].faulty');
      await page.waitForSelector('[data-testid=headline].healthy');
      await browser.close();
    }
    child.stdin.write('\u0003');
    await once(child, 'exit');
    await expect(fetch(address)).rejects.toThrow();
  });
});
