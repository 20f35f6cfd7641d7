/** Rows whose update computed other logits than sampling did, though everything that was recorded around them agrees: the input was another, or the memory of the policy. Nothing is said where neither a second pass was made nor rows occur twice in one. */
import { confidence, fewestRows } from '../../check.ts';
import type { Finding } from '../../diagnosis.ts';
import { percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import type { Scores } from '../../pairing/scoring.ts';
import type { ReplayRow, ReplayRows } from '../../transforms/replay/replay-rows.ts';

/** Where an episode's row stands: the first of its episode, in an episode that began in this rollout, or in one that began before it. */
type Standing = 'first' | 'begun' | 'carried';

/** PyTorch's cells and layers with a memory all have weights of this name. */
const recurrent = /lstm|gru|rnn|recurrent|weight_hh/i;
/** Columns that only a policy with a memory has. */
const state = /\.(state_(in|hash|norm)|sequence)$/;

/** Causes that show in lists, masks or old log-probabilities: none of them is left where these agree with what either pass recorded. */
const ofLists = [
  'wrong-axis',
  'mask-not-replayed',
  'num-actions-defaulted',
  'subset-not-replayed',
  'subset-borrowed',
  'old-logp-wrong',
] as const;

/** What a log-probability may be off by where logits of this size were computed in the coarser half precision. */
function halfPrecision(scores: Scores, row: number): number {
  let size = 0;
  for (let i = 0; i < scores.count(row); i++)
    if (scores.isLegal(row, i)) size = Math.max(size, Math.abs(scores.logit(row, i)));
  return (limits.halfSteps.value * limits.coarsestHalf.value * size) / scores.temperatureOf(row);
}

export class OtherLogits {
  private readonly proof = new ProofStore();
  /** Rows that occur twice in one pass, and those of them that the pass itself scored differently. */
  private readonly repeated = { same: 0, other: 0 };
  private rows = 0;
  private silent = 0;
  private readonly agents = new Set<number>();
  private onset = Number.POSITIVE_INFINITY;
  private readonly standings = {
    first: { looked: 0, wrong: 0 },
    begun: { looked: 0, wrong: 0 },
    carried: { looked: 0, wrong: 0 },
  };
  /** Rows with an end before them in the rollout of their environment, those of them that come right after it, and rows without. */
  private readonly ends = {
    after: { looked: 0, wrong: 0 },
    first: { looked: 0, wrong: 0 },
    before: { looked: 0, wrong: 0 },
  };

  /** Of the rows that no transform explains: how many there are, and of how many each thing is known to agree. */
  private readonly open = { rows: 0, lists: 0, temperatures: 0, steady: 0, halved: 0 };

  constructor(private readonly run: Run) {}

  /** Counts the rows that were compared, and those of them that disagree. */
  see(iteration: Iteration, looked: readonly number[], wrong: readonly ReplayRow[]): void {
    const known = wrong.filter(({ fresh, used }) => Number.isFinite(fresh - used));
    const column = (side: 'fresh' | 'used') => Float64Array.from(known, (row) => row[side]);
    this.proof.rows(iteration.number, column('fresh'), column('used'));
    const standing = standingOf(iteration);
    if (!standing) return;
    const afterEnd = rowsAfterEnds(iteration);
    const count = (sample: number, what: 'looked' | 'wrong') => {
      const stands = standing(sample);
      this.standings[stands][what]++;
      this.ends[afterEnd[sample] === 1 ? 'after' : 'before'][what]++;
      if (afterEnd[sample] === 1 && stands === 'first') this.ends.first[what]++;
    };
    for (const sample of looked) count(sample, 'looked');
    for (const { sample } of wrong) count(sample, 'wrong');
  }

  /** A row that occurs twice in one pass, with the same score or another. */
  repeat(same: boolean): void {
    this.repeated[same ? 'same' : 'other']++;
  }

  /** The row under the cursor, which no transform explains. */
  add(rows: ReplayRows, agent: number): void {
    const { row } = rows;
    const steady = Number.isFinite(row.again)
      ? rows.agrees(row.again, row.fresh)
      : this.repeated.same >= fewestRows && this.repeated.other === 0;
    const consistent = rows.agrees(rows.recordedScore, row.fresh) && rows.sameList && rows.sameMask;
    const { open } = this;
    open.rows++;
    if (Number.isFinite(row.again) && steady) open.steady++;
    if (consistent && rows.usedIsOwn && !rows.baseIsReplay) {
      open.lists++;
      const { sampled, replayed } = rows;
      if (replayed.temperature && rows.agrees(sampled.temperatureOf(row.sample), replayed.temperatureOf(row.replay)))
        open.temperatures++;
      if (Math.abs(row.fresh - row.used) <= halfPrecision(sampled, row.sample)) open.halved++;
    }
    // Without logits the memory of the policy can still be told by where rows agree.
    if (!(steady && consistent)) return;
    // Where sampling recorded no logits, a row speaks neither for nor against.
    if (rows.baseIsReplay) this.silent++;
    if (!rows.usedIsOwn) return;
    this.rows++;
    this.agents.add(agent);
    this.onset = Math.min(this.onset, rows.iteration.number);
  }

  /** Whether nearly all of these rows differ by no more than half precision in one of the passes gives: that is no sign of another input. */
  get halved(): boolean {
    return this.open.rows >= fewestRows && this.open.halved >= limits.nearlyAll.value * this.open.rows;
  }

  /** Causes that what was recorded of these rows rules out. */
  get excluded(): string[] {
    const { rows, lists, temperatures, steady } = this.open;
    const all = (count: number) => rows >= fewestRows && count === rows;
    return [
      ...(this.remembers === false ? ['recurrent-state-not-replayed'] : []),
      ...(this.run.agents.length === 1 ? ['trained-on-other-agent'] : []),
      ...(all(lists) ? ofLists : []),
      ...(all(temperatures) ? ['temperature-mismatch'] : []),
      ...(all(steady) ? ['stochastic-forward'] : []),
    ];
  }

  /** Whether the policy has a memory; null where nothing tells. */
  private get remembers(): boolean | null {
    const { tensors, seen } = this.run;
    if (tensors.some(({ name }) => recurrent.test(name)) || [...seen].some((column) => state.test(column))) return true;
    return tensors.length > 0 ? false : null;
  }

  /** The finding for the rows that are left, of which there are `open`. */
  finding(open: number, share: number, evidence: Finding['evidence']): Finding | null {
    const memory = this.memory(open, evidence);
    if (memory) return memory;
    if (this.halved) return null;
    // A policy that changed between acting and the update is right in the first iteration; an input is wrong in all.
    const told = open - this.silent;
    if (this.rows < Math.max(fewestRows, limits.most.value * told) || this.onset > 0) return null;
    return {
      cause: 'inputs-differ',
      confidence: confidence(this.rows / Math.max(1, told), this.rows),
      agents: [...this.agents].sort((a, b) => a - b),
      onset: this.onset,
      rows: this.rows + this.silent,
      ...this.proof.prove('log-probability', 'in the update', 'when it was sampled'),
      summary: `Before the first step ${percent(share)} of the rows have other logits in the update than when they were sampled, from the first iteration on, while lists, masks and a second pass agree: the policy was given another input.`,
      evidence,
    };
  }

  private memory(open: number, evidence: Finding['evidence']): Finding | null {
    const { tensors } = this.run;
    if (tensors.length > 0 && !tensors.some(({ name }) => recurrent.test(name))) return null;
    const { first, begun, carried } = this.standings;
    const right = ({ looked, wrong }: typeof first) =>
      looked >= fewestRows && wrong <= limits.noticedShare.value * looked;
    const mostly = ({ looked, wrong }: typeof first) => wrong >= fewestRows && wrong >= limits.most.value * looked;
    // An input strikes the first row of an episode as well as any other; a memory does not, and fades with distance.
    const later = { looked: begun.looked + carried.looked, wrong: begun.wrong + carried.wrong };
    const everywhere = right(first) && later.wrong >= Math.max(fewestRows, limits.memoryShare.value * later.looked);
    const atStarts = right(begun) && mostly(carried);
    const uncut = !everywhere && !atStarts && right(this.ends.before) && mostly(this.ends.first);
    if (!everywhere && !atStarts && !uncut) return null;
    const rows = uncut ? this.ends.after.wrong : begun.wrong + carried.wrong;
    const where = uncut
      ? `rows that have an end before them in the rollout (${rows} of ${this.ends.after.looked}) and hardly any other`
      : atStarts
        ? `rows of episodes that began before the rollout (${carried.wrong} of ${carried.looked}) and hardly any other`
        : `rows after the first of their episode (${rows} of ${begun.looked + carried.looked}) and hardly any first one`;
    return {
      cause: 'recurrent-state-not-replayed',
      confidence: confidence(1, rows),
      agents: [...this.agents].sort((a, b) => a - b),
      onset: Number.isFinite(this.onset) ? this.onset : 0,
      rows: Math.min(rows, Math.max(open, fewestRows)),
      ...this.proof.prove('log-probability', 'in the update', 'when it was sampled'),
      summary: `Before the first step the update disagrees on ${where}: it ${uncut ? 'goes on with the hidden state of the episode before' : 'did not start from the hidden state that acting had'}.`,
      evidence,
    };
  }
}

function rowsAfterEnds({ chains }: Iteration): Uint8Array {
  const after = new Uint8Array(chains!.rows);
  for (const row of chains!.order) {
    const before = chains!.previous[row];
    after[row] = before < 0 ? Number(chains!.streamPrevious[row] >= 0) : after[before];
  }
  return after;
}

function standingOf(iteration: Iteration): ((sample: number) => Standing) | null {
  const { chains, samples } = iteration;
  const t = samples?.column('t');
  if (!chains || !t) return null;
  const begun = new Uint8Array(chains.rows);
  for (const row of chains.order) {
    const before = chains.previous[row];
    begun[row] = before < 0 ? Number(t[row] === 0) : begun[before];
  }
  return (sample) => (begun[sample] === 0 ? 'carried' : chains.previous[sample] < 0 ? 'first' : 'begun');
}
