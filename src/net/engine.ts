/** Makes an engine: the fastest kernel that this machine validates, or the one that is asked for by name. */
import { type Platform, pagePlatform } from './platform.ts';
import { ReferenceEngine } from './reference/engine.ts';
import type { Engine, EngineOptions } from './types.ts';
import { KernelEngine } from './wasm/engine.ts';
import { loadKernels, supports } from './wasm/kernels.ts';

async function thisPlatform(): Promise<Platform> {
  return typeof process === 'object' && process.versions?.node ? (await import('./node.ts')).platform : pagePlatform;
}

/**
 * By default `kernel` is the fastest that runs here, and `threads` is 2 where there are two cores and shared memory. Neither the number
 * of threads nor shared memory changes a bit of the results; the kernel does.
 *
 * @example
 * const engine = await createEngine({ threads: 1 });
 * const trainer = new Trainer({ game: 'echo' }, { engine });
 */
export async function createEngine(options: EngineOptions & { platform?: Platform } = {}): Promise<Engine> {
  const wanted = options.kernel ?? 'auto';
  if (wanted === 'reference') return new ReferenceEngine();
  const platform = options.platform ?? (await thisPlatform());
  platform.prepare();
  const kernel = wanted !== 'auto' ? wanted : (['relaxed', 'simd'] as const).find(supports);
  if (kernel === undefined) return new ReferenceEngine();
  if (!supports(kernel)) {
    throw new Error(
      `The kernel ${kernel} does not run here; choose auto, ${kernel === 'relaxed' ? 'simd or reference' : 'or reference'}.`,
    );
  }
  const shared = canShare();
  if (options.threads === 2 && !shared) {
    throw new Error(
      'Two threads need shared memory, which a page has only when it is cross-origin isolated; set threads to 1.',
    );
  }
  const threads = options.threads ?? (shared && platform.cores > 1 ? 2 : 1);
  const kernels = await loadKernels(kernel, shared);
  if (threads === 2) await kernels.threads.start(platform, kernels.module);
  return new KernelEngine(kernels);
}

function canShare(): boolean {
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated;
  return typeof SharedArrayBuffer === 'function' && isolated !== false;
}
