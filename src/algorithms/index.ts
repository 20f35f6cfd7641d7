/** The algorithms by name, with the settings and the stages that are theirs alone. The only place that lists them. */
import type { Algorithm } from './algorithm.ts';
import { hop } from './hop/hop.ts';
import { type HopSettings, hopSchema } from './hop/settings.ts';
import { cleanHopStages, type HopStages } from './hop/stages.ts';
import { hopPlanner } from './hop-planner/planner.ts';
import { type PlannerSettings, plannerSchema } from './hop-planner/settings.ts';
import { cleanPlannerStages, type PlannerStages } from './hop-planner/stages.ts';
import { mappo } from './mappo/mappo.ts';
import { ppo } from './ppo/ppo.ts';
import { type PpoSettings, ppoSchema } from './ppo/settings.ts';

export const algorithmNames = ['ppo', 'mappo', 'hop', 'hop-planner'] as const;
export type AlgorithmName = (typeof algorithmNames)[number];

export const algorithms: Readonly<Record<AlgorithmName, Algorithm>> = {
  ppo,
  mappo,
  hop,
  'hop-planner': hopPlanner,
};

export interface AlgorithmSettings {
  readonly ppo: PpoSettings;
  readonly hop: HopSettings;
  readonly planner: PlannerSettings;
}

export const algorithmSchemas = {
  ppo: ppoSchema.prefault({}).describe('The learning rule.'),
  hop: hopSchema.prefault({}).describe('What hop has beyond ppo.'),
  planner: plannerSchema.prefault({}).describe('What hop-planner has beyond ppo.'),
};

/** Arrows of the flow that only one algorithm has. */
export interface AlgorithmStages {
  /** The arrows of HOP+ agents, for runs that have them. */
  hop: HopStages;
  /** The arrows of agents that plan. */
  planner: PlannerStages;
}

export const cleanAlgorithmStages: AlgorithmStages = { hop: cleanHopStages, planner: cleanPlannerStages };
