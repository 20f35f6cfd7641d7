/** Plays all worlds and makes one row per decision of a learning agent. A reward goes to the place's latest decision, whoever's move brought it about. */

import type { Learner } from '../../algorithms/learner.ts';
import type { Companion, Play, PlayStages } from '../../algorithms/play.ts';
import { Batch } from '../../batch/batch.ts';
import type { Actions } from '../../distributions/distribution.ts';
import { actionKind } from '../../distributions/index.ts';
import { dealSeats, seatedNames } from '../../games/dealt.ts';
import type { Game } from '../../games/game.ts';
import { RandomStream } from '../../math/random.ts';
import type { Engine } from '../../net/types.ts';
import { Decisions } from './decisions.ts';
import { EpisodeResults } from './episodes.ts';
import type { Seating } from './seating.ts';

export interface CollectSettings {
  readonly seed: number;
  readonly collect: 'steps' | 'episodes';
  readonly rollout: number;
}

/** What is kept of the worlds between iterations. */
export class Collector implements Play {
  readonly places: number;
  /** Which agent sits at a place in the current episode. */
  readonly agentAt: Int32Array;
  /** 1 until the episode has ended for the place. */
  readonly present: Uint8Array;
  /** The batch row of the place's latest decision while it can still be paid; -1 where there is none. */
  readonly openRow: Int32Array;
  readonly returns: Float64Array;
  readonly decisionsTaken: Int32Array;
  /** Per world: how many episodes were begun, and steps of the current one. */
  readonly begun: Int32Array;
  readonly time: Int32Array;
  readonly actions: Actions;
  readonly streams: (RandomStream | null)[];
  readonly results = new EpisodeResults();
  readonly decisions: Decisions[];
  /** Where those who only play see and decide; nothing of it is kept. */
  private aside: Batch | null = null;
  /** Counts the calls of `collect`. */
  iteration = 0;

  constructor(
    /** Makes the decisions; null only where nobody learns. */
    readonly engine: Engine | null,
    readonly game: Game,
    readonly seating: Seating,
    readonly learners: readonly Learner[],
    readonly settings: CollectSettings,
    readonly stages: PlayStages,
    readonly companion: Companion | null = null,
  ) {
    const { seats } = game.shape;
    this.places = game.worlds * seats;
    this.agentAt = new Int32Array(this.places);
    this.present = new Uint8Array(this.places);
    this.openRow = new Int32Array(this.places).fill(-1);
    this.returns = new Float64Array(this.places);
    this.decisionsTaken = new Int32Array(this.places);
    this.begun = new Int32Array(game.worlds);
    this.time = new Int32Array(game.worlds);
    const action = actionKind(game.shape);
    this.actions = new action.array(this.places * action.width);
    this.streams = new Array<RandomStream | null>(this.places).fill(null);
    this.decisions = learners.map((learner) => new Decisions(game, learner, this.places));
  }

  /** Unique within a run, and the same whatever the other worlds do. */
  episode(world: number): number {
    return (this.begun[world] - 1) * this.game.worlds + world;
  }

  /** Whether the world is to be reset before it can be stepped. */
  waits(world: number): boolean {
    return this.begun[world] === 0 || this.game.over[world] === 1;
  }

  begin(world: number): void {
    const { seed } = this.settings;
    const { seats } = this.game.shape;
    const { names, learnerOf, deal } = this.seating;
    const number = this.begun[world]++;
    this.time[world] = 0;
    const dealt = deal ? seatedNames(dealSeats(RandomStream.of(seed, 'deal', world, number), seats)) : null;
    for (let seat = 0; seat < seats; seat++) {
      const place = world * seats + seat;
      const agent = dealt ? dealt[seat] : seat;
      this.agentAt[place] = agent;
      this.present[place] = 1;
      this.openRow[place] = -1;
      this.returns[place] = 0;
      this.decisionsTaken[place] = 0;
      const purpose = learnerOf[agent] >= 0 ? 'act' : 'scripted';
      this.streams[place] = RandomStream.of(seed, purpose, names[agent], world, number);
    }
    this.game.reset(world, RandomStream.of(seed, 'world', world, number));
    this.companion?.begin(this, world);
  }

  /** The decisions of all learners at once, each a new row. */
  act(batch: Batch): void {
    const { decisions, stages, engine } = this;
    if (!engine) return;
    this.aside?.clear();
    for (const asked of decisions) asked.enter(this.pageOf(asked, batch));
    for (const asked of decisions) {
      asked.show(this.pageOf(asked, batch));
      if (asked.length > 0) this.companion?.extend(this, asked);
    }
    stages.act(engine, decisions);
    for (const asked of decisions) if (asked.length > 0) this.companion?.decide?.(this, asked);
    for (const asked of decisions) asked.keep(this.pageOf(asked, batch));
  }

  /** Whether the learner's decisions become rows. */
  learns(learner: number): boolean {
    return learner >= 0 && learner < this.seating.learning;
  }

  private pageOf(asked: Decisions, batch: Batch): Batch {
    if (this.learns(asked.learner.index)) return batch;
    this.aside ??= new Batch(batch.shape);
    return this.aside;
  }

  /** Everything that going on bit for bit needs, as numbers. */
  save(): { places: Float64Array; worlds: Float64Array; games: Float64Array[] } {
    const places: number[] = [];
    for (let place = 0; place < this.places; place++) {
      const stream = this.streams[place]?.state() ?? [0, 0, 0, 0];
      places.push(this.agentAt[place], this.present[place], this.returns[place], this.decisionsTaken[place], ...stream);
    }
    const worlds: number[] = [this.iteration];
    const games: Float64Array[] = [];
    for (let world = 0; world < this.game.worlds; world++) {
      worlds.push(this.begun[world], this.time[world]);
      games.push(Float64Array.from(this.begun[world] > 0 ? this.game.save(world) : []));
    }
    return { places: Float64Array.from(places), worlds: Float64Array.from(worlds), games };
  }

  load(saved: { places: Float64Array; worlds: Float64Array; games: Float64Array[] }): void {
    for (let place = 0; place < this.places; place++) {
      const at = place * 8;
      this.agentAt[place] = saved.places[at];
      this.present[place] = saved.places[at + 1];
      this.returns[place] = saved.places[at + 2];
      this.decisionsTaken[place] = saved.places[at + 3];
      this.streams[place] = RandomStream.fromState(Array.from(saved.places.subarray(at + 4, at + 8)));
      this.openRow[place] = -1;
    }
    this.iteration = saved.worlds[0];
    for (let world = 0; world < this.game.worlds; world++) {
      this.begun[world] = saved.worlds[1 + world * 2];
      this.time[world] = saved.worlds[2 + world * 2];
      if (saved.games[world].length > 0) this.game.load(world, Array.from(saved.games[world]));
    }
  }
}

/** One iteration of play. Every row is closed when it returns. */
export function collect(collector: Collector, batch: Batch): void {
  const { game, settings } = collector;
  batch.clear();
  collector.results.clear();
  if (settings.collect === 'steps') {
    batch.reserve(settings.rollout * collector.places);
    for (let world = 0; world < game.worlds; world++) if (collector.waits(world)) collector.begin(world);
    for (let step = 0; step < settings.rollout; step++) {
      advance(collector, batch);
      for (let world = 0; world < game.worlds; world++) if (collector.waits(world)) collector.begin(world);
    }
  } else {
    // Whole episodes, equally many in every world: a world that has played its own waits, so short episodes are not over-represented.
    const left = new Int32Array(game.worlds).fill(settings.rollout);
    const next = (world: number) => {
      if (!collector.waits(world) || left[world] === 0) return;
      left[world]--;
      collector.begin(world);
    };
    for (let world = 0; world < game.worlds; world++) next(world);
    while (game.over.includes(0)) {
      advance(collector, batch);
      for (let world = 0; world < game.worlds; world++) next(world);
    }
  }
  // A row that can still be paid closes with the value of what its place sees now.
  bootstrap(collector, batch, false);
  collector.iteration++;
}

/** One decision of every acting place, and one step of every world. */
function advance(collector: Collector, batch: Batch): void {
  const { game, decisions, companion } = collector;
  decide(collector);
  collector.act(batch);
  for (const asked of decisions) {
    if (asked.length === 0) continue;
    if (collector.learns(asked.learner.index)) enter(collector, asked, batch);
    else play(collector, asked);
  }
  companion?.decided(collector, batch);
  game.step(collector.actions);
  companion?.stepped(collector);
  if (game.extras || companion?.notes)
    for (const asked of decisions) if (collector.learns(asked.learner.index)) copyExtras(collector, asked, batch);
  pay(collector, batch);
}

/** Sorts the acting places by learner; scripted players answer at once. */
function decide(collector: Collector): void {
  const { game, seating, agentAt, streams, decisions, actions } = collector;
  const { learnerOf, players } = seating;
  for (const asked of decisions) asked.clear();
  for (let place = 0; place < collector.places; place++) {
    if (game.acting[place] === 0 || collector.present[place] === 0) continue;
    collector.decisionsTaken[place]++;
    const agent = agentAt[place];
    const learner = learnerOf[agent];
    if (learner >= 0) decisions[learner].ask(place, streams[place]!);
    else actions[place] = players[agent]!.act(game, place, streams[place]!);
  }
}

/** The moves of a learner that only plays. */
function play({ actions }: Collector, { out, place, length, action: { width } }: Decisions): void {
  for (let i = 0; i < length; i++)
    for (let k = 0; k < width; k++) actions[place[i] * width + k] = out.action[i * width + k];
}

/** Completes the row of each place of a learner that decided. */
function enter(collector: Collector, asked: Decisions, batch: Batch): void {
  const { game, openRow, agentAt, time, actions, iteration } = collector;
  const { seats } = game.shape;
  const { out, place: places, length } = asked;
  const { first } = asked;
  batch.iteration.fill(iteration, first, first + length);
  const { width } = asked.action;
  const { action, value } = out;
  const { sample, episode, t, agent, seat, env, nextValue } = batch;
  for (let i = 0; i < length; i++) {
    const place = places[i];
    const world = Math.floor(place / seats);
    const row = first + i;
    if (openRow[place] >= 0) nextValue[openRow[place]] = value[i];
    openRow[place] = row;
    for (let k = 0; k < width; k++) {
      actions[place * width + k] = action[i * width + k];
      batch.action[row * width + k] = action[i * width + k];
    }
    sample[row] = row;
    episode[row] = collector.episode(world);
    t[row] = time[world];
    agent[row] = agentAt[place];
    seat[row] = place - world * seats;
    env[row] = world;
  }
}

/** Gives each place what the step paid to its latest decision, and closes the rows of those whose episode ended. */
function pay(collector: Collector, batch: Batch): void {
  const { game, openRow, present, returns } = collector;
  const { seats } = game.shape;
  let cutOff = 0;
  for (let place = 0; place < collector.places; place++) {
    if (present[place] === 0) continue;
    const reward = game.reward[place];
    returns[place] += reward;
    const row = openRow[place];
    if (row >= 0) {
      batch.reward[row] += reward;
      batch.envReward[row] += reward;
    }
    const terminated = game.terminated[place];
    if (terminated === 0 && game.truncated[place] === 0) continue;
    present[place] = 0;
    if (row < 0) continue;
    batch.terminated[row] = terminated;
    batch.truncated[row] = terminated === 1 ? 0 : 1;
    if (terminated === 1) openRow[place] = -1;
    else cutOff++;
  }
  if (cutOff > 0) bootstrap(collector, batch, true);
  for (let world = 0; world < game.worlds; world++) {
    // A world that waits for the next iteration was over before this step, and its time stands still.
    if (collector.time[world] < 0) continue;
    collector.time[world]++;
    if (game.over[world] === 0) continue;
    for (let place = world * seats; place < (world + 1) * seats; place++) finish(collector, world, place);
    collector.time[world] = -1;
  }
}

/** The game's extra figures of a decision are known once it was taken. */
function copyExtras(collector: Collector, asked: Decisions, batch: Batch): void {
  const extras = [...(collector.game.extras ?? []), ...(collector.companion?.notes ?? [])];
  for (let i = 0; i < asked.length; i++) {
    const place = asked.place[i];
    const slot = batch.slot[collector.openRow[place]];
    for (let k = 0; k < extras.length; k++) {
      const { width, values, lengths } = extras[k];
      for (let j = 0; j < width; j++) batch.extras[k][slot * width + j] = values[place * width + j];
      batch.extraLengths[k][slot] = lengths ? lengths[place] : width;
    }
  }
}

function finish(collector: Collector, world: number, place: number): void {
  const { game, seating } = collector;
  if (collector.present[place] === 1) {
    throw new Error(
      `${game.name} says that world ${world} is over, but seat ${place % game.shape.seats} is neither terminated nor truncated; a game must say how the episode ended for every seat.`,
    );
  }
  const agent = collector.agentAt[place];
  collector.results.add(
    collector.episode(world),
    agent,
    place % game.shape.seats,
    collector.returns[place],
    collector.decisionsTaken[place],
    collector.iteration,
    collector.learns(seating.learnerOf[agent]) ? seating.learnerOf[agent] : -1,
  );
}

/** `nextValue` of open rows from the current state: of the places whose episode was cut off, or of all that are left. */
function bootstrap(collector: Collector, batch: Batch, cutOff: boolean): void {
  const { openRow, present, agentAt, seating, stages } = collector;
  for (const asked of collector.decisions) asked.clear();
  for (let place = 0; place < collector.places; place++) {
    if (openRow[place] < 0 || (cutOff && present[place] === 1)) continue;
    collector.decisions[seating.learnerOf[agentAt[place]]].askValue(place);
  }
  for (const asked of collector.decisions) {
    if (asked.length === 0) continue;
    asked.look(batch);
    asked.show(batch);
    collector.companion?.extend(collector, asked);
    stages.values(asked.learner, asked.rows.state, asked.length, asked.out.value);
    for (let i = 0; i < asked.length; i++) {
      const place = asked.place[i];
      batch.nextValue[openRow[place]] = asked.out.value[i];
      openRow[place] = -1;
    }
  }
}
