/** By what clipping shortened the gradients of a step. A limit that nobody declared shows in the lengths themselves; where only the shortened ones are known, a clipped step tells nothing. */

import { limits } from '../../limits.ts';
import type { Iteration } from '../iteration.ts';
import type { Run } from '../run.ts';
import { stepKey } from './step-key.ts';

export class ClipScales {
  /** By step, the length of all gradients before clipping, and that of those which the optimiser got. */
  private readonly before = new Map<number, number>();
  private readonly after = new Map<number, number>();
  private readonly limit: number;
  /** The length that clipped steps have in common; infinite where no two of the longest do. */
  private readonly ceiling: number;

  constructor(run: Run, { steps, tensors }: Iteration) {
    this.limit = run.number('max_grad_norm');
    const norms = steps?.column('grad_norm');
    if (steps && norms) {
      const [epoch, minibatch, policy] = [steps.column('epoch')!, steps.column('minibatch')!, steps.column('policy')];
      for (let i = 0; i < steps.rows; i++)
        this.before.set(stepKey(epoch[i], minibatch[i], policy ? policy[i] : 0), norms[i]);
    }
    const gradient = tensors?.column('grad_norm');
    if (tensors && gradient) {
      const [epoch, minibatch, tensor] = [
        tensors.column('epoch')!,
        tensors.column('minibatch')!,
        tensors.column('tensor')!,
      ];
      for (let i = 0; i < tensors.rows; i++) {
        const key = stepKey(epoch[i], minibatch[i], run.tensors[tensor[i]]?.policy ?? 0);
        this.after.set(key, Math.hypot(this.after.get(key) ?? 0, gradient[i]));
      }
    }
    const longest = [...this.after.values()].sort((a, b) => b - a);
    this.ceiling = same(longest[0], longest[1]) ? longest[0] : Number.POSITIVE_INFINITY;
  }

  /** At most 1; null where it is not known. */
  of(key: number): number | null {
    const before = this.before.get(key);
    if (Number.isFinite(this.limit) && before !== undefined)
      return Math.min(1, this.limit / (before + limits.clipEpsilon.value));
    const after = this.after.get(key) ?? Number.NaN;
    if (before !== undefined && before > 0 && Number.isFinite(after)) return after < before ? after / before : 1;
    return same(after, this.ceiling) ? null : 1;
  }
}

const same = (a: number, b: number) => Number.isFinite(b) && Math.abs(a - b) <= limits.equalLengths.value * b;
