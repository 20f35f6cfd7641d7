/** What must hold of games and of what is learnt on them, on reduced instances. */
import { mustHold } from '../support/accept.ts';
import { findPython } from '../support/run.ts';

mustHold([
  { name: 'city', holds: 'the ladder stands, recordings are valid, and PPO and MAPPO learn', figures: 20 },
  {
    name: 'games',
    holds: 'the checker finds nothing, seats are alike, scripted players do as they should, and PPO begins to learn',
    figures: 7,
  },
  {
    name: 'hop',
    holds:
      'agents begin to learn, modules foresee what they must, the recording is healthy, and what search gains is measured',
    figures: 16,
  },
  {
    name: 'symmetry',
    holds: 'nothing is claimed of equal agents, the equivalence is stated, and the causes of three faults are named',
    figures: 4,
  },
  {
    name: 'train',
    holds: 'PPO and MAPPO solve the probe games and echo, and every contestant of the bench runs',
    figures: 12,
    here: Boolean(findPython('torch')),
  },
]);
