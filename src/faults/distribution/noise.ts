/** Faults of a forward pass that draws lots: noise or dropout is on where it should be off, so no pass gives the same twice. */
import type { LearnerRows, TrainJob } from '../../algorithms/ppo/update.ts';
import type { RandomStream } from '../../math/random.ts';
import type { Policy } from '../../net/types.ts';
import type { Stages } from '../../training/stages.ts';
import { between, type Fault, rounded } from '../fault.ts';
import { Scope } from '../scope.ts';

/** Changes one observation entry. */
type Disturb = (value: number) => number;

function noisy(observations: Float32Array, disturb: Disturb): Float32Array {
  return observations.map(disturb);
}

/** Every pass of the update, the second one that only measures included, sees observations that were disturbed anew. */
function disturbUpdate(clean: Stages, strikes: (job: TrainJob) => boolean, disturb: Disturb): Partial<Stages> {
  const undisturbed = new WeakMap<LearnerRows, Float32Array>();
  const disturbed = (job: TrainJob, observations: Float32Array): TrainJob => {
    // The critic keeps what it saw; only the policy's pass is noisy.
    const rows = { ...job.rows, obs: noisy(observations, disturb) };
    undisturbed.set(rows, observations);
    return { ...job, rows };
  };
  return {
    loss(job) {
      const made = clean.loss(job);
      return strikes(job) ? disturbed(made, made.rows.obs) : made;
    },
    evaluate(job, from, to, out) {
      const observations = undisturbed.get(job.rows);
      clean.evaluate(observations ? disturbed(job, observations) : job, from, to, out);
    },
  };
}

function updateNoise(
  id: string,
  sentence: string,
  draw: (stream: RandomStream) => { strength: number; disturb: Disturb },
): Fault {
  return {
    id,
    cause: 'stochastic-forward',
    stage: 'loss',
    sentence,
    shows: ['replays.new_logp', 'replays.again_logp'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const { strength, disturb } = draw(stream);
      const strikes = (job: TrainJob) => scope.begun(job.iteration) && scope.learner(job.learner);
      return {
        strength: { ...scope.strength, noise: strength },
        stages: (clean) => disturbUpdate(clean, strikes, disturb),
      };
    },
  };
}

const parameterNoise: Fault = {
  id: 'noise-on-parameters',
  cause: 'stochastic-forward',
  stage: 'step',
  sentence: "The update's forward pass runs with noise on the actor's parameters, drawn anew for every minibatch.",
  shows: ['replays.new_logp', 'replays.again_logp'],
  make(stream, context) {
    const scope = Scope.draw(stream, context, { agents: 'policies' });
    const noise = rounded(between(stream, 0.1, 0.4));
    const strikes = (job: TrainJob) => scope.begun(job.iteration) && scope.learner(job.learner);
    return {
      strength: { ...scope.strength, noise },
      stages: (clean) => ({
        step(engine, jobs) {
          const shifts = jobs.map((job) => (strikes(job) ? disturbParameters(job.policy, noise, stream) : null));
          const reports = clean.step(engine, jobs);
          jobs.forEach((job, j) => {
            for (const [index, shift] of shifts[j] ?? [])
              job.policy.write(
                index,
                job.policy.read(index).map((value, i) => value - shift[i]),
              );
          });
          return reports;
        },
        evaluate(job, from, to, out) {
          if (!strikes(job)) return clean.evaluate(job, from, to, out);
          const own = job.policy.parameters.map((_, index) => job.policy.read(index));
          disturbParameters(job.policy, noise, stream);
          clean.evaluate(job, from, to, out);
          own.forEach((values, index) => {
            job.policy.write(index, values);
          });
        },
      }),
    };
  },
};

/** Adds noise of a share of each tensor's own size to the actor; returns what was added. */
function disturbParameters(policy: Policy, share: number, stream: RandomStream): Map<number, Float32Array> {
  const shifts = new Map<number, Float32Array>();
  policy.parameters.forEach(({ role, size }, index) => {
    if (role === 'critic') return;
    const values = policy.read(index);
    const size2 = values.reduce((sum, value) => sum + value * value, 0) / size;
    const shift = values.map(() => share * Math.sqrt(size2) * stream.normal());
    policy.write(
      index,
      values.map((value, i) => value + shift[i]),
    );
    shifts.set(index, shift);
  });
  return shifts;
}

const samplingNoise: Fault = {
  id: 'noise-in-sampling',
  // Passes of the update agree with each other; what it sees is not what acting saw.
  cause: 'inputs-differ',
  stage: 'act',
  sentence: 'Sampling sees observations with noise that the update, which has the clean ones, does not.',
  shows: ['samples.old_logp', 'samples.logits'],
  make(stream, context) {
    const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
    const noise = rounded(between(stream, 0.3, 1));
    let iteration = 0;
    return {
      strength: { ...scope.strength, noise },
      stages: (clean) => ({
        collect(collector, batch) {
          iteration = collector.iteration;
          clean.collect(collector, batch);
        },
        act(engine, asked) {
          clean.act(
            engine,
            asked.map((own) => {
              if (own.rows.length === 0 || !scope.begun(iteration) || !scope.learner(own.learner)) return own;
              const obs = noisy(own.rows.obs, (value) => value + noise * stream.normal());
              return { ...own, rows: { ...own.rows, obs } };
            }),
          );
        },
      }),
    };
  },
};

export const noiseFaults: readonly Fault[] = [
  updateNoise('noise-in-update', "The update's forward pass adds noise to the observations.", (stream) => {
    const noise = rounded(between(stream, 0.3, 1));
    return { strength: noise, disturb: (value) => value + noise * stream.normal() };
  }),
  updateNoise('dropout-in-update', "The update's forward pass drops input features at random.", (stream) => {
    const drop = rounded(between(stream, 0.1, 0.4));
    return { strength: drop, disturb: (value) => (stream.uniform() < drop ? 0 : value / (1 - drop)) };
  }),
  parameterNoise,
  samplingNoise,
];
