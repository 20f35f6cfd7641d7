/** Independent PPO: every critic sees what its actor sees, and nothing accompanies the policies. */
import type { Algorithm } from '../algorithm.ts';
import { ownView } from '../mappo/critic-view.ts';
import { ppoUpdate } from './update.ts';

export const ppo: Algorithm = {
  name: 'ppo',
  meaning: 'judges from what an agent sees',
  view: () => ownView,
  update: ppoUpdate,
  crew: () => null,
  searches: () => false,
  modelsOf: () => null,
};
