/** Proximal policy optimisation, from a policy's rows to its new parameters. Every learner is updated with its own rows only; learners advance side by side, step by step. */
import { RandomStream } from '../../math/random.ts';
import type { Engine, Policy, RowOutputs, Rows, StepReport, UpdateJob, UpdateSettings } from '../../net/types.ts';
import type { Learner } from '../learner.ts';
import type { PpoSettings } from './settings.ts';

/** A learner's rows in the units of its loss, with the columns that say which samples they are. All columns share one order. */
export interface LearnerRows extends Rows {
  /** The iteration that collected the row, and its place among that iteration's samples. */
  iteration: Int32Array;
  sample: Int32Array;
  agent: Int32Array;
  /** Logarithm of the number of legal candidates. */
  logCount: Float32Array;
  /** What the choice was drawn from, one row's candidates after the other's; only where a search chose. */
  logits?: Float32Array;
}

/** One optimiser step of one learner: rows order[from .. to) enter the loss, rows order[to .. end) were dropped by the replay check. */
export interface TrainJob extends UpdateJob {
  learner: Learner;
  rows: LearnerRows;
  iteration: number;
  epoch: number;
  minibatch: number;
  end: number;
  out: RowOutputs;
  /** How many optimiser groups hold each parameter. */
  bound: readonly number[];
  /** Name of the probes in force. */
  probe: string;
}

/** The arrows of the flow that an update runs through; the trainer hands them in. */
export interface UpdateStages {
  loss(job: TrainJob): TrainJob;
  step(engine: Engine, jobs: readonly TrainJob[]): StepReport[];
  evaluate(job: TrainJob, from: number, to: number, out: RowOutputs): void;
}

/** Looks on and changes nothing. */
export interface UpdateWatch {
  /** Whether the logits and the tensors of this step are wanted. */
  measures(epoch: number, minibatch: number): boolean;
  before(jobs: readonly TrainJob[]): void;
  after(job: TrainJob, report: StepReport, stopped: boolean): void;
  skipped(job: TrainJob): void;
}

/** What one update of all learners is made with. */
export interface UpdatePlan {
  seed: number;
  iteration: number;
  ppo: PpoSettings;
  /** Share of the run that is done, for annealing. */
  progress: number;
  temperature: number;
  advantageScale: number;
  probe: string;
  /** A probe that searches the learning rate whose KL after the update lies between these; null where none does. */
  searchKl: readonly [number, number] | null;
  /** Whether the KL after the last step is measured even where nothing adapts to it. */
  measureAfter: boolean;
}

/** A learner's part in one update. */
export interface UpdatePart {
  learner: Learner;
  rows: LearnerRows;
  /** 1 where the row passed the replay check. */
  valid: Uint8Array;
}

export interface UpdateResult {
  steps: number;
  skipped: number;
  stoppedEarly: boolean;
  /** k2 on (at most 1024 rows of) the last minibatch after the last step; NaN where it was not measured. */
  klAfter: number;
  learningRate: number;
}

/** Below this share of valid rows a minibatch is skipped. */
export const leastValid = 0.9;
/** Rows on which the KL after an update is measured: where the learning rate follows it, and where it is only read. */
const afterRows = 1024;
const glanceRows = 256;

export function updateSettings(learner: Learner, plan: UpdatePlan): UpdateSettings {
  const { ppo } = plan;
  const factor = learner.rateFactor * (ppo.anneal ? Math.max(0, 1 - plan.progress) : 1);
  const group = (rate: number | null, decay: number | null = null) => ({
    learningRate: (rate ?? ppo.learningRate) * factor,
    weightDecay: decay ?? ppo.weightDecay,
  });
  return {
    clip: ppo.clip,
    valueCoefficient: ppo.valueCoefficient,
    entropyCoefficient: ppo.entropyCoefficient,
    valueLoss: ppo.valueLoss,
    huberDelta: ppo.huberDelta,
    valueClip: ppo.valueClip,
    maxGradNorm: ppo.maxGradNorm,
    gradClip: ppo.gradClip,
    temperature: plan.temperature,
    advantageScale: plan.advantageScale,
    groups: {
      trunk: group(null),
      head: group(ppo.headLearningRate, ppo.headWeightDecay),
      critic: group(ppo.criticLearningRate),
    },
    adam: { beta1: 0.9, beta2: 0.999, eps: ppo.adamEpsilon },
  };
}

/** Brings advantages to mean 0 and spread 1 for each agent by itself, over the rows order[from .. to). */
export function normaliseAdvantages(
  advantage: ArrayLike<number>,
  agent: ArrayLike<number>,
  order: ArrayLike<number>,
  from: number,
  to: number,
  clamp: number | null,
  out: Float32Array,
): void {
  let agents = 0;
  for (let i = from; i < to; i++) agents = Math.max(agents, agent[order[i]] + 1);
  const count = new Float64Array(agents);
  const mean = new Float64Array(agents);
  const squares = new Float64Array(agents);
  for (let i = from; i < to; i++) {
    const who = agent[order[i]];
    const change = advantage[order[i]] - mean[who];
    mean[who] += change / ++count[who];
    squares[who] += change * (advantage[order[i]] - mean[who]);
  }
  for (let i = from; i < to; i++) {
    const who = agent[order[i]];
    out[order[i]] = (advantage[order[i]] - mean[who]) / (Math.sqrt(squares[who] / count[who]) + 1e-8);
  }
  if (clamp !== null) clampAdvantages(order, from, to, clamp, out);
}

export function clampAdvantages(
  order: ArrayLike<number>,
  from: number,
  to: number,
  clamp: number,
  out: Float32Array,
): void {
  for (let i = from; i < to; i++) out[order[i]] = Math.max(-clamp, Math.min(clamp, out[order[i]]));
}

/** What a learner keeps from one update to the next, so that none allocates. */
class Workspace {
  order = new Int32Array(0);
  visited = new Int32Array(0);
  advantage = new Float32Array(0);
  out: Required<RowOutputs> = {
    logp: new Float32Array(0),
    entropy: new Float32Array(0),
    value: new Float32Array(0),
    logits: new Float32Array(0),
  };

  reserve(rows: Rows, minibatches: number): void {
    const { length } = rows;
    const largest = Math.ceil(length / minibatches);
    let widest = 0;
    for (let i = 0; i < length; i++) widest = Math.max(widest, rows.offsets[i + 1] - rows.offsets[i]);
    if (this.order.length < length) this.order = new Int32Array(length);
    if (this.visited.length < largest) this.visited = new Int32Array(largest);
    if (this.advantage.length < length) this.advantage = new Float32Array(length);
    this.out = reserveOutputs(this.out, Math.max(largest, afterRows), widest);
  }
}

const workspaces = new WeakMap<Policy, Workspace>();

export function reserveOutputs(out: Required<RowOutputs>, rows: number, candidates: number): Required<RowOutputs> {
  if (out.logp.length < rows)
    out = { ...out, logp: new Float32Array(rows), entropy: new Float32Array(rows), value: new Float32Array(rows) };
  if (out.logits.length < rows * candidates) out = { ...out, logits: new Float32Array(rows * candidates) };
  return out;
}

/** Goes through the rows `epochs` times in `minibatches` steps, all learners in lockstep, in the order of `parts`. */
export function ppoUpdate(
  engine: Engine,
  parts: readonly UpdatePart[],
  plan: UpdatePlan,
  stages: UpdateStages,
  watch: UpdateWatch,
): UpdateResult[] {
  const { ppo } = plan;
  const running = parts.map((part) => begin(part, plan));
  for (let epoch = 0; epoch < ppo.epochs; epoch++) {
    for (const run of running) if (!run.result.stoppedEarly) run.stream.shuffle(run.work.order, run.part.rows.length);
    for (let minibatch = 0; minibatch < ppo.minibatches; minibatch++) {
      const active: Running[] = [];
      const jobs: TrainJob[] = [];
      for (const run of running) {
        if (run.result.stoppedEarly) continue;
        const job = makeJob(run, plan, epoch, minibatch, watch.measures(epoch, minibatch));
        if (job.end === job.from) continue;
        if (job.to - job.from < leastValid * (job.end - job.from)) {
          run.result.skipped++;
          watch.skipped(stages.loss(job));
          continue;
        }
        jobs.push(stages.loss(job));
        active.push(run);
      }
      if (jobs.length === 0) continue;
      watch.before(jobs);
      const reports = stages.step(engine, jobs);
      jobs.forEach((job, i) => {
        const { result } = active[i];
        result.steps++;
        // The k3 of a step is that of the policy before it; once it is too large, the learner takes no further step on these rows.
        result.stoppedEarly = ppo.targetKl !== null && reports[i].k3 > 1.5 * ppo.targetKl;
        active[i].latest = job;
        watch.after(job, reports[i], result.stoppedEarly);
      });
    }
  }
  for (const run of running) finish(run, plan, stages);
  return running.map((run) => run.result);
}

interface Running {
  part: UpdatePart;
  work: Workspace;
  stream: RandomStream;
  settings: UpdateSettings;
  bound: number[];
  latest: TrainJob | null;
  result: UpdateResult;
}

function begin(part: UpdatePart, plan: UpdatePlan): Running {
  const { learner, rows } = part;
  const work = workspaces.get(learner.policy) ?? new Workspace();
  workspaces.set(learner.policy, work);
  work.reserve(rows, plan.ppo.minibatches);
  for (let i = 0; i < rows.length; i++) work.order[i] = i;
  const settings = updateSettings(learner, plan);
  return {
    part,
    work,
    settings,
    stream: RandomStream.of(plan.seed, 'minibatches', learner.name, plan.iteration),
    bound: learner.policy.parameters.map((parameter) => (settings.groups[parameter.role] ? 1 : 0)),
    latest: null,
    result: {
      steps: 0,
      skipped: 0,
      stoppedEarly: false,
      klAfter: Number.NaN,
      learningRate: settings.groups.trunk.learningRate,
    },
  };
}

function makeJob(run: Running, plan: UpdatePlan, epoch: number, minibatch: number, measured: boolean): TrainJob {
  const { part, work } = run;
  const { minibatches, advantageNormalisation, advantageClamp } = plan.ppo;
  const { length } = part.rows;
  const from = Math.floor((length * minibatch) / minibatches);
  const end = Math.floor((length * (minibatch + 1)) / minibatches);
  const to = validFirst(work.order, from, end, part.valid);
  let { rows } = part;
  if (advantageNormalisation === 'minibatch') {
    normaliseAdvantages(rows.advantage, rows.agent, work.order, from, to, advantageClamp, work.advantage);
    rows = { ...rows, advantage: work.advantage };
  }
  const { logp, entropy, value, logits } = work.out;
  return {
    learner: part.learner,
    policy: part.learner.policy,
    rows,
    order: work.order,
    from,
    to,
    end,
    settings: run.settings,
    out: measured ? { logp, entropy, value, logits } : { logp, entropy, value },
    visited: work.visited,
    measureTensors: measured,
    bound: run.bound,
    iteration: plan.iteration,
    epoch,
    minibatch,
    probe: plan.probe,
  };
}

/** Moves the rows that passed the replay check to the front of order[from .. end), both parts keeping their order; returns where they end. */
function validFirst(order: Int32Array, from: number, end: number, valid: Uint8Array): number {
  let to = from;
  while (to < end && valid[order[to]] === 1) to++;
  if (to === end) return end;
  const dropped: number[] = [];
  for (let i = to; i < end; i++) {
    if (valid[order[i]] === 1) order[to++] = order[i];
    else dropped.push(order[i]);
  }
  for (let i = 0; i < dropped.length; i++) order[to + i] = dropped[i];
  return to;
}

function finish(run: Running, plan: UpdatePlan, stages: UpdateStages): void {
  const { latest, result, work } = run;
  const { adaptiveKl, adaptiveBounds } = plan.ppo;
  const { learner } = run.part;
  if (!latest) return;
  learner.updates++;
  const follows = adaptiveKl !== null || plan.searchKl !== null;
  if (!follows && !plan.measureAfter) return;
  const to = Math.min(latest.to, latest.from + (follows ? afterRows : glanceRows));
  const { logp, entropy, value } = work.out;
  stages.evaluate(latest, latest.from, to, { logp, entropy, value });
  let sum = 0;
  for (let i = latest.from; i < to; i++)
    sum += 0.5 * (logp[i - latest.from] - latest.rows.oldLogp[latest.order[i]]) ** 2;
  result.klAfter = sum / (to - latest.from);
  if (plan.searchKl !== null) {
    learner.rateFactor = searchedFactor(learner.rateFactor, plan.ppo.learningRate, result.klAfter, plan.searchKl);
    return;
  }
  if (adaptiveKl === null) return;
  if (result.klAfter < 0.2 * adaptiveKl) learner.rateFactor = Math.min(adaptiveBounds[1], learner.rateFactor * 1.5);
  else if (result.klAfter > 2 * adaptiveKl) learner.rateFactor = Math.max(adaptiveBounds[0], learner.rateFactor * 0.5);
}

/** A search goes no further than this learning rate, nor by more than this factor at a time. */
const largestRate = 1;
const largestJump = 10;

/** The KL of a small step grows with the square of its rate, so the next rate is known from the last; one that gave no KL at all says only that it was too small. */
export function searchedFactor(
  factor: number,
  rate: number,
  kl: number,
  [low, high]: readonly [number, number],
): number {
  if ((kl >= low && kl <= high) || !Number.isFinite(kl)) return factor;
  const jump = kl > 0 ? Math.sqrt(Math.sqrt(low * high) / kl) : largestJump;
  return Math.min(largestRate / rate, factor * Math.min(largestJump, Math.max(1 / largestJump, jump)));
}
