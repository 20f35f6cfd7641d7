/** Other policy losses than the engine has, made from the one it has: a loss is given by its slope in each row's log-probability. */
import type { TrainJob } from '../algorithms/ppo/update.ts';
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
