/** How good a run's modules are on fresh play that nothing is learnt from: of its own policies, or of players that choose at random. */
import type { ModuleErrors } from '../../src/algorithms/hop/agent.ts';
import { HopCrew } from '../../src/algorithms/hop/crew.ts';
import { Batch, batchShape } from '../../src/batch/batch.ts';
import type { GameMaker } from '../../src/games/game.ts';
import { Collector } from '../../src/training/collect/collector.ts';
import { makeSeating } from '../../src/training/collect/seating.ts';
import { cleanStages, type Stages } from '../../src/training/stages.ts';
import type { Trainer } from '../../src/training/trainer.ts';

export interface MeasureOptions {
  /** Whose play: the learnt policies', or uniform choice among legal actions by every learning agent. */
  play: 'learnt' | 'random';
  episodes: number;
  seed: number;
}

/** Per learner. */
export function measureModules(trainer: Trainer, make: GameMaker, options: MeasureOptions): ModuleErrors[] {
  const { crew, learners, settings } = trainer;
  if (!(crew instanceof HopCrew))
    throw new RangeError('The run has no modules to measure; train it with algorithm hop.');
  const game = make(options.episodes);
  const { names } = trainer.seating;
  const seating = makeSeating(game, names, settings, learners);
  const named = { ...seating, names: names.map((name) => `measure ${name}`) };
  const { companion, diaries } = crew.watching(game);
  const stages: Stages = options.play === 'learnt' ? cleanStages : { ...cleanStages, act: actAtRandom };
  const played = { seed: options.seed + 2 ** 41, collect: 'episodes' as const, rollout: 1 };
  const collector = new Collector(trainer.engine, game, named, learners, played, stages, companion);
  stages.collect(collector, new Batch(batchShape(game, 0, companion.widthOf(0))));
  return learners.map((learner) => {
    const errors = crew.agents[learner.index].measure(diaries[learner.agents[0]]!, Number.POSITIVE_INFINITY);
    if (!errors) throw new RangeError(`${learner.name} took no step in ${options.episodes} episodes; play more.`);
    return errors;
  });
}

const actAtRandom: Stages['act'] = (engine, asked) => {
  cleanStages.act(engine, asked);
  for (const { rows, uniforms, out } of asked) {
    for (let i = 0; i < rows.length; i++) {
      const from = rows.offsets[i];
      const count = rows.offsets[i + 1] - from;
      let legal = 0;
      for (let c = 0; c < count; c++) legal += rows.legal[from + c];
      let wanted = Math.floor(uniforms[i] * legal);
      for (let c = 0; c < count; c++) {
        out.logits[from + c] = 0;
        if (rows.legal[from + c] === 1 && wanted-- === 0) out.action[i] = c;
      }
    }
  }
};
