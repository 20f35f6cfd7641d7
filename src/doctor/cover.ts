/** Which of several transforms explains the rows that disagree. A row may be explained by several; the one that explains most is taken, then the next for what is left. */

import type { Open } from './diagnosis.ts';
import { limits } from './limits.ts';
import type { Transform } from './transforms/transform.ts';

export interface Hypothesis {
  cause: string;
  transform: Transform;
}

export interface Explained<H extends Hypothesis> {
  hypothesis: H;
  /** Rows that this transform explains and no stronger one did. */
  rows: number;
  /** Share of the rows that were still open. */
  share: number;
  agents: number[];
  onset: number;
}

/** 0: disagrees; 1: says nothing about this row (beyond an end, say); 2: explains it. */
export type Match = 0 | 1 | 2;

const capacity = 60_000;

export class Cover<H extends Hypothesis> {
  rows = 0;
  private readonly matches: Uint8Array[] = [];
  private readonly agents: number[] = [];
  private readonly iterations: number[] = [];

  /** More specific hypotheses first: they win where two explain nearly as much. */
  constructor(readonly hypotheses: readonly H[]) {}

  get full(): boolean {
    return this.rows >= capacity;
  }

  add(matches: Uint8Array, agent: number, iteration: number): void {
    if (this.full) return;
    this.rows++;
    this.matches.push(matches.slice());
    this.agents.push(agent);
    this.iterations.push(iteration);
  }

  /** What is left of the `disagreeing` rows among those looked at, where `open` of the rows tried have no explanation; null where it is no more than a few. */
  left(open: number, disagreeing: number, looked: number): Open | null {
    const share = this.rows > 0 ? open / this.rows : 1;
    const rows = Math.round(share * disagreeing);
    if (rows < limits.fewestRows.value || share < limits.leftOver.value) return null;
    return {
      rows,
      share: rows / Math.max(1, looked),
      onset: this.iterations.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY),
      agents: [...new Set(this.agents)].filter((agent) => agent >= 0).sort((a, b) => a - b),
    };
  }

  /** Explanations, strongest first, each of at least `least` of what was open; and how many rows none explains. */
  explain(least = 0.5): { found: Explained<H>[]; open: number } {
    const found: Explained<H>[] = [];
    let open = this.matches.map((_, row) => row);
    while (open.length > 0) {
      const counts = this.hypotheses.map((_, h) =>
        open.reduce((sum, row) => sum + (this.matches[row][h] === 2 ? 1 : 0), 0),
      );
      const silent = this.hypotheses.map((_, h) =>
        open.reduce((sum, row) => sum + (this.matches[row][h] === 1 ? 1 : 0), 0),
      );
      const most = Math.max(...counts);
      if (most === 0) break;
      // Rows that a transform says nothing about (beyond an end, say) speak neither for nor against it.
      const shares = counts.map((count, h) => count / Math.max(1, open.length - silent[h]));
      const known = (h: number) => counts[h] >= 0.5 * most;
      const highest = Math.max(...shares.filter((_, h) => known(h)));
      const best = shares.findIndex((share, h) => known(h) && share >= 0.97 * highest);
      const share = shares[best];
      if (share < least && counts[best] < 0.1 * this.rows) break;
      if (share < 0.1) break;
      const explained = open.filter((row) => this.matches[row][best] === 2);
      found.push({
        hypothesis: this.hypotheses[best],
        rows: explained.length,
        share,
        agents: [...new Set(explained.map((row) => this.agents[row]))]
          .filter((agent) => agent >= 0)
          .sort((a, b) => a - b),
        onset: explained.reduce((least, row) => Math.min(least, this.iterations[row]), Number.POSITIVE_INFINITY),
      });
      open = open.filter((row) => this.matches[row][best] === 0);
    }
    return { found, open: open.length };
  }
}
