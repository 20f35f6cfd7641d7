/** The engine on WASM kernels, on one thread or two. */
import type { RandomStream } from '../../math/random.ts';
import type { ActJob, Engine, MlpShape, OptimizerMember, PolicyShape, Rows, UpdateJob } from '../types.ts';
import type { Kernels, Variant } from './kernels.ts';
import { KernelAdam, KernelMlp } from './mlp.ts';
import { forwardTasks, KernelPolicy } from './policy.ts';
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

  act(jobs: readonly ActJob[]): void {
    const { threads } = this.kernels;
    let tasks = 0;
    for (let i = 0; i < jobs.length; i++) {
      const { policy, rows, uniforms, temperature, out } = jobs[i];
      if (!(policy instanceof KernelPolicy)) throw new TypeError('A decision was asked of a policy of another engine.');
      for (let j = 0; j < i; j++)
        if (jobs[j].policy === policy)
          throw new RangeError(`job ${i} repeats the policy of job ${j}; give its rows together.`);
      if (rows.length > 0) policy.enterDecisions(rows, uniforms, temperature, out);
      tasks += forwardTasks(rows.length);
    }
    if (tasks === 0) return;
    threads.begin(tasks);
    for (const { policy, rows } of jobs) (policy as KernelPolicy).addForward(rows.length);
    threads.run();
    for (const { policy, rows, out } of jobs)
      if (rows.length > 0) (policy as KernelPolicy).leaveDecisions(rows.length, out);
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
