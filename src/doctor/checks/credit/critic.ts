/** Whether the critic sees and learns the row's own: its value before the first step, and its target. Values may be in other units, as long as one line maps all of them. */

import { Pairs, spread } from '../../../math/statistics.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, creditTolerance, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import { onOneLine } from '../../evidence/critic-line.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { gather } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { foundBy, merge, ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { cellsOf } from '../../pairing/consensus.ts';
import { Cover, type Trial, trialOf } from '../../pairing/cover.ts';
import { EarlierIteration } from '../../transforms/credit/earlier-iteration.ts';
import { Lag, lags, nearLags } from '../../transforms/credit/lag.ts';
import { OtherAgent } from '../../transforms/credit/other-agent.ts';
import { Permutation } from '../../transforms/credit/permutation.ts';
import { TeamMean } from '../../transforms/credit/team-mean.ts';
import { Affine } from '../../transforms/rows/affine.ts';
import { InPlaceOf, inPlaceColumns } from '../../transforms/rows/in-place-of.ts';
import { CriticUnits, type Line } from './critic-units.ts';

export const critic: Check = {
  id: 'critic',
  group: 'credit',
  question: ["Are the critic's input and target the row's own?", '评论家的输入与目标是该行自己的吗？'],
  needs: [
    ['replays.value', 'replays.return'],
    ['samples.value', 'samples.return'],
  ],
  causes: ['return-inconsistent', 'critic-context-misaligned', 'value-scale-mismatch'],
  start: (run) => new CriticPass(run),
};

const hypotheses = [
  ...lags.map((lag) => new Lag(lag, 'episode')),
  ...nearLags.map((lag) => new Lag(lag, 'stream')),
  new OtherAgent(),
  new TeamMean('instead'),
  new EarlierIteration('return'),
  // Last, because some row of a large batch is always near.
  new Permutation(),
].map((transform) => ({
  cause: transform instanceof EarlierIteration ? 'return-inconsistent' : 'critic-context-misaligned',
  transform,
}));

interface Side {
  looked: number;
  wrong: number;
  cover: Cover<(typeof hypotheses)[number]>;
  onset: number;
  agents: Set<number>;
  /** Slope and intercept by policy, update by update, and the rows of those in other units. */
  slopes: Map<number, Line[]>;
  proofs: Map<number, ProofStore>;
  /** Rows that lie on no line. */
  off: ProofStore;
}

const side = (): Side => ({
  looked: 0,
  wrong: 0,
  cover: new Cover(hypotheses),
  onset: Number.POSITIVE_INFINITY,
  agents: new Set(),
  slopes: new Map(),
  proofs: new Map(),
  off: new ProofStore(),
});

/** Beyond the drift of a normaliser. */
const inOtherUnits = (slope: number, shift: number) =>
  Math.abs(Math.log(Math.abs(slope))) > limits.otherUnits.value || Math.abs(shift) > limits.otherShift.value;

const inPlace = inPlaceColumns('return');

class CriticPass implements Pass {
  private readonly value = side();
  private readonly target = side();
  /** Rows whose target is another column of their own, and where it was seen. */
  private readonly inPlace = new Map<InPlaceOf['column'], { rows: number; proof: ProofStore }>();
  /** Whether the policy replayed its rows, so that the parameters were those of sampling. */
  private replayed = 0;
  private moved = 0;
  private readonly units = new CriticUnits();
  /** Returns of the iteration before. */
  private earlier: ArrayLike<number> | null = null;

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples, replays, first } = iteration;
    if (!samples || !replays || iteration.probed) return;
    const fresh = replays.measured('new_logp')!;
    const old = samples.measured('old_logp')!;
    const sample = replays.column('sample')!;
    for (const row of first)
      if (Math.abs(fresh[row] - old[sample[row]]) <= limits.logp.value) this.replayed++;
      else this.moved++;
    this.units.see(iteration);
    this.compare(iteration, this.value, replays.column('value'), samples.column('value'), first);
    this.compare(iteration, this.target, replays.column('return'), samples.column('return'), iteration.pass(0));
    this.earlier = samples.column('return');
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
    const weight = iteration.replays!.column('weight');
    // What the critic says of a row that enters no loss may be anything.
    const known = (row: number) =>
      weight?.[row] !== 0 && Number.isFinite(used[row]) && Number.isFinite(stored[sample[row]]);
    const ofPolicy = (row: number) => (known(row) ? (policy ? policy[row] : 0) : Number.NaN);
    const lineOf = (list: Int32Array) => {
      const line = new Pairs();
      for (const row of list) line.add(stored[sample[row]], used[row]);
      return line;
    };
    for (const list of cellsOf(rows, ofPolicy, fewestRows).lists) {
      const line = lineOf(list);
      into.looked += list.length;
      const fit = onOneLine(line);
      if (fit === 'right') {
        const key = policy ? policy[list[0]] : 0;
        const shift = (line.intercept + (line.slope - 1) * line.meanX) / Math.max(line.spreadY, limits.vanishing.value);
        const found = into.slopes.get(key) ?? [];
        found.push({ iteration: iteration.number, slope: line.slope, shift, rows: list.length });
        into.slopes.set(key, found);
        if (inOtherUnits(line.slope, shift)) {
          const proof = into.proofs.get(key) ?? new ProofStore();
          into.proofs.set(key, proof);
          const own = gather(stored, gather(sample, list));
          const mapped = own.map((value) => line.slope * value + line.intercept);
          proof.rows(iteration.number, gather(used, list), own, mapped);
        }
      }
      if (fit !== 'wrong') continue;
      // Agents that share a policy may be wronged one by one.
      const own = cellsOf(list, (row) => agent[sample[row]], fewestRows).lists;
      for (const cell of own.length > 1 ? own : [list]) {
        if (onOneLine(lineOf(cell)) !== 'wrong') continue;
        into.wrong += cell.length;
        into.off.rows(iteration.number, gather(used, cell), gather(stored, gather(sample, cell)));
        into.onset = Math.min(into.onset, iteration.number);
        for (const row of cell) into.agents.add(agent[sample[row]]);
        if (into === this.target) this.ownColumn(iteration, used, stored, cell);
        this.search(iteration, into, used, stored, cell);
      }
    }
  }

  /** Which other column of the same rows the critic was given to learn. */
  private ownColumn(iteration: Iteration, used: ArrayLike<number>, stored: ArrayLike<number>, list: Int32Array): void {
    const samples = gather(iteration.replays!.column('sample')!, list);
    const target = gather(used, list);
    for (const name of inPlace) {
      const column = iteration.samples!.column(name);
      if (!column) continue;
      const given = gather(column, samples);
      const near = limits.onLine.value * spread(given).std;
      const right = given.filter((value, i) => Math.abs(value - target[i]) <= near).length;
      if (!(near > 0) || right < limits.nearlyAll.value * list.length) continue;
      const found = this.inPlace.get(name) ?? { rows: 0, proof: new ProofStore() };
      this.inPlace.set(name, found);
      found.rows += list.length;
      found.proof.rows(iteration.number, target, gather(stored, samples), given);
      return;
    }
  }

  /** Which other row's number the critic was given, up to the line that any change of units is. */
  private search(
    iteration: Iteration,
    into: Side,
    used: ArrayLike<number>,
    stored: ArrayLike<number>,
    list: Int32Array,
  ): void {
    const sample = iteration.replays!.column('sample')!;
    const agent = iteration.samples!.column('agent')!;
    const samples = list.map((row) => sample[row]);
    const target = gather(used, list);
    const own = gather(stored, samples);
    const rows = { iteration, own: stored, earlier: into === this.target ? this.earlier : null };
    const trials = hypotheses.map(({ transform }) => {
      if (transform instanceof Permutation) {
        const near = transform.strictness * creditTolerance * spread(own).std;
        // A few wild targets are no other order: most rows must have lost their own.
        const lost = own.filter((value, i) => Math.abs(value - target[i]) > near).length;
        if (lost < limits.most.value * own.length) return null;
        return trialOf({ target, before: own, after: transform.apply({ own: stored, target }) }, near);
      }
      const ways = transform instanceof OtherAgent ? transform.ways(rows) : [transform.apply(rows)];
      let best: { on: number; trial: Trial } | null = null;
      for (const vector of ways) {
        if (!vector) continue;
        const x = gather(vector, samples);
        const line = new Pairs();
        for (let i = 0; i < x.length; i++) if (Number.isFinite(x[i])) line.add(x[i], target[i]);
        if (line.count < Math.max(fewestRows, limits.partners.value * list.length) || !(line.correlation > 0)) continue;
        const { slope, intercept, spreadY } = line;
        const mapped = (column: Float64Array) => column.map((value) => slope * value + intercept);
        const trial = trialOf({ target, before: mapped(own), after: mapped(x) }, limits.onLine.value * spreadY);
        const on = trial.match.filter((match) => match === 2).length;
        // Shifted rows at the ends of episodes have no partner and pull the fit; most must lie on the line.
        if (on >= limits.clearly.value * line.count && on > (best?.on ?? 0)) best = { on, trial };
      }
      return best?.trial ?? null;
    });
    into.cover.add(iteration.number, gather(agent, samples), trials);
  }

  finish(): Outcome {
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
      const evidence = [{ check: 'critic', measured, expected }];
      const column =
        what === 'target' && inPlace.find((name) => (this.inPlace.get(name)?.rows ?? 0) > limits.most.value * of.wrong);
      if (column) {
        const { rows, proof } = this.inPlace.get(column)!;
        const transform = new InPlaceOf(column, 'return');
        findings.push({
          cause: 'return-inconsistent',
          confidence: confidence(rows / of.wrong, rows),
          agents: [...of.agents].sort((a, b) => a - b),
          onset: of.onset,
          rows,
          transform,
          ...proof.prove("critic's target", 'in the update', "the row's own return", transform),
          summary: `The critic's target does not follow the row's own on ${of.wrong} rows; on ${rows} of them it is ${transform.describe()}.`,
          evidence,
        });
        break;
      }
      const [best] = of.cover.explain().found;
      const summary = `The critic's ${what} does not follow the row's own on ${of.wrong} rows`;
      const quantity = `critic's ${what}`;
      if (best && best.share >= limits.most.value) {
        const wording = {
          quantity,
          target: 'in the update',
          before: "the row's own",
          summary: (fit: string) => `${summary}; on ${fit} of them it follows`,
          evidence,
        };
        findings.push(...foundBy(best, () => wording));
        break;
      }
      // Without a transform the value must be compared with the very parameters that made it.
      if (what === 'target' || this.replayed < limits.nearlyAll.value * (this.replayed + this.moved)) continue;
      findings.push({
        cause: 'critic-context-misaligned',
        confidence: Math.min(limits.circumstantial.value, confidence(1, of.wrong)),
        agents: [...of.agents].sort((a, b) => a - b),
        onset: of.onset,
        rows: of.wrong,
        ...of.off.prove(quantity, 'in the update', "the row's own"),
        summary: `${summary} although the policy replays them exactly.`,
        evidence,
      });
      break;
    }
    if (findings.length === 0) findings.push(...this.scaled());
    if (findings.length === 0) findings.push(...this.units.findings(this.run, this.value.slopes, this.target.slopes));
    const { wrong, looked, onset, agents } = this.target;
    // Targets that follow nothing known are no reason to accuse, and none to call the run healthy.
    if (findings.length === 0 && wrong >= Math.max(fewestRows, limits.most.value * looked))
      return {
        status: 'warn',
        measured,
        expected,
        findings,
        open: { rows: wrong, share: wrong / looked, onset, agents: [...agents].sort((a, b) => a - b) },
      };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings) };
  }

  /** One side in other units than the other, update after update: a normaliser's own drift comes to rest, a missing one does not. */
  private scaled(): Finding[] {
    const steady = (entries: Line[] | undefined) =>
      (entries ?? []).slice(Math.min(limits.drift.value, (entries ?? []).length >> 1));
    const off = (entries: Line[]) =>
      entries.length >= 2 && entries.every(({ slope, shift }) => inOtherUnits(slope, shift));
    // A side that was not recorded may be in the same other units.
    const on = (entries: Line[]) =>
      entries.length >= 2 &&
      entries.every(
        ({ slope, shift }) => Math.abs(slope - 1) < limits.sameUnits.value && Math.abs(shift) < limits.sameUnits.value,
      );
    const findings: Finding[] = [];
    for (const policy of new Set([...this.value.slopes.keys(), ...this.target.slopes.keys()])) {
      const value = steady(this.value.slopes.get(policy));
      const target = steady(this.target.slopes.get(policy));
      if (!((off(value) && on(target)) || (off(target) && on(value)))) continue;
      const [what, entries] = off(value) ? (['value', value] as const) : (['target', target] as const);
      const latest = entries[entries.length - 1];
      const rows = entries.reduce((sum, entry) => sum + entry.rows, 0);
      const transform = new Affine(what, Number(figure(latest.slope)), Number(figure(latest.shift)));
      findings.push({
        cause: 'value-scale-mismatch',
        confidence: Math.min(limits.byFit.value, confidence(1, rows)),
        agents: this.run.agentsOf(policy),
        onset: 0,
        rows,
        transform,
        ...this[what].proofs.get(policy)?.prove(`critic's ${what}`, 'in the update', 'as sampled', transform),
        summary: `In the update the critic's ${what} is in other units than in the samples (slope ${figure(latest.slope)}, shifted by ${figure(latest.shift)} of its spread), while the other side is not.`,
        evidence: [
          {
            check: 'critic',
            measured: { slopes: entries.slice(-budgets.toldFigures).map(({ slope }) => Number(figure(slope))) },
            expected: { slope: 1 },
          },
        ],
      });
    }
    return findings;
  }
}
