/** What differs between Node and a page: how a second thread starts. Both run the same worker program, given as text. */

/** Sent once to a worker; it then obeys the control words in the shared memory until it is ended. */
export interface WorkerStart {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
}

export interface WorkerHandle {
  terminate(): void;
}

export interface Platform {
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
