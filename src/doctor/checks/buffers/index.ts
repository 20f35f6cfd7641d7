/** Every check of replay buffers, in the order in which a report shows them. They are asked only where there are targets. */
import type { Check } from '../../check.ts';
import { targetNetworks } from './copies.ts';
import { criticLoss } from './critic-loss.ts';
import { priorities } from './priorities.ts';
import { actorPush } from './push.ts';
import { softDensity } from './soft-density.ts';
import { storage } from './storage.ts';
import { targets } from './targets.ts';
import { temperature } from './temperature.ts';

export const bufferChecks: readonly Check[] = [
  storage,
  targets,
  softDensity,
  targetNetworks,
  criticLoss,
  actorPush,
  priorities,
  temperature,
];
