/** Where NaN or infinity first appears. NaN may mean "not known": it counts only where the rest of the column is known, and of a step only where other figures of the step share it. */
import { absurdLogp, type Check, confidence, type Pass } from '../check.ts';
import type { Finding, Outcome } from '../diagnosis.ts';
import type { Iteration } from '../iteration.ts';
import type { Numbers, Rows } from '../rows.ts';
import type { Run } from '../run.ts';

export const finite: Check = {
  id: 'finite',
  group: 'finite',
  question: 'Are all measured numbers finite?',
  needs: [['samples.old_logp', 'replays.new_logp', 'steps.loss', 'tensors.grad_norm']],
  causes: ['non-finite'],
  start: (run) => new FinitePass(run),
};

/** In the order of the flow, so that the first of an iteration is where it began. A column marked * must be known in every row. */
const columns = [
  'samples.logits',
  'samples.old_logp*',
  'samples.reward',
  'samples.value',
  'samples.advantage',
  'samples.return',
  'replays.new_logp*',
  'replays.old_logp',
  'replays.advantage',
  'replays.value',
  'steps.loss',
  'steps.policy_loss',
  'steps.value_loss',
  'steps.grad_norm',
  'tensors.grad_norm',
  'tensors.delta',
  'tensors.norm',
];

interface Found {
  column: string;
  iteration: number;
  rows: number;
  agents: Set<number>;
}

/** One figure of the steps of a policy, or of a tensor. */
interface Told {
  known: number;
  /** NaN that a known figure followed; and NaN since the last known one. */
  gaps: number;
  open: number;
  found: Found | null;
}

/** A figure that is missing more often than this, and comes back, is told of some steps only. */
const seldom = 0.1;

class FinitePass implements Pass {
  private looked = 0;
  private readonly found: Found[] = [];
  private readonly told = new Map<string, Told>();
  /** Columns that had known numbers in an earlier iteration. */
  private readonly known = new Set<string>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    for (const name of columns) {
      const required = name.endsWith('*');
      const [table, column] = name.replace('*', '').split('.');
      const rows = iteration[table as 'samples' | 'replays' | 'steps' | 'tensors'];
      if (!rows) continue;
      const count = column === 'logits' ? lists(rows) : this.count(rows, column, required, name, iteration);
      if (!count || count.bad === 0) continue;
      const agents = this.found.length === 0 ? this.affected(iteration, rows, column) : new Set<number>();
      this.found.push({ column: `${table}.${column}`, iteration: iteration.number, rows: count.bad, agents });
    }
  }

  /** NaN among the figures of steps, row by row; what is infinite counts at once. */
  private steps(rows: Rows, column: string, values: Numbers, iteration: Iteration): number {
    const table = rows.table as 'steps' | 'tensors';
    const others = columns
      .filter((name) => name.startsWith(`${table}.`) && name !== `${table}.${column}`)
      .map((name) => rows.column(name.slice(table.length + 1)))
      .filter((other) => other !== null);
    // What else is told of a step, and is no part of a loss or a gradient.
    const beside = (['learning_rate', 'valid_ratio', 'entropy', 'logits_std'] as const)
      .filter((name) => this.run.has(`${table}.${name}`))
      .map((name) => rows.column(name));
    const owner = rows.column(table === 'steps' ? 'policy' : 'tensor');
    const skipped = table === 'steps' ? rows.column('skipped') : null;
    let infinite = 0;
    for (let i = 0; i < values.length; i++) {
      if (skipped?.[i] === 1) continue;
      const key = `${table}.${column} ${owner ? owner[i] : 0}`;
      const own = this.told.get(key) ?? { known: 0, gaps: 0, open: 0, found: null };
      this.told.set(key, own);
      if (!Number.isNaN(values[i])) {
        if (!Number.isFinite(values[i])) infinite++;
        own.known++;
        own.gaps += own.open;
        own.open = 0;
        continue;
      }
      own.open++;
      // A figure that is missing beside figures that are fine was not told, and nor was a step of which nothing is known.
      if (others.length > 0 && others.every((other) => Number.isFinite(other[i]))) continue;
      if (beside.length > 0 && beside.every((other) => !other || Number.isNaN(other[i]))) continue;
      own.found ??= {
        column: `${table}.${column}`,
        iteration: iteration.number,
        rows: 0,
        agents: this.ownersOf(rows, i),
      };
      own.found.rows++;
    }
    return infinite;
  }

  private ownersOf(rows: Rows, row: number): Set<number> {
    const tensor = rows.column('tensor');
    const policy = rows.column('policy');
    const own = tensor ? (this.run.tensors[tensor[row]]?.policy ?? 0) : policy ? policy[row] : 0;
    return new Set(this.run.agentsOf(own));
  }

  /** In the order of the flow; agents of what was found at the same place are taken together. */
  private inOrder(): Found[] {
    const order = (column: string) => columns.findIndex((name) => name.replace('*', '') === column);
    const all = this.found.map((found) => ({ ...found }));
    for (const { known, gaps, found } of this.told.values()) {
      if (!found || known === 0 || gaps > seldom * (gaps + known)) continue;
      const same = all.find(({ column, iteration }) => column === found.column && iteration === found.iteration);
      if (!same) all.push({ ...found, agents: new Set(found.agents) });
      else {
        same.rows += found.rows;
        for (const agent of found.agents) same.agents.add(agent);
      }
    }
    return all.sort((a, b) => a.iteration - b.iteration || order(a.column) - order(b.column));
  }

  private affected({ samples }: Iteration, rows: Rows, column: string): Set<number> {
    const found = new Set<number>();
    const values = rows.measured(column);
    const list = rows.list(column);
    const most = column.endsWith('logp') ? absurdLogp : Number.MAX_VALUE;
    const bad = (row: number) => {
      if (values) return !(Math.abs(values[row]) <= most);
      for (let i = list?.offsets[row] ?? 0; list && i < list.offsets[row + 1]; i++)
        if (!(list.values[i] < Number.POSITIVE_INFINITY)) return true;
      return false;
    };
    const agent = samples?.column('agent');
    const sample = rows.column('sample');
    for (let row = 0; row < rows.rows; row++) {
      if (!bad(row)) continue;
      const from = rows === samples ? row : sample ? sample[row] : -1;
      if (agent && from >= 0 && from < agent.length) found.add(agent[from]);
      else for (const who of this.ownersOf(rows, row)) found.add(who);
    }
    return found;
  }

  private count(rows: Rows, column: string, required: boolean, name: string, iteration: Iteration) {
    const values = rows.measured(column);
    if (!values) return null;
    const weight = rows.table === 'replays' ? rows.column('weight') : null;
    this.looked += values.length;
    if (rows.table === 'steps' || rows.table === 'tensors') return { bad: this.steps(rows, column, values, iteration) };
    if (allWithin(values, column.endsWith('logp') ? absurdLogp : Number.MAX_VALUE)) {
      if (values.length > 0) this.known.add(name);
      return { bad: 0 };
    }
    let [nan, infinite, known] = [0, 0, 0];
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (weight?.[i] === 0) continue;
      if (Number.isNaN(value)) nan++;
      else if (!Number.isFinite(value)) {
        // An action that cannot be chosen has log-probability minus infinity; other checks say why it was scored.
        if (column === 'new_logp' && value < 0) known++;
        else infinite++;
      } else if (column.endsWith('logp') && Math.abs(value) > absurdLogp) infinite++;
      else known++;
    }
    const everKnown = this.known.has(name) || known > 0;
    if (known > 0) this.known.add(name);
    // An optional column that was never known is simply absent.
    return { bad: infinite + (everKnown || required ? nan : 0) };
  }

  finish(): Outcome {
    const found = this.inOrder();
    const measured: Outcome['measured'] = {
      numbers: this.looked,
      not_finite: found.reduce((sum, { rows }) => sum + rows, 0),
    };
    const expected = { not_finite: 0 };
    const first = found[0];
    if (!first) return { status: 'pass', measured, expected, findings: [] };
    measured.first_column = first.column;
    measured.first_iteration = first.iteration;
    const finding: Finding = {
      cause: 'non-finite',
      confidence: confidence(1, 100),
      agents: [...first.agents].sort((a, b) => a - b),
      onset: first.iteration,
      rows: first.rows,
      summary: `Numbers that are not finite (or beyond any log-probability) first appear in ${first.column} of iteration ${first.iteration} (${first.rows} of them).`,
      evidence: [{ check: 'finite', measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}

/** A candidate that is masked by minus infinity is healthy; NaN and plus infinity are not. */
function lists(rows: Rows) {
  const list = rows.list('logits');
  if (!list) return null;
  let bad = 0;
  const { values } = list;
  for (let i = 0; i < values.length; i++) if (!(values[i] < Number.POSITIVE_INFINITY)) bad++;
  return { bad };
}

/** The quick look at a column: nearly always all of it is finite. */
function allWithin(values: Numbers, most: number): boolean {
  for (let i = 0; i < values.length; i++) if (!(Math.abs(values[i]) <= most)) return false;
  return true;
}
