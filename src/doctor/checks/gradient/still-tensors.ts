/** Tensors that stay as they are through the whole recording, bit by bit: some have gradients and nobody who takes the step, others are never reached by a gradient. What was frozen on purpose is left alone, as the manifest says. */
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { limits } from '../../limits.ts';

interface Still {
  steps: number;
  reached: number;
  held: number;
  norm: number;
  first: number;
  later: boolean;
}

export interface StillTensor {
  name: string;
  steps: number;
  /** Since which iteration it was seen. */
  onset: number;
  reached: boolean;
  held: boolean;
}

export class StillTensors {
  private readonly tensors = new Map<number, Still>();
  private readonly moved = new Set<number>();
  private steppedIn = 0;
  /** Whether the first observations are nothing but zeros, through which no gradient reaches a layer; null where there are none. */
  private zeros: boolean | null = null;

  constructor(private readonly run: Run) {}

  get blind(): boolean {
    return this.zeros === true;
  }

  see({ samples, tensors, number }: Iteration): void {
    const seen = this.zeros === null ? samples?.list('obs')?.values : null;
    if (seen) this.zeros = !Array.prototype.some.call(seen, (value) => value !== 0);
    const [gradient, norm, bound] = ['grad_norm', 'norm', 'bound'].map((name) => tensors?.column(name));
    if (!tensors || !gradient || !norm || !bound) return;
    this.steppedIn++;
    const tensor = tensors.column('tensor')!;
    for (let i = 0; i < tensors.rows; i++) {
      const at = tensor[i];
      if (this.moved.has(at)) continue;
      const own = this.tensors.get(at) ?? { steps: 0, reached: 0, held: 0, norm: norm[i], first: number, later: false };
      this.tensors.set(at, own);
      // A bias that starts at 0 and is moved has another norm, whatever its size.
      if (norm[i] !== own.norm) {
        this.moved.add(at);
        continue;
      }
      own.steps++;
      if (gradient[i] > 0) own.reached++;
      if (bound[i] > 0) own.held++;
      own.later ||= number > own.first;
    }
  }

  /** The critic's tensors whose optimiser was handed over and never stepped, though other steps were taken in several iterations and value losses reported: a run that breaks off before its value loop has one. */
  neverStepped(policy: number): string[] {
    if (this.steppedIn < 2 || !this.run.seen.has('steps.value_loss')) return [];
    return this.run.tensors
      .filter((info) => info.policy === policy && info.role === 'critic' && info.neverStepped && !info.frozen)
      .map(({ name }) => name);
  }

  /** Those of a policy and role that never moved, and how many it has in all. One iteration tells nothing: another optimiser may come in between. */
  of(policy: number, role: string): { still: StillTensor[]; all: number } {
    const still: StillTensor[] = [];
    let all = 0;
    for (const [at, info] of this.run.tensors.entries()) {
      if (info.policy !== policy || info.role !== role || info.frozen) continue;
      all++;
      const own = this.tensors.get(at);
      if (!own || this.moved.has(at) || !own.later || own.steps < limits.fewestSteps.value) continue;
      const { steps, first: onset } = own;
      // What nobody holds is never moved, however seldom it is reached: a critic's gradients come in its own loop alone.
      const unheld = own.held === 0 && own.reached >= limits.fewestSteps.value;
      const reached = unheld || own.reached >= limits.nearlyAll.value * steps;
      if (reached || own.reached === 0) still.push({ name: info.name, steps, onset, reached, held: own.held > 0 });
    }
    return { still, all };
  }
}
