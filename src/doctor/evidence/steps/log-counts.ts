/** Per sample, the logarithm of how many candidates could be chosen; null where no column tells. */
import type { Rows } from '../rows.ts';

/** Of the usual numbers of candidates. */
const logarithms = Float64Array.from({ length: 256 }, (_, choices) => Math.log(Math.max(1, choices)));

export function logCounts(samples: Rows): Float64Array | null {
  const legal = samples.list('legal');
  const lists = legal ?? samples.list('logits') ?? samples.list('subset');
  const count = samples.column('num_actions');
  if (!lists && !count) return null;
  const out = new Float64Array(samples.rows);
  for (let i = 0; i < out.length; i++) {
    let choices = count ? count[i] : lists!.offsets[i + 1] - lists!.offsets[i];
    if (legal && legal.offsets[i + 1] > legal.offsets[i]) {
      choices = 0;
      for (let k = legal.offsets[i]; k < legal.offsets[i + 1]; k++) if (legal.values[k] === 1) choices++;
    }
    out[i] = logarithms[choices] ?? Math.log(Math.max(1, choices));
  }
  return out;
}
