/** What must hold of verdicts on recordings and logs, on reduced instances. */
import { mustHold } from '../support/accept.ts';
import { findPython, findVenv } from '../support/run.ts';

mustHold([
  {
    name: 'continuous',
    holds: 'mistakes with continuous actions are named first, and no custom of such programs is accused',
    figures: 2,
    judged: 36,
    here: Boolean(findPython('torch')),
  },
  { name: 'doctor', holds: 'its cost is measured beside reading, within its memory', figures: 4 },
  {
    name: 'import',
    holds: 'event files are read exactly, damage is told, healthy logs are silent, and no log proves anything',
    figures: 8,
  },
  { name: 'check', holds: 'it says what diagnose says, of faulty runs and of healthy ones', figures: 4 },
  {
    name: 'logs',
    holds:
      'logs of other loggers are read, none that is healthy is accused, and nine faults in ten are among the first two',
    figures: 7,
  },
  {
    name: 'real',
    holds: 'Stable-Baselines3 as tuned is healthy, and bugs put in while it runs are named',
    figures: 2,
    judged: 7,
    here: findVenv('sb3') !== undefined,
  },
  {
    name: 'recorder',
    holds: 'every fault of the examples is named first, and healthy runs raise no alarm',
    figures: 5,
    here: Boolean(findPython('torch')),
  },
  {
    name: 'verdicts',
    holds: 'healthy programs are not accused whatever their customs, and bugs are named under customs drawn at random',
    figures: 2,
    judged: 15,
  },
  { name: 'zoo', holds: 'a fault of every group is named first, and healthy runs raise no alarm', figures: 5 },
]);
