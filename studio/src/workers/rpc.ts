/** Calls into a worker and answers from it, with progress on the way. Errors cross as their sentence. */
import { type Language, spokenLanguage, tell } from '../../../src/language/language.ts';

interface Call {
  id: number;
  method: string;
  args: unknown[];
}

type Answer =
  | { id: number; kind: 'done'; value: unknown }
  | { id: number; kind: 'failed'; message: string }
  | { id: number; kind: 'progress'; value: unknown };

type Method = (args: never, progress: (value: unknown) => void) => unknown;

/** On the worker's side: answers calls by name. */
export function answer(methods: Record<string, Method>): void {
  globalThis.onmessage = async ({ data }: MessageEvent<Call>) => {
    const { id, method, args } = data;
    const say = (message: Answer) => globalThis.postMessage(message);
    try {
      const value = await methods[method](args as never, (progress) => say({ id, kind: 'progress', value: progress }));
      say({ id, kind: 'done', value });
    } catch (error) {
      say({ id, kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
  };
}

/** On the page's side. */
export class Caller {
  private next = 0;
  private readonly waiting = new Map<
    number,
    { resolve(value: unknown): void; reject(error: Error): void; progress?: (value: never) => void }
  >();

  constructor(private readonly worker: Worker) {
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      const call = this.waiting.get(data.id);
      if (!call) return;
      if (data.kind === 'progress') {
        call.progress?.(data.value as never);
        return;
      }
      this.waiting.delete(data.id);
      if (data.kind === 'done') call.resolve(data.value);
      else call.reject(new Error(tell(data.message, spokenLanguage() as Language)));
    };
    worker.onerror = (event) => this.fail(new Error(event.message || 'The worker stopped.'));
  }

  call<Result, Progress = unknown>(
    method: string,
    args: unknown[] = [],
    progress?: (value: Progress) => void,
  ): Promise<Result> {
    const id = this.next++;
    return new Promise<Result>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, progress });
      this.worker.postMessage({ id, method, args } satisfies Call);
    });
  }

  dispose(): void {
    this.worker.terminate();
    this.fail(new Error('closed'));
  }

  private fail(error: Error): void {
    for (const call of this.waiting.values()) call.reject(error);
    this.waiting.clear();
  }
}
