/** How the bench runs programs undisturbed: commands one after another in helpers that stay, everything else as a process. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const root = process.cwd();

export interface Program {
  program: string;
  args: string[];
  env?: Record<string, string>;
}

export function trueline(...args: string[]): Program {
  return { program: process.execPath, args: [join(root, 'bin/trueline'), ...args] };
}

/** Helpers that wait for a command. */
const idle: ChildProcess[] = [];

/** Runs a command to its end, as a user who goes on would. */
export async function must(...args: string[]): Promise<void> {
  const helper = idle.pop() ?? fork(join(root, 'bench/kills/again.mjs'), [join(root, 'dist/cli/main.js')]);
  const answered = once(helper, 'message') as Promise<[{ status: number; said: string }]>;
  helper.send(args);
  const [{ status, said }] = await answered;
  idle.push(helper);
  requireGood(args, status, said);
}

export function endHelpers(): void {
  for (const helper of idle.splice(0)) helper.disconnect();
}

export async function ended({ program, args, env = {} }: Program): Promise<void> {
  const child = spawn(program, args, {
    env: { ...process.env, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const [status] = (await once(child, 'close')) as [number | null];
  requireGood(args, status, said);
}

function requireGood(args: readonly string[], status: number | null, said: string): void {
  if (status !== 0)
    throw new Error(`${args.slice(0, 2).join(' ')} afterwards ended with ${status}: ${said.slice(-300)}`);
}
