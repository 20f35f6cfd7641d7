/** One PPO step for each of several policies: lanes of rows, their sum, clip and Adam, each stage as tasks for all jobs together. */
import { checkJobs, clipScales, type LossSums, noSums, type RoleSquares, stepReport } from '../report.ts';
import type { StepReport, TensorReport, UpdateJob, UpdateSettings } from '../types.ts';
import type { Kernels } from './kernels.ts';
import { type KernelNetwork, RESULTS } from './layout.ts';
import { checkTemperature, KernelPolicy } from './policy.ts';
import { jobFields, laneCount, MOST_LANES, STATISTICS, taskKinds } from './structs.ts';

export function updatePolicies(kernels: Kernels, jobs: readonly UpdateJob[]): StepReport[] {
  checkJobs(jobs);
  const { threads } = kernels;
  const policies: KernelPolicy[] = [];
  const weights: number[] = [];
  for (const job of jobs) {
    if (!(job.policy instanceof KernelPolicy)) throw new TypeError('An update got a policy of another engine.');
    checkTemperature(job.settings.temperature);
    policies.push(job.policy);
    const weight = totalWeight(job);
    weights.push(weight);
    job.policy.enter(job.rows, job.order, job.from, job.to, job.out?.logits !== undefined, job.settings.temperature);
    writeLoss(kernels, job.policy, job.settings, weight);
  }

  // Tasks are taken from the end of the list: actors first, because they are the longer ones.
  threads.begin(jobs.length * MOST_LANES * 2);
  const lanes = jobs.map((job) => laneCount(job.to - job.from));
  for (const kind of [taskKinds.criticLane, taskKinds.actorLane])
    policies.forEach((policy, index) => {
      for (let lane = 0; lane < lanes[index]; lane++) threads.add(kind, policy.job, lane);
    });
  threads.run();
  jobs.forEach((job, index) => {
    policies[index].requireVisited(job.rows, job.to - job.from);
  });
  both(kernels, policies, taskKinds.reduce);

  const reports = jobs.map((job, index) => {
    const policy = policies[index];
    const squares = roleSquares(kernels, policy);
    const report = stepReport(lossSums(kernels, policy, lanes[index]), weights[index], job.settings, squares);
    if (job.out) policy.collect(job.to - job.from, job.out);
    if (job.visited) policy.visited(job.visited, job.to - job.from);
    if (report.finite) writeAdam(kernels, policy, job, squares);
    return report;
  });
  both(
    kernels,
    policies.filter((_, index) => reports[index].finite),
    taskKinds.adam,
  );

  jobs.forEach((job, index) => {
    if (job.measureTensors)
      reports[index].tensors = tensorReports(kernels, policies[index], job.settings, reports[index].finite);
  });
  return reports;
}

/** A task for the actor and one for the critic of each policy. */
function both(kernels: Kernels, policies: readonly KernelPolicy[], kind: number): void {
  const { threads } = kernels;
  if (policies.length === 0) return;
  threads.begin(policies.length * 2);
  for (const policy of policies) {
    threads.add(kind, policy.job, 0);
    threads.add(kind, policy.job, 1);
  }
  threads.run();
}

export function totalWeight(job: UpdateJob): number {
  const { weight } = job.rows;
  if (!weight) return job.to - job.from;
  let total = 0;
  for (let i = job.from; i < job.to; i++) total += weight[job.order[i]];
  if (!(total > 0)) throw new RangeError(`the weights of a minibatch add up to ${total}; they must be above 0.`);
  return total;
}

function writeLoss(kernels: Kernels, policy: KernelPolicy, settings: UpdateSettings, weight: number): void {
  const { f32, i32 } = kernels.memory;
  const at = policy.job >> 2;
  f32[at + jobFields.clip] = settings.clip;
  f32[at + jobFields.valueCoefficient] = settings.valueCoefficient;
  f32[at + jobFields.entropyCoefficient] = settings.entropyCoefficient;
  i32[at + jobFields.huber] = settings.valueLoss === 'huber' ? 1 : 0;
  f32[at + jobFields.huberDelta] = settings.huberDelta;
  f32[at + jobFields.valueClip] = settings.valueClip ?? -1;
  f32[at + jobFields.advantageScale] = settings.advantageScale;
  f32[at + jobFields.inverseWeight] = 1 / weight;
}

function writeAdam(kernels: Kernels, policy: KernelPolicy, job: UpdateJob, squares: RoleSquares): void {
  const { f32, i32 } = kernels.memory;
  const at = policy.job >> 2;
  const { settings } = job;
  const { beta1, beta2, eps } = settings.adam;
  policy.steps++;
  const correction = 1 - beta1 ** policy.steps;
  f32[at + jobFields.beta1] = beta1;
  f32[at + jobFields.beta2] = beta2;
  f32[at + jobFields.oneLessBeta1] = 1 - beta1;
  f32[at + jobFields.oneLessBeta2] = 1 - beta2;
  f32[at + jobFields.eps] = eps;
  f32[at + jobFields.inverseRootCorrection] = 1 / Math.sqrt(1 - beta2 ** policy.steps);
  const scales = clipScales(settings, squares);
  (['trunk', 'head', 'critic'] as const).forEach((role, index) => {
    f32[at + jobFields.stepSize0 + index] = settings.groups[role].learningRate / correction;
    f32[at + jobFields.decay0 + index] = settings.groups[role].weightDecay;
    f32[at + jobFields.scale0 + index] = scales[role];
  });
  i32[at + jobFields.measure] = job.measureTensors ? 1 : 0;
}

function lossSums(kernels: Kernels, policy: KernelPolicy, lanes: number): LossSums {
  const sums = noSums();
  const figures = kernels.memory.f64;
  for (let lane = 0; lane < lanes; lane++) {
    const at = (policy.statistics >> 3) + lane * STATISTICS;
    sums.policyLoss += figures[at];
    sums.entropy += figures[at + 1];
    sums.k1 += figures[at + 2];
    sums.k2 += figures[at + 3];
    sums.k3 += figures[at + 4];
    sums.clipped += figures[at + 5];
    sums.ratio += figures[at + 6];
    sums.ratioSquare += figures[at + 7];
    sums.valueLoss += figures[at + 8];
  }
  return sums;
}

function roleSquares(kernels: Kernels, policy: KernelPolicy): RoleSquares {
  const squares: RoleSquares = { trunk: 0, head: 0, critic: 0 };
  for (const network of [policy.actor, policy.critic]) {
    network.pieces.forEach((piece, index) => {
      squares[network.parameters[piece.parameter].role] += kernels.memory.f64[(network.results >> 3) + index * RESULTS];
    });
  }
  return squares;
}

/** By parameter. A step that was not taken changed nothing, and has no clipped gradient to speak of. */
function tensorReports(
  kernels: Kernels,
  policy: KernelPolicy,
  settings: UpdateSettings,
  stepped: boolean,
): TensorReport[] {
  const scales = clipScales(settings, roleSquares(kernels, policy));
  return policy.parameters.map(({ role }, index) => {
    const first = policy.actor.parameters.length;
    const [network, own] = index < first ? [policy.actor, index] : [policy.critic, index - first];
    if (!stepped) {
      const norm = Math.sqrt(policy.read(index).reduce((sum, value) => sum + value * value, 0));
      return {
        gradNorm: Number.NaN,
        gradNonzero: policy.gradient(index).filter((g) => g !== 0).length,
        delta: 0,
        deltaNorm: 0,
        norm,
      };
    }
    const [square, gradNonzero, delta, deltaSquare, normSquare] = pieceSums(kernels, network, own);
    return {
      gradNorm: Math.sqrt(square) * scales[role],
      gradNonzero,
      delta,
      deltaNorm: Math.sqrt(deltaSquare),
      norm: Math.sqrt(normSquare),
    };
  });
}

function pieceSums(kernels: Kernels, network: KernelNetwork, parameter: number): number[] {
  const sums = [0, 0, 0, 0, 0];
  network.pieces.forEach((piece, index) => {
    if (piece.parameter !== parameter) return;
    const at = (network.results >> 3) + index * RESULTS;
    for (let i = 0; i < sums.length; i++) sums[i] += kernels.memory.f64[at + i];
  });
  return sums;
}
