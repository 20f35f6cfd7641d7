/** Rules or a learnt world: what HOP and HOP+ learn by search in the game's own rules and in the world model that they learn, beside HOP+ without a search; results are kept in bench/hop/results. And HOP's trained agent if it decided as the authors' programs do, or with the critic of one that has learnt beside its partners. */
import { join } from 'node:path';
import { gameMaker } from '../src/games/index.ts';
import { createEngine } from '../src/net/engine.ts';
import { evaluate } from '../src/training/collect/evaluate.ts';
import { interval } from '../src/training/lineup/match.ts';
import { mergeSettings, recommendedSettings } from '../src/training/recommended.ts';
import { Trainer } from '../src/training/trainer.ts';
import { Results } from './hop/results.ts';
import { measureCritics, measureDepartures } from './hop-adapt.bench.ts';
import { type Figure, figure } from './support.ts';

const game = 'stag-hunt/4x4-4h2s';
const all = { hop: { without: [] as string[] } };
const variants: Record<string, Record<string, unknown>> = {
  'HOP, rules': { algorithm: 'hop-planner', planner: { world: 'rules' } },
  'HOP, learnt world': { algorithm: 'hop-planner', planner: { world: 'learnt' } },
  'HOP+ without a search': { algorithm: 'hop', ...all },
  'HOP+, learnt world': { algorithm: 'hop', hop: { ...all.hop, planner: 'learnt' } },
  'HOP+, rules': { algorithm: 'hop', hop: { ...all.hop, planner: 'rules' } },
};

/** What can be run by itself. */
export const parts = ['worlds', 'departures', 'critics'] as const;

export const fullWorld = { seeds: [1, 2, 3], steps: 30_000, episodes: 256 };

interface Result {
  /** Mean return of the four on fresh episodes, and processor time of the training in seconds. */
  return: number;
  seconds: number;
}

export async function bench(
  say: (line: string) => void,
  sizes = fullWorld,
  wanted: readonly (typeof parts)[number][] = parts,
): Promise<Figure[]> {
  return [
    ...(wanted.includes('worlds') ? await measureWorlds(say, sizes) : []),
    ...(wanted.includes('departures') ? await measureDepartures(say) : []),
    ...(wanted.includes('critics') ? await measureCritics(say) : []),
  ];
}

async function measureWorlds(
  say: (line: string) => void,
  { seeds, steps, episodes }: typeof fullWorld,
  file = join(process.cwd(), 'bench', 'hop', 'results', 'world.json'),
): Promise<Figure[]> {
  const results = new Results<Result>(file);
  const engine = await createEngine({ threads: 1 });
  try {
    for (const seed of seeds)
      for (const [name, own] of Object.entries(variants)) {
        if (results.has(name, seed)) continue;
        say(`${name}, seed ${seed} ...`);
        const base = recommendedSettings(game, 'hop-planner') as Record<string, unknown>;
        const settings = mergeSettings(base, { game, seed, steps, guard: 'off', recording: { record: 'off' } }, own);
        const trainer = new Trainer(settings, { engine });
        const clock = process.cpuUsage();
        while (!trainer.done) await trainer.iterate();
        const { user, system } = process.cpuUsage(clock);
        const judged = evaluate(trainer, gameMaker(game), { episodes, seed: 1000 + seed, worlds: 64 });
        const mean = judged.reduce((sum, agent) => sum + agent.mean, 0) / judged.length;
        await results.put(name, seed, { return: mean, seconds: (user + system) / 1e6 });
      }
  } finally {
    engine.dispose();
  }
  return Object.keys(variants).flatMap((name) => {
    const own = results.of(name, seeds);
    const { mean, halfWidth } = interval(own.map((result) => result.return));
    const seconds = own.reduce((sum, result) => sum + result.seconds, 0) / own.length;
    const note = `+- ${halfWidth.toFixed(2)} over ${own.length} seeds, ${seconds.toFixed(0)} s of processor time each`;
    return [figure(`${name}: return after ${steps} decisions`, mean, '', undefined, note)];
  });
}
