/** What a run declares about itself in its recording. */
import type { Learner } from '../../algorithms/learner.ts';
import type { Game } from '../../games/game.ts';
import type { Engine } from '../../net/types.ts';
import type { Manifest } from '../../recording/manifest.ts';
import type { Seating } from '../collect/seating.ts';
import type { Settings } from '../settings.ts';

export function makeManifest(
  settings: Settings,
  game: Game,
  seating: Seating,
  learners: readonly Learner[],
  engine: Pick<Engine, 'kernel' | 'engine'>,
  version: string,
): Manifest {
  const { ppo } = settings;
  const declared = {
    gamma: ppo.gamma,
    lambda: ppo.lambda,
    clip: ppo.clip,
    epochs: ppo.epochs,
    minibatches: ppo.minibatches,
    learning_rate: ppo.learningRate,
    head_learning_rate: ppo.headLearningRate ?? ppo.learningRate,
    critic_learning_rate: ppo.criticLearningRate ?? ppo.learningRate,
    entropy_coefficient: ppo.entropyCoefficient,
    value_coefficient: ppo.valueCoefficient,
    value_loss: ppo.valueLoss,
    value_clip: ppo.valueClip,
    value_normalisation: ppo.valueNormalisation,
    weight_decay: ppo.weightDecay,
    ...(ppo.headWeightDecay === null ? {} : { head_weight_decay: ppo.headWeightDecay }),
    max_grad_norm: ppo.maxGradNorm,
    target_kl: ppo.targetKl,
    adaptive_kl: ppo.adaptiveKl,
    advantage_normalisation: ppo.advantageNormalisation,
    advantage_clamp: ppo.advantageClamp,
    optimizer: { name: 'adam', betas: [0.9, 0.999], eps: ppo.adamEpsilon, decoupled_decay: false },
  };
  const mixed = learners.some(({ seat }) => seat.algorithm !== settings.algorithm);
  const own = ({ seat, searches }: Learner) => ({
    ...(mixed ? { algorithm: seat.algorithm } : {}),
    learning_rate: seat.ppo.learningRate,
    entropy_coefficient: seat.ppo.entropyCoefficient,
    clip: seat.ppo.clip,
    gamma: ppo.gamma,
    lambda: ppo.lambda,
    ...(seat.algorithm === 'hop' ? { hop: seat.hop } : {}),
    ...(searches || seat.algorithm === 'hop-planner' ? { planner: seat.planner } : {}),
  });
  return {
    format: 'trueline/1',
    name: settings.name ?? `${settings.game}-seed-${settings.seed}`,
    seed: settings.seed,
    algorithm: settings.algorithm,
    agents: seating.names.map((name, agent) => {
      const learner = learners[seating.learnerOf[agent]];
      const entry = settings.players?.[agent];
      if (!learner) return { name, player: entry };
      // Who sits there is said as it was asked for, where that is more than to learn.
      const asked = entry === undefined || entry === 'learn' ? {} : { seat: entry, algorithm: learner.seat.algorithm };
      return { name, policy: learner.index, ...asked };
    }),
    policies: learners.map((learner) => ({ name: learner.name })),
    tensors: learners.flatMap((learner) =>
      learner.policy.parameters.map(({ name, role, size }) => ({ name, policy: learner.index, role, size })),
    ),
    settings: declared,
    agent_settings: seating.names.map((_, agent) => {
      const learner = learners[seating.learnerOf[agent]];
      return learner ? own(learner) : {};
    }),
    environment: { name: game.name, seats: game.shape.seats, worlds: game.worlds, settings: game.settings },
    writer: { name: 'trueline', version, kernel: engine.kernel, engine: engine.engine },
    run: settings,
  };
}

/** Where each learner's tensors begin in the manifest's list. */
export function firstTensors(learners: readonly Learner[]): number[] {
  let next = 0;
  return learners.map((learner) => {
    const first = next;
    next += learner.policy.parameters.length;
    return first;
  });
}
