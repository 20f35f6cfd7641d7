/** Faults between the loss and the parameters: gradients that are cut off, parameters that no optimiser holds, losses of another size or shape. */
import type { TrainJob } from '../../algorithms/ppo/update.ts';
import type { Role, UpdateSettings } from '../../net/types.ts';
import type { Stages } from '../../training/stages.ts';
import { between, type Fault, type FaultContext, rounded, type SettingsChange } from '../fault.ts';
import { Scope } from '../scope.ts';
import { bounded, clippedTerm, type MinibatchFigures, type OtherLoss, replaceSurrogate } from '../surrogate.ts';

type Stream = Parameters<Fault['make']>[0];
type Strikes = (job: TrainJob) => boolean;

/** A fault of the step that strikes whole policies. */
function stepFault(
  of: Pick<Fault, 'id' | 'cause' | 'sentence' | 'shows' | 'needs'>,
  stages: (clean: Stages, strikes: Strikes) => Partial<Stages>,
  draw: (stream: Stream) => SettingsChange = () => ({}),
): Fault {
  return {
    ...of,
    stage: 'step',
    make(stream: Stream, context: FaultContext) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const strikes = (job: TrainJob) => scope.begun(job.iteration) && scope.learner(job.learner);
      const settings = draw(stream);
      return { strength: scope.strength, settings, stages: (clean) => stages(clean, strikes) };
    },
  };
}

/** A `step` that runs with other settings than the recorded ones. */
function stepWith(
  clean: Stages,
  strikes: Strikes,
  change: (settings: UpdateSettings, job: TrainJob) => UpdateSettings,
) {
  return ((engine, jobs) =>
    clean.step(
      engine,
      jobs.map((job) => (strikes(job) ? { ...job, settings: change(job.settings, job) } : job)),
    )) satisfies Stages['step'];
}

const noPush = (): OtherLoss => ({ push: () => 0 });

const detached: readonly Fault[] = [
  stepFault(
    {
      id: 'policy-detached',
      cause: 'policy-detached',
      sentence: 'The log-probabilities of the policy loss carry no gradient; only the entropy bonus moves the actor.',
      shows: ['tensors.grad_norm', 'steps.policy_grad_norm'],
    },
    (clean, strikes) => ({ step: replaceSurrogate(clean, strikes, noPush) }),
  ),
  stepFault(
    {
      id: 'actor-detached',
      cause: 'policy-detached',
      sentence: "The actor's whole output is detached, so no gradient of any kind reaches it.",
      shows: ['tensors.grad_norm', 'steps.policy_grad_norm'],
    },
    (clean, strikes) => {
      const without = {
        ...clean,
        step: stepWith(clean, strikes, (settings) => ({ ...settings, entropyCoefficient: 0 })),
      };
      const step = replaceSurrogate(without, strikes, noPush);
      return { step };
    },
  ),
];

/** The tensors of these roles have a gradient, and no optimiser group holds them. */
function unbound(id: string, cause: string, sentence: string, roles: readonly Role[]): Fault {
  return stepFault({ id, cause, sentence, shows: ['tensors.delta', 'tensors.bound'] }, (clean, strikes) => ({
    loss(job) {
      const made = clean.loss(job);
      if (!strikes(job)) return made;
      const bound = made.policy.parameters.map(({ role }, i) => (roles.includes(role) ? 0 : made.bound[i]));
      return { ...made, bound };
    },
    step: stepWith(clean, strikes, (settings) => {
      const groups = { ...settings.groups };
      for (const role of roles) groups[role] = { learningRate: 0, weightDecay: 0 };
      return { ...settings, groups };
    }),
  }));
}

const unboundFaults: readonly Fault[] = [
  unbound(
    'optimizer-unbound',
    'optimizer-unbound',
    "The optimiser was made before the actor, and holds only the critic's parameters.",
    ['trunk', 'head'],
  ),
  unbound('trunk-unbound', 'optimizer-unbound', "No optimiser holds the parameters of the actor's hidden layers.", [
    'trunk',
  ]),
  unbound('head-unbound', 'head-unbound', "No optimiser holds the parameters of the actor's last layer.", ['head']),
];

const rowsOf = (job: TrainJob) => job.to - job.from;

const summed: readonly Fault[] = [
  stepFault(
    {
      id: 'loss-summed',
      cause: 'loss-summed',
      sentence: 'The loss is the sum over the minibatch, not its mean.',
      shows: ['steps.loss', 'steps.grad_norm'],
    },
    (clean, strikes) => {
      const step = stepWith(clean, strikes, (settings, job) => ({
        ...settings,
        advantageScale: settings.advantageScale * rowsOf(job),
        valueCoefficient: settings.valueCoefficient * rowsOf(job),
        entropyCoefficient: settings.entropyCoefficient * rowsOf(job),
      }));
      return {
        step: (engine, jobs) =>
          step(engine, jobs).map((report, j) =>
            strikes(jobs[j]) ? { ...report, valueLoss: report.valueLoss * rowsOf(jobs[j]) } : report,
          ),
      };
    },
  ),
  stepFault(
    {
      id: 'policy-loss-summed',
      cause: 'loss-summed',
      sentence: 'The policy loss is summed over the minibatch while the value loss and the entropy are means.',
      shows: ['steps.policy_loss', 'steps.grad_norm'],
    },
    (clean, strikes) => ({
      step: stepWith(clean, strikes, (settings, job) => ({
        ...settings,
        advantageScale: settings.advantageScale * rowsOf(job),
      })),
    }),
  ),
];

/** The mean over all pairs of a row's ratio with a row's advantage. Sums over advantages of one sign make it linear in the rows. */
function outerProduct({ ratios, advantages, clip }: MinibatchFigures): OtherLoss {
  const rows = ratios.length;
  let gains = 0;
  let losses = 0;
  for (const advantage of advantages) {
    if (advantage > 0) gains += advantage;
    else losses += advantage;
  }
  const free = (ratio: number) => {
    // For gains the bounded term is the smaller one above the band, for losses below it; there it is a constant.
    const up = bounded(ratio, clip) < ratio ? 0 : gains;
    const down = bounded(ratio, clip) > ratio ? 0 : losses;
    return (up + down) / rows;
  };
  let sum = 0;
  for (const ratio of ratios) sum += clippedTerm(ratio, gains, clip) + clippedTerm(ratio, losses, clip);
  return { push: (i) => free(ratios[i]), loss: -sum / (rows * rows) };
}

const broadcast: readonly Fault[] = [
  stepFault(
    {
      id: 'broadcast-advantage',
      cause: 'broadcast-mismatch',
      sentence: 'Ratios of shape (B) meet advantages of shape (B, 1), so the policy loss is a mean over all pairs.',
      shows: ['steps.policy_loss', 'replays.after_logp'],
    },
    (clean, strikes) => ({ step: replaceSurrogate(clean, strikes, outerProduct) }),
  ),
  stepFault(
    {
      id: 'broadcast-value',
      cause: 'broadcast-mismatch',
      sentence: 'Values of shape (B, 1) meet returns of shape (B), so the value loss is a mean over all pairs.',
      shows: ['steps.value_loss'],
    },
    (clean, strikes) => ({ step: outerValueLoss(clean, strikes) }),
    () => ({ ppo: { valueLoss: 'mse', valueClip: null } }),
  ),
];

/** The mean of (v_i - R_j)^2 over all pairs pulls every value to the mean return, and exceeds that pull's loss by the returns' variance. */
function outerValueLoss(clean: Stages, strikes: Strikes): Stages['step'] {
  return (engine, jobs) => {
    const spread = new Map<TrainJob, number>();
    const reports = clean.step(
      engine,
      jobs.map((job) => {
        if (!strikes(job)) return job;
        let mean = 0;
        let squares = 0;
        for (let i = job.from; i < job.to; i++) mean += job.rows.return[job.order[i]] / rowsOf(job);
        for (let i = job.from; i < job.to; i++) squares += (job.rows.return[job.order[i]] - mean) ** 2;
        spread.set(job, squares / rowsOf(job));
        const returns = job.rows.return.slice();
        for (let i = job.from; i < job.to; i++) returns[job.order[i]] = mean;
        return { ...job, rows: { ...job.rows, return: returns } };
      }),
    );
    return reports.map((report, j) => {
      const more = spread.get(jobs[j]) ?? 0;
      return {
        ...report,
        valueLoss: report.valueLoss + more,
        loss: report.loss + jobs[j].settings.valueCoefficient * more,
      };
    });
  };
}

/** What the loss pays for spread-out choices has the wrong sign, in the code or in what the user declared. */
const entropySign: readonly Fault[] = [
  stepFault(
    {
      id: 'entropy-sign-flipped',
      cause: 'entropy-sign-flipped',
      sentence: 'The entropy is added to the loss where it should be subtracted.',
      shows: ['steps.loss', 'replays.after_logp'],
    },
    (clean, strikes) => ({
      step: stepWith(clean, strikes, (settings) => ({ ...settings, entropyCoefficient: -settings.entropyCoefficient })),
    }),
    (stream) => ({ ppo: { entropyCoefficient: rounded(between(stream, 0.01, 0.05)) } }),
  ),
];

export const flowFaults: readonly Fault[] = [...detached, ...unboundFaults, ...summed, ...broadcast, ...entropySign];
