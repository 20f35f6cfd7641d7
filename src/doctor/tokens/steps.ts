/** What every optimiser step of a language model holds, counted over the rows recorded, and told over all by `steps.tokens` and `steps.sequences` where they are there. */
import type { Iteration } from '../evidence/iteration.ts';
import type { Numbers } from '../evidence/rows.ts';
import { source } from './codes.ts';

export interface Count {
  tokens: number;
  sequences: number;
  /** Rows of the longest response; and the width of the trainer's rows, prompt and padding too, where that is known. */
  widest: number;
  whole: number;
}

export interface Step {
  iteration: number;
  epoch: number;
  minibatch: number;
  /** As counted here; and as the trainer counted over all ranks. */
  counted: Count;
  tokens: number;
  sequences: number;
  gradScale: number;
  dropped: number;
  micro: Map<number, Count>;
  ranks: Map<number, Count>;
  approxKl: number;
  clipFraction: number;
}

const stride = 1048576;

/** The slice of a step that a micro-batch of a process is. */
export const sliceKey = (micro: number, rank: number): number => micro + stride * rank;

const none = (): Count => ({ tokens: 0, sequences: 0, widest: 0, whole: 0 });

export class Steps {
  readonly list: Step[] = [];

  private readonly means = new Map<number, { tokens: number; steps: number }>();

  /** Tokens of the average step of the same iteration and epoch. */
  usual({ iteration, epoch }: Step): number {
    const keyOf = (step: { iteration: number; epoch: number }) => step.iteration * stride + step.epoch;
    if (this.means.size === 0)
      for (const step of this.list) {
        const own = this.means.get(keyOf(step)) ?? { tokens: 0, steps: 0 };
        this.means.set(keyOf(step), own);
        own.tokens += step.tokens > 0 ? step.tokens : step.counted.tokens;
        own.steps++;
      }
    const { tokens, steps } = this.means.get(keyOf({ iteration, epoch }))!;
    return tokens / steps;
  }

  /** The step of every replay of an iteration, as an index into `list`. Rows of a response mostly follow one another, and are counted in one go. */
  take(iteration: Iteration, owner: Int32Array, codes: Uint8Array, widthOf: (response: number) => number): Int32Array {
    const replays = iteration.replays!;
    const column = (name: string): Numbers | null => replays.column(name);
    const [epoch, minibatch, sample] = [column('epoch')!, column('minibatch')!, column('sample')!];
    const [micro, rank, coef, weight] = ['micro_batch', 'rank', 'coef', 'weight'].map(column);
    const trained = iteration.samples?.column('trained') ?? null;
    const counts = (i: number): boolean => {
      const row = sample[i];
      if (trained) return trained[row] === 1;
      if (weight) return weight[i] !== 0;
      return codes[row] === source.sampled || (coef !== null && coef[i] !== 0);
    };
    const out = new Int32Array(replays.rows);
    const known = new Map<number, number>();
    const lengths = new Map<Count, Map<number, number>>();
    for (let from = 0, to = 0; from < replays.rows; from = to) {
      const response = owner[sample[from]];
      const [part, process] = [micro ? micro[from] : 0, rank ? rank[from] : 0];
      let [rows, tokens] = [0, 0];
      for (to = from; to < replays.rows; to++) {
        if (epoch[to] !== epoch[from] || minibatch[to] !== minibatch[from] || owner[sample[to]] !== response) break;
        if ((micro && micro[to] !== part) || (rank && rank[to] !== process)) break;
        if (iteration.own[to] !== 1) continue;
        rows++;
        if (counts(to)) tokens++;
      }
      const key = epoch[from] * stride + minibatch[from];
      const own = known.get(key) ?? this.list.push(empty(iteration.number, epoch[from], minibatch[from])) - 1;
      known.set(key, own);
      out.fill(own, from, to);
      if (rows === 0) continue;
      const step = this.list[own];
      for (const count of [
        step.counted,
        ...(micro ? [at(step.micro, sliceKey(part, process))] : []),
        ...(rank ? [at(step.ranks, process)] : []),
      ]) {
        count.tokens += tokens;
        const seen = lengths.get(count) ?? new Map<number, number>();
        lengths.set(count, seen);
        seen.set(response, (seen.get(response) ?? 0) + rows);
      }
    }
    for (const [count, seen] of lengths) {
      count.sequences = seen.size;
      for (const [response, rows] of seen) {
        count.widest = Math.max(count.widest, rows);
        count.whole = Math.max(count.whole, widthOf(response));
      }
    }
    this.declared(iteration, known);
    return out;
  }

  private declared(iteration: Iteration, known: ReadonlyMap<number, number>): void {
    const { steps } = iteration;
    if (!steps) return;
    const [epoch, minibatch] = [steps.column('epoch')!, steps.column('minibatch')!];
    for (let i = 0; i < steps.rows; i++) {
      const own = known.get(epoch[i] * stride + minibatch[i]);
      if (own === undefined) continue;
      const at = (name: string) => steps.column(name)?.[i] ?? Number.NaN;
      const scale = at('grad_scale');
      Object.assign(this.list[own], {
        tokens: at('tokens'),
        sequences: at('sequences'),
        gradScale: Number.isNaN(scale) ? 1 : scale,
        dropped: at('groups_dropped'),
        approxKl: at('approx_kl'),
        clipFraction: at('clip_fraction'),
      });
    }
  }
}

function at(counts: Map<number, Count>, key: number): Count {
  const count = counts.get(key) ?? none();
  counts.set(key, count);
  return count;
}

const empty = (iteration: number, epoch: number, minibatch: number): Step => ({
  iteration,
  epoch,
  minibatch,
  counted: none(),
  tokens: Number.NaN,
  sequences: Number.NaN,
  gradScale: 1,
  dropped: Number.NaN,
  micro: new Map(),
  ranks: new Map(),
  approxKl: Number.NaN,
  clipFraction: Number.NaN,
});
