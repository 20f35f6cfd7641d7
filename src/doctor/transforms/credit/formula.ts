/** Credit as a linear formula of what the program had, read off the rows by least squares: a r + b V(next) + c V + d A(next) + e. Says nothing about rows at ends, and nothing at all where the fit is not exact or is the declared formula. */

import { told } from '../../../language/language.ts';
import { solve } from '../../../math/linear.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

/** Who comes next: the same agent's next decision, or the next row as it lies, whosever it is, of all rows or of those of its environment. */
export type Next = 'episode' | 'storage' | 'environment';

/** Of the reward, V(next), V, A(next), a constant, and a neighbour where there is one. */
type Coefficients = readonly number[];

/** A term that belongs to a neighbouring row, and has no place in the usual formula. */
type Neighbour = 'V(after next)' | 'V(before)' | 'r(next)' | 'r(before)' | 'A(before)';
const neighbours: readonly Neighbour[] = ['A(before)', 'V(after next)', 'V(before)', 'r(next)', 'r(before)'];

export class Formula implements CreditTransform {
  readonly id = 'formula';

  constructor(
    readonly next: Next,
    readonly coefficients: Coefficients = [1, Number.NaN, -1, Number.NaN, 0],
    /** What settings declare, to be told beside it. */
    readonly declared: Coefficients = [1, Number.NaN, -1, Number.NaN, 0],
    /** Whether it holds at terminations too, where nothing follows. */
    readonly terminations = false,
    readonly neighbour: Neighbour | null = null,
  ) {}

  /** The formula that these rows follow; null where none does, or where it is the declared one. The one that terminations follow too says more. */
  fit(rows: CreditRows): Formula | null {
    const plain = (this.next === 'episode' ? this.fitted(rows, true, null) : null) ?? this.fitted(rows, false, null);
    if (plain || this.next !== 'episode') return plain;
    for (const neighbour of neighbours) {
      const found = this.fitted(rows, false, neighbour);
      if (found) return found;
    }
    return null;
  }

  private fitted(rows: CreditRows, terminations: boolean, neighbour: Neighbour | null): Formula | null {
    const { rule, wrong, target, slack } = rows;
    const terms = this.terms(rows, terminations, neighbour);
    // Returns of so many steps are no recurrence, so nothing declared stands beside the formula.
    if (!terms || !rule || rule.steps !== undefined) return null;
    const used: number[] = [];
    for (let i = 0; i < wrong.length; i++)
      if (Number.isFinite(target[wrong[i]]) && terms(wrong[i]) !== null) used.push(wrong[i]);
    if (used.length < limits.formulaRows.value) return null;
    if (this.next !== 'episode' && !crosses(rows, used, this.after(rows.iteration))) return null;
    const declared: Coefficients = [1, rule.gamma, -1, rule.gamma * rule.lambda, 0, ...(neighbour ? [0] : [])];
    const found = solveKnown(
      used.map((row) => terms(row)!),
      used.map((row) => target[row]),
      declared,
    );
    if (!found) return null;
    const exact = used.filter((row) => Math.abs(sum(found, terms(row)!) - target[row]) <= slack);
    if (exact.length < limits.formulaExact.value * used.length) return null;
    const [a] = found;
    // The declared one, or a multiple of it: normalised or negated advantages follow the same formula.
    const same = [0, 1, 2].every((i) => near(found[i], a * declared[i])) && near(found[3], declared[3]);
    if (this.next === 'episode' ? same : !(near(a, 1) && near(found[2], -1))) return null;
    // A neighbour that hardly counts fits noise of other rows.
    if (neighbour && near(found[5], 0)) return null;
    const coefficients = found.map((at) => Number(at.toPrecision(6)));
    return new Formula(this.next, coefficients, declared, terminations, neighbour);
  }

  apply(rows: CreditRows): Float64Array | null {
    const terms = this.terms(rows, this.terminations, this.neighbour);
    if (!terms) return null;
    return Float64Array.from({ length: rows.target.length }, (_, row) => {
      const known = terms(row);
      return known ? sum(this.coefficients, known) : Number.NaN;
    });
  }

  describe(): string {
    const whole = told(
      `advantage = ${this.written(this.coefficients)}, where ${this.written(this.declared)} is declared`,
      `优势 = ${this.written(this.coefficients)}，声明的是 ${this.written(this.declared)}`,
    );
    if (this.next === 'episode') return whole;
    return told(
      `one credit pass over the rows of all agents${this.next === 'environment' ? ' of an environment' : ''} as they lie, each bootstrapping from the row after it`,
      `对${this.next === 'environment' ? '同一环境中' : ''}所有智能体的行按存储顺序做一次信用计算，每行用下一行的价值自举`,
    );
  }

  /** "r + 0.99 V(next) - V + 0.9405 A(next)"; terms that are 0 are left out. */
  private written(coefficients: Coefficients): string {
    const names = ['r', 'V(next)', 'V', 'A(next)', '', this.neighbour ?? ''];
    const parts = coefficients.flatMap((coefficient, i) => {
      const size = Number(Math.abs(coefficient).toPrecision(4));
      if (!(size > limits.writtenTerm.value)) return [];
      const term = names[i] === '' ? `${size}` : size === 1 ? names[i] : `${size} ${names[i]}`;
      return [`${coefficient < 0 ? '- ' : '+ '}${term}`];
    });
    return parts.length > 0 ? parts.join(' ').replace(/^\+ /, '').replace(/^- /, '-') : '0';
  }

  /** The row that comes next; -1 where none does. */
  private after({ chains, samples }: Iteration): Int32Array {
    if (this.next === 'episode') return chains!.next;
    const after = new Int32Array(chains!.rows).fill(-1);
    const env = this.next === 'environment' ? samples!.column('env') : null;
    const latest = new Map<number, number>();
    for (let row = 0; row < after.length; row++) {
      const key = env ? env[row] : 0;
      const before = latest.get(key);
      if (before !== undefined) after[before] = row;
      latest.set(key, row);
    }
    return after;
  }

  /** What a row's credit may be made of; null at ends that are not asked, and where a column is not known. */
  private terms(
    { iteration, target }: CreditRows,
    terminations: boolean,
    neighbour: Neighbour | null,
  ): ((row: number) => number[] | null) | null {
    const { credit } = iteration;
    if (!credit) return null;
    const { reward, value, terminated, truncated, chains } = credit;
    const follows = this.after(iteration);
    const beside = (row: number): number => {
      const at = neighbour?.endsWith('(before)') ? chains.previous[row] : chains.next[row];
      if (at < 0) return Number.NaN;
      if (neighbour === 'V(after next)') return chains.next[at] < 0 ? Number.NaN : value[chains.next[at]];
      if (neighbour === 'A(before)') return target[at];
      return neighbour?.startsWith('V') ? value[at] : reward[at];
    };
    return (row) => {
      const next = follows[row];
      const ended = terminated[row] === 1;
      if (ended ? !terminations : next < 0 || truncated?.[row] === 1) return null;
      const known = ended
        ? [reward[row], 0, value[row], 0, 1]
        : [reward[row], value[next], value[row], target[next], 1];
      if (neighbour) known.push(beside(row));
      return known.every(Number.isFinite) ? known : null;
    };
  }
}

const sum = (coefficients: Coefficients, terms: readonly number[]) =>
  terms.reduce((total, term, i) => total + coefficients[i] * term, 0);

/** A term that is 0 in every row has any coefficient, so it keeps the declared one; so does the constant where the reward is one. */
function solveKnown(
  terms: readonly number[][],
  target: readonly number[],
  declared: Coefficients,
): Coefficients | null {
  const steady = terms.every(([reward]) => reward === terms[0][0]);
  const told = declared.map(
    (_, i) => terms.some((row) => row[i] !== 0) && !(i === constantAt && steady && terms[0][0] !== 0),
  );
  const left = target.map((value, at) =>
    declared.reduce((rest, coefficient, i) => (told[i] ? rest : rest - coefficient * terms[at][i]), value),
  );
  const solved = solve(
    terms.map((row) => row.filter((_, i) => told[i])),
    left,
  );
  if (!solved) return null;
  const rest = [...solved];
  return declared.map((at, i) => (told[i] ? rest.shift()! : at));
}

/** Where the constant stands among the terms. */
const constantAt = [1, 1, 1, 1].length;

const near = (a: number, b: number) => Math.abs(a - b) <= limits.formulaSame.value * Math.max(1, Math.abs(b));

/** Whether the row after it is mostly another agent's; else storage order says nothing new. */
function crosses({ iteration }: CreditRows, rows: readonly number[], after: Int32Array): boolean {
  const agent = iteration.samples?.column('agent');
  return (
    agent !== undefined &&
    agent !== null &&
    rows.filter((row) => agent[row] !== agent[after[row]]).length >= limits.most.value * rows.length
  );
}
