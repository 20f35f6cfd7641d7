/** A target's formula read off the rows: linear in the reward, the bootstrap, its entropy, the bootstrap beyond an end, and a constant. Only for targets of one step, and only where it is exact on nearly all rows. */
import { solve } from '../../math/linear.ts';
import { limits } from '../limits.ts';
import type { Stored } from './target-forms.ts';

type Fitted = Stored & { target: number };

export function termsOf({ rewards, terminated, from, bootstrap, soft }: Stored): number[] {
  const over = terminated[from] === 1;
  return [rewards[from], over ? 0 : bootstrap, over ? 0 : soft, over ? bootstrap : 0, 1];
}

/** The coefficients of `termsOf`; null where no formula is exact. A term that never varies has none. */
export function fitTarget(rows: readonly Fitted[]): number[] | null {
  const known = rows.filter(({ n, bootstrap }) => n === 1 && Number.isFinite(bootstrap));
  if (known.length < limits.formulaRows.value) return null;
  const terms = known.map(termsOf);
  const [first] = terms;
  const varies = first.map((value, i) => terms.some((row) => row[i] !== value));
  // A reward that is always the same cannot be told from the constant, which is the last term and takes its place.
  const used = first.map((_, i) => i).filter((i) => varies[i] || i === first.length - 1);
  const found = solve(
    terms.map((row) => used.map((i) => row[i])),
    known.map(({ target }) => target),
  );
  if (!found) return null;
  const whole = first.map((_, i) => (used.includes(i) ? found[used.indexOf(i)] : 0));
  const missed = known.filter(({ target }, at) => {
    const value = terms[at].reduce((sum, term, i) => sum + term * whole[i], 0);
    return !(Math.abs(value - target) <= limits.targetExact.value * (1 + Math.abs(target)));
  });
  return missed.length <= (1 - limits.formShare.value) * known.length ? whole : null;
}
