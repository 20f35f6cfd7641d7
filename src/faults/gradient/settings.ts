/** Faults that are mostly a number: step sizes, the KL stop, coefficients of the loss. The range drawn from is where the number does its harm whatever the game. */

import type { PpoSettings } from '../../algorithms/ppo/settings.ts';
import type { TrainJob } from '../../algorithms/ppo/update.ts';
import type { Role, UpdateSettings } from '../../net/types.ts';
import type { Stages } from '../../training/stages.ts';
import { between, type Fault, type FaultContext, magnitude, rounded } from '../fault.ts';
import { wrapGame } from '../games.ts';
import { Scope } from '../scope.ts';

type Stream = Parameters<Fault['make']>[0];

/** A `loss` whose job has other settings than the run declares. */
function lossWith(clean: Stages, scope: Scope, change: (settings: UpdateSettings, job: TrainJob) => UpdateSettings) {
  return {
    loss(job) {
      const made = clean.loss(job);
      if (!scope.begun(job.iteration) || !scope.learner(job.learner)) return made;
      return { ...made, settings: change(made.settings, job) };
    },
  } satisfies Partial<Stages>;
}

function withRates(settings: UpdateSettings, roles: readonly Role[], rate: (own: number) => number): UpdateSettings {
  const groups = { ...settings.groups };
  for (const role of roles) groups[role] = { ...groups[role], learningRate: rate(groups[role].learningRate) };
  return { ...settings, groups };
}

/** A rate with which all steps of the run together move a logit by less than 1e-3: a step moves every parameter by at most the rate, and a logit has about a hundred. */
function invisibleRate(stream: Stream, { settings, iterations }: FaultContext): number {
  const steps = iterations * settings.ppo.epochs * settings.ppo.minibatches;
  const rate = magnitude(stream, 1e-4, 1e-3) / (100 * steps);
  return rounded(Math.max(1e-10, Math.min(1e-7, rate)));
}

const tooSmall: readonly Fault[] = [
  {
    id: 'learning-rate-tiny',
    cause: 'learning-rate-too-small',
    stage: 'settings',
    sentence: 'The learning rate is set so low that no step can be seen.',
    shows: ['tensors.delta', 'steps.delta_logits'],
    make(stream, context) {
      const learningRate = invisibleRate(stream, context);
      return {
        strength: { learningRate },
        settings: { ppo: { learningRate, headLearningRate: null, criticLearningRate: null, adaptiveKl: null } },
      };
    },
  },
  {
    id: 'learning-rate-scheduled-away',
    cause: 'learning-rate-too-small',
    stage: 'loss',
    sentence: 'A schedule has taken the learning rate down to nothing, whatever is declared.',
    shows: ['tensors.delta', 'tensors.learning_rate'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      const learningRate = invisibleRate(stream, context);
      return {
        strength: { ...scope.strength, learningRate },
        stages: (clean) =>
          lossWith(clean, scope, (settings) => withRates(settings, ['trunk', 'head', 'critic'], () => learningRate)),
      };
    },
  },
  {
    id: 'adam-epsilon-huge',
    cause: 'learning-rate-too-small',
    stage: 'settings',
    sentence: "Adam's epsilon is so large that it swallows every step.",
    shows: ['tensors.delta', 'steps.delta_logits'],
    make(stream) {
      const adamEpsilon = rounded(magnitude(stream, 1e3, 1e5));
      return { strength: { adamEpsilon }, settings: { ppo: { adamEpsilon, adaptiveKl: null } } };
    },
  },
];

/** Nothing that would hold large steps back: many passes, a wide clip, no KL stop. A larger rate alone saturates the network, and then nothing moves any more. */
function overshooting(ppo: PpoSettings): Partial<PpoSettings> {
  return { epochs: Math.max(8, ppo.epochs), clip: Math.max(4, ppo.clip), adaptiveKl: null, targetKl: null };
}

const tooLarge: readonly Fault[] = [
  {
    id: 'learning-rate-huge',
    cause: 'learning-rate-too-large',
    stage: 'settings',
    sentence: 'The learning rate is set so high that every step overshoots.',
    shows: ['tensors.delta', 'steps.kl_after'],
    make(stream, { settings }) {
      const learningRate = rounded(magnitude(stream, 0.05, 0.15));
      return {
        strength: { learningRate },
        settings: {
          ppo: { learningRate, headLearningRate: null, criticLearningRate: null, ...overshooting(settings.ppo) },
        },
      };
    },
  },
  {
    id: 'learning-rate-multiplied',
    cause: 'learning-rate-too-large',
    stage: 'loss',
    sentence: "The actor's learning rate is multiplied on its way to the optimiser.",
    shows: ['tensors.delta', 'tensors.learning_rate'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const learningRate = rounded(magnitude(stream, 0.05, 0.15));
      return {
        strength: { ...scope.strength, learningRate },
        settings: { ppo: overshooting(context.settings.ppo) },
        stages: (clean) =>
          lossWith(clean, scope, (settings) => withRates(settings, ['trunk', 'head'], () => learningRate)),
      };
    },
  },
];

const guards: readonly Fault[] = [
  {
    id: 'kl-guard-tight',
    cause: 'kl-guard-too-tight',
    stage: 'settings',
    sentence: 'The KL at which the passes stop is so small that every update stops after its first steps.',
    shows: ['steps.stopped'],
    make(stream, { settings }) {
      const targetKl = rounded(magnitude(stream, 1e-9, 1e-7));
      const { epochs, minibatches } = settings.ppo;
      return {
        strength: { targetKl },
        settings: { ppo: { targetKl, epochs: epochs * minibatches < 4 ? 4 : epochs } },
      };
    },
  },
];

const entropies: readonly Fault[] = [
  {
    id: 'entropy-bonus-declared',
    cause: 'entropy-bonus-dominates',
    stage: 'settings',
    sentence: 'The entropy coefficient is so large that choices stay spread out whatever they earn.',
    shows: ['steps.loss', 'replays.after_logp'],
    make(stream) {
      const entropyCoefficient = rounded(magnitude(stream, 3, 30));
      return { strength: { entropyCoefficient }, settings: { ppo: { entropyCoefficient } } };
    },
  },
  {
    id: 'entropy-bonus-undeclared',
    cause: 'entropy-bonus-dominates',
    stage: 'loss',
    sentence: 'The loss multiplies the entropy by far more than the coefficient that is declared.',
    shows: ['steps.loss', 'replays.after_logp'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const entropyCoefficient = rounded(magnitude(stream, 3, 30));
      return {
        strength: { ...scope.strength, entropyCoefficient },
        stages: (clean) => lossWith(clean, scope, (settings) => ({ ...settings, entropyCoefficient })),
      };
    },
  },
  {
    id: 'entropy-coefficient-negative',
    cause: 'entropy-sign-flipped',
    stage: 'settings',
    sentence: 'The entropy coefficient is declared negative, so spread-out choices are punished.',
    shows: ['steps.loss', 'replays.after_logp'],
    make(stream) {
      const entropyCoefficient = -rounded(between(stream, 0.01, 0.1));
      return { strength: { entropyCoefficient }, settings: { ppo: { entropyCoefficient } } };
    },
  },
];

const values: readonly Fault[] = [
  {
    id: 'value-coefficient-huge',
    cause: 'value-loss-dominates',
    stage: 'settings',
    sentence:
      "One gradient limit holds for actor and critic, and the critic's coefficient is so large that nothing is left for the actor.",
    shows: ['steps.grad_norm', 'tensors.delta'],
    make(stream, { settings }) {
      const valueCoefficient = rounded(magnitude(stream, 3e4, 3e6));
      const maxGradNorm = settings.ppo.maxGradNorm ?? 0.5;
      return {
        strength: { valueCoefficient },
        settings: { ppo: { valueCoefficient, maxGradNorm, gradClip: 'global' } },
      };
    },
  },
  {
    id: 'value-loss-of-large-returns',
    cause: 'value-loss-dominates',
    stage: 'settings',
    sentence: 'One gradient limit holds for actor and critic, and raw returns are so large that the critic uses it up.',
    shows: ['steps.grad_norm', 'tensors.delta'],
    make(stream, { settings }) {
      const scale = rounded(magnitude(stream, 3e3, 1e5));
      const maxGradNorm = settings.ppo.maxGradNorm ?? 0.5;
      return {
        strength: { scale },
        settings: {
          ppo: {
            valueNormalisation: false,
            maxGradNorm,
            gradClip: 'global',
            valueLoss: 'mse',
            advantageNormalisation: 'batch',
          },
        },
        stages: (clean) => ({ game: (game) => wrapGame(clean.game(game), { reward: (reward) => reward * scale }) }),
      };
    },
  },
];

export const settingFaults: readonly Fault[] = [...tooSmall, ...tooLarge, ...guards, ...entropies, ...values];
