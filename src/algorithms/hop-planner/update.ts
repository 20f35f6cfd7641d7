/**
 * What a planner learns: its policy the search's, by cross-entropy, and its critic the returns. A row becomes one row for each legal move, with
 * the search's probability as its weight, an advantage of 1 and the policy's present log-probability as the old one. At a ratio of 1 the
 * gradient of the clipped objective is then that of the cross-entropy, and the weights of a row sum to 1, so the critic's loss is unchanged.
 */
import { RandomStream } from '../../math/random.ts';
import type { Engine, RowOutputs, UpdateSettings } from '../../net/types.ts';
import {
  type LearnerRows,
  ppoUpdate,
  type TrainJob,
  type UpdatePart,
  type UpdatePlan,
  type UpdateResult,
  type UpdateStages,
  updateSettings,
} from '../ppo/update.ts';

/** A move that the search gives less than this is left out. */
const least = 1e-4;

/** Learners that choose by search learn from it; without a search they learn as PPO does. */
export const searchedUpdate: typeof ppoUpdate = (engine, parts, plan, stages, watch) =>
  (parts[0].learner.searches ? plannerUpdate : ppoUpdate)(engine, parts, plan, stages, watch);

export function plannerUpdate(
  engine: Engine,
  parts: readonly UpdatePart[],
  plan: UpdatePlan,
  stages: UpdateStages,
): UpdateResult[] {
  return parts.map((part) => updateOne(engine, part, plan, stages));
}

function updateOne(
  engine: Engine,
  { learner, rows }: UpdatePart,
  plan: UpdatePlan,
  stages: UpdateStages,
): UpdateResult {
  const { epochs, minibatches } = plan.ppo;
  const { rows: wide, first } = widen(rows, learner.inputs);
  const settings: UpdateSettings = {
    ...updateSettings(learner, plan),
    entropyCoefficient: 0,
    valueClip: null,
    advantageScale: 1,
  };
  const stream = RandomStream.of(plan.seed, 'minibatches', learner.name, plan.iteration);
  const states = Int32Array.from({ length: rows.length }, (_, i) => i);
  const order = new Int32Array(wide.length);
  const floats = () => new Float32Array(wide.length);
  const out: RowOutputs = { logp: floats(), entropy: floats(), value: floats() };
  let steps = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    stream.shuffle(states);
    let at = 0;
    const ends: number[] = [];
    states.forEach((state, i) => {
      for (let k = first[state]; k < first[state + 1]; k++) order[at++] = k;
      if ((i + 1) % Math.ceil(rows.length / minibatches) === 0 || i === rows.length - 1) ends.push(at);
    });
    ends.forEach((to, minibatch) => {
      const from = minibatch === 0 ? 0 : ends[minibatch - 1];
      const job: TrainJob = {
        learner,
        policy: learner.policy,
        rows: wide,
        order,
        from,
        to,
        end: to,
        settings,
        out,
        bound: [],
        iteration: plan.iteration,
        epoch,
        minibatch,
        probe: plan.probe,
      };
      stages.evaluate(job, from, to, out);
      for (let i = from; i < to; i++) wide.oldLogp[order[i]] = out.logp[i - from];
      stages.step(engine, [stages.loss(job)]);
      steps++;
    });
  }
  if (steps > 0) learner.updates++;
  const learningRate = settings.groups.trunk.learningRate;
  return { steps, skipped: 0, stoppedEarly: false, klAfter: Number.NaN, learningRate };
}

/** One row for each move that counts, with its weight; the rows of row i are first[i] .. first[i + 1]. */
function widen(rows: LearnerRows, width: number): { rows: LearnerRows & { weight: Float32Array }; first: Int32Array } {
  const { length, offsets, legal, logits } = rows;
  if (!logits) throw new Error('A planner was given rows without what the search chose from.');
  const first = new Int32Array(length + 1);
  const source: number[] = [];
  const move: number[] = [];
  const weight: number[] = [];
  for (let i = 0; i < length; i++) {
    for (let c = offsets[i]; c < offsets[i + 1]; c++) {
      const chance = legal[c] === 1 ? Math.exp(logits[c]) : 0;
      if (chance < least) continue;
      source.push(i);
      move.push(c - offsets[i]);
      weight.push(chance);
    }
    first[i + 1] = source.length;
  }
  const n = source.length;
  const column = (of: Float32Array) => Float32Array.from(source, (i) => of[i]);
  const number = (of: Int32Array) => Int32Array.from(source, (i) => of[i]);
  const obs = new Float32Array(n * width);
  const wideOffsets = new Int32Array(n + 1);
  for (const [k, i] of source.entries()) {
    obs.set(rows.obs.subarray(i * width, (i + 1) * width), k * width);
    wideOffsets[k + 1] = wideOffsets[k] + offsets[i + 1] - offsets[i];
  }
  const subset = new Int32Array(wideOffsets[n]);
  const allowed = new Uint8Array(wideOffsets[n]);
  for (const [k, i] of source.entries()) {
    subset.set(rows.subset.subarray(offsets[i], offsets[i + 1]), wideOffsets[k]);
    allowed.set(legal.subarray(offsets[i], offsets[i + 1]), wideOffsets[k]);
  }
  return {
    first,
    rows: {
      length: n,
      obs,
      state: obs,
      offsets: wideOffsets,
      subset,
      legal: allowed,
      candidateFeatures: new Float32Array(0),
      action: Int32Array.from(move),
      oldLogp: new Float32Array(n),
      advantage: new Float32Array(n).fill(1),
      return: column(rows.return),
      oldValue: column(rows.oldValue),
      weight: Float32Array.from(weight),
      iteration: number(rows.iteration),
      sample: number(rows.sample),
      agent: number(rows.agent),
      logCount: column(rows.logCount),
    },
  };
}
