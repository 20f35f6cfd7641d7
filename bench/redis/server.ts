/** A real Redis of a test's own: on a free port of the loopback, with a folder of its own, that can be stopped and started again. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect as connectTo, createServer } from 'node:net';

export function findRedis(): string | undefined {
  return ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find(
    (path) => spawnSync(path, ['--version']).status === 0,
  );
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export class TestRedis {
  private process: ChildProcess | undefined;

  constructor(
    private readonly program: string,
    private readonly folder: string,
    readonly port: number,
    private readonly more: string[] = [],
  ) {}

  get address(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = [
      '--bind',
      '127.0.0.1',
      '--dir',
      this.folder,
      '--appendonly',
      'yes',
      '--save',
      '',
      '--port',
      String(this.port),
    ];
    this.process = spawn(this.program, [...args, ...this.more], { stdio: 'ignore' });
    for (;;) {
      const open = await new Promise<boolean>((resolve) => {
        const socket = connectTo(this.port, '127.0.0.1');
        socket.once('connect', () => {
          socket.destroy();
          resolve(true);
        });
        socket.once('error', () => resolve(false));
      });
      if (open) return;
      if (this.process.exitCode !== null) throw new Error(`redis-server ended with ${this.process.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async stop(): Promise<void> {
    const { process } = this;
    if (!process || process.exitCode !== null) return;
    process.kill('SIGTERM');
    await once(process, 'exit');
  }
}
