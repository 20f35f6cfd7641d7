/** Runs the program and other commands the way a user would. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { isQuick, runWarm } from './warm/thread.ts';

export const root = resolve(import.meta.dirname, '../..');

export interface Result {
  status: number | null;
  stdout: string;
  stderr: string;
}

export function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): Result {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: options.cwd ?? root,
    env: { ...process.env, NO_COLOR: '1', ...options.env },
    input: options.input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error) throw error;
  return { status, stdout, stderr };
}

/** On a thread where the program is loaded already, if the command is one that a process would add nothing to. */
export function trueline(...args: string[]): Result {
  return isQuick(args) ? runWarm(args) : truelineProcess(...args);
}

/** In a process of its own: where how it starts, how it ends or what it leaves behind is looked at. */
export function truelineProcess(...args: string[]): Result {
  return run(process.execPath, [join(root, 'bin', 'trueline'), ...args]);
}

/** The same without waiting: for commands that take their time, side by side. */
export function truelineBeside(...args: string[]): Promise<Result> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: { ...process.env, NO_COLOR: '1' }, maxBuffer: 1 << 28 };
    const child = execFile(process.execPath, [join(root, 'bin', 'trueline'), ...args], options, (_, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });
}

/** What `trueline train` is told for a run as short as a diagnosis allows: ten iterations of a small network, without the live guard unless `--guard` follows. */
export const shortRun = [
  ...['echo', '--seed', '2', '--steps', '10000', '--evaluate', '0', '--set', 'gameSettings.seats=2'],
  ...['--set', 'worlds=16', '--set', 'rollout=32', '--set', 'network.hidden=[16]', '--guard', 'off'],
];

/** A folder that is gone when the test file ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A Python that has the modules, if there is one. */
export function findPython(...modules: string[]): string | undefined {
  return ['/usr/bin/python3', 'python3'].find((python) => {
    // Looked for and not imported: torch takes seconds to import.
    const wanted = modules.map((name) => `'${name}'`).join(', ');
    const script = `import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, [${wanted}])))`;
    return spawnSync(python, ['-c', script]).status === 0;
  });
}

/** The Python of an environment that `npm test` makes (scripts/python.mjs), if it could. */
export function findVenv(name: string): string | undefined {
  const folder = join(root, 'build', 'venv', name);
  return existsSync(join(folder, 'ready')) ? join(folder, 'bin', 'python') : undefined;
}
