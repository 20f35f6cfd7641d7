/** What the trainer must learn: every probe game, and echo with both heads and with two seats, judged by the sampled policy on fresh episodes. */
import { gameOptimum } from '../../src/games/index.ts';
import { type ProbeName, probes } from '../../src/games/probes.ts';
import type { Engine } from '../../src/net/types.ts';
import { type TrainResult, train } from '../../src/training/run.ts';
import type { SettingsInput } from '../../src/training/settings.ts';
import { type Figure, figure } from '../support.ts';

const episodes = 2000;
const near = 0.05;

/** Where there is little or nothing to choose, the critic is what must have learnt. */
function valuesAreNear(name: ProbeName, { trainer }: TrainResult): boolean {
  const probe = probes[name];
  const seen = probe.cue ? [-1, 1] : Array.from({ length: probe.steps }, (_, step) => step);
  const values = new Float32Array(seen.length);
  trainer.stages.values(trainer.learners[0], Float32Array.from(seen), seen.length, values);
  const { gamma } = trainer.settings.ppo;
  return seen.every((observation, i) => {
    const right = probe.value(observation, gamma);
    return Math.abs(values[i] - right) <= near * Math.abs(right);
  });
}

interface Lesson {
  what: string;
  settings: SettingsInput & { game: string };
  optimum: number;
  probe?: ProbeName;
}

const quick: SettingsInput = { worlds: 16, rollout: 32, steps: 25_000, network: { hidden: [16] } };
const echo = (what: string, gameSettings: Record<string, unknown>, head: 'fixed' | 'pointer'): Lesson => ({
  what: `echo with random subsets and masks, ${what}`,
  settings: { game: 'echo', gameSettings, steps: 80_000, network: { head } },
  optimum: gameOptimum('echo', gameSettings)!,
});

const seats = (sharing: 'separate' | 'shared'): Lesson => ({
  what: `echo for two seats, MAPPO, ${sharing} policies`,
  settings: { game: 'echo', gameSettings: { seats: 2 }, algorithm: 'mappo', sharing, steps: 160_000 },
  optimum: gameOptimum('echo')!,
});

const lessons: Lesson[] = [
  ...(Object.keys(probes) as ProbeName[]).map((probe) => ({
    what: probe,
    settings: { ...quick, game: probe },
    optimum: probes[probe].optimum,
    probe,
  })),
  echo('fixed head', { features: 'none' }, 'fixed'),
  echo('pointer head on one-hot features', { features: 'one-hot' }, 'pointer'),
  echo('pointer head on embeddings', { features: 'embedding' }, 'pointer'),
  seats('separate'),
  seats('shared'),
];

/** For each game the number of seeds with which every agent comes within 5 % of the optimum, and the trainer has nothing to remark. */
export async function learning(say: (line: string) => void, engine: Engine, seeds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { what, settings, optimum, probe } of lessons) {
    say(`${what}, ${seeds} ${seeds === 1 ? 'seed' : 'seeds'} ...`);
    let solved = 0;
    const means: number[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      const notices: string[] = [];
      const result = await train({ ...settings, seed }, { engine, onNotice: (sentence) => notices.push(sentence) });
      const mean = Math.min(...result.evaluate(episodes, 1000 + seed).map((agent) => agent.mean));
      means.push(mean);
      const solves = mean >= optimum - near * Math.abs(optimum) && (!probe || valuesAreNear(probe, result));
      if (solves && notices.length === 0) solved++;
    }
    const worst = `worst ${Math.min(...means).toFixed(3)} of ${optimum}`;
    figures.push(figure(`${what}: seeds solved, of ${seeds}`, solved, '', { least: seeds }, worst));
  }
  return figures;
}
