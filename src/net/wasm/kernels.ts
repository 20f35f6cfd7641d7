/** Loads a kernel variant. The binary asks for shared memory; where a page may have none, the request is changed to plain memory. */
import { maximumPages, relaxed, simd } from '../kernels/binary.generated.ts';
import { KernelMemory } from './memory.ts';
import { RESERVED, type Tasks, Threads } from './threads.ts';

export type Variant = 'relaxed' | 'simd';

/** Exports of the kernels; addresses are bytes. */
export interface KernelExports {
  task(at: number, scratch: number): void;
  passReduce(pass: number): void;
  adamStep(job: number, net: number): void;
  pack(net: number): void;
  exponentials(at: number, bytes: number): void;
  logarithms(at: number, bytes: number): void;
  tangents(at: number, bytes: number): void;
}

export interface Kernels {
  /** Whose bits they give. */
  variant: Variant;
  engine: 'wasm' | 'native';
  /** Floats that a native kernel computes at once; its gradients and packed weights are in whole vectors. 4 in WASM. */
  width: number;
  memory: KernelMemory;
  exports: KernelExports;
  threads: Tasks;
}

interface WasmKernels extends Kernels {
  module: WebAssembly.Module;
  threads: Threads;
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** The import `env.memory` and the flags of its limits: 3 is shared with a maximum, 1 plain with a maximum. */
const memoryImport = [3, 0x65, 0x6e, 0x76, 6, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 2, 3];

export function binary(variant: Variant, shared: boolean): Uint8Array<ArrayBuffer> {
  const bytes = decode(variant === 'relaxed' ? relaxed : simd);
  if (!shared) {
    const at = bytes.findIndex((_, i) => memoryImport.every((byte, j) => bytes[i + j] === byte));
    if (at < 0)
      throw new Error('The kernels do not import env.memory as shared memory; build them again with npm run build.');
    bytes[at + memoryImport.length - 1] = 1;
  }
  return bytes;
}

/** True where this machine can run the variant. */
export function supports(variant: Variant): boolean {
  return typeof WebAssembly === 'object' && WebAssembly.validate(binary(variant, false));
}

export async function loadKernels(variant: Variant, shared: boolean): Promise<WasmKernels> {
  const memory = new KernelMemory(shared, maximumPages, RESERVED);
  const module = await WebAssembly.compile(binary(variant, shared));
  const instance = await WebAssembly.instantiate(module, { env: { memory: memory.memory } });
  const exports = instance.exports as unknown as KernelExports;
  return {
    variant,
    engine: 'wasm',
    width: 4,
    memory,
    exports,
    threads: new Threads(memory, exports.task),
    module,
  };
}
