/** Whether a gap between sampler and trainer is rounding of the engine: a remark, and never a cause. */
import { mean } from '../../math/statistics.ts';
import { figure, type Remark } from '../diagnosis.ts';
import { limits } from '../limits.ts';
import type { TokenEvidence } from './evidence.ts';
import { type Floor, gaps } from './floor.ts';
import type { SamplerRows } from './sampler-rows.ts';

/** So that the logarithm of a gap of 0 is a number. */
const tiny = 1e-7;

export function placeInResponse({ tokens, byResponse }: TokenEvidence): Int32Array {
  const place = new Int32Array(tokens.rows);
  for (const rows of byResponse.values()) for (let i = 0; i < rows.length; i++) place[rows[i]] = i;
  return place;
}

/** A gap that is the engine's own rounding: the mean ratio is 1, and it depends on nothing that a bug would follow. */
export function engineNoise(all: SamplerRows, wrong: readonly number[], floor: Floor, known: boolean): Remark | null {
  if (known) return null;
  const gap = wrong.map((row) => all.expected(row) - all.said[row]);
  if (gaps(gap).q50 > limits.engineNoise.value) return null;
  const ratio = Float64Array.from(gap, Math.exp);
  const average = mean(ratio);
  const error = Math.sqrt(mean(ratio.map((value) => (value - average) ** 2)) / ratio.length);
  if (Math.abs(average - 1) > limits.sigmas.value * error + limits.logp.value) return null;
  const { evidence } = all;
  const place = placeInResponse(evidence);
  const iteration = evidence.tokens.column('iteration');
  const columns: ((row: number) => number)[] = [
    (row) => iteration[row],
    (row) => place[row],
    ...(['padding', 'sampler_padding', 'cached_tokens', 'trainer_version'] as const)
      .filter((name) => evidence.responses.has(name))
      .map((name) => (row: number) => evidence.ofResponse(name, row)),
  ];
  const size = (row: number) => Math.log(Math.abs(all.said[row] - all.expected(row)) + floor.own.q50 + tiny);
  // Over all rows, those of iterations that agree too: noise is there from the first.
  const rows = [...all.rows];
  const chance = limits.followed.value + limits.sigmas.value / Math.sqrt(rows.length);
  if (columns.some((column) => Math.abs(correlation(rows.map(column), rows.map(size))) > chance)) return null;
  return {
    id: 'engine-floor',
    summary: `Sampler and trainer differ by ${figure(gaps(gap).q50)} nats in the median, beyond the trainer's own floor (${figure(floor.own.q50)}); the mean ratio is 1 within its error and the difference follows neither iteration, place nor padding, so it is the engine's rounding.`,
    remedy:
      'Record sampler_again_logp, which shows the rounding of the engine itself; compute the last layer in float32 where it matters.',
  };
}

function correlation(x: readonly number[], y: readonly number[]): number {
  const [mx, my] = [mean(x), mean(y)];
  let [xy, xx, yy] = [0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) ** 2;
    yy += (y[i] - my) ** 2;
  }
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : 0;
}
