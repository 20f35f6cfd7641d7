/**
 * Tasks on one thread or two. Both take tasks from one counter, so that a late or sleeping worker costs time and never changes a result:
 * each task writes to places of its own.
 */
import type { Platform, WorkerHandle } from '../platform.ts';
import type { KernelMemory } from './memory.ts';
import { Region } from './memory.ts';

/** Words at the start of the memory. */
export const control = { remaining: 0, done: 1, wake: 2, sleeping: 3, error: 4, table: 5, scratch: 6 } as const;
const MESSAGE_AT = 256;
const MESSAGE_BYTES = 512;
/** Bytes at the start of the memory that are not the allocator's: this file's words up to 1024, then the kernels' constants. */
export const RESERVED = 2048;
/** A worker that has found nothing to do for so many milliseconds goes to sleep. Waking it costs a tenth of a millisecond, so it stays awake between the steps of a rollout and of an update. */
const SPIN = 3;
const PATIENCE = 60_000;

/** Plain JavaScript for a worker of Node or of a page. */
const program = `
function serve({ module, memory }) {
  const { task } = new WebAssembly.Instance(module, { env: { memory } }).exports;
  const control = new Int32Array(memory.buffer, 0, 16);
  let since = performance.now();
  for (let turn = 1; ; turn++) {
    if (Atomics.load(control, ${control.remaining}) > 0) {
      const left = Atomics.sub(control, ${control.remaining}, 1);
      if (left > 0) {
        try {
          task(control[${control.table}] + (left - 1) * 16, control[${control.scratch}]);
        } catch (error) {
          const bytes = String(error).slice(0, ${MESSAGE_BYTES});
          const message = new Uint8Array(memory.buffer, ${MESSAGE_AT}, ${MESSAGE_BYTES}).fill(0);
          for (let i = 0; i < bytes.length; i++) message[i] = Math.min(bytes.charCodeAt(i), 127);
          Atomics.store(control, ${control.error}, 1);
        }
        Atomics.add(control, ${control.done}, 1);
        turn = 0;
      }
    } else if ((turn & 63) === 0) {
      const now = performance.now();
      if (turn === 64) since = now;
      if (now - since > ${SPIN}) {
        const seen = Atomics.load(control, ${control.wake});
        Atomics.store(control, ${control.sleeping}, 1);
        if (Atomics.load(control, ${control.remaining}) <= 0) Atomics.wait(control, ${control.wake}, seen);
        Atomics.store(control, ${control.sleeping}, 0);
        turn = 0;
      }
    }
  }
}
if (typeof require === 'function') {
  const { parentPort } = require('node:worker_threads');
  parentPort.once('message', (start) => { parentPort.postMessage('ready'); serve(start); });
} else {
  onmessage = ({ data }) => { postMessage('ready'); serve(data); };
}
`;

export type Task = (at: number, scratch: number) => void;

/** A list of tasks in the kernels' memory, and the threads that run it. */
export abstract class Tasks {
  protected readonly memory: KernelMemory;
  protected readonly table: Region;
  protected readonly scratch: Region[];
  protected count = 0;
  protected broken: string | null = null;
  abstract readonly size: number;

  constructor(memory: KernelMemory) {
    this.memory = memory;
    this.table = new Region(memory);
    this.scratch = [new Region(memory), new Region(memory)];
  }

  /** Makes room for a task's working memory on every thread. */
  abstract ensureScratch(bytes: number): void;
  /** Runs the list; returns when every task is done. */
  abstract run(): void;

  /** Begins a list of at most `most` tasks. */
  begin(most: number): void {
    this.table.ensure(most * 16);
    this.count = 0;
  }

  add(kind: number, job: number, number: number): void {
    const word = (this.table.at >> 2) + this.count * 4;
    const words = this.memory.i32;
    words[word] = kind;
    words[word + 1] = job;
    words[word + 2] = number;
    this.count++;
  }

  dispose(): void {
    this.broken = 'This engine was disposed of; make a new one.';
  }
}

export class Threads extends Tasks {
  private readonly task: Task;
  private control: Int32Array;
  private worker: WorkerHandle | null = null;

  constructor(memory: KernelMemory, task: Task) {
    super(memory);
    this.task = task;
    this.control = memory.i32.subarray(0, 16);
  }

  async start(platform: Platform, module: WebAssembly.Module): Promise<void> {
    this.worker = await platform.spawn(program, { module, memory: this.memory.memory });
  }

  get size(): number {
    return this.worker ? 2 : 1;
  }

  ensureScratch(bytes: number): void {
    this.scratch[0].ensure(bytes);
    if (this.worker) this.memory.i32[control.scratch] = this.scratch[1].ensure(bytes);
  }

  run(): void {
    if (this.broken !== null) throw new Error(this.broken);
    const scratch = this.scratch[0].at;
    const table = this.table.at;
    const count = this.count;
    if (!this.worker || count === 1) {
      for (let index = count - 1; index >= 0; index--) this.task(table + index * 16, scratch);
      return;
    }
    const words = this.control;
    words[control.table] = table;
    Atomics.store(words, control.done, 0);
    Atomics.store(words, control.remaining, count);
    if (Atomics.load(words, control.sleeping) !== 0) {
      Atomics.add(words, control.wake, 1);
      Atomics.notify(words, control.wake);
    }
    let failure: unknown = null;
    for (;;) {
      const left = Atomics.sub(words, control.remaining, 1);
      if (left <= 0) break;
      try {
        this.task(table + (left - 1) * 16, scratch);
      } catch (error) {
        failure = error;
      }
      Atomics.add(words, control.done, 1);
    }
    this.join(count);
    if (failure !== null) throw failure;
    if (Atomics.load(words, control.error) !== 0) this.fail();
  }

  private join(count: number): void {
    const words = this.control;
    let since = 0;
    for (let turn = 1; Atomics.load(words, control.done) !== count; turn++) {
      if ((turn & 0xffff) !== 0) continue;
      const now = performance.now();
      if (since === 0) since = now;
      if (now - since > PATIENCE) {
        this.broken = `The compute worker has not answered for ${PATIENCE / 1000} seconds; make a new engine, with threads: 1 if it happens again.`;
        throw new Error(this.broken);
      }
    }
  }

  private fail(): never {
    Atomics.store(this.control, control.error, 0);
    const bytes = this.memory.u8.slice(MESSAGE_AT, MESSAGE_AT + MESSAGE_BYTES);
    const end = bytes.indexOf(0);
    const message = String.fromCharCode(...bytes.subarray(0, end < 0 ? bytes.length : end));
    this.broken = `A kernel failed on the compute worker (${message}); the engine's state is not to be trusted, make a new one.`;
    throw new Error(this.broken);
  }

  override dispose(): void {
    super.dispose();
    this.worker?.terminate();
    this.worker = null;
  }
}
