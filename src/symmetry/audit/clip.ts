/** The clip range that makes the reported policy loss of the rows: the loss falls as the range grows, so the range is found by halving. A step whose ratios all lie inside gives a lower bound only. */
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
import type { Watch } from './audit.ts';
import { entryOf } from './entry.ts';

export interface ClipEstimate {
  /** Median over the steps that tell; NaN where none does. */
  clip: number;
  /** The widest ratio that was certainly not clipped. */
  least: number;
  steps: number;
}

interface StepRows {
  ratio: number[];
  advantage: number[];
}

/** Iterations beyond this many add nothing. */
const enough = 4;

export class ClipFit implements Watch<ClipEstimate[]> {
  private readonly found: number[][];
  private readonly least: number[];
  private looked = 0;

  constructor(policies: number) {
    this.found = Array.from({ length: policies }, () => []);
    this.least = new Array<number>(policies).fill(0);
  }

  iteration({ tables }: Slice): void {
    const { replays, steps } = tables;
    const names = ['epoch', 'minibatch', 'new_logp', 'old_logp', 'advantage'] as const;
    const [epoch, minibatch, newLogp, oldLogp, advantage] = names.map((name) => replays?.column(name));
    const reported = steps?.column('policy_loss');
    if (!replays || !steps || !reported || !epoch || !minibatch || !newLogp || !oldLogp || !advantage) return;
    if (this.looked++ >= enough) return;
    const policy = replays.column('policy');
    const weight = replays.column('weight');
    const rows = new Map<string, StepRows>();
    for (let row = 0; row < replays.rows; row++) {
      if (weight && weight[row] === 0) continue;
      const key = `${policy?.[row] ?? 0} ${epoch[row]} ${minibatch[row]}`;
      const own = entryOf(rows, key, (): StepRows => ({ ratio: [], advantage: [] }));
      own.ratio.push(Math.exp(newLogp[row] - oldLogp[row]));
      own.advantage.push(advantage[row]);
    }
    const [stepPolicy, stepEpoch, stepMinibatch] = ['policy', 'epoch', 'minibatch'].map((name) => steps.column(name));
    for (let row = 0; row < steps.rows; row++) {
      const own = rows.get(`${stepPolicy?.[row] ?? 0} ${stepEpoch?.[row]} ${stepMinibatch?.[row]}`);
      if (own) this.step(stepPolicy?.[row] ?? 0, own, reported[row]);
    }
  }

  private step(policy: number, rows: StepRows, reported: number): void {
    const widest = rows.ratio.reduce((most, ratio) => Math.max(most, Math.abs(ratio - 1)), 0);
    const [open, shut] = [surrogate(rows, widest), surrogate(rows, 0)];
    const scale = shut - open;
    if (!(scale > 1e-4) || !(Math.abs(reported) < 1e6)) return;
    if (Math.abs(reported - open) < 0.01 * scale) {
      // The range is at least about as wide as the ratios.
      if (Math.abs(reported - open) < 1e-3 * scale) this.least[policy] = Math.max(this.least[policy], widest * 0.5);
      return;
    }
    if (reported < open || reported > shut + 0.01 * scale) return;
    let [low, high] = [0, widest];
    for (let i = 0; i < 40; i++) {
      const middle = (low + high) / 2;
      if (surrogate(rows, middle) > reported) low = middle;
      else high = middle;
    }
    this.found[policy].push((low + high) / 2);
  }

  finish(): ClipEstimate[] {
    return this.found.map((values, policy) => {
      const sorted = [...values].sort((a, b) => a - b);
      const clip = sorted.length >= 3 ? sorted[sorted.length >> 1] : Number.NaN;
      return { clip, least: this.least[policy], steps: sorted.length };
    });
  }
}

/** The clipped policy loss. */
function surrogate({ ratio, advantage }: StepRows, clip: number): number {
  let sum = 0;
  for (let i = 0; i < ratio.length; i++) {
    const bounded = Math.max(1 - clip, Math.min(1 + clip, ratio[i]));
    sum -= Math.min(ratio[i] * advantage[i], bounded * advantage[i]);
  }
  return sum / ratio.length;
}
