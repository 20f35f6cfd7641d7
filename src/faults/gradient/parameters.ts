/** Faults that move parameters other than by the gradient: reloaded, drawn anew, copied, decayed. */
import type { Learner } from '../../algorithms/learner.ts';
import type { TrainJob } from '../../algorithms/ppo/update.ts';
import type { RandomStream } from '../../math/random.ts';
import type { Policy } from '../../net/types.ts';
import type { Stages } from '../../training/stages.ts';
import { between, type Fault, type FaultContext, magnitude, rounded, whole } from '../fault.ts';
import { iterationOf } from '../row-order.ts';
import { Scope } from '../scope.ts';

const readAll = (policy: Policy) => policy.parameters.map((_, index) => policy.read(index));

function writeAll(policy: Policy, values: readonly Float32Array[]): void {
  values.forEach((value, index) => {
    policy.write(index, value);
  });
}

/** Every so many iterations, counted from the onset; never in the first, which has nothing earlier to return to. */
function due(scope: Scope, every: number, iteration: number): boolean {
  return iteration > 0 && scope.begun(iteration) && (iteration - scope.onset) % every === 0;
}

/** Loads the parameters that a policy had in the run's first iteration. */
function reloaded(id: string, sentence: string, when: 'collect' | 'prepare'): Fault {
  return {
    id,
    cause: 'parameters-overwritten',
    stage: when,
    sentence,
    shows: when === 'collect' ? ['samples.logits'] : ['replays.new_logp'],
    needs: ['several-iterations'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      const every = context.iterations > 6 ? whole(stream, 1, 3) : 1;
      const first = new Map<number, Float32Array[]>();
      const visit = (learner: Learner, iteration: number) => {
        const kept = first.get(learner.index);
        if (!kept) first.set(learner.index, readAll(learner.policy));
        else if (scope.learner(learner) && due(scope, every, iteration)) writeAll(learner.policy, kept);
      };
      return {
        strength: { ...scope.strength, every },
        stages: (clean) =>
          when === 'collect'
            ? {
                collect(collector, batch) {
                  for (const learner of collector.learners) visit(learner, collector.iteration);
                  clean.collect(collector, batch);
                },
              }
            : {
                prepare(batch, rows, count, learner, ppo, into) {
                  visit(learner, iterationOf(batch));
                  return clean.prepare(batch, rows, count, learner, ppo, into);
                },
              },
      };
    },
  };
}

/** A change of parameters in the step itself, so that the step's own measure of change sees it. */
export function overwrittenInStep(
  of: Pick<Fault, 'id' | 'sentence' | 'needs'> & Partial<Pick<Fault, 'cause'>>,
  draw: (
    stream: RandomStream,
    context: FaultContext,
  ) => {
    strength: Record<string, number>;
    /** Changes what is to be written; false leaves the parameters alone. */
    change: (values: Float32Array[], job: TrainJob, jobs: readonly TrainJob[]) => boolean;
  },
  onset = true,
): Fault {
  return {
    cause: 'parameters-overwritten',
    ...of,
    stage: 'step',
    shows: ['tensors.delta', 'replays.after_logp'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset });
      const { strength, change } = draw(stream, context);
      return {
        strength: { ...scope.strength, ...strength },
        stages: (clean) => ({
          step(engine, jobs) {
            const struckJobs = jobs.map((job) => scope.begun(job.iteration) && scope.learner(job.learner));
            const before = jobs.map((job, j) => (struckJobs[j] ? readAll(job.policy) : []));
            const reports = clean.step(engine, jobs);
            return reports.map((report, j) => {
              const job = jobs[j];
              if (!struckJobs[j]) return report;
              const values = readAll(job.policy);
              if (!change(values, job, jobs)) return report;
              writeAll(job.policy, values);
              if (!report.tensors) return report;
              return {
                ...report,
                tensors: report.tensors.map((tensor, i) => ({ ...tensor, ...moved(before[j][i], values[i]) })),
              };
            });
          },
        }),
      };
    },
  };
}

function moved(before: Float32Array, after: Float32Array) {
  let delta = 0;
  let squares = 0;
  let norm = 0;
  for (let i = 0; i < after.length; i++) {
    delta += Math.abs(after[i] - before[i]);
    squares += (after[i] - before[i]) ** 2;
    norm += after[i] ** 2;
  }
  return { delta, deltaNorm: Math.sqrt(squares), norm: Math.sqrt(norm) };
}

/** The last step of an update that was not stopped early. */
const lastStep = (job: TrainJob, { settings }: FaultContext) =>
  job.end === job.rows.length && job.epoch === settings.ppo.epochs - 1;

const overwritten: readonly Fault[] = [
  reloaded(
    'parameters-reloaded',
    'Every few iterations the policy is loaded from the first checkpoint before it plays.',
    'collect',
  ),
  reloaded(
    'parameters-reloaded-before-update',
    'Every few iterations the policy is loaded from the first checkpoint between playing and updating.',
    'prepare',
  ),
  overwrittenInStep(
    {
      id: 'parameters-reinitialised',
      sentence: "The actor's last layer is drawn anew at the end of an update.",
    },
    (stream, context) => {
      const every = whole(stream, 1, 2);
      const size = rounded(between(stream, 0.1, 0.5));
      return {
        strength: { every, size },
        change(values, job) {
          if (!lastStep(job, context) || job.iteration % every !== 0) return false;
          job.policy.parameters.forEach(({ role, shape }, index) => {
            if (role !== 'head') return;
            for (let i = 0; i < values[index].length; i++)
              values[index][i] = shape.length > 1 ? size * stream.normal() : 0;
          });
          return true;
        },
      };
    },
  ),
  overwrittenInStep(
    {
      id: 'parameters-pulled-to-copy',
      sentence:
        'At the end of some updates the policy is pulled back to a copy of its first self, which should only have followed it.',
      needs: ['several-iterations'],
    },
    (stream, context) => {
      const pull = rounded(between(stream, 0.6, 1));
      const every = context.iterations > 6 ? whole(stream, 2, 3) : 2;
      const copies = new Map<number, Float32Array[]>();
      return {
        strength: { pull, every },
        change(values, job) {
          const copy = copies.get(job.learner.index) ?? values.map((value) => value.slice());
          copies.set(job.learner.index, copy);
          if (!lastStep(job, context) || (job.iteration + 1) % every !== 0) return false;
          values.forEach((value, index) => {
            for (let i = 0; i < value.length; i++) value[i] += pull * (copy[index][i] - value[i]);
          });
          return true;
        },
      };
    },
  ),
  overwrittenInStep(
    {
      id: 'parameters-copied-from-agent',
      sentence: "After a step every policy is given the first one's parameters.",
      needs: ['separate'],
    },
    () => ({
      strength: {},
      change(values, job, jobs) {
        const first = jobs.reduce((least, other) => (other.learner.index < least.learner.index ? other : least));
        if (first === job || job.minibatch > 0 || job.epoch > 0) return false;
        readAll(first.policy).forEach((value, index) => {
          values[index].set(value);
        });
        return true;
      },
    }),
  ),
];

/** Writes the decay into the actor's optimiser groups, where the recording shows it. */
function withDecay(clean: Stages, strikes: (job: TrainJob) => boolean, weightDecay: number): Pick<Stages, 'loss'> {
  return {
    loss(job) {
      const made = clean.loss(job);
      if (!strikes(job)) return made;
      const { trunk, head, critic } = made.settings.groups;
      const groups = { trunk: { ...trunk, weightDecay }, head: { ...head, weightDecay }, critic };
      return { ...made, settings: { ...made.settings, groups } };
    },
  };
}

/** After a step without decay, every parameter of the actor shrinks by rate times decay. */
function decoupledStep(clean: Stages, strikes: (job: TrainJob) => boolean): Stages['step'] {
  return (engine, jobs) => {
    const before = jobs.map((job) => (strikes(job) ? readAll(job.policy) : null));
    const reports = clean.step(
      engine,
      jobs.map((job) => (strikes(job) ? { ...job, settings: { ...job.settings, groups: undecayed(job) } } : job)),
    );
    return reports.map((report, j) => {
      const { policy, settings } = jobs[j];
      const earlier = before[j];
      if (!earlier) return report;
      const after = readAll(policy).map((values, index) => {
        const { learningRate, weightDecay } = settings.groups[policy.parameters[index].role];
        return values.map((value, i) => value - learningRate * weightDecay * earlier[index][i]);
      });
      writeAll(policy, after);
      const tensors = report.tensors?.map((tensor, i) => ({ ...tensor, ...moved(earlier[i], after[i]) }));
      return tensors ? { ...report, tensors } : report;
    });
  };
}

function undecayed({ settings }: TrainJob): TrainJob['settings']['groups'] {
  const { trunk, head, critic } = settings.groups;
  const without = (group: typeof trunk) => ({ ...group, weightDecay: 0 });
  return { trunk: without(trunk), head: without(head), critic: without(critic) };
}

const decays: readonly Fault[] = [
  {
    id: 'weight-decay-coupled',
    cause: 'weight-decay-pull',
    stage: 'settings',
    sentence: 'Weight decay is so strong that inside Adam it outweighs the gradient.',
    shows: ['tensors.weight_decay', 'tensors.norm'],
    make(stream) {
      const weightDecay = rounded(magnitude(stream, 0.1, 0.6));
      return { strength: { weightDecay }, settings: { ppo: { weightDecay } } };
    },
  },
  {
    id: 'weight-decay-undeclared',
    cause: 'weight-decay-pull',
    stage: 'loss',
    sentence: "The actor's optimiser groups carry a strong decay that the settings do not mention.",
    shows: ['tensors.weight_decay', 'tensors.norm'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const weightDecay = rounded(magnitude(stream, 0.1, 0.6));
      const strikes = (job: TrainJob) => scope.begun(job.iteration) && scope.learner(job.learner);
      return {
        strength: { ...scope.strength, weightDecay },
        stages: (clean) => withDecay(clean, strikes, weightDecay),
      };
    },
  },
  {
    id: 'weight-decay-decoupled',
    cause: 'weight-decay-pull',
    stage: 'step',
    sentence: 'Decay beside Adam shrinks the actor more in every step than the gradient moves it.',
    shows: ['tensors.weight_decay', 'tensors.delta_norm'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const weightDecay = rounded(magnitude(stream, 20, 60));
      const strikes = (job: TrainJob) => scope.begun(job.iteration) && scope.learner(job.learner);
      return {
        strength: { ...scope.strength, weightDecay },
        stages: (clean) => ({
          ...withDecay(clean, strikes, weightDecay),
          step: decoupledStep(clean, strikes),
        }),
      };
    },
  },
];

export const parameterFaults: readonly Fault[] = [...overwritten, ...decays];
