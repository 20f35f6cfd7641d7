/** MAPPO: the loss and the update of PPO, with a critic that sees the joint state. */
import type { Algorithm } from '../algorithm.ts';
import { ppo } from '../ppo/ppo.ts';
import { centralView } from './critic-view.ts';

export const mappo: Algorithm = {
  ...ppo,
  name: 'mappo',
  meaning: 'has a critic that sees the joint state',
  view: centralView,
};
