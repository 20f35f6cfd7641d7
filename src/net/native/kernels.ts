/** Native kernels over the same memory and the same structures as those in WASM; only lanes and packed weights lie in wider vectors. */
import { maximumPages } from '../kernels/binary.generated.ts';
import type { NativeAddon, NativeKernels } from '../platform.ts';
import type { Kernels } from '../wasm/kernels.ts';
import { KernelMemory } from '../wasm/memory.ts';
import { RESERVED, Tasks } from '../wasm/threads.ts';

class NativeThreads extends Tasks {
  constructor(
    memory: KernelMemory,
    private readonly native: NativeKernels,
    readonly size: 1 | 2,
  ) {
    super(memory);
  }

  ensureScratch(bytes: number): void {
    for (let thread = 0; thread < this.size; thread++) {
      const region = this.scratch[thread];
      const before = region.at;
      if (region.ensure(bytes) !== before) this.native.scratch(thread, region.at);
    }
  }

  run(): void {
    if (this.broken !== null) throw new Error(this.broken);
    this.native.run(this.table.at, this.count);
  }

  override dispose(): void {
    super.dispose();
    this.native.dispose();
  }
}

/** `variant` is one of the addon's; without it, the fastest. */
export function nativeKernels(addon: NativeAddon, threads: 1 | 2, variant = addon.variants[0]): Kernels {
  // Shared memory grows where it is, so that the kernels may keep its address.
  const memory = new KernelMemory(true, maximumPages, RESERVED);
  const native = addon.open(memory.u8, threads, variant);
  return {
    variant: 'relaxed',
    engine: 'native',
    width: native.width,
    memory,
    exports: native,
    threads: new NativeThreads(memory, native, threads),
  };
}
