/** What a move of HOP's planner costs: searches of one place at a time, as in play, and of many at once, as in training; processor time on one thread. */

import type { PlannerCrew } from '../src/algorithms/hop-planner/crew.ts';
import { Search } from '../src/algorithms/hop-planner/search.ts';
import { plannerSchema } from '../src/algorithms/hop-planner/settings.ts';
import { gameMaker } from '../src/games/index.ts';
import { RandomStream } from '../src/math/random.ts';
import { createEngine } from '../src/net/engine.ts';
import { Trainer } from '../src/training/trainer.ts';
import { type Figure, figure, median } from './support.ts';

export interface PlannerBenchSizes {
  simulations: number;
  moves: number;
  rounds: number;
}

export const fullPlannerBench: PlannerBenchSizes = { simulations: 100, moves: 200, rounds: 5 };

export async function bench(say: (line: string) => void, sizes = fullPlannerBench): Promise<Figure[]> {
  const engine = await createEngine({ threads: 1 });
  try {
    say(`our engine: ${engine.kernel} kernel on one thread`);
    const trainer = new Trainer({ game: 'stag-hunt', algorithm: 'hop-planner', worlds: 16 }, { engine });
    const [learner] = trainer.learners;
    const model = (trainer.crew as PlannerCrew).modelOf(0) ?? null;
    const make = gameMaker('stag-hunt');
    const game = make(16);
    for (let world = 0; world < 16; world++) game.reset(world, RandomStream.of(1, 'bench', world));
    const search = new Search(make, plannerSchema.parse({ simulations: sizes.simulations }));
    const stream = RandomStream.of(1, 'search');
    const values = new Float64Array(16 * game.shape.actions);
    const places = Int32Array.from({ length: 16 }, (_, world) => world * game.shape.seats);
    const run = (count: number) =>
      search.run({
        game,
        places,
        count,
        learner,
        eyes: (place) => place % game.shape.seats,
        model,
        gamma: 0.95,
        values,
        agentAt: (place) => place % game.shape.seats,
        stream: () => stream,
        drawGoal: (_, __, chance) => Math.floor(2 * chance),
      });
    const milliseconds = (count: number) => {
      const begun = process.cpuUsage().user;
      for (let i = 0; i < sizes.moves; i += count) run(count);
      return (process.cpuUsage().user - begun) / 1000 / sizes.moves;
    };
    milliseconds(1);
    const one = median(Array.from({ length: sizes.rounds }, () => milliseconds(1)));
    const many = median(Array.from({ length: sizes.rounds }, () => milliseconds(16)));
    return [
      figure(`a move of ${sizes.simulations} simulations, four agents, one at a time`, one, 'ms', { most: 5 }),
      figure('the same, sixteen at a time', many, 'ms', { most: 5 }),
    ];
  } finally {
    engine.dispose();
  }
}
