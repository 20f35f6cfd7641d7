/** What becomes of the derivatives of a response's tokens where its ratio is one number. */
import type { Response, Use } from './rows.ts';

/** One ratio for the whole response, the mean of its tokens': every token's derivative then holds the weights of all. */
export function overSequence(uses: readonly Use[], own: Response, advantage: number): void {
  const mine = uses.slice(-own.rows.length).filter(({ row }) => own.rows[row].trained === 1);
  const over = (value: (use: Use) => number) => mine.reduce((sum, use) => sum + value(use) / mine.length, 0);
  const ratio = Math.exp(over(({ fresh, old }) => fresh - old));
  const weight = over(({ old, row }) => Math.min(2, Math.exp(old - own.rows[row].sampler)));
  const clipped = (advantage > 0 && ratio > 1.2) || (advantage < 0 && ratio < 0.8);
  for (const use of mine) use.coef = clipped ? 0 : -advantage * ratio * weight;
}
