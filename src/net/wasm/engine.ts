/** The engine on WASM kernels, on one thread or two. */
import type { RandomStream } from '../../math/random.ts';
import type { Engine, MlpShape, OptimizerMember, PolicyShape, Rows, UpdateJob } from '../types.ts';
import type { Kernels, Variant } from './kernels.ts';
import { KernelAdam, KernelMlp } from './mlp.ts';
import { KernelPolicy } from './policy.ts';
import { HeldRows } from './staging.ts';
import { updatePolicies } from './update.ts';

export class KernelEngine implements Engine {
  readonly kernel: Variant;
  readonly threads: number;
  private readonly kernels: Kernels;
  private readonly held = new WeakMap<Rows, HeldRows>();
  /** Rows that were forgotten without a `release` give their memory back when they are collected. */
  private readonly forgotten = new FinalizationRegistry<HeldRows>((held) => held.region.free());

  constructor(kernels: Kernels) {
    this.kernels = kernels;
    this.kernel = kernels.variant;
    this.threads = kernels.threads.size;
  }

  policy(shape: PolicyShape, stream: RandomStream): KernelPolicy {
    return new KernelPolicy(this.kernels, shape, stream, this.held);
  }

  mlp(shape: MlpShape, stream: RandomStream): KernelMlp {
    return new KernelMlp(this.kernels, shape, stream);
  }

  adam(members: readonly OptimizerMember[], settings: { beta1: number; beta2: number; eps: number }): KernelAdam {
    return new KernelAdam(this.kernels, members, settings);
  }

  update(jobs: readonly UpdateJob[]) {
    return updatePolicies(this.kernels, jobs);
  }

  hold(rows: Rows): void {
    this.release(rows);
    const held = new HeldRows(this.kernels.memory);
    held.copy(rows);
    this.held.set(rows, held);
    this.forgotten.register(rows, held, held);
  }

  release(rows: Rows): void {
    const held = this.held.get(rows);
    if (!held) return;
    this.forgotten.unregister(held);
    held.region.free();
    this.held.delete(rows);
  }

  dispose(): void {
    this.kernels.threads.dispose();
  }
}
