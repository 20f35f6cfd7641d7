/** What must hold whatever is spoiled, killed or full, on reduced instances. */
import { findRedis } from '../../bench/redis/server.ts';
import { mustHold } from '../support/accept.ts';
import { findPython } from '../support/run.ts';

mustHold([
  {
    name: 'attacks',
    holds: 'a few hundred spoiled inputs: no crash, no hang, no bomb, nothing healthy over damage',
    figures: 5,
    here: process.platform === 'linux',
  },
  {
    name: 'kills',
    holds: 'what is killed or has no room is gone on with to the same bits, and nothing of the user is touched',
    figures: 6,
  },
  {
    name: 'recording',
    holds: 'a killed writer leaves a recording that opens, at most one chunk short; the bench runs, within its memory',
    figures: 18,
    here: Boolean(findPython('numpy')),
  },
  {
    name: 'sweep',
    holds: 'each job is done once, with the bits that it has here, while workers are killed and Redis is restarted',
    figures: 4,
    here: findRedis() !== undefined,
  },
]);
