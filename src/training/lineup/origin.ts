/** What goes from one run into another with an agent: its policy, the models that accompany it, and how it learnt. Everything else of a checkpoint stays behind. */

import { algorithms } from '../../algorithms/index.ts';
import type { LearnerPlan, SeatSettings } from '../../algorithms/learner.ts';
import { gameMaker } from '../../games/index.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { type Checkpoint, decodeCheckpoint } from '../checkpoint.ts';
import { agentNames } from '../collect/seating.ts';
import { groupPlans } from './crews.ts';
import type { OriginWords } from './entry.ts';
import { readLineup } from './lineup.ts';

export interface Origin {
  readonly seat: SeatSettings;
  readonly learner: Checkpoint['learners'][number];
  /** What the crew kept of it; null where nothing accompanied it. */
  readonly models: unknown;
  readonly iteration: number;
  readonly kernel: string;
  /** What its policy was made for. */
  readonly game: { name: string; seats: number; observation: number; actions: number; features: number };
}

/** By what was written in the entry, `RUN#agent`. */
export type Origins = Readonly<Record<string, Origin>>;

/** The agent of a checkpoint whose place `words` name; `name` is who it becomes. */
export function readOrigin(bytes: Uint8Array, words: OriginWords, name: string): Origin {
  const checkpoint = decodeCheckpoint(bytes);
  const { settings, iteration, kernel } = checkpoint;
  const game = gameMaker(settings.game, settings.gameSettings)(1);
  const names = agentNames(settings, game);
  const { plans, learning } = readLineup(names, settings, checkpoint.origins ?? {});
  const wanted = words.agent ?? name;
  const agent = names.indexOf(wanted);
  // One learner alone, or one for all, plays for anybody.
  const plan = plans.find(({ agents }) => agents.includes(agent)) ?? (words.agent === null ? plans[0] : undefined);
  if (!plan)
    throw new BadInput(
      told(
        `no policy of the run plays ${wanted}; its learning agents are ${plans.flatMap(({ agents }) => agents.map((one) => names[one])).join(', ')}`,
        `训练里没有策略玩 ${wanted}；它的学习智能体有 ${plans.flatMap(({ agents }) => agents.map((one) => names[one])).join(', ')}`,
      ),
    );
  const { seats, observation, actions, features } = game.shape;
  return {
    seat: plan.seat,
    learner: checkpoint.learners[plan.index],
    models: modelsOf(checkpoint, plans, learning, plan),
    iteration,
    kernel,
    game: { name: settings.game, seats, observation, actions, features },
  };
}

function modelsOf({ crew }: Checkpoint, plans: readonly LearnerPlan[], learning: number, plan: LearnerPlan): unknown {
  const groups = groupPlans(plans, learning);
  const group = groups.findIndex((own) => own.includes(plan));
  const saved = groups.length === 1 ? crew : ((crew as unknown[] | null)?.[group] ?? null);
  return algorithms[plan.seat.algorithm].modelsOf(saved, groups[group].indexOf(plan));
}

/** Refuses an agent that was made for another game, in one sentence. */
export function requireFit(origin: Origin, key: string, shape: Origin['game']): void {
  for (const what of ['seats', 'observation', 'actions', 'features'] as const)
    if (origin.game[what] !== shape[what])
      throw new BadInput(
        told(
          `${key} was trained on ${origin.game.name}, which has ${origin.game[what]} ${what} where ${shape.name} has ${shape[what]}; it cannot play here`,
          `${key} 是在 ${origin.game.name} 上训练的，那里 ${what} 是 ${origin.game[what]}，而 ${shape.name} 是 ${shape[what]}；它不能在这里玩`,
        ),
      );
}
