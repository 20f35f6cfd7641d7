/** The arrows of agents that plan, each one function. Agents call them only through one `PlannerStages` object, so what is to be studied broken is replaced from outside. */
import type { Beliefs } from './beliefs.ts';

export interface PlannerStages {
  /** A new episode begins in a world. */
  begin(beliefs: Beliefs, world: number): void;
  /** Where the belief lies that `observer` plans with about `other`. */
  belief(beliefs: Beliefs, world: number, observer: number, other: number): number;
  /** The goal that a move counts towards, of those that the game says were reached. */
  label(goal: number, goals: number): number;
  /** Whether moves are drawn at random now and then. */
  explores(training: boolean): boolean;
}

export const cleanPlannerStages: PlannerStages = {
  begin: (beliefs, world) => beliefs.begin(world),
  belief: (beliefs, world, observer, other) => beliefs.at(world, observer, other),
  label: (goal) => goal,
  explores: (training) => training,
};
