/** Faults of the report alone: training is sound, and the figure that the user sees is not what the rows give. */
import type { TrainJob } from '../algorithms/ppo/update.ts';
import type { StepReport } from '../net/types.ts';
import type { ReportedStep } from '../training/stages.ts';
import { between, type Fault, type FaultContext, rounded, type SettingsChange, type Strength, whole } from './fault.ts';
import { Scope } from './scope.ts';

type Stream = Parameters<Fault['make']>[0];
type Change = (honest: ReportedStep, job: TrainJob, report: StepReport) => Partial<ReportedStep>;

function reportFault(
  of: Pick<Fault, 'id' | 'cause' | 'sentence' | 'shows' | 'needs'>,
  draw: (stream: Stream, context: FaultContext) => { strength?: Strength; settings?: SettingsChange; change: Change },
): Fault {
  return {
    ...of,
    stage: 'report',
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      const { strength = {}, settings, change } = draw(stream, context);
      return {
        strength: { ...scope.strength, ...strength },
        ...(settings ? { settings } : {}),
        stages: (clean) => ({
          report(job, report) {
            const honest = clean.report(job, report);
            return scope.learner(job.learner) ? { ...honest, ...change(honest, job, report) } : honest;
          },
        }),
      };
    },
  };
}

/** Log-ratio of a row of the minibatch, before the step. */
const logRatio = (job: TrainJob, i: number) => job.out.logp[i] - job.rows.oldLogp[job.order[job.from + i]];

function meanOver(from: number, to: number, value: (i: number) => number): number {
  let sum = 0;
  for (let i = from; i < to; i++) sum += value(i);
  return sum / (to - from);
}

/** Rows that a policy collects per iteration, about. */
function rowsPerPolicy({ settings, traits }: FaultContext): number {
  const each = settings.worlds * settings.rollout * (settings.collect === 'steps' ? 1 : traits.horizon);
  return each * (settings.sharing === 'shared' ? traits.learning.length : 1);
}

const cancels: Fault = reportFault(
  {
    id: 'kl-signed-mean',
    cause: 'kl-estimator-cancels',
    sentence: 'The reported KL is the mean of old minus new over a handful of rows, which is mostly noise.',
    shows: ['steps.approx_kl'],
  },
  (stream, context) => {
    const rows = whole(stream, 16, 40);
    const minibatches = Math.max(2, Math.min(256, Math.round(rowsPerPolicy(context) / rows)));
    return {
      strength: { rows },
      settings: { ppo: { minibatches } },
      change: (_, __, report) => ({ approxKl: report.k1 }),
    };
  },
);

const misreported: readonly Fault[] = [
  reportFault(
    {
      id: 'metric-of-last-rows',
      cause: 'metric-misreported',
      sentence: 'Figures are reported of the last part of a minibatch only.',
      shows: ['steps.entropy', 'steps.approx_kl'],
      needs: ['several-updates'],
    },
    (stream) => {
      const share = rounded(between(stream, 0.1, 0.5));
      return {
        strength: { part: share },
        change(_, job) {
          const to = job.to - job.from;
          const from = Math.min(to - 1, Math.floor((1 - share) * to));
          return {
            entropy: meanOver(from, to, (i) => job.out.entropy[i]),
            approxKl: meanOver(from, to, (i) => Math.expm1(logRatio(job, i)) - logRatio(job, i)),
            clipFraction: meanOver(from, to, (i) => Number(Math.abs(Math.expm1(logRatio(job, i))) > job.settings.clip)),
          };
        },
      };
    },
  ),
  reportFault(
    {
      id: 'metric-of-last-minibatch',
      cause: 'metric-misreported',
      sentence: "Every step reports the figures of the previous epoch's last minibatch.",
      shows: ['steps.entropy', 'steps.policy_loss'],
      needs: ['several-updates'],
    },
    () => {
      const kept = new Map<number, { epoch: string; last: ReportedStep; shown: ReportedStep }>();
      return {
        change(honest, job) {
          const epoch = `${job.iteration} ${job.epoch}`;
          const before = kept.get(job.learner.index) ?? { epoch, last: honest, shown: honest };
          const shown = before.epoch === epoch ? before.shown : before.last;
          kept.set(job.learner.index, { epoch, last: honest, shown });
          const { policyLoss, entropy, approxKl, clipFraction } = shown;
          return { policyLoss, entropy, approxKl, clipFraction };
        },
      };
    },
  ),
  reportFault(
    {
      id: 'metric-of-step-before',
      cause: 'metric-misreported',
      sentence: 'Each step reports the figures of the step before it.',
      shows: ['steps.entropy', 'steps.policy_loss'],
      needs: ['several-updates'],
    },
    () => {
      const kept = new Map<number, ReportedStep>();
      return {
        change(honest, job) {
          const before = kept.get(job.learner.index) ?? honest;
          kept.set(job.learner.index, honest);
          return before;
        },
      };
    },
  ),
  reportFault(
    {
      id: 'metric-entropy-unmasked',
      cause: 'metric-misreported',
      sentence: 'The reported entropy is that of the distribution before the mask.',
      shows: ['steps.entropy'],
      needs: ['masks'],
    },
    () => ({ change: (honest, job) => ({ entropy: unmaskedEntropy(job) ?? honest.entropy }) }),
  ),
  reportFault(
    {
      id: 'metric-entropy-in-bits',
      cause: 'metric-misreported',
      sentence: 'The entropy is reported in bits where all else is in nats.',
      shows: ['steps.entropy'],
    },
    () => ({ change: (honest) => ({ entropy: honest.entropy / Math.LN2 }) }),
  ),
  reportFault(
    {
      id: 'metric-clip-fraction-one-sided',
      cause: 'metric-misreported',
      sentence: 'The reported clip fraction counts ratios beyond one side of the band only.',
      shows: ['steps.clip_fraction'],
      needs: ['several-updates'],
    },
    (stream) => {
      const side = stream.uniform() < 0.5 ? 1 : -1;
      // A narrow band, because where no ratio leaves it there is nothing to misreport.
      const clip = rounded(between(stream, 0.004, 0.015));
      return {
        strength: { side, clip },
        settings: { ppo: { clip } },
        change: (_, job) => ({
          clipFraction: meanOver(0, job.to - job.from, (i) =>
            Number(side * Math.expm1(logRatio(job, i)) > job.settings.clip),
          ),
        }),
      };
    },
  ),
  reportFault(
    {
      id: 'metric-kl-doubled',
      cause: 'metric-misreported',
      sentence: 'The reported KL is the mean squared log-ratio, without the half.',
      shows: ['steps.approx_kl'],
      needs: ['several-updates'],
    },
    () => ({
      change: (_, job) => ({ approxKl: meanOver(0, job.to - job.from, (i) => logRatio(job, i) ** 2) }),
    }),
  ),
  reportFault(
    {
      id: 'metric-loss-smoothed',
      cause: 'metric-misreported',
      sentence: 'Losses are reported as running means without saying so.',
      shows: ['steps.policy_loss', 'steps.value_loss'],
    },
    (stream) => {
      const keep = rounded(between(stream, 0.8, 0.98));
      const running = new Map<number, { policyLoss: number; valueLoss: number }>();
      return {
        strength: { keep },
        change(honest, job) {
          const before = running.get(job.learner.index) ?? honest;
          const mean = (old: number, now: number) => keep * old + (1 - keep) * now;
          const now = {
            policyLoss: mean(before.policyLoss, honest.policyLoss),
            valueLoss: mean(before.valueLoss, honest.valueLoss),
          };
          running.set(job.learner.index, now);
          return now;
        },
      };
    },
  ),
];

/** From the logits of the pass, where the step was measured. */
function unmaskedEntropy(job: TrainJob): number | null {
  const { logits } = job.out;
  if (!logits) return null;
  let at = 0;
  return meanOver(job.from, job.to, (i) => {
    const row = job.order[i];
    const count = job.rows.offsets[row + 1] - job.rows.offsets[row];
    const own = logits.subarray(at, at + count);
    at += count;
    const largest = Math.max(...own);
    const weights = Array.from(own, (logit) => Math.exp((logit - largest) / job.settings.temperature));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return -weights.reduce((sum, weight) => sum + (weight > 0 ? (weight / total) * Math.log(weight / total) : 0), 0);
  });
}

export const readingFaults: readonly Fault[] = [cancels, ...misreported];
