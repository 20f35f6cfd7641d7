/** The compute room in Node. The flag for relaxed SIMD must be set before any module is validated, which `prepare` does. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { findNative } from './native/node.ts';
import type { Platform } from './platform.ts';

/** The folder of the package, as far from here as from the built program. */
export const packageRoot = fileURLToPath(new URL('../..', import.meta.url));

export const platform: Platform = {
  prepare() {
    // From Node 22 on relaxed SIMD is no longer an experiment, and the flag is unknown.
    if (Number(process.versions.node.split('.')[0]) < 22) setFlagsFromString('--experimental-wasm-relaxed-simd');
  },
  native() {
    const found = findNative(packageRoot);
    return 'addon' in found ? found.addon : found.reason;
  },
  get cores() {
    return availableParallelism();
  },
  spawn(program, start) {
    // Flags of this process, such as --input-type, are not for the worker's program.
    const worker = new Worker(program, { eval: true, execArgv: [] });
    return new Promise((resolve, reject) => {
      worker.once('error', (cause) =>
        reject(new Error(`The compute worker did not start: ${cause.message}`, { cause })),
      );
      worker.once('message', () => {
        // A later failure is reported through the shared memory; a process may end while the worker waits.
        worker.on('error', () => {});
        worker.unref();
        resolve({ terminate: () => void worker.terminate() });
      });
      worker.postMessage(start);
    });
  },
};
