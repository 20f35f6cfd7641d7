/** The lists that planners leave beside their rows, and the rows of the others at the same step. A list about the others begins with the agent that follows the row's own. */
import type { Iteration } from '../../evidence/iteration.ts';
import type { Numbers } from '../../evidence/rows.ts';

type Lists = NonNullable<ReturnType<NonNullable<Iteration['samples']>['list']>>;

export class Planned {
  readonly agents: number;
  readonly others: number;
  readonly rows: number;
  readonly agent: Numbers;
  readonly t: Numbers;
  readonly episode: Numbers;
  readonly goal: Numbers | null;
  private readonly byStep = new Map<string, number>();
  private readonly lists = new Map<string, Lists | null>();

  private constructor(
    private readonly iteration: Iteration,
    readonly goals: number,
  ) {
    const samples = iteration.samples!;
    this.agents = iteration.run.agentCount;
    this.others = this.agents - 1;
    this.rows = samples.rows;
    this.agent = samples.column('agent')!;
    this.t = samples.column('t')!;
    this.episode = samples.column('episode')!;
    this.goal = samples.column('goal');
    const imagined = samples.column('imagined');
    for (let row = 0; row < this.rows; row++)
      if (!(imagined && imagined[row] === 1)) this.byStep.set(this.key(row, this.agent[row]), row);
  }

  /** null where the rows hold no beliefs, or lists of another shape. */
  static of(iteration: Iteration): Planned | null {
    const { samples, run } = iteration;
    const others = run.agentCount - 1;
    const belief = samples?.list('belief');
    if (!samples || !belief || others < 1) return null;
    let width = 0;
    for (let row = 0; row < samples.rows; row++) width = Math.max(width, belief.offsets[row + 1] - belief.offsets[row]);
    if (width === 0 || width % others !== 0 || width < 2 * others) return null;
    return new Planned(iteration, width / others);
  }

  private key(row: number, agent: number): string {
    return `${this.episode[row]} ${this.t[row]} ${agent}`;
  }

  /** The row of an agent in the step of another row; -1 where there is none. */
  beside(row: number, agent: number): number {
    return this.byStep.get(this.key(row, agent)) ?? -1;
  }

  /** The agent that entry j of a row's lists is about, and back. */
  about(row: number, j: number): number {
    return (this.agent[row] + 1 + j) % this.agents;
  }

  entry(row: number, agent: number): number {
    return (agent - this.agent[row] - 1 + 2 * this.agents) % this.agents;
  }

  private list(name: string): Lists | null {
    if (!this.lists.has(name)) this.lists.set(name, this.iteration.samples!.list(name) ?? null);
    return this.lists.get(name)!;
  }

  /** Entry j of a list with `each` numbers per entry; null where the row has none, or it is not known. */
  at(name: string, row: number, j: number, each = this.goals): number[] | null {
    const list = this.list(name);
    if (!list || row < 0) return null;
    const from = list.offsets[row] + j * each;
    if (from + each > list.offsets[row + 1]) return null;
    const out: number[] = [];
    for (let g = 0; g < each; g++) out.push(list.values[from + g]);
    return out.some((value) => Number.isNaN(value)) ? null : out;
  }

  /** A whole list of a row. */
  all(name: string, row: number): number[] {
    const list = this.list(name);
    return list
      ? Array.from({ length: list.offsets[row + 1] - list.offsets[row] }, (_, i) => list.values[list.offsets[row] + i])
      : [];
  }
}

/** Bayes' rule; without a likelihood nothing was seen. */
export function followed(belief: readonly number[], likelihood: readonly number[] | null): number[] {
  if (!likelihood) return [...belief];
  const product = belief.map((chance, g) => chance * likelihood[g]);
  const sum = product.reduce((a, b) => a + b, 0);
  return sum > 0 ? product.map((chance) => chance / sum) : [...belief];
}

export function gap(a: readonly number[], b: readonly number[]): number {
  return Math.max(...a.map((value, i) => Math.abs(value - b[i])));
}
