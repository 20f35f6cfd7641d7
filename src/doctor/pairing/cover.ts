/** Which of several transforms explains the rows that disagree. A row may be explained by several; the one that explains most is taken, then the next for what is left. */
import { budgets } from '../budgets.ts';
import type { Open } from '../diagnosis.ts';
import { gather, rowsWhere } from '../evidence/rows.ts';
import { limits } from '../limits.ts';
import type { Proof } from '../proof.ts';
import type { Transform } from '../transforms/transform.ts';

export interface Hypothesis {
  cause: string;
  /** A second fault that must be there at the same time, where the transform is of two. */
  beside?: string;
  transform: Transform;
}

/** 0: disagrees; 1: says nothing about this row (beyond an end, say); 2: explains it. */
export type Match = 0 | 1 | 2;

/** One transform on the disagreeing rows of one iteration. */
export interface Trial {
  match: Uint8Array;
  target: Float64Array;
  before: Float64Array;
  after: Float64Array;
  /** With the parameters that were fitted to these rows, where it has such. */
  transform?: Transform;
}

export interface Explained<H extends Hypothesis> {
  hypothesis: H;
  /** As it was fitted where rows differ most. */
  transform: Transform;
  /** Rows that this transform explains and no stronger one did. */
  rows: number;
  /** Share of the rows that were still open. */
  share: number;
  agents: number[];
  onset: number;
  /** The rows still open in the iteration where they differ most. */
  proof: Pick<Proof, 'iteration' | 'target' | 'before' | 'after'>;
}

interface Batch {
  iteration: number;
  start: number;
  trials: (Trial | null)[];
}

export class Cover<H extends Hypothesis> {
  rows = 0;
  private readonly batches: Batch[] = [];
  private readonly agents: number[] = [];
  private readonly matches: Uint8Array[];

  /** More specific hypotheses first: they win where two explain nearly as much. */
  constructor(readonly hypotheses: readonly H[]) {
    this.matches = hypotheses.map(() => new Uint8Array(0));
  }

  get full(): boolean {
    return this.rows >= budgets.coverRows;
  }

  /** The disagreeing rows of one iteration: their agents, and a trial by hypothesis; null where it could not be tried. */
  add(iteration: number, agents: ArrayLike<number>, trials: readonly (Trial | null)[]): void {
    if (this.full || agents.length === 0) return;
    const start = this.rows;
    this.rows += agents.length;
    for (let i = 0; i < agents.length; i++) this.agents.push(agents[i]);
    const kept = trials.map((trial, h) => {
      let explained = 0;
      for (const match of trial?.match ?? []) if (match === 2) explained++;
      this.matches[h] = grown(this.matches[h], this.rows);
      if (trial) this.matches[h].set(trial.match, start);
      return explained > budgets.coverKept * agents.length ? trial : null;
    });
    this.batches.push({ iteration, start, trials: kept });
  }

  /** What is left of the `disagreeing` rows among those looked at, where `open` of the rows tried have no explanation; null where it is no more than a few. */
  left(open: number, disagreeing: number, looked: number): Open | null {
    const share = this.rows > 0 ? open / this.rows : 1;
    const rows = Math.round(share * disagreeing);
    if (rows < limits.fewestRows.value || share < limits.leftOver.value) return null;
    return {
      rows,
      share: rows / Math.max(1, looked),
      onset: Math.min(...this.batches.map(({ iteration }) => iteration)),
      agents: [...new Set(this.agents)].filter((agent) => agent >= 0).sort((a, b) => a - b),
    };
  }

  /** Explanations, strongest first, each of at least `least` of what was open; and how many rows none explains. */
  explain(least: number = limits.most.value): { found: Explained<H>[]; open: number } {
    const found: Explained<H>[] = [];
    let open = rowsWhere(this.rows, () => true);
    while (open.length > 0) {
      const counted = this.matches.map((matches) => {
        let [explained, silent] = [0, 0];
        for (const row of open)
          if (matches[row] === 2) explained++;
          else if (matches[row] === 1) silent++;
        return { explained, silent };
      });
      const most = Math.max(...counted.map(({ explained }) => explained));
      if (most === 0) break;
      // Rows that a transform says nothing about (beyond an end, say) speak neither for nor against it.
      const shares = counted.map(({ explained, silent }) => explained / Math.max(1, open.length - silent));
      const known = (h: number) => counted[h].explained >= limits.most.value * most;
      const highest = Math.max(...shares.filter((_, h) => known(h)));
      const first = shares.findIndex((share, h) => known(h) && share >= limits.asGood.value * highest);
      const best = this.widened(first, open, counted);
      const share = shares[best];
      if (share < least && counted[best].explained < limits.explainedAny.value * this.rows) break;
      if (share < limits.explainedAny.value) break;
      found.push({ ...this.explained(best, open), share });
      open = open.filter((row) => this.matches[best][row] === 0);
    }
    return { found, open: open.length };
  }

  /** Of the same kind of transform, the one that explains all that the `first` does and more: where a rule says nothing about the ends themselves, one that gives them too is what happened. */
  private widened(first: number, open: Int32Array, counted: readonly { explained: number }[]): number {
    const { id } = this.hypotheses[first].transform;
    let best = first;
    for (const [h, { transform }] of this.hypotheses.entries()) {
      if (transform.id !== id || counted[h].explained < counted[best].explained + limits.fewestRows.value) continue;
      if (open.every((row) => this.matches[best][row] !== 2 || this.matches[h][row] === 2)) best = h;
    }
    return best;
  }

  private explained(best: number, open: Int32Array): Omit<Explained<H>, 'share'> {
    const matches = this.matches[best];
    const explained = open.filter((row) => matches[row] === 2);
    const agents = [...new Set(Array.from(explained, (row) => this.agents[row]))].filter((agent) => agent >= 0);
    const hypothesis = this.hypotheses[best];
    let onset = Number.POSITIVE_INFINITY;
    let widest = Number.NEGATIVE_INFINITY;
    let { transform } = hypothesis;
    const none = new Float64Array(0);
    let proof: Explained<H>['proof'] = { iteration: 0, target: none, before: none, after: none };
    for (const [at, { iteration, start, trials }] of this.batches.entries()) {
      const end = this.batches[at + 1]?.start ?? this.rows;
      const inside = explained.filter((row) => row >= start && row < end);
      if (inside.length > 0) onset = Math.min(onset, iteration);
      const trial = trials[best];
      if (!trial) continue;
      const rows = open.filter((row) => row >= start && row < end && matches[row] !== 1).map((row) => row - start);
      let gap = 0;
      for (const row of rows) {
        const distance = Math.abs(trial.target[row] - trial.before[row]);
        if (Number.isFinite(distance)) gap += distance;
      }
      if (gap <= widest || inside.length === 0) continue;
      widest = gap;
      transform = trial.transform ?? hypothesis.transform;
      const pick = (column: Float64Array) => gather(column, rows);
      proof = { iteration, target: pick(trial.target), before: pick(trial.before), after: pick(trial.after) };
    }
    return { hypothesis, transform, rows: explained.length, agents: agents.sort((a, b) => a - b), onset, proof };
  }
}

function grown(column: Uint8Array, length: number): Uint8Array {
  if (column.buffer.byteLength >= length) return new Uint8Array(column.buffer as ArrayBuffer, 0, length);
  const larger = new Uint8Array(Math.max(1024, 2 * length));
  larger.set(column);
  return larger.subarray(0, length);
}

/** A trial by values: rows agree where the transform comes within the slack of the target. */
export function trialOf(
  columns: Pick<Trial, 'target' | 'before' | 'after'>,
  slack: number,
  transform?: Transform,
): Trial {
  const match = columns.after.map((value, i) => {
    const gap = Math.abs(value - columns.target[i]);
    return Number.isNaN(gap) ? 1 : gap <= slack ? 2 : 0;
  });
  return { ...columns, match: Uint8Array.from(match), ...(transform ? { transform } : {}) };
}
