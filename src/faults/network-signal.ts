/** Faults of what the network can express: a head that is scaled away, inputs that saturate, a policy that has collapsed. */
import type { Learner } from '../algorithms/learner.ts';
import type { TrainJob } from '../algorithms/ppo/update.ts';
import type { Stages } from '../training/stages.ts';
import { scaleLogits } from './distribution/old.ts';
import { between, type Fault, magnitude, rounded } from './fault.ts';
import { wrapGame } from './games.ts';
import { overwrittenInStep } from './gradient/parameters.ts';
import { Scope } from './scope.ts';

type Stream = Parameters<Fault['make']>[0];

/** The head's output is divided before anything else sees it, in sampling and in the update alike; logits are recorded as they come out. */
function scaledHead(
  clean: Stages,
  divisor: number,
  strikes: (learner: Learner, iteration: number) => boolean,
): Partial<Stages> {
  let iteration = 0;
  const scaled = (job: TrainJob): TrainJob => ({
    ...job,
    settings: { ...job.settings, temperature: job.settings.temperature * divisor },
  });
  const candidates = (job: TrainJob, from: number, to: number) => {
    let count = 0;
    for (let i = from; i < to; i++) count += job.rows.offsets[job.order[i] + 1] - job.rows.offsets[job.order[i]];
    return count;
  };
  return {
    collect(collector, batch) {
      iteration = collector.iteration;
      clean.collect(collector, batch);
    },
    act(engine, asked) {
      clean.act(
        engine,
        asked.map((own) =>
          strikes(own.learner, iteration) ? { ...own, temperature: own.temperature * divisor } : own,
        ),
      );
      for (const { learner, rows, out } of asked)
        if (strikes(learner, iteration)) scaleLogits(out, rows.offsets[rows.length] - rows.offsets[0], divisor);
    },
    evaluate(job, from, to, out) {
      if (!strikes(job.learner, job.iteration)) return clean.evaluate(job, from, to, out);
      clean.evaluate(scaled(job), from, to, out);
      scaleLogits(out, candidates(job, from, to), divisor);
    },
    step(engine, jobs) {
      const struck = jobs.map((job) => strikes(job.learner, job.iteration));
      const reports = clean.step(
        engine,
        jobs.map((job, j) => (struck[j] ? scaled(job) : job)),
      );
      jobs.forEach((job, j) => {
        if (struck[j]) scaleLogits(job.out, candidates(job, job.from, job.to), divisor);
      });
      return reports;
    },
  };
}

function headFault(of: Pick<Fault, 'id' | 'cause' | 'sentence'>, draw: (stream: Stream) => number): Fault {
  return {
    ...of,
    stage: 'act',
    shows: ['samples.logits', 'replays.logits'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      const divisor = draw(stream);
      return {
        strength: { ...scope.strength, divisor },
        stages: (clean) => scaledHead(clean, divisor, (learner) => scope.learner(learner)),
      };
    },
  };
}

const flat: readonly Fault[] = [
  headFault(
    {
      id: 'head-scaled-away',
      cause: 'policy-head-flat',
      sentence: 'The logits are multiplied by so small a factor that all choices stay alike.',
    },
    (stream) => rounded(magnitude(stream, 1e3, 1e4)),
  ),
  overwrittenInStep(
    {
      id: 'head-clamped',
      cause: 'policy-head-flat',
      sentence:
        "After every step the last layer's parameters are clamped to a tiny range, so that all choices stay alike.",
    },
    (stream) => {
      const most = rounded(magnitude(stream, 1e-7, 1e-5));
      return {
        strength: { most },
        change(values, job) {
          job.policy.parameters.forEach(({ role }, index) => {
            if (role !== 'head') return;
            for (let i = 0; i < values[index].length; i++)
              values[index][i] = Math.max(-most, Math.min(most, values[index][i]));
          });
          return true;
        },
      };
    },
    // A policy that had learnt would be thrown back by the clamp, which is another fault.
    false,
  ),
];

function inputFault(
  id: string,
  sentence: string,
  draw: (
    stream: Stream,
    entries: number,
  ) => { strength: Record<string, number>; see: (value: number, entry: number) => number },
): Fault {
  return {
    id,
    cause: 'input-saturated',
    stage: 'game',
    sentence,
    shows: ['samples.obs', 'steps.embed_std'],
    make(stream, { traits }) {
      const { strength, see } = draw(stream, traits.observation);
      return {
        strength,
        settings: { network: { activation: 'tanh' } },
        stages: (clean) => ({ game: (game) => wrapGame(clean.game(game), { observation: see }) }),
      };
    },
  };
}

const saturated: readonly Fault[] = [
  inputFault(
    'input-scaled',
    'Observations are multiplied so much that every unit of the first layer is saturated.',
    (stream) => {
      const factor = rounded(magnitude(stream, 1e3, 1e5));
      return { strength: { factor }, see: (value) => value * factor };
    },
  ),
  inputFault(
    'input-offset',
    'Observations carry a large offset, beside which what they say does not count.',
    (stream) => {
      const offset = rounded(magnitude(stream, 300, 3000));
      return { strength: { offset }, see: (value) => value + offset };
    },
  ),
  inputFault(
    'input-one-feature',
    'One entry of the observation is in other units and saturates the first layer alone.',
    (stream, entries) => {
      const entry = stream.below(entries);
      const size = rounded(magnitude(stream, 3e3, 1e5));
      return { strength: { entry, size }, see: (value, at) => (at === entry ? size * (1 + value) : value) };
    },
  ),
];

const collapsed: readonly Fault[] = [
  {
    id: 'head-gain-huge',
    cause: 'policy-collapsed',
    stage: 'settings',
    sentence: 'The head is initialised so large that every choice is certain before anything was learnt.',
    shows: ['samples.logits', 'samples.old_logp'],
    make(stream) {
      const headGain = rounded(magnitude(stream, 100, 1000));
      // A rate in proportion, or the steps of the few undecided rows would overshoot, which is another fault.
      const learningRate = rounded(1e-3 / headGain);
      return {
        strength: { headGain, learningRate },
        settings: {
          network: { headGain },
          ppo: { learningRate, headLearningRate: null, criticLearningRate: null, adaptiveKl: null },
        },
      };
    },
  },
  {
    id: 'head-bias-decides',
    cause: 'policy-collapsed',
    stage: 'collect',
    sentence:
      "The head's bias ranks the actions so strongly that one is certain from the first step on, whatever is seen.",
    shows: ['samples.logits', 'samples.action'],
    needs: ['fixed-head'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      const bias = rounded(between(stream, 20, 40));
      const ranks = stream.shuffle(Int32Array.from({ length: context.traits.actions }, (_, rank) => rank));
      return {
        strength: { ...scope.strength, bias },
        stages: (clean) => ({
          collect(collector, batch) {
            if (collector.iteration === 0)
              for (const learner of collector.learners) if (scope.learner(learner)) addBias(learner, bias, ranks);
            clean.collect(collector, batch);
          },
        }),
      };
    },
  },
];

/** Whatever the list and the mask leave, the first of the ranking has all probability. */
function addBias({ policy }: Learner, bias: number, ranks: Int32Array): void {
  policy.parameters.forEach(({ role, shape }, index) => {
    if (role !== 'head' || shape.length > 1) return;
    policy.write(
      index,
      policy.read(index).map((value, action) => value + bias * ranks[action]),
    );
  });
}

export const networkFaults: readonly Fault[] = [...flat, ...saturated, ...collapsed];
