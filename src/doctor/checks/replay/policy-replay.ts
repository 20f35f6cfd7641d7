/** Whether the policy itself, run again on what the agents saw, gives the log-probabilities that were stored. What it runs is prepared before the checks, because models run asynchronously. */
import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { absurdLogp, type Check, confidence, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { type Finding, figure, leaving, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { gather } from '../../evidence/rows.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Snapshot } from '../../transforms/replay/snapshot.ts';

const { policyReplay: apart, policyReplayRelative: relative } = limits;

/** Whether a log-probability is what the policy gives when it is run again. */
export const replays = (logp: number, given: number): boolean =>
  logp === given || Math.abs(logp - given) <= apart.value * (1 + relative.value * Math.abs(given));

export const policyReplay: Check = {
  id: 'policy-replay',
  group: 'replay',
  question: ['Is the stored log-probability what the policy itself gives?', '所存的对数概率与策略本身给出的一致吗？'],
  needs: [['policies/*.onnx'], ['samples.obs']],
  causes: ['stale-samples', 'trained-on-other-agent', 'old-logp-wrong'],
  start: () => new PolicyReplayPass(),
};

interface Tally {
  agents: Set<number>;
  rows: number;
  onset: number;
  proof: ProofStore;
}

class PolicyReplayPass implements Pass {
  private looked = 0;
  private disagreeing = 0;
  private largest = 0;
  private unexplained = 0;
  private readonly found = new Map<string, Tally>();
  private readonly sentences = new Set<string>();

  iteration(iteration: Iteration): void {
    const { replayed } = iteration;
    for (const sentence of replayed?.sentences ?? []) this.sentences.add(sentence);
    if (!replayed || iteration.probed) return;
    const stored = iteration.samples!.measured('old_logp')!;
    const agent = iteration.samples!.column('agent')!;
    const cells = new Map<number, { looked: number; off: number[] }>();
    for (let i = 0; i < stored.length; i++) {
      const own = replayed.own[i];
      if (Number.isNaN(own) || !(Math.abs(stored[i]) < absurdLogp)) continue;
      const cell = cells.get(agent[i]) ?? { looked: 0, off: [] };
      cells.set(agent[i], cell);
      cell.looked++;
      const gap = Math.abs(own - stored[i]);
      if (replays(stored[i], own)) continue;
      if (Number.isFinite(gap)) this.largest = Math.max(this.largest, gap);
      cell.off.push(i);
    }
    for (const [who, { looked, off }] of cells) {
      this.looked += looked;
      this.disagreeing += off.length;
      if (off.length >= Math.max(fewestRows, noticedShare * looked)) this.explain(iteration, who, off);
    }
  }

  /** The other snapshot that gives what was stored, or what the update found instead. */
  private explain(iteration: Iteration, agent: number, off: readonly number[]): void {
    const { replayed } = iteration;
    const stored = iteration.samples!.measured('old_logp')!;
    const note = (key: string, rows: number, given: ArrayLike<number>) => {
      const fresh = { agents: new Set<number>(), rows: 0, onset: iteration.number, proof: new ProofStore() };
      const tally = this.found.get(key) ?? fresh;
      this.found.set(key, tally);
      tally.agents.add(agent);
      tally.rows += rows;
      tally.onset = Math.min(tally.onset, iteration.number);
      tally.proof.rows(iteration.number, gather(stored, off), gather(replayed!.own, off), gather(given, off));
    };
    const agreeing = (values: ArrayLike<number>) => off.filter((i) => replays(values[i], stored[i])).length;
    let best: { key: string; rows: number; logp: ArrayLike<number> } | null = null;
    for (const { key, logp } of replayed!.others) {
      const rows = agreeing(logp);
      if (rows > limits.clearly.value * off.length && (!best || rows > best.rows)) best = { key, rows, logp };
    }
    if (best) {
      note(best.key, best.rows, best.logp);
      return;
    }
    const fresh = replayed!.fresh;
    const none = new Float64Array(stored.length).fill(Number.NaN);
    const updated = fresh ? off.filter((i) => replays(replayed!.own[i], fresh[i])).length : 0;
    if (updated > limits.clearly.value * off.length) note('old', updated, none);
    else this.unexplained += off.length;
  }

  finish(): Outcome {
    const share = this.disagreeing / Math.max(1, this.looked);
    const measured = {
      rows: this.looked,
      disagreeing: this.disagreeing,
      share: figure(share),
      largest: figure(this.largest),
    };
    const expected = { share: 0, tolerance: apart.value };
    const note = [...this.sentences].slice(0, budgets.toldSentences).join('; ');
    if (this.looked === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note:
          note || told('no snapshot belongs to an iteration whose rows are there', '没有哪个快照属于有数据行的迭代'),
      };
    const evidence = [{ check: 'policy-replay', measured, expected }];
    const findings = [...this.found].map(([key, tally]) => this.finding(key, tally, share, evidence));
    if (findings.length > 0) return { status: 'fail', measured, expected, findings, ...(note ? { note } : {}) };
    const odd =
      this.unexplained > 0
        ? 'the snapshots give neither the stored log-probabilities nor those of the update; do they belong to the iterations they are named after?'
        : note;
    return {
      ...(this.unexplained > 0 ? { status: 'warn', open: leaving(this.unexplained, this.looked) } : { status: 'pass' }),
      measured,
      expected,
      findings: [],
      ...(odd ? { note: odd } : {}),
    };
  }

  private finding(key: string, tally: Tally, share: number, evidence: Finding['evidence']): Finding {
    const [kind, name, from] = key.split('\n');
    const cause = kind === 'earlier' ? 'stale-samples' : kind === 'other' ? 'trained-on-other-agent' : 'old-logp-wrong';
    const transform = new Snapshot(
      kind === 'earlier' ? { before: Number(from) } : kind === 'other' ? { policy: name } : {},
    );
    const rows = `${percent(share)} of the rows`;
    const summary =
      kind === 'old'
        ? `Run again on the same rows, the policy that sampled gives the update's log-probabilities, and not the stored ones on ${rows}.`
        : `Run again on the same rows, the policy of that iteration does not give the stored log-probabilities of ${rows}; ${transform.describe()} does.`;
    return {
      cause,
      confidence: confidence(1, tally.rows),
      agents: [...tally.agents].sort((a, b) => a - b),
      onset: tally.onset,
      rows: tally.rows,
      transform,
      ...tally.proof.prove('log-probability', 'old_logp, as stored', 'what the policy itself gives', transform),
      summary,
      evidence,
    };
  }
}
