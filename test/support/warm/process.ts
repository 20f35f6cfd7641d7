/** A process that has the program loaded and runs one command after the other, each in the folder that it is given. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../run.ts';

export interface WarmProcess {
  /** The status that the command ended with, and what it said on standard error. */
  run(folder: string, args: readonly string[]): Promise<{ status: number | null; stderr: string }>;
  end(): Promise<void>;
}

export function startWarm(): WarmProcess {
  const program = pathToFileURL(join(root, 'dist', 'program', 'main.js')).href;
  const child = fork(join(import.meta.dirname, 'process.mjs'), [program], {
    execArgv: [],
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  let tell: (status: number | null) => void = () => undefined;
  child.stderr!.on('data', (text: Buffer) => {
    said += text;
  });
  child.on('message', (status: number) => tell(status));
  // A command that ends the process gives its status as well; there is none after it.
  child.on('close', (status) => tell(status));
  return {
    run: async (folder, args) => {
      said = '';
      const status = await new Promise<number | null>((resolve) => {
        tell = resolve;
        child.send({ folder, args });
      });
      return { status, stderr: said };
    },
    end: async () => {
      if (child.kill()) await once(child, 'close');
    },
  };
}
