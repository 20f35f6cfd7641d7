/** Where NaN or infinity first appears. NaN may mean "not known": it counts where nearly all of the column is known, and in a column that would have been left out if it were not known. */

import { absurdLogp, type Check, confidence, type Pass } from '../check.ts';
import type { Finding, Outcome } from '../diagnosis.ts';
import type { Iteration } from '../evidence/iteration.ts';
import type { Numbers, Rows } from '../evidence/rows.ts';
import type { Run } from '../evidence/run.ts';
import { ownLoops } from '../evidence/steps/own-loops.ts';
import { limits } from '../limits.ts';
import { tokenColumns, type Watched, watchedColumns } from './finite-columns.ts';

export const finite: Check = {
  id: 'finite',
  group: 'finite',
  question: ['Are all measured numbers finite?', '所有测得的数都是有限的吗？'],
  needs: [['samples.old_logp', 'replays.new_logp', 'steps.loss', 'tensors.grad_norm']],
  causes: ['non-finite'],
  of: 'both',
  start: (run) => new FinitePass(run),
};

interface Found {
  column: string;
  iteration: number;
  rows: number;
  agents: Set<number>;
}

/** One figure of the steps of a policy or of a tensor, or one column of other rows. */
interface Told {
  known: number;
  /** NaN that a known figure followed; and NaN since the last known one. */
  gaps: number;
  open: number;
  /** NaN that other figures of its row share. */
  shared: Found | null;
  /** Any NaN. */
  any: Found | null;
}

/** A figure that is missing more often than this, and comes back, is told of some steps only. */
const seldom = limits.seldom.value;

class FinitePass implements Pass {
  private looked = 0;
  private readonly found: Found[] = [];
  private readonly told = new Map<string, Told & { watched: Watched }>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    for (const watched of this.run.tokens ? tokenColumns : watchedColumns) {
      const rows = iteration[watched.table];
      if (!rows) continue;
      const bad = watched.mark === '[]' ? this.lists(rows, watched, iteration) : this.count(rows, watched, iteration);
      if (bad === 0) continue;
      const agents = this.found.length === 0 ? this.affected(iteration, rows, watched) : new Set<number>();
      this.found.push({ column: watched.name, iteration: iteration.number, rows: bad, agents });
    }
  }

  private tally(key: string, watched: Watched): Told {
    const kept = this.told.get(key) ?? { watched, known: 0, gaps: 0, open: 0, shared: null, any: null };
    this.told.set(key, kept);
    return kept;
  }

  /** NaN among the figures of steps, row by row; what is infinite counts at once. */
  private steps(rows: Rows, watched: Watched, values: Numbers, iteration: Iteration): number {
    const { table, name } = watched;
    const others = watchedColumns
      .filter((other) => other.table === table && other !== watched && other.mark !== '~')
      .map((other) => rows.column(other.column))
      .filter((other) => other !== null);
    // What else is told of a step, and is no part of a loss or a gradient.
    const beside = (['learning_rate', 'valid_ratio', 'entropy', 'logits_std'] as const)
      .filter((other) => this.run.has(`${table}.${other}`))
      .map((other) => rows.column(other));
    const owner = rows.column(table === 'steps' ? 'policy' : 'tensor');
    const skipped = table === 'steps' ? rows.column('skipped') : null;
    const untold = table === 'steps' ? untoldSteps(rows, watched.column, values) : null;
    const tallies: Told[] = [];
    let infinite = 0;
    for (let i = 0; i < values.length; i++) {
      if (skipped?.[i] === 1 || untold?.has(i)) continue;
      const who = owner ? owner[i] : 0;
      tallies[who] ??= this.tally(`${name} ${who}`, watched);
      const own = tallies[who];
      if (!Number.isNaN(values[i])) {
        if (!Number.isFinite(values[i])) infinite++;
        own.known++;
        own.gaps += own.open;
        own.open = 0;
        continue;
      }
      own.open++;
      own.any ??= { column: name, iteration: iteration.number, rows: 0, agents: this.ownersOf(rows, i) };
      own.any.rows++;
      // A figure that is missing beside figures that are fine may not have been told, and so may a step of which nothing is known.
      if (others.length > 0 && others.every((other) => Number.isFinite(other[i]))) continue;
      if (beside.length > 0 && beside.every((other) => !other || Number.isNaN(other[i]))) continue;
      own.shared ??= { ...own.any, iteration: iteration.number, rows: 0, agents: this.ownersOf(rows, i) };
      own.shared.rows++;
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
    // What follows from the flow, returns of episodes and counts, comes after it.
    const order = (column: string) => {
      const at = watchedColumns.findIndex(({ name }) => name === column);
      return at < 0 ? watchedColumns.length : at;
    };
    const all = [...this.found, ...this.run.notFinite].map((found) => ({ ...found }));
    const known = new Set([...this.told.values()].filter((told) => told.known > 0).map(({ watched }) => watched));
    for (const told of this.told.values()) {
      const found = evidence(told, told.watched.mark, known.has(told.watched));
      if (!found) continue;
      const same = all.find(({ column, iteration }) => column === found.column && iteration === found.iteration);
      if (!same) all.push({ ...found, agents: new Set(found.agents) });
      else {
        same.rows += found.rows;
        for (const agent of found.agents) same.agents.add(agent);
      }
    }
    return all.sort((a, b) => a.iteration - b.iteration || order(a.column) - order(b.column));
  }

  private affected({ samples }: Iteration, rows: Rows, { column }: Watched): Set<number> {
    const found = new Set<number>();
    const values = rows.measured(column);
    const list = rows.list(column);
    const most = column.endsWith('logp') ? absurdLogp : Number.MAX_VALUE;
    const bad = (row: number) => {
      if (values) return !(Math.abs(values[row]) <= most);
      for (let i = list?.offsets[row] ?? 0; list && i < list.offsets[row + 1]; i++)
        if (!Number.isFinite(list.values[i])) return true;
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

  /** What is infinite, or NaN where it must be known; other NaN is only tallied. */
  private count(rows: Rows, watched: Watched, iteration: Iteration): number {
    const { column, mark, name } = watched;
    const values = rows.measured(column);
    if (!values) return 0;
    const weight = rows.table === 'replays' && column !== 'weight' ? rows.column('weight') : null;
    this.looked += values.length;
    if (rows.table === 'steps' || rows.table === 'tensors') return this.steps(rows, watched, values, iteration);
    const told = this.tally(name, watched);
    const most = column.endsWith('logp') ? absurdLogp : Number.MAX_VALUE;
    if (allWithin(rows, column, values, most)) {
      told.known += values.length;
      told.gaps += told.open;
      told.open = 0;
      return 0;
    }
    let [nan, infinite, known] = [0, 0, 0];
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (weight && weight[i] === 0) continue;
      if (Math.abs(value) <= most) known++;
      else if (Number.isNaN(value)) nan++;
      // An action that cannot be chosen has log-probability minus infinity, or that of a mask's huge number; other checks say why it was scored.
      else if (rows.table === 'replays' && column.endsWith('_logp') && column !== 'old_logp' && value < 0) known++;
      else infinite++;
    }
    // Before anything was known of a column, NaN says that it was not known yet.
    const counts = mark === '!' || told.known + known > 0;
    told.known += known;
    if (known > 0) {
      told.gaps += told.open;
      told.open = 0;
    }
    if (mark === '*') return infinite + nan;
    if (nan > 0 && counts) {
      told.open += nan;
      told.any ??= {
        column: name,
        iteration: iteration.number,
        rows: 0,
        agents: this.affected(iteration, rows, watched),
      };
      told.any.rows += nan;
      if (always.has(name)) told.shared = told.any;
    }
    return infinite;
  }

  /**
   * Any NaN or infinity in a list counts, but for logits of minus infinity, which mask a candidate, where the row does not call it legal. Logits of NaN
   * alone may not have been kept in a forward pass; they are only tallied.
   */
  private lists(rows: Rows, watched: Watched, iteration: Iteration): number {
    const list = rows.list(watched.column);
    if (!list) return 0;
    const { values, offsets } = list;
    this.looked += values.length;
    if (allWithin(rows, watched.column, values, Number.MAX_VALUE)) {
      if (watched.column === 'logits') this.tally(watched.name, watched).known += rows.rows;
      return 0;
    }
    let bad = 0;
    if (watched.column !== 'logits') {
      for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) bad++;
      return bad;
    }
    const told = this.tally(watched.name, watched);
    const legal = rows.list('legal');
    for (let row = 0; row < rows.rows; row++) {
      const [from, to] = [offsets[row], offsets[row + 1]];
      const says = legal && legal.offsets[row + 1] - legal.offsets[row] === to - from ? legal : null;
      let [unknown, masked, wrong] = [0, 0, 0];
      for (let i = from; i < to; i++) {
        if (Number.isNaN(values[i])) unknown++;
        else if (values[i] === Number.NEGATIVE_INFINITY) {
          masked++;
          if (says?.values[says.offsets[row] + i - from] === 1) wrong++;
        } else if (values[i] === Number.POSITIVE_INFINITY) wrong++;
      }
      if (to === from) continue;
      if (unknown === to - from && watched.table === 'replays') {
        told.open++;
        told.any ??= { column: watched.name, iteration: iteration.number, rows: 0, agents: new Set() };
        told.any.rows++;
        continue;
      }
      told.known++;
      bad += masked === to - from ? masked : unknown + wrong;
    }
    return bad;
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
      confidence: confidence(1, limits.notFinite.value),
      agents: [...first.agents].sort((a, b) => a - b),
      onset: first.iteration,
      rows: first.rows,
      summary: `Numbers that are not finite (or beyond any log-probability) first appear in ${first.column} of iteration ${first.iteration} (${first.rows} of them).`,
      evidence: [{ check: 'finite', measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}

/** Steps of which a figure was never told, because they are those of the other loop. */
function untoldSteps(rows: Rows, column: string, values: Numbers): Set<number> | null {
  const loops = values.some((value) => Number.isNaN(value)) ? ownLoops(rows) : null;
  const without = column === 'value_loss' ? loops?.policy : loops?.critic;
  return without && [...without].every((i) => Number.isNaN(values[i])) ? without : null;
}

/** Of these, any NaN counts once the column is known, however often it comes. */
const always = new Set([
  'samples.reward',
  'samples.value',
  'samples.advantage',
  'samples.return',
  'replays.old_logp',
  'replays.advantage',
  'replays.value',
]);

/** Which NaN of a figure is evidence, if any. */
function evidence({ known, gaps, open, shared, any }: Told, mark: string, ever: boolean): Found | null {
  if (mark === '~' || !any) return null;
  // Whoever does not know such a column leaves it out; of one policy or tensor among others it may not be known.
  if (known === 0) return mark !== '' && !ever ? any : null;
  if (gaps + open <= seldom * (gaps + open + known)) return any;
  return gaps > seldom * (gaps + known) && !always.has(any.column) ? null : shared;
}

/** The quick look at a column: nearly always all of it is finite. */
function allWithin(rows: Rows, column: string, values: Numbers, most: number): boolean {
  const largest = rows.largest(column);
  if (largest !== null) return largest <= most;
  if (most === Number.MAX_VALUE && !(values instanceof Float64Array)) return true;
  for (let i = 0; i < values.length; i++) if (!(Math.abs(values[i]) <= most)) return false;
  return true;
}
