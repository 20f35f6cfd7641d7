/** A learning policy: its networks, its value normaliser and what it has adapted. Its name, not its number, chooses its random streams. */
import { RandomStream } from '../math/random.ts';
import type { Engine, Policy, PolicyShape } from '../net/types.ts';
import type { HopSettings } from './hop/settings.ts';
import type { PlannerSettings } from './hop-planner/settings.ts';
import type { AlgorithmName } from './index.ts';
import type { CriticView } from './mappo/critic-view.ts';
import type { NetworkSettings, PpoSettings } from './ppo/settings.ts';
import { ValueNormaliser } from './ppo/value-normaliser.ts';

/** A policy that learns, and whom it plays for. */
export interface Learner {
  readonly index: number;
  /** Names its random streams, so a policy does not depend on its number. */
  readonly name: string;
  /** The agents whose rows it learns from: one of its own, or all that share it. */
  readonly agents: readonly number[];
  readonly policy: Policy;
  /** How long what its policy sees is, and what its critic sees. */
  readonly inputs: number;
  readonly view: CriticView;
  readonly seat: SeatSettings;
  /** Whether it chooses by search. */
  readonly searches: boolean;
  readonly normaliser: ValueNormaliser;
  /** What adaptiveKl has made of the learning rates. */
  rateFactor: number;
  /** Updates that took at least one optimiser step. */
  updates: number;
}

/** How an agent learns: with which algorithm and which of its settings, which may differ from seat to seat. */
export interface SeatSettings {
  readonly algorithm: AlgorithmName;
  readonly ppo: PpoSettings;
  readonly hop: HopSettings;
  readonly planner: PlannerSettings;
  readonly network: NetworkSettings;
}

/** What a learner is made for. */
export interface LearnerPlan {
  index: number;
  name: string;
  agents: number[];
  seat: SeatSettings;
}

/** What the networks must fit; every game has it. */
export interface DecisionShape {
  readonly observation: number;
  readonly actions: number;
  readonly features: number;
}

export function policyShape(game: DecisionShape, criticInputs: number, network: NetworkSettings): PolicyShape {
  const head = network.head === 'auto' ? (game.features > 0 ? 'pointer' : 'fixed') : network.head;
  const common = { activation: network.activation, hiddenGain: network.gain };
  return {
    head,
    features: head === 'pointer' ? game.features : 0,
    actor: {
      ...common,
      inputs: game.observation + (head === 'pointer' ? game.features : 0),
      hidden: network.hidden,
      outputs: head === 'pointer' ? 1 : game.actions,
      outputGain: network.headGain,
    },
    critic: {
      ...common,
      inputs: criticInputs,
      hidden: network.criticHidden ?? network.hidden,
      outputs: 1,
      outputGain: network.criticGain,
    },
  };
}

export function makeLearner(
  engine: Engine,
  game: DecisionShape,
  who: LearnerPlan,
  view: CriticView,
  /** How many values follow the observation in what the policy sees. */
  accompanying: number,
  searches: boolean,
  seed: number,
): Learner {
  const inputs = game.observation + accompanying;
  const shape = policyShape({ ...game, observation: inputs }, view.width || inputs, who.seat.network);
  const policy = engine.policy(shape, RandomStream.of(seed, 'initialise', who.name));
  const normaliser = new ValueNormaliser(who.seat.ppo.valueNormalisation);
  return { ...who, policy, inputs, view, searches, normaliser, rateFactor: 1, updates: 0 };
}

/** Draws the policy head anew with another gain; trunk and critic stay. */
export function reinitialiseHead(
  engine: Engine,
  learner: Learner,
  gain: number,
  seed: number,
  iteration: number,
): void {
  const { shape } = learner.policy;
  const stream = RandomStream.of(seed, 'reinitialise', learner.name, iteration);
  const fresh = engine.policy({ ...shape, actor: { ...shape.actor, outputGain: gain } }, stream);
  learner.policy.parameters.forEach((parameter, index) => {
    if (parameter.role === 'head') learner.policy.write(index, fresh.read(index));
  });
}
