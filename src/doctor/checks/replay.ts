/** Before a policy's first step of an iteration, new_logp must equal old_logp. Rows that disagree are explained by the transform that makes them agree. */
import { absurdLogp, type Check, confidence, fewestRows, logpTolerance, noticedShare, type Pass } from '../check.ts';
import { Cover } from '../cover.ts';
import { type Finding, figure, type Outcome } from '../diagnosis.ts';
import type { Iteration } from '../iteration.ts';
import { type Fitted, listKey, type ReplayRow, replayHypotheses, Transforms } from '../replay-transforms.ts';
import type { Run } from '../run.ts';
import { resolution, Scores } from '../scoring.ts';
import { FirstK } from '../transforms/replay/first-k.ts';
import { Temperature } from '../transforms/replay/temperature.ts';
import type { Transform } from '../transforms/transform.ts';

/** Rows per iteration that the transforms are tried on. */
const triedRows = 2048;

export const replay: Check = {
  id: 'replay',
  group: 'replay',
  question: 'Does the update replay the distribution that was sampled from?',
  needs: [['replays.new_logp'], ['samples.old_logp', 'replays.old_logp']],
  causes: [...new Set(replayHypotheses.map(({ cause }) => cause as string))],
  start: (run) => new ReplayPass(run),
};

class ReplayPass implements Pass {
  private looked = 0;
  private disagreeing = 0;
  /** Of those, the rows that entered the loss; a guard may leave the others out. */
  private kept = 0;
  private noticed = 0;
  private unexplained = {
    count: 0,
    sum: 0,
    squares: 0,
    agents: new Set<number>(),
    onset: Number.POSITIVE_INFINITY,
  };
  private largest = 0;
  private readonly cover = new Cover(replayHypotheses);
  private readonly fits: Fitted[] = [];
  private againDiffers = 0;
  private againLooked = 0;

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples, replays, before } = iteration;
    if (!samples || !replays || !before || iteration.probed) return;
    const fresh = replays.measured('new_logp')!;
    const stored = samples.measured('old_logp')!;
    const used = replays.column('old_logp');
    const again = replays.column('again_logp');
    const entropy = replays.column('entropy');
    const action = samples.column('action');
    const agent = samples.column('agent')!;
    const policy = replays.column('policy');
    const weight = replays.column('weight');
    const sample = replays.column('sample')!;
    const { own: here } = iteration;
    const sampled = new Scores(samples);
    const step = Math.max(
      resolution(fresh),
      resolution(stored),
      sampled.logits ? resolution(sampled.logits.values) : 0,
    );
    // Half-precision columns are compared as exactly as they were kept.
    const tolerance = (value: number) => Math.max(logpTolerance, step > 1e-6 ? 8 * step * (1 + Math.abs(value)) : 0);
    const rows: ReplayRow[] = [];
    const cells = new Map<number, { looked: number; disagreeing: number }>();
    let latest = Number.NaN;
    let cell = { looked: 0, disagreeing: 0 };
    for (let i = 0; i < replays.rows; i++) {
      if (before[i] === 0 || here[i] === 0) continue;
      const s = sample[i];
      const old = used && !Number.isNaN(used[i]) ? used[i] : stored[s];
      // What is not finite is another check's; minus infinity in the update is an action that it cannot choose.
      if (!(Math.abs(old) < absurdLogp) || Number.isNaN(fresh[i])) continue;
      if (Number.isFinite(fresh[i]) && Math.abs(fresh[i]) > absurdLogp) continue;
      if (agent[s] !== latest) {
        latest = agent[s];
        cell = cells.get(latest) ?? { looked: 0, disagreeing: 0 };
        cells.set(latest, cell);
      }
      cell.looked++;
      if (again && Number.isFinite(again[i])) {
        this.againLooked++;
        if (Math.abs(again[i] - fresh[i]) > tolerance(fresh[i])) this.againDiffers++;
      }
      const gap = Math.abs(fresh[i] - old);
      if (gap <= tolerance(old) || fresh[i] === old) continue;
      cell.disagreeing++;
      if (weight?.[i] !== 0) this.kept++;
      if (Number.isFinite(gap)) this.largest = Math.max(this.largest, gap);
      rows.push({
        sample: s,
        replay: i,
        action: action ? action[s] : -1,
        used: old,
        stored: stored[s],
        fresh: fresh[i],
        again: again ? again[i] : Number.NaN,
        entropy: entropy ? entropy[i] : Number.NaN,
      });
    }
    for (const cell of cells.values()) {
      this.looked += cell.looked;
      this.disagreeing += cell.disagreeing;
    }
    const noticed = rows.filter(({ sample: s }) => {
      const cell = cells.get(agent[s])!;
      return cell.disagreeing >= noticedShare * cell.looked;
    });
    this.noticed += noticed.length;
    if (noticed.length > 0 && !this.cover.full) this.explain(iteration, noticed, sampled, agent, policy, step);
  }

  private explain(
    iteration: Iteration,
    noticed: ReplayRow[],
    sampled: Scores,
    agent: ArrayLike<number>,
    policy: ArrayLike<number> | null,
    step: number,
  ): void {
    const replayed = new Scores(iteration.replays!);
    const baseIsReplay = !sampled.logits && replayed.logits !== null;
    const base = baseIsReplay ? replayed : sampled;
    const close = (a: number, b: number, gap: number) =>
      a === b ||
      Math.abs(a - b) <= Math.min(1e-4, Math.max(1e-5, 0.02 * gap)) + (step > 1e-6 ? 8 * step * (1 + Math.abs(a)) : 0);
    const transforms = new Transforms(iteration, base, baseIsReplay, sampled, replayed, close);
    const stride = Math.max(1, Math.ceil(noticed.length / triedRows));
    const tried = noticed.filter((_, i) => i % stride === 0);
    const fitted = fitRows(iteration, transforms, tried, sampled, replayed, close);
    this.fits.push(fitted);
    for (const row of tried) {
      const matches = transforms.match(row, fitted);
      const who = agent[row.sample];
      if (policy && this.run.policyOf(who) >= 0 && this.run.policyOf(who) !== policy[row.replay]) matches[0] = 2;
      // Foreign rows are no fault of the agent that made them.
      const blamed = matches[0] === 2 ? (this.run.agentsOf(policy![row.replay])[0] ?? who) : who;
      this.cover.add(matches, blamed, iteration.number);
      if (matches.includes(2) || !Number.isFinite(row.fresh - row.used)) continue;
      const open = this.unexplained;
      open.count++;
      open.sum += row.fresh - row.used;
      open.squares += (row.fresh - row.used) ** 2;
      open.agents.add(who);
      open.onset = Math.min(open.onset, iteration.number);
    }
  }

  finish(): Outcome {
    const share = this.disagreeing / Math.max(1, this.looked);
    const measured = {
      rows: this.looked,
      disagreeing: this.disagreeing,
      share: figure(share),
      largest: figure(this.largest),
      again_differs: this.againDiffers,
    };
    const expected = { share: 0, tolerance: logpTolerance };
    if (this.looked === 0)
      return { status: 'not-checked', measured, expected, findings: [], note: 'no replay precedes the first step' };
    if (this.noticed < fewestRows && this.againDiffers < fewestRows)
      return { status: this.kept >= fewestRows ? 'warn' : 'pass', measured, expected, findings: [] };
    const { findings, rest } = this.explained(share, measured, expected);
    const open = this.cover.left(rest, this.disagreeing, this.looked);
    return { status: 'fail', measured, expected, findings, ...(open ? { open } : {}) };
  }

  /** Two passes over the same rows with nothing changed in between differ, on more rows than rounding would. */
  private get noisy(): boolean {
    return this.againDiffers >= Math.max(fewestRows, noticedShare * this.againLooked);
  }

  private explained(
    share: number,
    measured: Outcome['measured'],
    expected: Outcome['expected'],
  ): { findings: Finding[]; rest: number } {
    const { found, open } = this.cover.explain();
    let rest = open;
    const findings: Finding[] = [];
    const evidence = [{ check: 'replay', measured, expected }];
    for (const { hypothesis, rows, share: fit, agents, onset } of found) {
      if (rows < Math.min(fewestRows, this.cover.rows) || rows < 0.03 * this.cover.rows) {
        rest += rows;
        continue;
      }
      findings.push({
        cause: hypothesis.cause,
        confidence: confidence(fit, rows),
        agents,
        onset,
        rows,
        transform: this.transform(hypothesis.key, hypothesis.transform),
        before: share,
        after: share * (1 - fit),
        summary: `Before the first step ${percent(share)} of the rows have another log-probability in the update than when they were sampled; ${percent(fit)} of those agree with: ${this.transform(hypothesis.key, hypothesis.transform).describe('en')}.`,
        evidence,
      });
    }
    if (findings.length === 0 || open > 0.5 * this.cover.rows) {
      const noise = this.noise(share, evidence);
      if (noise) {
        findings.push(noise);
        rest -= noise.rows;
      }
    }
    if (findings.length === 0 && this.noisy) findings.push(this.noiseOnly(evidence));
    return { findings, rest };
  }

  private transform(key: string, known: Transform): Transform {
    const middle = (pick: (fitted: Fitted) => number) => {
      const values = this.fits
        .map(pick)
        .filter((value) => value > 0)
        .sort((a, b) => a - b);
      return values[values.length >> 1];
    };
    if (key === 'temperatureNew')
      return new Temperature(
        'update',
        middle((fitted) => fitted.update),
      );
    if (key === 'temperatureOld')
      return new Temperature(
        'sampling',
        middle((fitted) => fitted.sampling),
      );
    if (key === 'defaultCount') return new FirstK(middle((fitted) => fitted.count));
    return known;
  }

  /** No transform fits, and a second pass differs too: independent noise shifts the mean log-ratio by minus half its variance. */
  private noise(share: number, evidence: Finding['evidence']): Finding | null {
    const { count, sum, squares, agents, onset } = this.unexplained;
    if (count < fewestRows || !this.noisy) return null;
    const mean = sum / count;
    const variance = squares / count - mean * mean;
    const error = Math.sqrt(variance / count);
    if (Math.abs(mean + variance / 2) > Math.max(4 * error, 0.5 * variance)) return null;
    return {
      cause: 'stochastic-forward',
      confidence: confidence(1, count),
      agents: [...agents].sort((a, b) => a - b),
      onset,
      rows: count,
      before: share,
      summary: `The log-ratio before the first step is noise (mean ${figure(mean)}, variance ${figure(variance)}) that no transform removes.`,
      evidence,
    };
  }

  private noiseOnly(evidence: Finding['evidence']): Finding {
    return {
      cause: 'stochastic-forward',
      confidence: confidence(1, this.againDiffers),
      agents: [],
      onset: 0,
      rows: this.againDiffers,
      summary: `A second forward pass with nothing changed gives other log-probabilities on ${this.againDiffers} of ${this.againLooked} rows.`,
      evidence,
    };
  }
}

const percent = (share: number) => `${figure(100 * share)} %`;

/** The one temperature, and the one K, that explain most of the rows tried. */
function fitRows(
  iteration: Iteration,
  transforms: Transforms,
  rows: ReplayRow[],
  sampled: Scores,
  replayed: Scores,
  close: (a: number, b: number, gap: number) => boolean,
): Fitted {
  const fitted: Fitted = {
    update: Number.NaN,
    sampling: Number.NaN,
    count: Number.NaN,
    sortedOld: Float64Array.from(iteration.samples!.measured('old_logp')!).sort(),
    lists: new Map(),
  };
  if (sampled.subset) for (let i = iteration.samples!.rows - 1; i >= 0; i--) fitted.lists.set(listKey(sampled, i), i);
  const stride = Math.max(1, Math.floor(rows.length / 96));
  const few = rows.filter((row, i) => i % stride === 0 && row.action >= 0 && Number.isFinite(transforms.ownLogp(row)));
  const fresh = few.filter(
    (row) => Number.isFinite(row.fresh) && close(transforms.ownLogp(row), row.used, Math.abs(row.fresh - row.used)),
  );
  const used = few.filter(
    (row) => Number.isFinite(row.used) && close(transforms.ownLogp(row), row.fresh, Math.abs(row.fresh - row.used)),
  );
  fitted.update = fitTemperature(transforms, fresh, (row) => row.fresh);
  fitted.sampling = fitTemperature(transforms, used, (row) => row.used);
  fitted.count = fitCount(iteration, transforms, few, sampled, replayed, close);
  return fitted;
}

/** Golden-section search on the median error, from the best point of a coarse grid. */
function fitTemperature(transforms: Transforms, rows: ReplayRow[], target: (row: ReplayRow) => number): number {
  if (rows.length < 3) return Number.NaN;
  const error = (log: number) => {
    const temperature = Math.exp(log);
    const gaps = rows.map((row) =>
      Math.abs(transforms.tempered(row, transforms.temperature(row) * temperature) - target(row)),
    );
    gaps.sort((a, b) => a - b);
    return gaps[gaps.length >> 1];
  };
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let log = -4; log <= 4; log += 0.1) {
    const found = error(log);
    if (found < least) [best, least] = [log, found];
  }
  let [low, high] = [best - 0.1, best + 0.1];
  const golden = (Math.sqrt(5) - 1) / 2;
  for (let k = 0; k < 45; k++) {
    const a = high - golden * (high - low);
    const b = low + golden * (high - low);
    if (error(a) < error(b)) high = b;
    else low = a;
  }
  const found = Math.exp((low + high) / 2) * transforms.temperature(rows[0]);
  return Math.abs(Math.log(found / transforms.temperature(rows[0]))) < 1e-3 ? Number.NaN : found;
}

function fitCount(
  iteration: Iteration,
  transforms: Transforms,
  rows: ReplayRow[],
  sampled: Scores,
  replayed: Scores,
  close: (a: number, b: number, gap: number) => boolean,
): number {
  const numbers = iteration.samples!.column('num_actions');
  const counts = (row: ReplayRow) => (numbers ? numbers[row.sample] : sampled.count(row.sample));
  if (replayed.subset || replayed.logits) {
    const lengths = new Set(rows.map((row) => replayed.count(row.replay)));
    const [length] = lengths;
    if (lengths.size !== 1 || length === 0) return Number.NaN;
    return rows.some((row) => counts(row) !== length) ? length : Number.NaN;
  }
  const longest = Math.max(0, ...rows.map(counts));
  let best = Number.NaN;
  let most = 0.5 * rows.length;
  for (let count = 1; count < longest; count++) {
    const explained = rows.filter((row) =>
      close(transforms.truncatedList(row, count), row.fresh, Math.abs(row.fresh - row.used)),
    ).length;
    if (explained > most) [best, most] = [count, explained];
  }
  return best;
}
