/** Whether rows of earlier iterations enter an update, as declared by source_iteration or as seen by rows that repeat. */

import { type Check, confidence, fewestRows, logpTolerance, noticedShare, type Pass } from '../../check.ts';
import { figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { withAgent } from '../../evidence/keys.ts';
import { gather, type Numbers, type Rows, rowsWhere } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { cellsOf } from '../../pairing/consensus.ts';
import { RowsOfIteration } from '../../transforms/rows/rows-of-iteration.ts';

export const stale: Check = {
  id: 'fresh-rows',
  group: 'replay',
  question: ["Does an update use its own iteration's rows?", '更新是否使用自己这次迭代的行？'],
  needs: [['replays.new_logp'], ['samples.old_logp']],
  causes: ['stale-samples'],
  start: (run) => new StalePass(run),
};

class Kept {
  /** What was stored, by agent, in storage order. */
  private byAgent: Map<number, Float64Array> | null = null;

  constructor(
    readonly number: number,
    readonly old: Numbers,
    private readonly agent: Numbers,
  ) {}

  /** The log-probability at a place among an agent's rows. Asked only where rows disagree. */
  of(agent: number, place: number): number | undefined {
    if (!this.byAgent) {
      this.byAgent = new Map();
      const every = rowsWhere(this.old.length, () => true);
      for (const rows of cellsOf(every, (row) => this.agent[row], 1).lists)
        this.byAgent.set(this.agent[rows[0]], gather(this.old, rows));
    }
    return this.byAgent.get(agent)?.[place];
  }
}

class StalePass implements Pass {
  private looked = 0;
  private declared = 0;
  private repeated = 0;
  private readonly lags = new Map<number, number>();
  private onset = Number.POSITIVE_INFINITY;
  private readonly policies = new Set<number>();
  private readonly proof = new ProofStore('iteration');
  private earlier: Kept[] = [];
  /** By (episode, agent), the last step that was recorded, in the latest iteration and in the one before. Episodes that have ended come no more. */
  private reached = new Map<number, number>();
  private reachedBefore = new Map<number, number>();

  /** The rows of the iteration before. */
  private before: Rows | null = null;

  /** Agents of repeated rows. */
  private readonly agents = new Set<number>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples, replays } = iteration;
    if (!samples) return;
    const declared = this.declared;
    if (replays) this.replays(iteration);
    const again = Math.max(this.repeats(iteration), this.copies(iteration));
    this.before = samples;
    if (again > noticedShare * samples.rows) {
      this.repeated += again;
      this.onset = Math.min(this.onset, iteration.number);
    }
    const strange = Math.max(this.declared - declared, again > noticedShare * samples.rows ? again : 0);
    const rows = this.declared > declared ? replays!.rows : samples.rows;
    if (strange > 0) this.proof.step(rows, rows - strange, rows);
    const kept = new Kept(iteration.number, samples.measured('old_logp')!, samples.column('agent')!);
    this.earlier = [kept, ...this.earlier].slice(0, 2);
  }

  /** Rows at a step that an earlier iteration has already recorded of the same agent and episode. */
  private repeats({ samples, chains }: Iteration): number {
    if (!chains) return 0;
    const episode = samples!.column('episode')!;
    const agent = samples!.column('agent')!;
    const t = samples!.column('t')!;
    const reached = new Map<number, number>();
    let again = 0;
    for (const row of chains.order) {
      if (chains.previous[row] >= 0 && chains.next[row] >= 0) continue;
      const key = withAgent(episode[row], agent[row]);
      if (chains.next[row] < 0) reached.set(key, t[row]);
      const before = chains.previous[row] < 0 ? (this.reached.get(key) ?? this.reachedBefore.get(key)) : undefined;
      for (let later = row; before !== undefined && later >= 0 && t[later] <= before; later = chains.next[later]) {
        again++;
        this.agents.add(agent[later]);
      }
    }
    this.reachedBefore = this.reached;
    this.reached = reached;
    return again;
  }

  /** Rows that hold the very numbers of the same place in the iteration before, although the policy has moved since: its ratio to them is not 1 before the first step. A policy that stands still may meet the same state again. */
  private copies({ samples, replays, first }: Iteration): number {
    const { before } = this;
    const columns = ['value', 'reward', 'action'].flatMap((name) => {
      const [now, then] = [samples!.column(name), before?.column(name)];
      return now && then ? [[now, then] as const] : [];
    });
    const [old, then] = [samples!.measured('old_logp')!, before?.measured('old_logp')];
    if (!then || !samples!.column('value') || !replays || first.length === 0) return 0;
    // Padding is alike wherever it stands: what holds nothing but zeros was copied from nowhere.
    const equal = rowsWhere(
      Math.min(samples!.rows, before!.rows),
      (row) =>
        old[row] === then[row] &&
        columns.every(([a, b]) => a[row] === b[row]) &&
        (old[row] !== 0 || columns.some(([a]) => a[row] !== 0)),
    );
    if (equal.length < fewestRows) return 0;
    const same = new Set(equal);
    const [sample, fresh] = [replays.column('sample')!, replays.measured('new_logp')!];
    let [told, moved] = [0, 0];
    for (const row of first) {
      if (!same.has(sample[row])) continue;
      told++;
      if (Math.abs(fresh[row] - old[sample[row]]) > logpTolerance) moved++;
    }
    if (told < limits.fewestSteps.value || moved < limits.nearlyAll.value * told) return 0;
    const agent = samples!.column('agent')!;
    for (const row of equal) this.agents.add(agent[row]);
    return equal.length;
  }

  private replays({ samples, replays, number, before }: Iteration): void {
    this.looked += replays!.rows;
    const source = replays!.column('source_iteration');
    const used = replays!.column('old_logp');
    const sample = replays!.column('sample')!;
    const policy = replays!.column('policy');
    const stored = samples!.measured('old_logp')!;
    const agent = samples!.column('agent')!;
    if (!source && !used) return;
    const place = new Int32Array(samples!.rows);
    const counts = new Int32Array(this.run.agentCount);
    for (let i = 0; used && i < place.length; i++) place[i] = counts[agent[i]]++;
    let odd = 0;
    const met: { from: number; policy: number | undefined }[] = [];
    for (let i = 0; i < replays!.rows; i++) {
      const s = sample[i];
      if (source && source[i] < number) this.note(number, source[i], policy?.[i]);
      else if (used && before?.[i] === 1 && s < place.length && Math.abs(used[i] - stored[s]) > logpTolerance) {
        const found = this.found(used[i], s, agent[s], place[s]);
        odd++;
        if (found) met.push({ from: found.number, policy: policy?.[i] });
      }
    }
    // Log-probabilities of few kinds meet by chance: most of those that disagree must be an earlier iteration's.
    if (met.length >= limits.most.value * odd) for (const { from, policy } of met) this.note(number, from, policy);
  }

  /** The earlier iteration that stored this log-probability at the same place, of all rows or of the agent's. */
  private found(logp: number, row: number, agent: number, place: number): Kept | undefined {
    const same = (value: number | undefined) => value !== undefined && Math.abs(value - logp) < limits.rounding.value;
    return this.earlier.find((kept) => same(kept.old[row]) || same(kept.of(agent, place)));
  }

  private note(number: number, from: number, policy: number | undefined): void {
    this.declared++;
    this.lags.set(number - from, (this.lags.get(number - from) ?? 0) + 1);
    this.onset = Math.min(this.onset, number);
    if (policy !== undefined) this.policies.add(policy);
  }

  finish(): Outcome {
    const share = this.declared / Math.max(1, this.looked);
    const measured = {
      rows: this.looked,
      of_earlier_iterations: this.declared,
      repeated_rows: this.repeated,
      share: figure(share),
    };
    const expected = { of_earlier_iterations: 0, repeated_rows: 0 };
    const rows = Math.max(this.declared, this.repeated);
    if (rows < fewestRows) return { status: 'pass', measured, expected, findings: [] };
    const lag = [...this.lags].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 1;
    const transform = new RowsOfIteration(lag);
    return {
      status: 'fail',
      measured,
      expected,
      findings: [
        {
          cause: 'stale-samples',
          confidence: confidence(1, rows),
          agents: [
            ...new Set([...this.agents, ...[...this.policies].flatMap((policy) => this.run.agentsOf(policy))]),
          ].sort((a, b) => a - b),
          onset: this.onset,
          rows,
          transform,
          ...this.proof.prove('number of rows', 'rows in the updates', "rows of the iteration's own policy", transform),
          summary: `${rows} rows used in updates were collected by an earlier iteration's policy.`,
          evidence: [{ check: 'fresh-rows', measured, expected }],
        },
      ],
    };
  }
}
