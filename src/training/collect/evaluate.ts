/** Sampled play on fresh episodes. Every world plays equally many whole episodes, so that short ones are not over-represented. */
import type { Crew } from '../../algorithms/algorithm.ts';
import type { Learner } from '../../algorithms/learner.ts';
import type { PlayStages } from '../../algorithms/play.ts';
import { Batch, batchShape } from '../../batch/batch.ts';
import type { GameMaker } from '../../games/game.ts';
import type { Engine } from '../../net/types.ts';
import type { Settings } from '../settings.ts';
import { cleanStages, type Stages } from '../stages.ts';
import { Collector } from './collector.ts';
import { type AgentReturn, EpisodeResults } from './episodes.ts';
import { makeSeating, type Seating } from './seating.ts';

export interface EvaluateOptions {
  /** At least so many; whole rounds of all worlds are played. */
  episodes: number;
  /** Names the streams; they never meet those of training. */
  seed: number;
  worlds?: number;
  /** Deals the agents to seats anew in every episode; as the run did unless given. */
  deal?: boolean;
  /** As the run is played, where not cleanly. */
  stages?: PlayStages & Pick<Stages, 'game' | 'collect'>;
}

/** What a finished or running trainer offers to be judged by. */
export interface Evaluated {
  readonly learners: readonly Learner[];
  /** Those that learn, then those that only play; the learners alone where it is absent. */
  readonly seated?: readonly Learner[];
  readonly seating: Pick<Seating, 'names'>;
  readonly settings: Settings;
  /** What accompanies play, where anything does. */
  readonly crew?: Crew | null;
  readonly engine: Engine;
}

/** Mean return per agent, with standard errors. */
export function evaluate(trained: Evaluated, make: GameMaker, options: EvaluateOptions): AgentReturn[] {
  return playLearnt(trained, make, options).means(trained.seating.names.length);
}

/** Every episode's return by agent and seat. */
export function playLearnt(trained: Evaluated, make: GameMaker, options: EvaluateOptions): EpisodeResults {
  const worlds = options.worlds ?? Math.min(options.episodes, 256);
  const stages = options.stages ?? cleanStages;
  const game = stages.game(make(worlds));
  const { names } = trained.seating;
  const learners = trained.seated ?? trained.learners;
  const deal = options.deal ?? trained.settings.deal;
  const seating = makeSeating(game, names, { ...trained.settings, deal }, learners);
  // The words keep evaluation apart from training even where the seeds are equal.
  const named = { ...seating, names: names.map((name) => `evaluate ${name}`) };
  const settings = { seed: options.seed + 2 ** 40, collect: 'episodes' as const, rollout: 1 };
  const companion = trained.crew?.playing(game) ?? null;
  const collector = new Collector(trained.engine, game, named, learners, settings, stages, companion);
  const batch = new Batch(batchShape(game, ...widest(learners, game.shape.observation)));
  const all = new EpisodeResults();
  const rounds = Math.ceil(options.episodes / worlds);
  for (let round = 0; round < rounds; round++) {
    stages.collect(collector, batch);
    all.take(collector.results);
  }
  return all;
}

/** The longest critic input, and the most that accompanies an observation. */
function widest(learners: readonly Learner[], observation: number): [number, number] {
  return [
    Math.max(0, ...learners.map(({ view }) => view.width)),
    Math.max(0, ...learners.map(({ inputs }) => inputs - observation)),
  ];
}
