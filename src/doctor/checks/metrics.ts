/** Reported KL, clip fraction and entropy against what the rows of the same step give. */

import { told } from '../../language/language.ts';
import { type Check, confidence, type Pass } from '../check.ts';
import { conventionRemark } from '../conventions.ts';
import { type Finding, figure, type Outcome, type Remark } from '../diagnosis.ts';
import type { Iteration } from '../evidence/iteration.ts';
import { listOf } from '../evidence/keys.ts';
import type { Run } from '../evidence/run.ts';
import { fillDivergences } from '../evidence/steps/divergence.ts';
import { reportedSteps, unmasked } from '../evidence/steps/reported-steps.ts';
import { keyOf } from '../evidence/steps/step-key.ts';
import type { StepStat } from '../evidence/steps/step-stats.ts';
import { ProofStore } from '../found.ts';
import { limits } from '../limits.ts';
import { resolution } from '../pairing/scoring.ts';
import type { MetricForm } from '../transforms/loss/metric-form.ts';
import { type Context, k1, type Metric, rightForms, table } from './metric-forms.ts';
import { ReportedNorms } from './reported-norms.ts';
import { RowEntropies } from './row-entropies.ts';

export const metrics: Check = {
  id: 'metrics',
  group: 'reading',
  question: ['Are KL, clip fraction and entropy reported as they are?', 'KL、裁剪比例与熵是否如实报告？'],
  needs: [
    ['steps.approx_kl', 'steps.clip_fraction', 'steps.entropy', 'steps.grad_norm', 'replays.entropy'],
    ['replays.new_logp'],
  ],
  causes: ['kl-estimator-cancels', 'entropy-of-another-distribution', 'metric-misreported', 'gradient-not-clipped'],
  start: (run) => new MetricsPass(run),
};

/** What rounding may add to a KL: a few of the steps in which a ratio near 1, or a log-probability as it was kept, can be told. */
function klNoise({ replays, samples }: Iteration): number {
  const fresh = replays?.measured('new_logp');
  const old = replays?.column('old_logp') ?? samples?.measured('old_logp');
  return limits.klRounding.value * Math.max(fresh ? resolution(fresh) : 0, old ? resolution(old) : 0);
}

/** Whether a reported KL is an estimate from the chosen actions. */
function isEstimate({ k1, k2, k3 }: StepStat, reported: number): boolean {
  return [k1, k2, k3].some((own) => Math.abs(own - reported) <= limits.metric.value * Math.abs(own));
}

class Tally {
  constructor(
    readonly column: string,
    readonly policy: number,
  ) {}
  steps = 0;
  /** Steps that each right form does not fit. */
  readonly misses = new Map<string, Misses>();
  readonly wrongFits = new Map<MetricForm, { steps: number; proof: ProofStore }>();
  /** Steps whose KL may be that of the distributions themselves, which were not recorded: it is where the estimates place it. */
  likely = 0;

  miss(form: string, iteration: number, rows: number, reported: number, recomputed: number): void {
    const own = this.misses.get(form) ?? { wrong: 0, onset: iteration, rows: 0, reported: 0, recomputed: 0 };
    this.misses.set(form, own);
    own.wrong++;
    own.rows += rows;
    own.reported = reported;
    own.recomputed = recomputed;
  }

  /** What is wrong by the form that fits best: one form must fit every step. */
  best(forms: readonly string[]): Misses {
    const none = { wrong: 0, onset: Number.POSITIVE_INFINITY, rows: 0, reported: Number.NaN, recomputed: Number.NaN };
    return forms.map((form) => this.misses.get(form) ?? none).reduce((a, b) => (b.wrong < a.wrong ? b : a));
  }
}

interface Misses {
  wrong: number;
  onset: number;
  rows: number;
  reported: number;
  recomputed: number;
}

interface Cancelling {
  equal: number;
  noisy: number;
  looked: number;
  rows: number;
  onset: number;
  proof: ProofStore;
}

class MetricsPass implements Pass {
  private readonly norms: ReportedNorms;
  private readonly entropies = new RowEntropies();

  constructor(private readonly run: Run) {
    this.norms = new ReportedNorms(run);
  }

  private readonly tallies = new Map<string, Tally>();
  private readonly cancelling = new Map<number, Cancelling>();
  /** Ranges in use, in the order of iterations. */
  private readonly clips: number[] = [];

  iteration(iteration: Iteration): void {
    if (iteration.probed) return;
    this.norms.see(iteration);
    this.entropies.see(iteration);
    const steps = reportedSteps(iteration);
    this.clips.push(...iteration.clips.values());
    for (const policy of new Set(steps.map(({ stat }) => stat.policy))) {
      const own = steps.filter(({ stat }) => stat.policy === policy);
      for (const metric of table) this.metric(iteration, metric, own);
    }
  }

  private metric(iteration: Iteration, metric: Metric, steps: ReturnType<typeof reportedSteps>): void {
    const reported = iteration.steps!.column(metric.column);
    if (!reported) return;
    const policy = steps[0]?.stat.policy ?? 0;
    const key = `${metric.column} of policy ${policy}`;
    const tally = this.tallies.get(key) ?? new Tally(metric.column, policy);
    this.tallies.set(key, tally);
    const stats = steps.map(({ stat }) => stat);
    const known = new Map<(stat: StepStat) => number, number[]>();
    const mean = (pick: (stat: StepStat) => number, epoch = -1) => {
      const found = listOf(known, pick);
      if (found[epoch + 1] !== undefined) return found[epoch + 1];
      let [sum, weight] = [0, 0];
      for (const stat of stats) {
        if (epoch >= 0 && stat.epoch !== epoch) continue;
        sum += stat.weight * pick(stat);
        weight += stat.weight;
      }
      found[epoch + 1] = sum / weight;
      return found[epoch + 1];
    };
    const noise = klNoise(iteration);
    const forms = rightForms.get(metric)!;
    if (metric.column === 'approx_kl' && steps.some(({ row, stat }) => !isEstimate(stat, reported[row])))
      fillDivergences(iteration);
    for (const { row, stat } of steps) {
      const value = reported[row];
      if (!Number.isFinite(value) || stat.rows < limits.fewestSteps.value || !metric.tells(stat, value, noise))
        continue;
      const epochLast = stats.findLast(({ epoch }) => epoch === stat.epoch)!;
      const context: Context = { first: stats[0], last: stats.at(-1)!, epochLast, mean };
      const close = (other: number) =>
        Math.abs(value - other) <= metric.slack(stat, noise) + limits.metric.value * Math.abs(other);
      tally.steps++;
      const half = () => iteration.halves.get(keyOf(stat)) ?? stat;
      let right = false;
      let honest = Number.NaN;
      for (const { name, halves, all, pick } of forms) {
        const recomputed = pick(stat, context);
        if (Number.isNaN(honest)) honest = recomputed;
        if (close(recomputed)) {
          right = true;
          continue;
        }
        tally.miss(name, iteration.number, stat.rows, value, recomputed);
        const halved = pick(half(), context);
        if (close(halved)) right = true;
        else tally.miss(halves, iteration.number, stat.rows, value, halved);
        const whole = pick(unmasked(iteration, stat) ?? stat, context);
        if (close(whole)) right = true;
        else tally.miss(all, iteration.number, stat.rows, value, whole);
      }
      if (metric.column === 'approx_kl') this.cancels(iteration, stat, value);
      if (right) continue;
      const unknown = metric.column === 'approx_kl' && !Number.isFinite(stat.forwardKl);
      if (unknown && Math.abs(value - stat.k1) <= limits.sigmas.value * stat.k1Error) tally.likely++;
      for (const [known, pick] of metric.wrong) {
        const given = pick(stat, context);
        if (!close(given)) continue;
        const fits = tally.wrongFits.get(known) ?? { steps: 0, proof: new ProofStore() };
        tally.wrongFits.set(known, fits);
        fits.steps++;
        fits.proof.step(value, honest, given);
      }
    }
  }

  private cancels(iteration: Iteration, stat: StepStat, reported: number): void {
    const none = { equal: 0, noisy: 0, looked: 0, rows: 0, onset: Number.POSITIVE_INFINITY, proof: new ProofStore() };
    const cancelling = this.cancelling.get(stat.policy) ?? none;
    this.cancelling.set(stat.policy, cancelling);
    cancelling.looked++;
    const same = (value: number) =>
      Math.abs(reported - value) <= limits.rounding.value + limits.metric.value * Math.abs(value);
    if (!same(stat.k1) || same(stat.k3) || same(stat.k2)) return;
    cancelling.equal++;
    cancelling.rows += stat.rows;
    if (stat.k1Error <= limits.noisyK1.value * stat.k2) return;
    cancelling.noisy++;
    cancelling.proof.step(reported, stat.k3, stat.k1);
    cancelling.onset = Math.min(cancelling.onset, iteration.number);
  }

  private remarks(): { remarks?: Remark[] } {
    if (this.clips.length === 0) return {};
    const [from, to] = [figure(this.clips[0]), figure(this.clips.at(-1)!)];
    const declared = this.run.declares('clip') ? `is not the declared ${figure(this.run.number('clip'))}` : 'changes';
    const summary = `The clip range in use ${declared}: losses and clip fractions agree with ${from} at first and ${to} at last.`;
    return { remarks: [conventionRemark('clip-scheduled', summary)] };
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {};
    const findings: Finding[] = [];
    for (const [name, tally] of this.tallies) {
      const { column, steps } = tally;
      const forms = rightForms.get(table.find((metric) => metric.column === column)!)!;
      const { wrong, onset, rows, reported, recomputed } = tally.best([
        ...forms.map(({ name }) => name),
        ...forms.map(({ halves }) => halves),
        ...forms.map(({ all }) => all),
      ]);
      measured[`${name}: steps`] = steps;
      measured[`${name}: disagreeing`] = wrong;
      const late = onset > 0 && wrong >= limits.lateReadings.value && wrong >= limits.lateReadingShare.value * steps;
      if (wrong < limits.fewestSteps.value || !(wrong >= limits.metricShare.value * steps || late)) continue;
      const best = [...tally.wrongFits].sort((a, b) => b[1].steps - a[1].steps)[0];
      const fit = best ? Math.min(1, best[1].steps / wrong) : 0;
      if (fit <= limits.most.value && tally.likely >= limits.nearlyAll.value * wrong) continue;
      findings.push({
        cause: 'metric-misreported',
        reading: column,
        confidence: fit > limits.most.value ? confidence(fit, wrong * 2) : limits.circumstantial.value,
        agents: this.run.agentsOf(tally.policy),
        onset,
        rows,
        ...(fit > limits.most.value
          ? { transform: best[0], ...best[1].proof.prove(column, 'as reported', 'recomputed from the rows', best[0]) }
          : { before: Math.abs(reported - recomputed) }),
        summary: `${column} is reported as ${figure(reported)} where the rows give ${figure(recomputed)}${fit > limits.most.value ? `; it agrees with: ${best[0].describe()}` : ''}.`,
        evidence: [
          {
            check: 'metrics',
            measured: { steps, disagreeing: wrong },
            expected: { disagreeing: 0 },
          },
        ],
      });
    }
    for (const [policy, { equal, noisy, looked, rows, onset, proof }] of this.cancelling) {
      measured[`policy ${policy}: KL equals k1`] = equal;
      if (equal >= limits.k1Steps.value && equal >= limits.most.value * looked && noisy >= limits.most.value * equal)
        findings.push({
          cause: 'kl-estimator-cancels',
          reading: 'approx_kl',
          confidence: confidence(equal / looked, noisy * 2),
          agents: this.run.agentsOf(policy),
          onset,
          rows,
          transform: k1,
          ...proof.prove('KL', 'as reported', 'k3 of the rows', k1),
          summary: `The reported KL is the mean of old - new; on ${noisy} of ${looked} steps its standard error exceeds half of k2, so it is mostly noise.`,
          evidence: [
            { check: 'metrics', measured: { equals_k1: equal, mostly_noise: noisy }, expected: { mostly_noise: 0 } },
          ],
        });
    }
    findings.push(...this.norms.findings(), ...this.entropies.findings());
    const steps = [...this.tallies.values()].reduce((sum, tally) => sum + tally.steps, 0);
    if (steps === 0 && findings.length === 0)
      return {
        status: 'not-checked',
        measured,
        expected: {},
        findings: [],
        note: told('no step tells the forms apart', '没有哪一步能区分这些形式'),
      };
    const status = findings.length > 0 ? 'fail' : 'pass';
    return { status, measured, expected: { disagreeing: 0 }, findings, ...this.remarks() };
  }
}
