/** HOP+: PPO whose policies are accompanied by models of the world, of the other agents and of their subgoals. Without all of them it is PPO, bit for bit. */
import type { Algorithm } from '../algorithm.ts';
import { searchedUpdate } from '../hop-planner/update.ts';
import { ppo } from '../ppo/ppo.ts';
import { HopCrew, type SavedHop } from './crew.ts';
import { hopModules } from './settings.ts';

export const hop: Algorithm = {
  ...ppo,
  name: 'hop',
  meaning: 'adds models of the world and of the other agents',
  searches: ({ hop }) => hop.planner !== 'off',
  update: searchedUpdate,
  crew: (run) => {
    const { without, planner } = run.settings.hop;
    const uses = planner !== 'off' || hopModules.some((module) => !without.includes(module));
    return uses ? new HopCrew(run) : null;
  },
  modelsOf: (saved, position) => (saved as SavedHop | null)?.agents[position] ?? null,
};
