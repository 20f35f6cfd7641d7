/** `trueline studio`: serves the web app and the runs below a folder, on loopback unless told otherwise. */

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { needing } from '../recording/optional.ts';
import type { RedisAddress } from '../sweep/redis/connection.ts';
import { print, wholeNumber } from './common/options.ts';
import { program } from './program.ts';

export interface StudioServer {
  address: string;
  /** Ends the server; what it started goes on. */
  close(): Promise<void>;
  /** Names of what it started and still runs. */
  running(): string[];
}

export interface ServeOptions {
  host?: string;
  port?: number;
  token?: string;
  /** Milliseconds between two looks at the folder, and at the queue. */
  interval?: number;
  /** A queue of `trueline sweep --redis` to show. */
  queue?: { name: string; address: RedisAddress };
}

/** Serves a folder's runs; port 0 takes any free one. */
export async function serveStudio(folder: string, options: ServeOptions = {}): Promise<StudioServer> {
  // Loaded here, so that no other command waits for the web server.
  const [{ serve }, { studioApp }, { isLoopback, newToken }] = await needing(
    'hono @hono/node-server',
    'the studio',
    () => Promise.all([import('@hono/node-server'), import('./studio/app.ts'), import('./studio/guard.ts')]),
  );
  const { Jobs } = await import('./studio/jobs.ts');
  const { QueueWatch } = await import('./studio/queue.ts');
  const { FolderWatch } = await import('./studio/watch.ts');
  const { Library } = await import('./studio/library.ts');
  const { Shelf } = await import('./studio/shelf.ts');
  const assets = fileURLToPath(new URL('../studio', import.meta.url));
  if (!existsSync(assets))
    throw new BadInput(
      told('the studio is not built; run npm run build first', '工作室尚未构建；请先运行 npm run build'),
      { file: assets },
    );
  const host = options.host ?? '127.0.0.1';
  const token = options.token ?? (isLoopback(host) ? undefined : newToken());
  const library = new Library(folder, join(folder, '.studio', 'kept'));
  const shelf = new Shelf(folder, join(folder, '.studio'));
  await Promise.all([library.open(), shelf.open()]);
  const watch = new FolderWatch(folder, options.interval, ({ runs }) => library.update(runs));
  const queue = options.queue && (await QueueWatch.open(options.queue.name, options.queue.address, options.interval));
  const jobs = await Jobs.open(folder, program);
  await watch.start();
  const app = studioApp({
    folder,
    assets,
    watch,
    jobs,
    library,
    shelf,
    ...(queue ? { queue } : {}),
    ...(token ? { token } : {}),
  });
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
    running: () =>
      jobs
        .list()
        .filter(({ state }) => state === 'running')
        .map(({ id }) => id),
    close: () =>
      new Promise<void>((resolve) => {
        watch.stop();
        void library.close();
        queue?.stop();
        jobs.close();
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

interface Flags {
  port?: number;
  host: string;
  token?: string;
  redis?: string;
  queue: string;
  ca?: string;
}

const usualPort = 7420;

export function studioCommand(): Command {
  return new Command('studio')
    .description('Serve the web app: live runs, diagnosis by drag and drop, replays, comparisons, investigations.')
    .argument('[folder]', 'the folder whose runs are shown', 'runs')
    .option('--port <n>', `the port to listen on; ${usualPort}, or any free one where that is taken`, wholeNumber)
    .option('--host <address>', 'the address to listen on; any other than the loopback requires a token', '127.0.0.1')
    .option('--token <text>', 'the token to require, instead of a generated one')
    .option('--redis <address>', 'also show a queue of this Redis: machines, jobs, throughput, time left')
    .option('--queue <name>', 'the queue of --redis', 'sweep')
    .option('--ca <file>', 'the certificate authority of the Redis server, if the system does not know it')
    .addHelpText(
      'after',
      '\nExamples:\n  $ trueline studio runs\n  $ trueline studio runs --redis redis://10.0.0.1:6379 --queue gamma\n',
    )
    .action(async (folder: string, flags: Flags) => {
      if (flags.port !== undefined && flags.port > 65535)
        throw new BadInput(
          told(`--port ${flags.port}: ports go from 0 to 65535`, `--port ${flags.port}：端口范围是 0 到 65535`),
        );
      await mkdir(folder, { recursive: true });
      const server = await serveWhereFree(folder, flags);
      print(`The studio shows ${folder} at ${server.address}\nCtrl-C ends it.`);
      await new Promise<void>((resolve) => {
        process.once('SIGINT', resolve);
        process.once('SIGTERM', resolve);
      });
      await server.close();
      const left = server.running();
      if (left.length > 0)
        print(`Still running: ${left.join(', ')}. The studio shows them again when it is started again.`);
    });
}

/** A port that was asked for is kept to; the usual one gives way. */
async function serveWhereFree(folder: string, flags: Flags): Promise<StudioServer> {
  const { port, host, token, redis, queue, ca } = flags;
  const options: ServeOptions = {
    host,
    ...(token ? { token } : {}),
    ...(redis ? { queue: { name: queue, address: { url: redis, ...(ca ? { ca } : {}) } } } : {}),
  };
  try {
    return await serveStudio(folder, { ...options, port: port ?? usualPort });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (port !== undefined)
      throw new BadInput(
        told(`port ${port} is taken; choose another with --port`, `端口 ${port} 已被占用；请用 --port 另选`),
      );
    return serveStudio(folder, options);
  }
}
