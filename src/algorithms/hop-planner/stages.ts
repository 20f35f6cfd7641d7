/** The arrows of agents that plan, each one function. Agents call them only through one `PlannerStages` object, so what is to be studied broken is replaced from outside. */
import type { Beliefs } from './beliefs.ts';
import type { GoalModel } from './models.ts';

export interface PlannerStages {
  /** A new episode begins in a world. */
  begin(beliefs: Beliefs, world: number): void;
  /** Where the belief lies that `observer` plans with about `other`. */
  belief(beliefs: Beliefs, world: number, observer: number, other: number): number;
  /** A move was seen: the belief at `at` follows its chance under each goal. */
  see(beliefs: Beliefs, at: number, likelihood: Float64Array): void;
  /** The goal that a move counts towards, of those that the game says were reached. */
  label(goal: number, goals: number): number;
  /** The model of the others that a search of this iteration uses. */
  model(current: GoalModel, iteration: number): GoalModel;
  /** The agent whose eyes and critic value what an agent's search has reached. */
  valuedBy(agent: number): number;
  /** Whether moves are drawn at random now and then: in training, but not where an episode is played to be judged. */
  explores(training: boolean, judged: boolean): boolean;
}

export const cleanPlannerStages: PlannerStages = {
  begin: (beliefs, world) => beliefs.begin(world),
  belief: (beliefs, world, observer, other) => beliefs.at(world, observer, other),
  see: (beliefs, at, likelihood) => beliefs.see(at, likelihood, 0),
  label: (goal) => goal,
  model: (current) => current,
  valuedBy: (agent) => agent,
  explores: (training, judged) => training && !judged,
};
