/** A reading thread of the studio, begun when it is first asked and ended when it has had nothing to do for a while: what it read is memory that nobody needs any more. */
import { Worker } from 'node:worker_threads';
import type { ReaderAnswer, ReaderCall, ReaderMethods } from './studio-reader.ts';

/** Milliseconds. */
const idle = 60_000;

export class ReaderThread {
  private worker: Worker | undefined;

  /** One that works in the background leaves the processor to whoever else wants it. */
  constructor(private readonly background = false) {}

  private next = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();

  /** Calls that have no answer yet. */
  get busy(): number {
    return this.waiting.size;
  }

  call<M extends keyof ReaderMethods>(method: M, ...args: Parameters<ReaderMethods[M]>): ReturnType<ReaderMethods[M]> {
    clearTimeout(this.timer);
    this.worker ??= this.begin();
    const id = this.next++;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.worker.postMessage({ id, method, args } satisfies ReaderCall);
    return answer as ReturnType<ReaderMethods[M]>;
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    const { worker } = this;
    this.worker = undefined;
    await worker?.terminate();
    this.fail('The studio was ended.');
  }

  private begin(): Worker {
    const worker = new Worker(new URL('./studio-reader.js', import.meta.url), {
      execArgv: [],
      workerData: { background: this.background },
    });
    worker.unref();
    worker.on('message', (answer: ReaderAnswer) => {
      const call = this.waiting.get(answer.id);
      this.waiting.delete(answer.id);
      if ('error' in answer) call?.reject(new Error(answer.error));
      else call?.resolve(answer.value);
      if (this.waiting.size > 0) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.close(), idle);
      this.timer.unref();
    });
    worker.on('error', (error) => this.lost(worker, error.message));
    worker.on('exit', () => this.lost(worker, 'The thread that was reading ended.'));
    return worker;
  }

  private lost(worker: Worker, message: string): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    this.fail(message);
  }

  private fail(message: string): void {
    for (const { reject } of this.waiting.values()) reject(new Error(message));
    this.waiting.clear();
  }
}
