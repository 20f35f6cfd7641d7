/** Every room's acceptance figures on reduced instances, as `npm run accept -- --reduced` measures them, in one process. What counts must meet its goal; times and ratios of times are the bench's business. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findRedis } from '../bench/redis/server.ts';
import type { Figure } from '../bench/support.ts';
import { findPython, findVenv, root } from './support/run.ts';

interface Room {
  name: string;
  holds: string;
  /** At least so many figures; fewer means that something was left out. */
  figures: number;
  /** What the first figure counts, where it is how many programs were judged. */
  judged?: number;
  /** Whether what it needs is there. In CI nothing may be missing. */
  here?: boolean;
}

const [numpy, torch] = [Boolean(findPython('numpy')), Boolean(findPython('torch'))];
const rooms: Room[] = [
  {
    name: 'attacks',
    holds: 'a few hundred spoiled inputs: no crash, no hang, no bomb, nothing healthy over damage',
    figures: 5,
    here: process.platform === 'linux',
  },
  { name: 'city', holds: 'the ladder stands, recordings are valid, and PPO and MAPPO learn', figures: 20 },
  {
    name: 'continuous',
    holds: 'mistakes with continuous actions are named first, and no custom of such programs is accused',
    figures: 2,
    judged: 10,
    here: torch,
  },
  { name: 'doctor', holds: 'its cost is measured beside reading, within its memory', figures: 4 },
  { name: 'zoo', holds: 'a fault of every group is named first, and healthy runs raise no alarm', figures: 5 },
  {
    name: 'games',
    holds: 'the checker finds nothing, seats are alike, scripted players do as they should, and PPO begins to learn',
    figures: 7,
  },
  {
    name: 'hop',
    holds: 'agents begin to learn, modules foresee what they must, and the recording is healthy',
    figures: 15,
  },
  {
    name: 'import',
    holds: 'event files are read exactly, damage is told, healthy logs are silent, and no log proves anything',
    figures: 8,
  },
  {
    name: 'kills',
    holds: 'what is killed or has no room is gone on with to the same bits, and nothing of the user is touched',
    figures: 6,
  },
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
    here: torch,
  },
  {
    name: 'recording',
    holds: 'a killed writer leaves a recording that opens, at most one chunk short; the bench runs, within its memory',
    figures: 18,
    here: numpy,
  },
  {
    name: 'sweep',
    holds: 'each job is done once, with the bits that it has here, while workers are killed and Redis is restarted',
    figures: 4,
    here: findRedis() !== undefined,
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
    here: torch,
  },
  {
    name: 'verdicts',
    holds: 'healthy programs are not accused whatever their customs, and bugs are named under customs drawn at random',
    figures: 2,
    judged: 12,
  },
];
interface Program {
  accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]>;
}
const { importTypeScript } = (await import(join(root, 'scripts/typescript.mjs'))) as {
  importTypeScript(folder: string, name: string): Promise<Program>;
};
const times = ['x', 'M/s', 'k/s', 'µs', 's'];

describe('what must hold, reduced', () => {
  for (const { name, holds, figures: fewest, judged, here = true } of rooms)
    it.skipIf(!here)(`${name}: ${holds}`, async () => {
      const { accept } = await importTypeScript('bench', `accept/${name}.accept`);
      const said: string[] = [];
      const figures = await accept((line) => said.push(line), 'reduced');
      const missed = figures.filter(({ met, unit }) => met === false && !times.includes(unit));
      expect(missed, said.join('\n')).toEqual([]);
      expect(figures.length).toBeGreaterThanOrEqual(fewest);
      if (judged !== undefined) expect(figures[0].value).toBe(judged);
    });
});
