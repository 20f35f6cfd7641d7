/** What every optimiser step of a language model holds, counted over the rows recorded, and told over all by `steps.tokens` and `steps.sequences` where they are there. */
import type { Iteration } from '../evidence/iteration.ts';
import type { Numbers } from '../evidence/rows.ts';
import { source } from './codes.ts';

export interface Count {
  tokens: number;
  sequences: number;
  /** Rows of the longest response times responses: what a mean over the padded batch divides by. */
  padded: number;
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

export class Steps {
  readonly list: Step[] = [];

  private readonly means = new Map<string, { tokens: number; steps: number }>();

  /** Tokens of the average step of the same iteration and epoch. */
  usual({ iteration, epoch }: Step): number {
    if (this.means.size === 0)
      for (const step of this.list) {
        const own = this.means.get(`${step.iteration} ${step.epoch}`) ?? { tokens: 0, steps: 0 };
        this.means.set(`${step.iteration} ${step.epoch}`, own);
        own.tokens += step.tokens > 0 ? step.tokens : step.counted.tokens;
        own.steps++;
      }
    const { tokens, steps } = this.means.get(`${iteration} ${epoch}`)!;
    return tokens / steps;
  }

  /** The step of every replay of an iteration, as an index into `list`. */
  take(iteration: Iteration, owner: Int32Array, codes: Uint8Array): Int32Array {
    const replays = iteration.replays!;
    const column = (name: string): Numbers | null => replays.column(name);
    const [epoch, minibatch, sample] = [column('epoch')!, column('minibatch')!, column('sample')!];
    const [micro, rank, coef, weight] = ['micro_batch', 'rank', 'coef', 'weight'].map(column);
    const trained = iteration.samples?.column('trained') ?? null;
    const out = new Int32Array(replays.rows);
    const known = new Map<number, number>();
    const tallies = new Map<string, Tally>();
    for (let i = 0; i < replays.rows; i++) {
      const key = epoch[i] * stride + minibatch[i];
      let own = known.get(key);
      if (own === undefined) {
        own = this.list.push(empty(iteration.number, epoch[i], minibatch[i])) - 1;
        known.set(key, own);
      }
      out[i] = own;
      if (iteration.own[i] !== 1) continue;
      const row = sample[i];
      const counts = trained
        ? trained[row] === 1
        : weight
          ? weight[i] !== 0
          : coef
            ? coef[i] !== 0 || codes[row] === source.sampled
            : codes[row] === source.sampled;
      const step = this.list[own];
      tally(tallies, `${own}`, step.counted, owner[row], counts);
      if (micro)
        tally(
          tallies,
          `${own} ${micro[i]} ${rank ? rank[i] : 0}`,
          at(step.micro, micro[i] + stride * (rank ? rank[i] : 0)),
          owner[row],
          counts,
        );
      if (rank) tally(tallies, `${own} r${rank[i]}`, at(step.ranks, rank[i]), owner[row], counts);
    }
    for (const { count, lengths } of tallies.values()) {
      count.sequences = lengths.size;
      count.padded = lengths.size * Math.max(0, ...lengths.values());
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

interface Tally {
  count: Count;
  lengths: Map<number, number>;
}

function tally(tallies: Map<string, Tally>, key: string, count: Count, response: number, trained: boolean): void {
  const own = tallies.get(key) ?? { count, lengths: new Map<number, number>() };
  tallies.set(key, own);
  if (trained) count.tokens++;
  own.lengths.set(response, (own.lengths.get(response) ?? 0) + 1);
}

function at(counts: Map<number, Count>, key: number): Count {
  const count = counts.get(key) ?? { tokens: 0, sequences: 0, padded: 0 };
  counts.set(key, count);
  return count;
}

const empty = (iteration: number, epoch: number, minibatch: number): Step => ({
  iteration,
  epoch,
  minibatch,
  counted: { tokens: 0, sequences: 0, padded: 0 },
  tokens: Number.NaN,
  sequences: Number.NaN,
  gradScale: 1,
  dropped: Number.NaN,
  micro: new Map(),
  ranks: new Map(),
  approxKl: Number.NaN,
  clipFraction: Number.NaN,
});
