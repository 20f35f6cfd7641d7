/** A real Redis of a test's own: on a free port of the loopback, with a folder of its own, that can be stopped and started again. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTo, createServer } from 'node:net';

export function findRedis(): string | undefined {
  return ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find(
    (path) => spawnSync(path, ['--version']).status === 0,
  );
}

/** Below the range from which the system takes ports for outgoing connections, so that no stranger takes it before it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
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
