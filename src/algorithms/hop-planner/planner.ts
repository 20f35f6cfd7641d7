/** HOP (Huang et al., ICML 2024): beliefs about the others' goals, models of how they pursue them, and tree search for the best response. Its networks learn what the search found. */
import type { Algorithm } from '../algorithm.ts';
import { ppo } from '../ppo/ppo.ts';
import { type AdoptedPlanner, PlannerCrew, type SavedPlanner } from './crew.ts';
import { searchedUpdate } from './update.ts';

export const hopPlanner: Algorithm = {
  ...ppo,
  name: 'hop-planner',
  meaning: "plans by tree search with beliefs about the others' goals",
  searches: ({ planner }) => !planner.without.includes('planner'),
  update: searchedUpdate,
  crew: (run) => new PlannerCrew(run),
  modelsOf: (saved, position): AdoptedPlanner | null => {
    const of = saved as SavedPlanner | null;
    return of ? { model: of.models[position] ?? null, rules: of.rules?.model ?? null } : null;
  },
};
