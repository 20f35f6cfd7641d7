/** Other losses and other optimisers than the engine has, made from what it has: a policy loss is given by its slope in each row's log-probability. */
import type { TrainJob } from '../agents/ppo.ts';
import { clipScales, type RoleSquares } from '../net/report.ts';
import type { Engine, Policy, StepReport, TensorReport } from '../net/types.ts';
import type { Stages } from '../training/stages.ts';

/** The log-probabilities of a job's rows under the policy as it is now, by row of the whole update; other rows keep their old ones. */
export function currentLogp(clean: Stages, job: TrainJob): Float32Array {
  const count = job.to - job.from;
  const room = () => new Float32Array(count);
  const out = { logp: room(), entropy: room(), value: room() };
  clean.evaluate(job, job.from, job.to, out);
  const logp = job.rows.oldLogp.slice();
  for (let i = job.from; i < job.to; i++) logp[job.order[i]] = out.logp[i - job.from];
  return logp;
}

/** A minibatch's rows before the step, in the order of the minibatch. */
export interface MinibatchFigures {
  ratios: Float64Array;
  advantages: Float64Array;
  clip: number;
}

export interface OtherLoss {
  /** Minus the slope of the loss in row i's log-probability, times the number of rows and divided by the row's ratio: the advantage itself in a plain policy gradient. */
  push(i: number): number;
  /** What the loss comes to; absent where it is what the clipped surrogate gives. */
  loss?: number;
}

/** Mean of the clipped surrogate, as a loss. */
export function clippedLoss({ ratios, advantages, clip }: MinibatchFigures): number {
  let sum = 0;
  for (let i = 0; i < ratios.length; i++) sum -= clippedTerm(ratios[i], advantages[i], clip);
  return sum / ratios.length;
}

export function clippedTerm(ratio: number, advantage: number, clip: number): number {
  return Math.min(ratio * advantage, bounded(ratio, clip) * advantage);
}

export function bounded(ratio: number, clip: number): number {
  return Math.max(1 - clip, Math.min(1 + clip, ratio));
}

/** A clip so wide that no ratio reaches it. */
const noClip = 1e9;

/** A `step` with another policy loss for the jobs it strikes; the recorded rows keep the advantages of the job. */
export function replaceSurrogate(
  clean: Stages,
  strikes: (job: TrainJob) => boolean,
  make: (figures: MinibatchFigures) => OtherLoss,
): Stages['step'] {
  return (engine, jobs) => {
    const losses = jobs.map((job) => (strikes(job) ? measured(clean, job) : null));
    const others = losses.map((figures) => (figures ? make(figures) : null));
    const reports = clean.step(
      engine,
      jobs.map((job, j) => {
        const other = others[j];
        if (!other) return job;
        const advantage = job.rows.advantage.slice();
        for (let i = job.from; i < job.to; i++) advantage[job.order[i]] = other.push(i - job.from);
        return {
          ...job,
          rows: { ...job.rows, advantage },
          settings: { ...job.settings, clip: noClip, advantageScale: 1 },
        };
      }),
    );
    return reports.map((report, j) => {
      const figures = losses[j];
      const other = others[j];
      if (!figures || !other) return report;
      const { valueCoefficient, entropyCoefficient, clip } = jobs[j].settings;
      const policyLoss = other.loss ?? clippedLoss(figures);
      const beyond = figures.ratios.filter((ratio) => Math.abs(ratio - 1) > clip).length;
      return {
        ...report,
        policyLoss,
        loss: policyLoss + valueCoefficient * report.valueLoss - entropyCoefficient * report.entropy,
        clipFraction: beyond / figures.ratios.length,
      };
    });
  };
}

function measured(clean: Stages, job: TrainJob): MinibatchFigures {
  const logp = currentLogp(clean, job);
  const { rows, order, from, to, settings } = job;
  const ratios = new Float64Array(to - from);
  const advantages = new Float64Array(to - from);
  for (let i = from; i < to; i++) {
    ratios[i - from] = Math.exp(logp[order[i]] - rows.oldLogp[order[i]]);
    advantages[i - from] = rows.advantage[order[i]] * settings.advantageScale;
  }
  return { ratios, advantages, clip: settings.clip };
}

interface Moments {
  steps: number;
  first: Float64Array[];
  second: Float64Array[];
}

/** A `step` of Adam outside the engine, in which the clipped gradient of each parameter may be changed before it is used. */
export function replaceOptimiser(
  clean: Stages,
  strikes: (job: TrainJob) => boolean,
  change: (gradient: Float32Array, values: Float32Array, job: TrainJob, parameter: number) => void,
): Stages['step'] {
  const kept = new WeakMap<Policy, Moments>();
  return (engine: Engine, jobs: readonly TrainJob[]) => {
    const still = { learningRate: 0, weightDecay: 0 };
    const groups = { trunk: still, head: still, critic: still };
    const reports = clean.step(
      engine,
      jobs.map((job) => (strikes(job) ? { ...job, settings: { ...job.settings, groups } } : job)),
    );
    return reports.map((report, j): StepReport => {
      const job = jobs[j];
      if (!strikes(job) || !report.finite) return report;
      const moments = kept.get(job.policy) ?? noMoments(job.policy);
      kept.set(job.policy, moments);
      const tensors = adam(job, moments, change);
      return job.measureTensors ? { ...report, tensors } : report;
    });
  };
}

function noMoments(policy: Policy): Moments {
  const zeros = () => policy.parameters.map(({ size }) => new Float64Array(size));
  return { steps: 0, first: zeros(), second: zeros() };
}

function adam(job: TrainJob, moments: Moments, change: Parameters<typeof replaceOptimiser>[2]): TensorReport[] {
  const { policy, settings } = job;
  const { beta1, beta2, eps } = settings.adam;
  const gradients = policy.parameters.map((_, index) => policy.gradient(index));
  const squares: RoleSquares = { trunk: 0, head: 0, critic: 0 };
  policy.parameters.forEach(({ role }, index) => {
    for (const slope of gradients[index]) squares[role] += slope * slope;
  });
  const scales = clipScales(settings, squares);
  const step = ++moments.steps;
  return policy.parameters.map(({ role }, index) => {
    const gradient = gradients[index].map((slope) => slope * scales[role]);
    const values = policy.read(index);
    const before = values.slice();
    const seen = gradient.slice();
    change(gradient, values, job, index);
    const rate = settings.groups[role].learningRate / (1 - beta1 ** step);
    const correction = Math.sqrt(1 - beta2 ** step);
    const first = moments.first[index];
    const second = moments.second[index];
    for (let i = 0; i < values.length; i++) {
      first[i] = beta1 * first[i] + (1 - beta1) * gradient[i];
      second[i] = beta2 * second[i] + (1 - beta2) * gradient[i] * gradient[i];
      values[i] = before[i] - (rate * first[i]) / (Math.sqrt(second[i]) / correction + eps);
    }
    policy.write(index, values);
    return tensorReport(seen, before, policy.read(index));
  });
}

export function tensorReport(gradient: Float32Array, before: Float32Array, after: Float32Array): TensorReport {
  const report: TensorReport = { gradNorm: 0, gradNonzero: 0, delta: 0, deltaNorm: 0, norm: 0 };
  for (let i = 0; i < after.length; i++) {
    const moved = after[i] - before[i];
    report.gradNorm += gradient[i] ** 2;
    if (gradient[i] !== 0) report.gradNonzero++;
    report.delta += Math.abs(moved);
    report.deltaNorm += moved * moved;
    report.norm += after[i] ** 2;
  }
  report.gradNorm = Math.sqrt(report.gradNorm);
  report.deltaNorm = Math.sqrt(report.deltaNorm);
  report.norm = Math.sqrt(report.norm);
  return report;
}
