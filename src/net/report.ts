/** From sums to a step's report, and the figures that steer Adam; shared by both backends so that they cannot differ. */
import type { MlpLoss, Role, StepReport, UpdateSettings } from './types.ts';

/** Sums over a minibatch's rows, each weighted. */
export interface LossSums {
  policyLoss: number;
  entropy: number;
  k1: number;
  k2: number;
  k3: number;
  clipped: number;
  /** Of ratio - 1 and its square. */
  ratio: number;
  ratioSquare: number;
  valueLoss: number;
}

export const noSums = (): LossSums => ({
  policyLoss: 0,
  entropy: 0,
  k1: 0,
  k2: 0,
  k3: 0,
  clipped: 0,
  ratio: 0,
  ratioSquare: 0,
  valueLoss: 0,
});

/** Squared gradient norms by role. */
export type RoleSquares = Record<Role, number>;

export function stepReport(
  sums: LossSums,
  totalWeight: number,
  settings: UpdateSettings,
  squares: RoleSquares,
): StepReport {
  const mean = (sum: number) => sum / totalWeight;
  const policyLoss = mean(sums.policyLoss);
  const valueLoss = mean(sums.valueLoss);
  const entropy = mean(sums.entropy);
  const loss = policyLoss + settings.valueCoefficient * valueLoss - settings.entropyCoefficient * entropy;
  const actor = squares.trunk + squares.head;
  const excess = mean(sums.ratio);
  return {
    loss,
    policyLoss,
    valueLoss,
    entropy,
    k1: mean(sums.k1),
    k2: mean(sums.k2),
    k3: mean(sums.k3),
    clipFraction: mean(sums.clipped),
    ratioMean: 1 + excess,
    ratioStd: Math.sqrt(Math.max(0, mean(sums.ratioSquare) - excess * excess)),
    gradNorm: Math.sqrt(actor + squares.critic),
    policyGradNorm: Math.sqrt(actor),
    valueGradNorm: Math.sqrt(squares.critic),
    finite: Number.isFinite(loss) && Number.isFinite(actor + squares.critic) && Number.isFinite(sums.k1),
  };
}

/** What a gradient is multiplied by, as torch's clip_grad_norm_ has it. */
export function clipScale(norm: number, most: number | null): number {
  return most === null ? 1 : Math.min(1, most / (norm + 1e-6));
}

export function clipScales(settings: UpdateSettings, squares: RoleSquares): Record<Role, number> {
  const { maxGradNorm } = settings;
  const scale = (square: number) => clipScale(Math.sqrt(square), maxGradNorm);
  if (settings.gradClip === 'role') {
    return { trunk: scale(squares.trunk), head: scale(squares.head), critic: scale(squares.critic) };
  }
  const all = scale(squares.trunk + squares.head + squares.critic);
  return { trunk: all, head: all, critic: all };
}

/** Refuses an empty minibatch and policies that appear twice, with a sentence. */
export function checkJobs(jobs: readonly { policy: object; from: number; to: number }[]): void {
  const seen = new Set<object>();
  jobs.forEach((job, index) => {
    if (job.to <= job.from)
      throw new RangeError(`job ${index} has rows ${job.from} to ${job.to}; a minibatch needs at least 1.`);
    if (seen.has(job.policy))
      throw new RangeError(`job ${index} repeats a policy; one update takes one step per policy.`);
    seen.add(job.policy);
  });
}

/** Refuses targets that a network by itself cannot be taught, with a sentence. Returns how many rows are not left out. */
export function checkTargets(loss: MlpLoss, n: number, outputs: number): number {
  const wanted = loss.kind === 'choice' ? n : n * outputs;
  if (loss.targets.length < wanted)
    throw new RangeError(
      `targets have ${loss.targets.length} entries; ${n} rows of ${outputs} outputs need ${wanted}.`,
    );
  if (loss.kind !== 'choice') return n;
  const { targets, legal } = loss;
  let counted = 0;
  if (outputs > 31 || legal.length < n)
    throw new RangeError(
      `legal has ${legal.length} entries for ${n} rows, of at most 31 bits; there are ${outputs} outputs.`,
    );
  for (let row = 0; row < n; row++) {
    const target = targets[row];
    if (target < 0) continue;
    counted++;
    if (target >= outputs || (legal[row] !== 0 && ((legal[row] >> target) & 1) === 0))
      throw new RangeError(`row ${row}: target ${target} is not one of the legal outputs among ${outputs}.`);
  }
  return counted;
}
