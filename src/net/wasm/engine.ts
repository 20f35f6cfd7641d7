/** The engine on kernels, of WASM or native, on one thread or two. */
import type { RandomStream } from '../../math/random.ts';
import type { ActJob, Engine, ForwardJob, MlpShape, OptimizerMember, PolicyShape, Room, UpdateJob } from '../types.ts';
import { RowCopies } from './copies.ts';
import type { Kernels, Variant } from './kernels.ts';
import { KernelAdam, KernelMlp } from './mlp.ts';
import { forwardTasks, KernelPolicy } from './policy.ts';
import { updatePolicies } from './update.ts';

export class KernelEngine implements Engine {
  readonly kernel: Variant;
  readonly engine: 'wasm' | 'native';
  readonly threads: number;
  private readonly kernels: Kernels;
  readonly room: Room;

  constructor(kernels: Kernels) {
    this.kernels = kernels;
    this.kernel = kernels.variant;
    this.engine = kernels.engine;
    this.threads = kernels.threads.size;
    this.room = new RowCopies(kernels).room;
  }

  policy(shape: PolicyShape, stream: RandomStream): KernelPolicy {
    return new KernelPolicy(this.kernels, shape, stream);
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
    for (const { policy, rows, out } of jobs) if (rows.length > 0) (policy as KernelPolicy).leaveDecisions(rows, out);
  }

  forward(jobs: readonly ForwardJob[]): void {
    const { threads } = this.kernels;
    let tasks = 0;
    const networks = new Set<KernelMlp>();
    for (const { mlp, x, rows, out, choices } of jobs) {
      if (!(mlp instanceof KernelMlp)) throw new TypeError('A network of another engine was to go forward.');
      if (networks.has(mlp)) throw new RangeError('a network goes forward twice at once; give its rows together.');
      networks.add(mlp);
      mlp.enter(x, rows, out, choices);
      tasks += mlp.blocks;
    }
    if (tasks === 0) return;
    threads.begin(tasks);
    for (const mlp of networks) mlp.addForward();
    threads.run();
    for (const { mlp, out } of jobs) (mlp as KernelMlp).leave(out);
  }

  update(jobs: readonly UpdateJob[]) {
    return updatePolicies(this.kernels, jobs);
  }

  dispose(): void {
    this.kernels.threads.dispose();
  }
}
