/** What differs between Node and a page: how a second thread starts. Both run the same worker program, given as text. */

import type { KernelExports } from './wasm/kernels.ts';

/** Sent once to a worker; it then obeys the control words in the shared memory until it is ended. */
export interface WorkerStart {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
}

export interface WorkerHandle {
  terminate(): void;
}

/** Kernels in machine code, as `native/addon.c` offers them. */
export interface NativeAddon {
  /** The variants that this CPU runs, the fastest first. */
  readonly variants: readonly string[];
  open(memory: Uint8Array, threads: number, variant: string): NativeKernels;
}

export interface NativeKernels extends KernelExports {
  readonly width: number;
  run(table: number, count: number): void;
  scratch(thread: number, address: number): void;
  dispose(): void;
}

export interface Platform {
  /** The native kernels, or one sentence that says why there are none. A page has none. */
  native?(): NativeAddon | string;
  /** Called once before kernels are validated or compiled. */
  prepare(): void;
  /** Resolves when the worker has said `ready`; rejects with its error. */
  spawn(program: string, start: WorkerStart): Promise<WorkerHandle>;
  readonly cores: number;
}

/** A web page or a worker of one. */
export const pagePlatform: Platform = {
  prepare() {},
  get cores() {
    return globalThis.navigator?.hardwareConcurrency ?? 1;
  },
  spawn(program, start) {
    const url = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }));
    const worker = new Worker(url);
    return new Promise((resolve, reject) => {
      worker.onmessage = () => {
        URL.revokeObjectURL(url);
        resolve(worker);
      };
      worker.onerror = (event) => {
        URL.revokeObjectURL(url);
        worker.terminate();
        reject(new Error(`The compute worker did not start: ${event.message}`));
      };
      worker.postMessage(start);
    });
  },
};
