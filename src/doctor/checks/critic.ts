/** Whether the critic sees and learns the row's own: its value before the first step, and its target. Values may be in other units, as long as one line maps all of them. */
import { lagged } from '../../math/chains.ts';
import { Pairs } from '../../math/statistics.ts';
import { type Check, confidence, creditTolerance, fewestRows, type Pass } from '../check.ts';
import { cellsOf } from '../consensus.ts';
import { type Finding, figure, type Outcome } from '../diagnosis.ts';
import type { Iteration } from '../iteration.ts';
import { swapped } from '../pairing-vectors.ts';
import { rowsWhere } from '../rows.ts';
import type { Run } from '../run.ts';
import type { CreditTransform } from '../transforms/credit/credit-rows.ts';
import { Lag, lags } from '../transforms/credit/lag.ts';
import { OtherAgent } from '../transforms/credit/other-agent.ts';
import { Affine } from '../transforms/rows/affine.ts';
import { merge } from './wiring.ts';

export const critic: Check = {
  id: 'critic',
  group: 'credit',
  question: "Are the critic's input and target the row's own?",
  needs: [
    ['replays.value', 'replays.return'],
    ['samples.value', 'samples.return'],
  ],
  causes: ['critic-context-misaligned', 'value-scale-mismatch'],
  start: (run) => new CriticPass(run),
};

const shifts = [1, 2, 3, 4, 5, 6, 7];
const tried: readonly CreditTransform[] = [
  ...lags.map((lag) => new Lag(lag, 'episode')),
  ...lags.slice(0, 4).map((lag) => new Lag(lag, 'stream')),
  ...shifts.map(() => new OtherAgent()),
];

interface Side {
  looked: number;
  wrong: number;
  /** Rows that each transform brings onto the line. */
  explained: Float64Array;
  onset: number;
  agents: Set<number>;
  /** Slope and intercept, update by update. */
  slopes: Map<number, { slope: number; shift: number; rows: number }[]>;
}

const side = (): Side => ({
  looked: 0,
  wrong: 0,
  explained: new Float64Array(tried.length),
  onset: Number.POSITIVE_INFINITY,
  agents: new Set(),
  slopes: new Map(),
});

/** Whether one line maps all rows; a constant says nothing. */
function judge(line: Pairs, size: number): 'right' | 'wrong' | 'silent' {
  if (!(line.spreadY > 1e-7 * Math.max(1, Math.abs(size)))) return 'silent';
  const off = Math.sqrt(Math.max(0, 1 - line.correlation ** 2));
  return off <= 10 * creditTolerance || line.spreadX <= 1e-9 ? 'right' : 'wrong';
}

class CriticPass implements Pass {
  private readonly value = side();
  private readonly target = side();
  /** Whether the policy replayed its rows, so that the parameters were those of sampling. */
  private replayed = 0;
  private moved = 0;

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples, replays, before } = iteration;
    if (!samples || !replays || !before || iteration.probed) return;
    const fresh = replays.measured('new_logp')!;
    const old = samples.measured('old_logp')!;
    const sample = replays.column('sample')!;
    const weight = replays.column('weight');
    const epoch = replays.column('epoch')!;
    const { own } = iteration;
    const first = rowsWhere(replays.rows, (i) => before[i] === 1 && own[i] === 1);
    const targets = rowsWhere(replays.rows, (i) => epoch[i] === 0 && own[i] === 1 && weight?.[i] !== 0);
    for (const row of first)
      if (Math.abs(fresh[row] - old[sample[row]]) <= 1e-4) this.replayed++;
      else this.moved++;
    this.compare(iteration, this.value, replays.column('value'), samples.column('value'), first);
    this.compare(iteration, this.target, replays.column('return'), samples.column('return'), targets);
  }

  private compare(
    iteration: Iteration,
    into: Side,
    used: ArrayLike<number> | null,
    stored: ArrayLike<number> | null,
    rows: Int32Array,
  ): void {
    if (!used || !stored) return;
    const agent = iteration.samples!.column('agent')!;
    const sample = iteration.replays!.column('sample')!;
    const policy = iteration.replays!.column('policy');
    const known = (row: number) => Number.isFinite(used[row]) && Number.isFinite(stored[sample[row]]);
    const ofPolicy = (row: number) => (known(row) ? (policy ? policy[row] : 0) : Number.NaN);
    const lineOf = (list: Int32Array) => {
      const line = new Pairs();
      for (const row of list) line.add(stored[sample[row]], used[row]);
      return line;
    };
    for (const list of cellsOf(rows, ofPolicy, fewestRows).lists) {
      const line = lineOf(list);
      into.looked += list.length;
      const fit = judge(line, used[list[0]]);
      if (fit === 'right') {
        const key = policy ? policy[list[0]] : 0;
        const shift = (line.intercept + (line.slope - 1) * line.meanX) / Math.max(line.spreadY, 1e-12);
        const found = into.slopes.get(key) ?? [];
        found.push({ slope: line.slope, shift, rows: list.length });
        into.slopes.set(key, found);
      }
      if (fit !== 'wrong') continue;
      // Agents that share a policy may be wronged one by one.
      const own = cellsOf(list, (row) => agent[sample[row]], fewestRows).lists;
      for (const cell of own.length > 1 ? own : [list]) {
        if (judge(lineOf(cell), used[cell[0]]) !== 'wrong') continue;
        into.wrong += cell.length;
        into.onset = Math.min(into.onset, iteration.number);
        for (const row of cell) into.agents.add(agent[sample[row]]);
        this.search(iteration, into, used, stored, cell);
      }
    }
  }

  private search(
    iteration: Iteration,
    into: Side,
    used: ArrayLike<number>,
    stored: ArrayLike<number>,
    list: Int32Array,
  ): void {
    const { chains } = iteration;
    const sample = iteration.replays!.column('sample')!;
    if (!chains) return;
    const vectors = [
      ...lags.map((lag) => lagged(stored, chains.next, chains.previous, lag)),
      ...lags.slice(0, 4).map((lag) => lagged(stored, chains.streamNext, chains.streamPrevious, lag)),
      ...shifts.map((shift) => swapped(iteration, stored, shift)),
    ];
    vectors.forEach((vector, v) => {
      if (!vector) return;
      const line = new Pairs();
      for (const row of list) if (Number.isFinite(vector[sample[row]])) line.add(vector[sample[row]], used[row]);
      if (line.count < Math.max(fewestRows, 0.3 * list.length) || !(line.correlation > 0)) return;
      // Shifted rows at the ends of episodes have no partner and pull the fit; most must lie on the line.
      const { slope, intercept } = line;
      let on = 0;
      for (const row of list) {
        const x = vector[sample[row]];
        if (Number.isFinite(x) && Math.abs(slope * x + intercept - used[row]) <= 0.02 * line.spreadY) on++;
      }
      into.explained[v] += on >= 0.8 * line.count ? list.length : 0;
    });
  }

  finish(): Outcome {
    const share = (of: Side) => of.wrong / Math.max(1, of.looked);
    const measured = {
      values: this.value.looked,
      values_of_other_rows: this.value.wrong,
      targets: this.target.looked,
      targets_of_other_rows: this.target.wrong,
    };
    const expected = { values_of_other_rows: 0, targets_of_other_rows: 0 };
    if (this.value.looked + this.target.looked === 0)
      return { status: 'not-checked', measured, expected, findings: [] };
    const findings: Finding[] = [];
    for (const [what, of] of [
      ['value', this.value],
      ['target', this.target],
    ] as const) {
      if (of.wrong < fewestRows) continue;
      let best = 0;
      for (let v = 1; v < tried.length; v++) if (of.explained[v] > of.explained[best] * 1.02) best = v;
      const fit = of.explained[best] / of.wrong;
      // Without a transform the value must be compared with the very parameters that made it.
      if (fit < 0.5 && (what === 'target' || this.replayed < 0.9 * (this.replayed + this.moved))) continue;
      findings.push({
        cause: 'critic-context-misaligned',
        confidence: fit >= 0.5 ? confidence(fit, of.wrong) : Math.min(0.6, confidence(1, of.wrong)),
        agents: [...of.agents].sort((a, b) => a - b),
        onset: of.onset,
        rows: of.wrong,
        ...(fit >= 0.5 ? { transform: tried[best] } : {}),
        before: share(of),
        after: share(of) * (1 - Math.max(0, fit)),
        summary: `The critic's ${what} does not follow the row's own on ${of.wrong} rows${fit >= 0.5 ? `; it follows that of ${tried[best].describe('en')}` : ' although the policy replays them exactly'}.`,
        evidence: [{ check: 'critic', measured, expected }],
      });
      break;
    }
    if (findings.length === 0) findings.push(...this.scaled());
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings) };
  }

  /** One side in other units than the other, update after update: a normaliser's own drift comes to rest, a missing one does not. */
  private scaled(): Finding[] {
    type Entry = { slope: number; shift: number; rows: number };
    const steady = (entries: Entry[] | undefined) => (entries ?? []).slice(Math.min(3, (entries ?? []).length >> 1));
    const off = (entries: Entry[]) =>
      entries.length >= 2 &&
      entries.every(({ slope, shift }) => Math.abs(Math.log(Math.abs(slope))) > 0.3 || Math.abs(shift) > 1);
    const on = (entries: Entry[]) =>
      entries.every(({ slope, shift }) => Math.abs(slope - 1) < 0.1 && Math.abs(shift) < 0.1);
    const findings: Finding[] = [];
    for (const policy of new Set([...this.value.slopes.keys(), ...this.target.slopes.keys()])) {
      const value = steady(this.value.slopes.get(policy));
      const target = steady(this.target.slopes.get(policy));
      if (!((off(value) && on(target)) || (off(target) && on(value)))) continue;
      const [what, entries] = off(value) ? (['value', value] as const) : (['target', target] as const);
      const latest = entries[entries.length - 1];
      const rows = entries.reduce((sum, entry) => sum + entry.rows, 0);
      findings.push({
        cause: 'value-scale-mismatch',
        confidence: Math.min(0.9, confidence(1, rows)),
        agents: this.run.agentsOf(policy),
        onset: 0,
        rows,
        transform: new Affine(what, Number(figure(latest.slope)), Number(figure(latest.shift))),
        before: Math.abs(latest.slope - 1) + Math.abs(latest.shift),
        after: 0,
        summary: `In the update the critic's ${what} is in other units than in the samples (slope ${figure(latest.slope)}, shifted by ${figure(latest.shift)} of its spread), while the other side is not.`,
        evidence: [
          {
            check: 'critic',
            measured: { slopes: entries.slice(-5).map(({ slope }) => Number(figure(slope))) },
            expected: { slope: 1 },
          },
        ],
      });
    }
    return findings;
  }
}
