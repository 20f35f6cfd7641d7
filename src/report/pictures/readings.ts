/** The readings of a run, recomputed from its rows by the formulas of the readings' table, so that any trainer's recording has them. What rows cannot give is taken as reported. */

import { recomputedAdvantages } from '../../doctor/credit-rule.ts';
import type { Iteration } from '../../doctor/evidence/iteration.ts';
import type { Run } from '../../doctor/evidence/run.ts';
import { told } from '../../language/language.ts';
import { Pairs, spread } from '../../math/statistics.ts';
import { labelOf, readings as table } from '../../training/record/readings.ts';
import type { Curves } from './curves.ts';
import { mostOnLine, type Place, type ReadingSeries, thinLine } from './picture.ts';

type Series = Map<number, { x: number[]; y: number[] }>;

export class ReadingsWatch {
  private readonly series = new Map<string, Series>();

  watch(iteration: Iteration): void {
    this.fromStats(iteration);
    this.fromRows(iteration);
    this.fromSteps(iteration);
    this.fromSamples(iteration);
  }

  /** Every reading of the table that the recording has, those with a band first. */
  finish(run: Run, curves: Curves): ReadingSeries[] {
    for (const { iteration, policy, role, gradient, change } of curves.roles) {
      this.put(`grad_norm.${role}`, policy, iteration, gradient);
      this.put(`change.${role}`, policy, iteration, change);
    }
    const found = table.flatMap((reading): ReadingSeries[] => {
      const series = this.series.get(reading.name);
      if (!series) return [];
      const { name, unit, formula } = reading;
      const label = labelOf(reading);
      const explanation = told(reading.explanation, reading.chinese.explanation);
      const band = reading.band ?? null;
      const lines = [...series]
        .sort(([a], [b]) => a - b)
        .map(([policy, { x, y }]) => {
          const latest = y[y.length - 1];
          const place = band ? placeOf(band, latest) : null;
          return {
            policy: run.policies[policy] ?? `policy ${policy}`,
            ...thinLine(x, y, mostOnLine / 4),
            latest,
            place,
          };
        });
      const place = band ? (lines.find((line) => line.place !== 'inside')?.place ?? 'inside') : null;
      return [{ name, label, unit, formula, explanation, band, lines, place }];
    });
    return [...found.filter(({ band }) => band), ...found.filter(({ band }) => !band)];
  }

  private put(name: string, policy: number, iteration: number, value: number): void {
    if (!Number.isFinite(value)) return;
    const series: Series = this.series.get(name) ?? new Map();
    this.series.set(name, series);
    const own = series.get(policy) ?? { x: [], y: [] };
    series.set(policy, own);
    own.x.push(iteration);
    own.y.push(value);
  }

  private fromStats(iteration: Iteration): void {
    const sums = new Map<number, { weight: number; totals: Float64Array }>();
    for (const stat of iteration.stats.values()) {
      const own = sums.get(stat.policy) ?? { weight: 0, totals: new Float64Array(6) };
      sums.set(stat.policy, own);
      own.weight += stat.weight;
      [stat.k1, stat.k2, stat.k3, stat.clipFraction, stat.entropy, stat.loss].forEach((value, i) => {
        own.totals[i] += stat.weight * value;
      });
    }
    for (const [policy, { weight, totals }] of sums) {
      const [k1, k2, k3, clip, entropy, loss] = totals.map((total) => total / weight);
      const put = (name: string, value: number) => this.put(name, policy, iteration.number, value);
      put('k1', k1);
      put('k2', k2);
      put('k3', k3);
      put('clip_fraction', clip);
      put('entropy', entropy);
      put('policy_loss', loss);
      // k3 is the mean of ratio - 1 - log ratio and k1 that of minus log ratio.
      put('ratio_mean', k3 + 1 - k1);
    }
  }

  private fromRows(iteration: Iteration): void {
    const { replays, samples, logCount, before } = iteration;
    if (!replays || !samples || !before) return;
    const sample = replays.column('sample')!;
    const fresh = replays.column('new_logp');
    const used = replays.column('old_logp') ?? null;
    const stored = samples.column('old_logp');
    const entropy = replays.column('entropy');
    const policy = replays.column('policy');
    const weight = replays.column('weight');
    const source = replays.column('source_iteration');
    const credit = recomputedAdvantages(iteration);
    const own = new Map<number, { share: number; counted: number; pairs: Pairs }>();
    for (let i = 0; i < replays.rows; i++) {
      if (weight?.[i] === 0 || sample[i] >= samples.rows) continue;
      if (source && source[i] !== iteration.number && !Number.isNaN(source[i])) continue;
      const key = policy ? policy[i] : 0;
      const sums = own.get(key) ?? { share: 0, counted: 0, pairs: new Pairs() };
      own.set(key, sums);
      const s = sample[i];
      if (entropy && logCount && logCount[s] > 0 && Number.isFinite(entropy[i])) {
        sums.share += entropy[i] / logCount[s];
        sums.counted++;
      }
      const old = used && !Number.isNaN(used[i]) ? used[i] : stored ? stored[s] : Number.NaN;
      const ratio = fresh ? fresh[i] - old : Number.NaN;
      if (credit && !before[i] && Number.isFinite(ratio) && Number.isFinite(credit[s]))
        sums.pairs.add(ratio, credit[s]);
    }
    for (const [key, { share, counted, pairs }] of own) {
      if (counted > 0) this.put('entropy_ratio', key, iteration.number, share / counted);
      this.put('credit_correlation', key, iteration.number, pairs.correlation);
    }
  }

  private fromSteps(iteration: Iteration): void {
    const { steps } = iteration;
    if (!steps) return;
    const policy = steps.column('policy');
    const skipped = steps.column('skipped');
    const meaned = {
      grad_norm: 'grad_norm',
      delta_logits: 'delta_logits',
      logit_spread: 'logits_std',
      input_spread: 'embed_std',
      value_loss: 'value_loss',
      valid_ratio: 'valid_ratio',
    };
    const policies = new Set<number>(policy ?? [0]);
    for (const key of policies) {
      const rows: number[] = [];
      for (let i = 0; i < steps.rows; i++) if (!policy || policy[i] === key) rows.push(i);
      const usedRows = rows.filter((row) => skipped?.[row] !== 1);
      for (const [name, column] of Object.entries(meaned)) {
        const values = steps.column(column);
        const from = name === 'valid_ratio' ? rows : usedRows;
        if (values) this.put(name, key, iteration.number, spread(from.map((row) => values[row])).mean);
      }
      for (const [name, column] of [
        ['kl_after', 'kl_after'],
        ['learning_rate', 'learning_rate'],
      ]) {
        const values = steps.column(column);
        const last = usedRows[usedRows.length - 1];
        if (values && last !== undefined) this.put(name, key, iteration.number, values[last]);
      }
    }
  }

  private fromSamples(iteration: Iteration): void {
    const { samples, run } = iteration;
    const value = samples?.column('value');
    const target = samples?.column('return');
    const agent = samples?.column('agent');
    if (!value || !target || !agent) return;
    const byPolicy = new Map<number, { error: number[]; target: number[] }>();
    for (let i = 0; i < agent.length; i++) {
      const key = Math.max(0, run.policyOf(agent[i]));
      const own = byPolicy.get(key) ?? { error: [], target: [] };
      byPolicy.set(key, own);
      if (!Number.isFinite(target[i] - value[i])) continue;
      own.error.push(target[i] - value[i]);
      own.target.push(target[i]);
    }
    for (const [key, own] of byPolicy) {
      const whole = spread(own.target).std ** 2;
      if (whole > 0) this.put('explained_variance', key, iteration.number, 1 - spread(own.error).std ** 2 / whole);
    }
  }
}

function placeOf([low, high]: readonly [number | null, number | null], value: number): Place {
  if (low !== null && value < low) return 'below';
  return high !== null && value > high ? 'above' : 'inside';
}
