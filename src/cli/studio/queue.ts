/** A queue's state for the page, asked for only while somebody looks. What is wrong with Redis is told in a sentence, which holds no password. */
import type { RedisAddress } from '../../sweep/redis/connection.ts';
import type { QueueStatus } from '../../sweep/redis/status.ts';
import { needingQueue } from '../common/runner.ts';

export type QueueNews = { status: QueueStatus } | { error: string };

export class QueueWatch {
  private readonly listeners = new Set<(news: QueueNews) => void>();
  private timer: NodeJS.Timeout | undefined;
  private latest: QueueNews | undefined;

  private constructor(
    readonly name: string,
    private readonly address: RedisAddress,
    private readonly interval: number,
  ) {}

  /** Says at once what is wrong with the address or the name; whether Redis answers is seen later. */
  static async open(name: string, address: RedisAddress, interval = 2000): Promise<QueueWatch> {
    const { redisOptions } = await needingQueue(() => import('../../sweep/redis/connection.ts'));
    const { checkName } = await import('../../sweep/redis/names.ts');
    redisOptions(address);
    return new QueueWatch(checkName(name), address, interval);
  }

  subscribe(listener: (news: QueueNews) => void): () => void {
    this.listeners.add(listener);
    if (this.latest) listener(this.latest);
    if (this.listeners.size === 1) void this.look();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.stop();
    };
  }

  stop(): void {
    clearTimeout(this.timer);
    this.listeners.clear();
  }

  private async look(): Promise<void> {
    this.latest = await this.ask();
    for (const listener of this.listeners) listener(this.latest);
    clearTimeout(this.timer);
    if (this.listeners.size > 0) this.timer = setTimeout(() => void this.look(), this.interval);
  }

  private async ask(): Promise<QueueNews> {
    try {
      // Loaded here, so that a studio without a queue does not wait for the queue's libraries.
      const { queueStatus } = await needingQueue(() => import('../../sweep/redis/status.ts'));
      return { status: await queueStatus(this.address, this.name) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}
