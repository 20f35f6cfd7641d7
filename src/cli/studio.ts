/** `trueline studio`: serves the web app and the runs below a folder, on loopback unless told otherwise. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { BadInput } from '../recording/bad-input.ts';
import { print, wholeNumber } from './options.ts';

export interface StudioServer {
  address: string;
  close(): Promise<void>;
}

export interface ServeOptions {
  host?: string;
  port?: number;
  token?: string;
  /** Milliseconds between two looks at the folder. */
  interval?: number;
}

/** Serves a folder's runs; port 0 takes any free one. */
export async function serveStudio(folder: string, options: ServeOptions = {}): Promise<StudioServer> {
  // Loaded here, so that no other command waits for the web server.
  const { serve } = await import('@hono/node-server');
  const { studioApp } = await import('./studio/app.ts');
  const { isLoopback, newToken } = await import('./studio/guard.ts');
  const { Trainings } = await import('./studio/trainings.ts');
  const { RunWatch } = await import('./studio/watch.ts');
  const assets = fileURLToPath(new URL('../studio', import.meta.url));
  if (!existsSync(assets)) throw new BadInput('the studio is not built; run npm run build first', { file: assets });
  const host = options.host ?? '127.0.0.1';
  const token = options.token ?? (isLoopback(host) ? undefined : newToken());
  const watch = new RunWatch(folder, options.interval);
  const program = fileURLToPath(new URL('../../bin/trueline', import.meta.url));
  const trainings = new Trainings(folder, program);
  await watch.start();
  const app = studioApp({ folder, assets, watch, trainings, ...(token ? { token } : {}) });
  const server = serve({ fetch: app.fetch, hostname: host, port: options.port ?? 0 });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve);
      server.once('error', reject);
    });
  } catch (error) {
    watch.stop();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    address: `http://${name}:${port}/${token ? `?token=${token}` : ''}`,
    close: () =>
      new Promise<void>((resolve) => {
        watch.stop();
        trainings.stopAll();
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

export function studioCommand(): Command {
  return new Command('studio')
    .description('Serve the web app: live runs, diagnosis by drag and drop, replays, comparisons.')
    .argument('[folder]', 'the folder whose runs are shown', 'runs')
    .option('--port <n>', 'the port to listen on', wholeNumber, 7420)
    .option('--host <address>', 'the address to listen on; others than loopback ask for a token', '127.0.0.1')
    .option('--token <text>', 'the token to ask for, in place of one made up')
    .addHelpText('after', '\nExample:\n  $ trueline studio runs\n')
    .action(async (folder: string, options: { port: number; host: string; token?: string }) => {
      await mkdir(folder, { recursive: true });
      const server = await serveStudio(folder, options).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE') throw error;
        throw new BadInput(`port ${options.port} is taken; choose another with --port`);
      });
      print(`The studio shows ${folder} at ${server.address}\nCtrl-C ends it.`);
      await new Promise<void>((resolve) => {
        process.once('SIGINT', resolve);
        process.once('SIGTERM', resolve);
      });
      await server.close();
    });
}
