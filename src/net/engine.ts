/** Makes an engine: the fastest kernel that this machine validates, or the one that is asked for by name. */
import { nativeKernels } from './native/kernels.ts';
import { type Platform, pagePlatform } from './platform.ts';
import { ReferenceEngine } from './reference/engine.ts';
import type { Engine, EngineOptions } from './types.ts';
import { KernelEngine } from './wasm/engine.ts';
import { loadKernels, supports } from './wasm/kernels.ts';

/** What is asked for does not run here; whoever asked can ask for something else. */
export class EngineRefusal extends Error {}

async function thisPlatform(): Promise<Platform> {
  return typeof process === 'object' && process.versions?.node ? (await import('./node.ts')).platform : pagePlatform;
}

/**
 * By default `kernel` is the fastest that runs here, `engine` is native where native kernels are there, and `threads` is 2 where there are
 * two cores and shared memory. Neither the engine, nor the number of threads, nor shared memory changes a bit of the results; the kernel does.
 *
 * @example
 * const engine = await createEngine({ threads: 1 });
 * const trainer = new Trainer({ game: 'echo' }, { engine });
 */
export async function createEngine(options: EngineOptions & { platform?: Platform } = {}): Promise<Engine> {
  const wanted = options.kernel ?? 'auto';
  const engine = options.engine ?? 'auto';
  if (engine === 'native' && wanted !== 'auto' && wanted !== 'relaxed')
    throw new EngineRefusal(
      `The native engine gives the bits of the relaxed kernel, not of ${wanted}; leave out one of them.`,
    );
  if (wanted === 'reference') return new ReferenceEngine();
  const platform = options.platform ?? (await thisPlatform());
  if (engine !== 'wasm' && wanted !== 'simd') {
    const native = platform.native?.() ?? 'a page has none';
    if (typeof native !== 'string')
      return new KernelEngine(nativeKernels(native, threadsOf(options.threads, platform)));
    if (engine === 'native') throw new EngineRefusal(`The native engine does not run here: ${native}.`);
  }
  platform.prepare();
  const kernel = wanted !== 'auto' ? wanted : (['relaxed', 'simd'] as const).find(supports);
  if (kernel === undefined) return new ReferenceEngine();
  if (!supports(kernel)) {
    throw new EngineRefusal(
      `The kernel ${kernel} does not run here; choose auto, ${kernel === 'relaxed' ? 'simd or reference' : 'or reference'}.`,
    );
  }
  const threads = threadsOf(options.threads, platform);
  const kernels = await loadKernels(kernel, canShare());
  if (threads === 2) await kernels.threads.start(platform, kernels.module);
  return new KernelEngine(kernels);
}

function threadsOf(asked: EngineOptions['threads'], { cores }: Platform): 1 | 2 {
  if (asked === 2 && !canShare())
    throw new EngineRefusal(
      'Two threads need shared memory, which a page has only when it is cross-origin isolated; set threads to 1.',
    );
  return asked ?? (canShare() && cores > 1 ? 2 : 1);
}

function canShare(): boolean {
  const isolated = (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated;
  return typeof SharedArrayBuffer === 'function' && isolated !== false;
}
