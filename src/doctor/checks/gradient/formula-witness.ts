/** Which formula the reported policy losses follow, where it is not the mean of the clipped surrogate. A step tells only where the formulas differ; before the first ratios leave the clip most do not. */

import { budgets } from '../../budgets.ts';
import { confidence } from '../../check.ts';
import { type Finding, figure } from '../../diagnosis.ts';
import { type Iteration, stepKey } from '../../evidence/iteration.ts';
import type { ReportedStep } from '../../evidence/reported-steps.ts';
import type { Run } from '../../evidence/run.ts';
import { replayedRows } from '../../evidence/step-stats.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import {
  type LossFormName,
  LossFormula,
  type LossRow,
  lossForm,
  lossFormNames,
} from '../../transforms/loss/loss-formula.ts';

interface WeighedRow extends LossRow {
  weight: number;
}

interface Told {
  /** Steps that the usual formula does not give, and rows in them. */
  steps: number;
  rows: number;
  onset: number;
  usual: number;
  forms: Map<LossFormName, { fits: number; against: number; proof: ProofStore; measured: number; expected: number }>;
}

export class FormulaWitness {
  private readonly policies = new Map<number, Told>();

  constructor(private readonly run: Run) {}

  /** Looks at an iteration's steps: those that the usual formula gives, and those that it does not. Returns whether another clip than the declared one gives the latter. */
  see(
    iteration: Iteration,
    reported: ArrayLike<number>,
    steps: readonly (ReportedStep & { usual: boolean; noise: number })[],
  ): boolean {
    const odd = steps.filter(({ usual }) => !usual);
    const even = steps.filter(({ usual }) => usual);
    const few = (list: typeof steps) => list.filter((_, i) => i % Math.ceil(list.length / budgets.formulaSteps) === 0);
    if (odd.length === 0 && this.policies.size === 0) return false;
    let scheduled = odd.length > 0;
    const chosen = [...few(odd), ...few(even)];
    const rows = rowsOf(iteration, new Set(chosen.map(({ stat }) => keyOf(stat))));
    const fits = (value: number, { row, noise }: (typeof chosen)[number]) =>
      Math.abs(reported[row] - value) <= limits.lossRelative.value * Math.abs(value) + noise;
    for (const policy of new Set(chosen.map(({ stat }) => stat.policy))) {
      const own = chosen.filter(({ stat }) => stat.policy === policy);
      const tell = own.filter(({ usual }) => !usual);
      // A clip that follows a schedule gives other figures than the declared one, the same clip in all steps of an update.
      if (
        tell.length > 0 &&
        followsClip(
          tell.map((step) => ({
            reported: reported[step.row],
            noise: step.noise,
            rows: rows.get(keyOf(step.stat)) ?? [],
          })),
        )
      )
        continue;
      if (tell.length > 0) scheduled = false;
      const told = this.policies.get(policy) ?? {
        steps: 0,
        rows: 0,
        onset: Number.POSITIVE_INFINITY,
        usual: 0,
        forms: new Map(),
      };
      if (tell.length === 0 && told.steps === 0) continue;
      this.policies.set(policy, told);
      if (tell.length > 0) told.onset = Math.min(told.onset, iteration.number);
      for (const step of own) {
        const clip = iteration.clipOf(keyOf(step.stat));
        const found = rows.get(keyOf(step.stat)) ?? [];
        if (found.length === 0) continue;
        if (step.usual) told.usual++;
        else {
          told.steps++;
          told.rows += found.length;
        }
        for (const name of lossFormNames) {
          const form = lossForm(name);
          if (form.byGradient) continue;
          const count = told.forms.get(name) ?? {
            fits: 0,
            against: 0,
            proof: new ProofStore(),
            measured: 0,
            expected: 0,
          };
          told.forms.set(name, count);
          const mean = meanOf(found, (row) => form.value(row, clip));
          // Either sign of what is only ever positive: nobody can say which one was meant.
          const given = name === 'absolute' || name === 'squared' ? [-mean, mean] : [-mean];
          const value = given.find((one) => fits(one, step));
          if (value === undefined) {
            count.against++;
            continue;
          }
          if (step.usual) continue;
          count.fits++;
          count.measured = reported[step.row];
          count.expected = step.stat.loss;
          count.proof.step(reported[step.row], step.stat.loss, value);
        }
      }
    }
    return scheduled;
  }

  /** The formula that gives the steps which the usual one does not, and speaks against none of the others. */
  findings(evidence: Finding['evidence']): Finding[] {
    const findings: Finding[] = [];
    for (const [policy, { steps, rows, onset, usual, forms }] of this.policies) {
      const ranked = [...forms].sort(([, a], [, b]) => b.fits - a.fits || a.against - b.against);
      const [form, best] = ranked[0] ?? [];
      if (!form || !best || best.fits < limits.fewestSteps.value) continue;
      const share = best.fits / steps;
      if (share < limits.formulaExact.value || best.against > (1 - limits.formulaExact.value) * (steps + usual))
        continue;
      const transform = new LossFormula(form);
      findings.push({
        cause: 'loss-formula-differs',
        confidence: confidence(share, best.fits * limits.perStep.value),
        agents: this.run.agentsOf(policy),
        onset,
        rows,
        transform,
        ...best.proof.prove('policy loss', 'as reported', 'mean of the clipped surrogate', transform),
        summary: `The policy loss is not the clipped surrogate (${figure(best.measured)} reported, ${figure(best.expected)} expected); on ${best.fits} of the ${steps} steps that tell it is made of ${transform.describe()}.`,
        evidence,
      });
    }
    return findings;
  }
}

const keyOf = ({ epoch, minibatch, policy }: ReportedStep['stat']) => stepKey(epoch, minibatch, policy);

function meanOf(rows: readonly WeighedRow[], of: (row: WeighedRow) => number): number {
  let sum = 0;
  let weight = 0;
  for (const row of rows) {
    sum += row.weight * of(row);
    weight += row.weight;
  }
  return sum / weight;
}

/** The rows of some steps as a loss sees them. */
function rowsOf(iteration: Iteration, wanted: ReadonlySet<number>): Map<number, WeighedRow[]> {
  const found = new Map<number, WeighedRow[]>();
  const advantage = iteration.replays?.column('advantage');
  if (!advantage) return found;
  const fresh = iteration.replays!.measured('new_logp')!;
  for (const { key, row: i, old, log, weight } of replayedRows(iteration)) {
    if (!wanted.has(key)) continue;
    const row = {
      log,
      ratio: Math.exp(log),
      advantage: advantage[i],
      probability: Math.exp(fresh[i]),
      oldProbability: Math.exp(old),
      weight,
    };
    const rows = found.get(key);
    if (rows) rows.push(row);
    else found.set(key, [row]);
  }
  return found;
}

/** Whether one clip, whichever it is, gives nearly all of these steps. A wider clip never raises the loss, so each step has an interval of clips that give it. */
function followsClip(steps: readonly { reported: number; noise: number; rows: readonly WeighedRow[] }[]): boolean {
  const intervals = steps.map(({ reported, noise, rows }) => {
    const loss = (clip: number) =>
      meanOf(
        rows,
        ({ ratio, advantage: a }) => -Math.min(ratio * a, Math.min(Math.max(ratio, 1 - clip), 1 + clip) * a),
      );
    const slack = limits.lossRelative.value * Math.abs(reported) + noise;
    const where = (wanted: number) => {
      let [low, high] = [0, limits.widestClip.value];
      for (let i = 0; i < budgets.clipHalvings; i++) {
        const middle = (low + high) / 2;
        if (loss(middle) > wanted) low = middle;
        else high = middle;
      }
      return low;
    };
    const reachable = loss(0) >= reported - slack && loss(limits.widestClip.value) <= reported + slack;
    return reachable ? { from: where(reported + slack), to: where(reported - slack) } : null;
  });
  return intervals.some(
    (one) =>
      one !== null &&
      [one.from, (one.from + one.to) / 2, one.to].some(
        (clip) =>
          clip > limits.rounding.value &&
          intervals.filter(
            (other) => other && clip >= other.from - limits.rounding.value && clip <= other.to + limits.rounding.value,
          ).length >=
            limits.formulaExact.value * steps.length,
      ),
  );
}
