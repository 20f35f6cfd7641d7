/** Rows that no decision made: after an episode's end, at a repeated step, or with nothing to choose from. They matter only where they enter the loss. */

import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { withAgent } from '../../evidence/keys.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Scores } from '../../pairing/scoring.ts';
import { LeftOut } from '../../transforms/rows/left-out.ts';
import { DeadRows } from './dead-rows.ts';
import { ResetRows } from './reset-rows.ts';

export const phantomRows: Check = {
  id: 'rows',
  group: 'credit',
  question: ['Was every row in the loss a decision?', '损失中的每一行都是一次决策吗？'],
  needs: [['samples.t'], ['samples.terminated', 'samples.truncated', 'samples.action']],
  causes: ['phantom-steps', 'padding-trained'],
  start: () => new RowsPass(),
};

class RowsPass implements Pass {
  private looked = 0;
  private phantom = 0;
  private blank = 0;
  private used = 0;
  private afterEnd = 0;
  private repeated = 0;
  private padded = 0;
  private copies = 0;
  private onset = Number.POSITIVE_INFINITY;
  private replayed = false;
  private readonly proof = new ProofStore('iteration');
  private readonly agents = new Set<number>();
  private readonly deadRows = new DeadRows();
  private dead = 0;
  private resets = 0;
  private readonly resetRows = new ResetRows();
  /** Rows that may only reset, by iteration, until the whole run tells. */
  private readonly undecided: { iteration: number; rows: number; found: number; used: number; agents: number[] }[] = [];
  /** Episodes of the latest iterations that have ended, by (episode, agent). */
  private ended = new Set<number>();

  iteration(iteration: Iteration): void {
    const { samples, chains } = iteration;
    if (!samples || !chains) return;
    const { rows } = samples;
    const terminated = samples.column('terminated');
    const truncated = samples.column('truncated');
    const episode = samples.column('episode')!;
    const agent = samples.column('agent')!;
    const t = samples.column('t')!;
    const key = (row: number) => withAgent(episode[row], agent[row]);
    const wrong = new Uint8Array(rows);
    const after = new Uint8Array(rows);
    const now = new Set<number>();
    const longest = new Map<number, number>();
    const ends = new Set<number>();
    const real = new Int32Array(rows).fill(-1);
    const action = samples.column('action');
    const old = samples.measured('old_logp')!;
    for (const row of chains.order) {
      const before = chains.previous[row];
      if (
        before >= 0
          ? after[before] || terminated?.[before] === 1 || truncated?.[before] === 1
          : this.ended.has(key(row))
      ) {
        after[row] = 1;
        wrong[row] = 1;
        this.afterEnd++;
        longest.set(key(row), t[row]);
        if (before >= 0 && !after[before]) ends.add(t[before]);
        real[row] = before >= 0 && after[before] ? real[before] : before;
        const last = real[row];
        if (
          last >= 0 &&
          action &&
          action[last] === action[row] &&
          Math.abs(old[last] - old[row]) < limits.replayExact.value
        )
          this.copies++;
      }
      if (before >= 0 && t[before] === t[row]) {
        wrong[row] = 1;
        this.repeated++;
      }
      if (terminated?.[row] === 1 || truncated?.[row] === 1 || after[row]) now.add(key(row));
    }
    this.ended = now;
    this.looked += rows;
    this.blanks(iteration, wrong);
    for (const row of this.deadRows.of(iteration)) {
      if (!wrong[row]) this.dead++;
      wrong[row] ||= 1;
    }
    const resets = this.resetRows.see(iteration);
    if (resets.certain)
      for (const row of resets.rows) {
        if (!wrong[row]) this.resets++;
        wrong[row] ||= 1;
      }
    else if (resets.rows.length > 0) this.postpone(iteration, resets.rows);
    let found = 0;
    for (let i = 0; i < rows; i++) found += wrong[i];
    if (found < Math.min(2, rows)) return;
    this.tally(
      iteration,
      wrong,
      after,
      found,
      new Set(longest.values()).size === 1 && longest.size > 1 && ends.size > 1,
    );
  }

  /** No candidate, or no action: nothing was decided. */
  private blanks({ samples }: Iteration, wrong: Uint8Array): void {
    const action = samples!.column('action');
    const legal = samples!.list('legal');
    const scores = legal ? new Scores(samples!) : null;
    const count = samples!.column('num_actions');
    for (let i = 0; i < wrong.length; i++) {
      let any = !(count && count[i] === 0) && !(action && action[i] < 0 && count);
      if (any && scores && legal && legal.offsets[i + 1] > legal.offsets[i]) {
        any = false;
        for (let c = legal.offsets[i]; c < legal.offsets[i + 1] && !any; c++) any = legal.values[c] === 1;
      }
      if (any) continue;
      wrong[i] = 2;
    }
  }

  private postpone(iteration: Iteration, rows: readonly number[]): void {
    const { number, samples, leftOut } = iteration;
    const used = iteration.replays ? rows.filter((row) => leftOut?.[row] !== 1).length : 0;
    if (iteration.replays) this.replayed = true;
    const agents = rows.map((row) => samples!.column('agent')![row]);
    this.undecided.push({ iteration: number, rows: samples!.rows, found: rows.length, used, agents });
  }

  /** What the whole run has shown to be steps that only reset. */
  private settle(): void {
    if (!this.resetRows.shown) return;
    for (const { iteration, rows, found, used, agents } of this.undecided) {
      for (const agent of agents) this.agents.add(agent);
      this.resets += found;
      this.phantom += found;
      this.used += used;
      this.onset = Math.min(this.onset, iteration);
      this.proof.step(rows, rows - found, rows);
    }
    this.undecided.length = 0;
  }

  private tally(iteration: Iteration, wrong: Uint8Array, after: Uint8Array, found: number, level: boolean): void {
    const { samples, replays } = iteration;
    const agent = samples!.column('agent')!;
    const sample = replays?.column('sample');
    const weight = replays?.column('weight');
    const source = replays?.column('source_iteration');
    const trained = new Uint8Array(wrong.length);
    if (replays && sample) {
      this.replayed = true;
      for (let i = 0; i < replays.rows; i++) {
        if (source && source[i] !== iteration.number && !Number.isNaN(source[i])) continue;
        if (sample[i] < wrong.length && wrong[sample[i]] && weight?.[i] !== 0) trained[sample[i]] = 1;
      }
    }
    let blank = 0;
    for (let i = 0; i < wrong.length; i++) {
      if (!wrong[i]) continue;
      if (this.isBlank(iteration, i, wrong[i])) blank++;
      if (trained[i]) this.used++;
      if (after[i] && level) this.padded++;
      this.agents.add(agent[i]);
    }
    this.phantom += found;
    this.proof.step(wrong.length, wrong.length - found, wrong.length);
    this.blank += blank;
    this.onset = Math.min(this.onset, iteration.number);
  }

  /** A padded row is empty: no choice, or logits that are all 0. */
  private isBlank(iteration: Iteration, row: number, kind: number): boolean {
    if (kind === 2) return true;
    const logits = iteration.samples!.list('logits');
    if (!logits || logits.offsets[row + 1] === logits.offsets[row]) return false;
    for (let i = logits.offsets[row]; i < logits.offsets[row + 1]; i++) if (logits.values[i] !== 0) return false;
    return true;
  }

  finish(): Outcome {
    this.settle();
    const measured = {
      rows: this.looked,
      after_an_end: this.afterEnd,
      repeated_steps: this.repeated,
      blank: this.blank,
      of_the_dead: this.dead,
      of_resets: this.resets,
      in_the_loss: this.used,
    };
    const expected = { after_an_end: 0, repeated_steps: 0, in_the_loss: 0 };
    if (this.looked === 0) return { status: 'not-checked', measured, expected, findings: [] };
    const counted = this.replayed ? this.used : this.phantom;
    if (counted < fewestRows || counted < limits.phantomShare.value * this.looked)
      // Rows that no decision made and no loss used do no harm, nor does a handful among thousands.
      return { status: 'pass', measured, expected, findings: [] };
    const padding =
      this.blank >= limits.most.value * this.phantom ||
      this.padded >= limits.most.value * this.phantom ||
      this.dead >= limits.most.value * this.phantom ||
      this.copies >= limits.copiedRows.value * Math.max(1, this.afterEnd);
    const transform = new LeftOut();
    const finding: Finding = {
      cause: padding ? 'padding-trained' : 'phantom-steps',
      confidence: Math.min(this.replayed ? 1 : limits.circumstantial.value, confidence(1, counted)),
      agents: [...this.agents].sort((a, b) => a - b),
      onset: this.onset,
      rows: counted,
      transform,
      ...this.proof.prove('number of rows', 'rows that were recorded', 'decisions that were made', transform),
      summary: `${this.phantom} of ${this.looked} rows are no decisions (${this.afterEnd} after their episode's end, ${this.repeated} at a repeated step, ${this.blank} empty, ${this.dead} of agents that had died, ${this.resets} that only reset an environment), and ${figure(counted)} of them enter the loss.`,
      evidence: [{ check: 'rows', measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}
