/** Random play of the very game that a run plays: through its stages, so that whatever they do to the game, or to whom, is in the returns. */
import { Batch, batchShape } from '../batch/batch.ts';
import type { Game, GameMaker } from '../games/game.ts';
import { GridGame } from '../games/grid/grid.ts';
import { randomPlay } from '../games/grid/random-play.ts';
import { playEpisodes } from '../games/play.ts';
import { randomPlayer } from '../games/players.ts';
import { addBlock, BlockCounter, emptySums } from '../math/block-sums.ts';
import { Collector } from '../training/collect/collector.ts';
import { cleanStages, type Stages } from '../training/stages.ts';
import type { PlayedSums, ViewSums } from './stage.ts';

export interface RandomPlayOrder {
  episodes: number;
  deal: boolean;
  seed: number;
}

/** Worlds side by side; few, because a wrapped game may look at all of them whenever one begins. */
const worlds = 8;

/** Plays `episodes` episodes of independent random players. */
export function playRandom(
  make: GameMaker,
  stages: Stages,
  names: readonly string[],
  order: RandomPlayOrder,
): PlayedSums {
  const single = make(1);
  const untouched = stages.game(single) === single && stages.collect === cleanStages.collect;
  if (untouched && single instanceof GridGame && !order.deal) return playFast(single, order);
  return playThroughStages(stages.game(make(worlds)), stages, names, order);
}

/** The game's own rules without observations; only where nothing stands between the game and the run. */
function playFast(game: GridGame, { episodes, seed }: RandomPlayOrder): PlayedSums {
  const counter = new BlockCounter(game.players);
  randomPlay(game, episodes, seed, { onEpisode: (_, returns) => counter.add(returns) });
  return { seats: counter.sums, names: counter.sums.values };
}

function playThroughStages(
  game: Game,
  stages: Stages,
  names: readonly string[],
  { episodes, deal, seed }: RandomPlayOrder,
): PlayedSums {
  const { seats } = game.shape;
  const seating = {
    names,
    learnerOf: new Int32Array(seats).fill(-1),
    learning: 0,
    players: names.map(() => randomPlayer),
    deal,
  };
  const settings = { seed, collect: 'episodes' as const, rollout: 32 };
  const collector = new Collector(null, game, seating, [], settings, stages);
  const batch = new Batch(batchShape(game, 0));
  const counter = new BlockCounter(seats);
  const byName = emptySums(seats);
  const bySeat = new Float64Array(seats);
  const named = new Float64Array(seats);
  const { results } = collector;
  let played = 0;
  while (played < episodes) {
    stages.collect(collector, batch);
    // A world's seats end together, one after the other.
    for (let i = 0; i + seats <= results.length && played < episodes; i += seats) {
      for (let k = i; k < i + seats; k++) {
        bySeat[results.seat[k]] = results.return[k];
        named[results.agent[k]] = results.return[k];
      }
      counter.add(bySeat);
      addBlock(byName, named);
      played++;
    }
  }
  return { seats: counter.sums, names: byName };
}

/** What each seat sees when an episode has just begun and a little later, compared with what the others see. */
export function watchViews(make: GameMaker, stages: Stages, episodes: number, seed: number): ViewSums {
  const game = stages.game(make(worlds));
  const { seats, observation: entries } = game.shape;
  const zeros = () => Array.from({ length: seats }, () => new Float64Array(entries));
  const [sum, squares, nonzero] = [zeros(), zeros(), zeros()];
  const shown = new Int32Array(game.worlds).fill(-1);
  playEpisodes(
    game,
    Array.from({ length: seats }, () => randomPlayer),
    episodes,
    seed,
    {
      onStep(world, episode) {
        if (shown[world] === episode) return;
        shown[world] = episode;
        const first = world * seats * entries;
        for (let entry = 0; entry < entries; entry++) {
          let total = 0;
          for (let seat = 0; seat < seats; seat++) total += game.obs[first + seat * entries + entry];
          for (let seat = 0; seat < seats; seat++) {
            const own = game.obs[first + seat * entries + entry];
            const apart = own - (total - own) / (seats - 1);
            sum[seat][entry] += apart;
            squares[seat][entry] += apart * apart;
            if (apart !== 0) nonzero[seat][entry]++;
          }
        }
      },
    },
  );
  const plain = (rows: Float64Array[]) => rows.map((row) => Array.from(row));
  return { episodes, entries, sum: plain(sum), squares: plain(squares), nonzero: plain(nonzero) };
}
