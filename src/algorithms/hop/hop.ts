/** HOP+: PPO whose policies are accompanied by models of the world, of the other agents and of their subgoals. Without all of them it is PPO, bit for bit. */
import type { Algorithm } from '../algorithm.ts';
import { ppo } from '../ppo/ppo.ts';
import { HopCrew, type SavedHop } from './crew.ts';
import { hopModules } from './settings.ts';

export const hop: Algorithm = {
  ...ppo,
  name: 'hop',
  meaning: 'adds models of the world and of the other agents',
  crew: (run) => (hopModules.some((module) => !run.settings.hop.without.includes(module)) ? new HopCrew(run) : null),
  modelsOf: (saved, position) => (saved as SavedHop | null)?.agents[position] ?? null,
};
