/** Where NaN or infinity first appears. NaN in an optional column may mean "not known", so it counts only where the rest of the column is known. */
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

class FinitePass implements Pass {
  private looked = 0;
  private readonly found: { column: string; iteration: number; rows: number; infinite: number }[] = [];
  /** Columns that had known numbers in an earlier iteration. */
  private readonly known = new Set<string>();
  /** Whose rows or parameters were the first that are not finite. */
  private agents = new Set<number>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    for (const name of columns) {
      const required = name.endsWith('*');
      const [table, column] = name.replace('*', '').split('.');
      const rows = iteration[table as 'samples' | 'replays' | 'steps' | 'tensors'];
      if (!rows) continue;
      const count = column === 'logits' ? lists(rows) : this.count(rows, column, required, name, iteration);
      if (!count || count.bad === 0) continue;
      if (this.found.length === 0) this.agents = this.affected(iteration, rows, column);
      this.found.push({
        column: `${table}.${column}`,
        iteration: iteration.number,
        rows: count.bad,
        infinite: count.infinite,
      });
    }
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
    const policy = rows.column('policy');
    const tensor = rows.column('tensor');
    for (let row = 0; row < rows.rows; row++) {
      if (!bad(row)) continue;
      const own = tensor ? (this.run.tensors[tensor[row]]?.policy ?? 0) : policy ? policy[row] : 0;
      const from = rows === samples ? row : sample ? sample[row] : -1;
      if (agent && from >= 0 && from < agent.length) found.add(agent[from]);
      else for (const who of this.run.agentsOf(own)) found.add(who);
    }
    return found;
  }

  private count(rows: Rows, column: string, required: boolean, name: string, iteration: Iteration) {
    const values = rows.measured(column);
    if (!values) return null;
    const skipped = rows.table === 'steps' ? rows.column('skipped') : null;
    const weight = rows.table === 'replays' ? rows.column('weight') : null;
    this.looked += values.length;
    if (allWithin(values, column.endsWith('logp') ? absurdLogp : Number.MAX_VALUE)) {
      if (values.length > 0) this.known.add(name);
      return { bad: 0, infinite: 0 };
    }
    let [nan, infinite, known] = [0, 0, 0];
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (skipped?.[i] === 1 || weight?.[i] === 0) continue;
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
    // A step that was measured has a loss; an optional column that was never known is simply absent.
    const measures = rows.table === 'steps' || rows.table === 'tensors' || required || everKnown;
    if (iteration.number < 0) return null;
    return { bad: infinite + (measures && (everKnown || required) ? nan : 0), infinite };
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {
      numbers: this.looked,
      not_finite: this.found.reduce((sum, { rows }) => sum + rows, 0),
    };
    const expected = { not_finite: 0 };
    const first = this.found[0];
    if (!first) return { status: 'pass', measured, expected, findings: [] };
    measured.first_column = first.column;
    measured.first_iteration = first.iteration;
    const finding: Finding = {
      cause: 'non-finite',
      confidence: confidence(1, 100),
      agents: [...this.agents].sort((a, b) => a - b),
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
  return { bad, infinite: bad };
}

/** The quick look at a column: nearly always all of it is finite. */
function allWithin(values: Numbers, most: number): boolean {
  for (let i = 0; i < values.length; i++) if (!(Math.abs(values[i]) <= most)) return false;
  return true;
}
