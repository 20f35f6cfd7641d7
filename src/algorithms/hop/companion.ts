/** HOP+ agents at play: keeps each place's history, shows policies what the modules infer from it, and writes the agents' diaries. Players are always numbered from the seat that looks. */

import type { ReadonlyBatch } from '../../batch/batch.ts';
import type { Game } from '../../games/game.ts';
import { type LocalPolicy, localPolicy, localPolicyBuffer } from '../../math/local-policy.ts';
import { RandomStream } from '../../math/random.ts';
import type { PlannerSettings } from '../hop-planner/settings.ts';
import type { Asked, AskedPlaces, Companion, Play } from '../play.ts';
import type { HopAgent, View } from './agent.ts';
import type { Diary } from './modules/diary.ts';
import type { Planes, StateArray } from './modules/planes.ts';
import { copyRow } from './modules/ring.ts';
import type { HopPlanner } from './planner.ts';
import { cleanHopStages, type HopStages } from './stages.ts';

export interface HopPlayers {
  readonly planes: Planes;
  /** The agent of a learner; undefined where that learner has none. */
  of(learner: number): HopAgent | undefined;
  /** The search of a learner; undefined where it has none. */
  plannerOf(learner: number): HopPlanner | undefined;
  /** Per agent. */
  readonly names: readonly string[];
  readonly settings: { readonly seed: number; readonly planner: PlannerSettings };
  readonly width: number;
  readonly traceWidth: number;
  readonly codeWidth: number;
  /** The iteration, which says how much of the prior is mixed into subgoals. */
  iteration: number;
}

export class HopCompanion implements Companion {
  /** Per place: what it sees, its latest action, the trace of its history, the subgoal it was shown, its latest diary row. */
  private readonly now: StateArray;
  private readonly latest: Int32Array;
  private readonly trace: Float32Array;
  private readonly code: Float32Array;
  private readonly row: Int32Array;
  /** Per place: its legal actions as bits, and whether `now` holds what it sees at present. Neither is known before the first look. */
  private readonly legal: Int32Array;
  private readonly looked: Uint8Array;
  private current = false;
  /** What `HopAgent.extend` reads, for the places asked about. */
  private readonly view: View;
  /** Places of learning agents that have chosen in this step. */
  private readonly chosen: Int32Array;
  private choices = 0;
  /** The largest probability of the policy that chose at a place; NaN where it is not known. */
  private readonly best: Float32Array;
  private readonly joint: Int32Array;
  private readonly buffer: LocalPolicy;
  /** Per place: the stream of its searches; per world: how many episodes have begun. */
  private readonly streams: (RandomStream | null)[];
  private readonly begun: Int32Array;

  /** `diaries`, per agent, are written where they are given; scripted agents have none. */
  constructor(
    private readonly crew: HopPlayers,
    game: Game,
    private readonly diaries: readonly (Diary | null)[] | null,
    /** Share of the episodes whose rows are marked as held out. */
    private readonly heldOut: number,
    private readonly stages: Pick<HopStages, 'logSubgoal'> = cleanHopStages,
  ) {
    const { seats, candidates } = game.shape;
    const places = game.worlds * seats;
    this.now = crew.planes.states(places);
    this.latest = new Int32Array(places).fill(-1);
    this.trace = new Float32Array(places * crew.traceWidth);
    this.code = new Float32Array(places * crew.codeWidth);
    this.row = new Int32Array(places).fill(-1);
    this.legal = new Int32Array(places);
    this.looked = new Uint8Array(places);
    this.chosen = new Int32Array(places);
    this.best = new Float32Array(places);
    this.joint = new Int32Array(seats);
    this.buffer = localPolicyBuffer(candidates);
    this.streams = new Array<RandomStream | null>(places).fill(null);
    this.begun = new Int32Array(game.worlds);
    this.view = {
      states: crew.planes.states(places),
      recent: new Int32Array(places * seats),
      mask: new Int32Array(places * seats),
      trace: this.trace,
    };
  }

  widthOf(learner: number): number {
    return this.crew.of(learner) ? this.crew.width : 0;
  }

  begin(play: Play, world: number): void {
    const { seats } = play.game.shape;
    const { traceWidth } = this.crew;
    this.moved(play.game, world * seats, (world + 1) * seats);
    this.latest.fill(-1, world * seats, (world + 1) * seats);
    this.row.fill(-1, world * seats, (world + 1) * seats);
    this.trace.fill(0, world * seats * traceWidth, (world + 1) * seats * traceWidth);
    const episode = this.begun[world]++;
    for (let place = world * seats; place < (world + 1) * seats; place++)
      this.streams[place] = this.searching(play, place)
        ? searchStream(this.crew, play.agentAt[place], this.diaries ? 'train' : 'play', world, episode)
        : null;
  }

  private searching(play: Play, place: number): boolean {
    return this.crew.plannerOf(play.seating.learnerOf[play.agentAt[place]]) !== undefined;
  }

  extend(play: Play, asked: AskedPlaces): void {
    const { crew, view } = this;
    const { game } = play;
    const { planes, codeWidth } = crew;
    const { seats } = game.shape;
    const agent = crew.of(asked.learner.index);
    if (crew.width === 0 || !agent) return;
    for (let i = 0; i < asked.length; i++) {
      const place = asked.place[i];
      this.look(game, place);
      copyRow(this.now, place, view.states, i, planes.stateWidth);
      for (let p = 0; p < seats; p++) {
        const there = seen(place, p, seats);
        view.recent[i * seats + p] = this.latest[there];
        view.mask[i * seats + p] = this.mask(place, p, there);
      }
    }
    const inputs = asked.rows.obs;
    agent.extend({ ...view, traceOf: asked.place }, asked.length, crew.iteration, inputs, asked.width);
    for (let i = 0; i < asked.length; i++) {
      const from = (i + 1) * asked.width - codeWidth;
      const to = asked.place[i] * codeWidth;
      for (let j = 0; j < codeWidth; j++) this.code[to + j] = inputs[from + j];
    }
  }

  decide({ game }: Play, asked: Asked & AskedPlaces): void {
    const { crew } = this;
    const { seats } = game.shape;
    if (!asked.learner.searches) return;
    crew.plannerOf(asked.learner.index)?.decide(
      {
        game,
        learner: asked.learner,
        place: asked.place,
        length: asked.length,
        out: asked.out,
        uniforms: asked.uniforms,
        noise: this.diaries ? crew.settings.planner.noise : 0,
        recent: (place, p) => this.latest[seen(place, p, seats)],
        trace: this.trace,
        stream: (place) => this.streams[place]!,
      },
      crew.iteration,
    );
  }

  decided(play: Play, batch: ReadonlyBatch): void {
    const { game, agentAt, seating } = play;
    this.choices = 0;
    for (let place = 0; place < play.places; place++) {
      if (!acts(play, place) || !this.crew.of(seating.learnerOf[agentAt[place]])) continue;
      if (this.crew.width === 0) this.look(game, place);
      this.chosen[this.choices++] = place;
    }
    if (this.diaries) {
      this.weigh(play, batch);
      for (let i = 0; i < this.choices; i++) this.write(play, batch, this.chosen[i], this.diaries);
    }
    for (let place = 0; place < play.places; place++) this.latest[place] = acts(play, place) ? play.actions[place] : -1;
  }

  stepped(play: Play): void {
    const { game, agentAt } = play;
    const { crew } = this;
    const { planes, traceWidth } = crew;
    const { seats } = game.shape;
    this.moved(game, 0, play.places);
    for (let i = 0; i < this.choices; i++) {
      const place = this.chosen[i];
      const agent = crew.of(play.seating.learnerOf[agentAt[place]])!;
      for (let p = 0; p < seats; p++) this.joint[p] = this.latest[seen(place, p, seats)];
      agent.subgoals?.follow(this.now, place * planes.stateWidth, this.joint, 0, this.trace, place * traceWidth);
      if (!this.diaries) continue;
      const diary = this.diaries[agentAt[place]]!;
      const row = this.row[place];
      const world = Math.floor(place / seats);
      this.look(game, place);
      copyRow(this.now, place, diary.next, row, planes.stateWidth);
      for (let p = 0; p < seats; p++) {
        const there = seen(place, p, seats);
        diary.nextMask[row * seats + p] = this.legal[there];
        diary.reward[row * seats + p] = game.reward[there];
      }
      diary.end[row] = game.over[world] === 1 && !cutOff(game, world) ? 1 : 0;
    }
  }

  save(): { latest: Int32Array; trace: Float32Array; begun?: Int32Array; streams?: Float64Array } {
    const { latest, trace, begun, streams } = this;
    const played = { latest: latest.slice(), trace: trace.slice() };
    if (streams.every((stream) => stream === null)) return played;
    const states = streams.flatMap((stream) => stream?.state() ?? [0, 0, 0, 0]);
    return { ...played, begun: begun.slice(), streams: Float64Array.from(states) };
  }

  load(saved: ReturnType<HopCompanion['save']>): void {
    this.current = false;
    this.latest.set(saved.latest);
    this.trace.set(saved.trace);
    const { begun, streams } = saved;
    if (!begun || !streams) return;
    this.begun.set(begun);
    for (let place = 0; place < this.streams.length; place++) {
      const state = Array.from(streams.subarray(4 * place, 4 * place + 4));
      this.streams[place] = state.some((word) => word !== 0) ? RandomStream.fromState(state) : null;
    }
  }

  /** A new iteration: rows of earlier ones are gone. */
  forget(): void {
    this.row.fill(-1);
  }

  /** The worlds of some places have moved on, or have begun anew: what was seen of them is of the past. */
  private moved(game: Game, from: number, to: number): void {
    for (let place = from; place < to; place++) this.legal[place] = legalBits(game, place);
    this.looked.fill(0, from, to);
  }

  /** Reads what a place sees, once for each moment. */
  private look(game: Game, place: number): void {
    const { planes } = this.crew;
    if (!this.current) this.moved(game, 0, this.legal.length);
    this.current = true;
    if (this.looked[place] === 1) return;
    this.looked[place] = 1;
    planes.parse(game.obs, place * game.shape.observation, this.now, place * planes.stateWidth);
  }

  /** The legal actions of the player that `place` sees as number p, who sits `there`; 0, which is not known, for one that it does not see. */
  private mask(place: number, p: number, there: number): number {
    const { planes } = this.crew;
    return this.now[place * planes.stateWidth + p] === planes.nowhere ? 0 : this.legal[there];
  }

  private write(play: Play, batch: ReadonlyBatch, place: number, diaries: readonly (Diary | null)[]): void {
    const { agentAt } = play;
    const { planes, traceWidth, codeWidth } = this.crew;
    const { seats } = play.game.shape;
    const diary = diaries[agentAt[place]]!;
    const row = diary.add();
    if (this.row[place] >= 0) diary.later[this.row[place]] = row;
    this.row[place] = row;
    copyRow(this.now, place, diary.state, row, planes.stateWidth);
    copyRow(this.trace, place, diary.trace, row, traceWidth);
    if (codeWidth > 0) this.stages.logSubgoal(diary, row, this.code, place, codeWidth, agentAt[place]);
    for (let p = 0; p < seats; p++) {
      const there = seen(place, p, seats);
      const at = row * seats + p;
      diary.recent[at] = this.latest[there];
      diary.mask[at] = this.mask(place, p, there);
      diary.action[at] = acts(play, there) ? play.actions[there] : -1;
      diary.best[at] = this.best[there];
    }
    diary.value[row] = batch.value[play.openRow[place]];
    diary.seat[row] = place % seats;
    diary.held[row] = this.held(play, place) ? 1 : 0;
  }

  /** By episode, so that no step of a held-out episode is ever trained on. */
  private held(play: Play, place: number): boolean {
    const episode = play.episode(Math.floor(place / play.game.shape.seats));
    return (Math.imul(episode + 1, 0x9e3779b1) >>> 0) / 4294967296 < this.heldOut;
  }

  /** How sure the policies were, where models of them will be judged. */
  private weigh(play: Play, batch: ReadonlyBatch): void {
    const { buffer, best } = this;
    best.fill(Number.NaN);
    for (let i = 0; i < this.choices; i++) {
      const place = this.chosen[i];
      if (!this.held(play, place)) continue;
      const row = play.openRow[place];
      const start = batch.first[row];
      localPolicy(batch.logits, null, batch.legal, batch.temperature[row], buffer, {
        start,
        count: batch.numActions[row],
      });
      let most = 0;
      for (let c = 0; c < batch.numActions[row]; c++) most = Math.max(most, buffer.probabilities[c]);
      best[place] = most;
    }
  }
}

/** What an agent's searches draw from in one episode of a world. */
export function searchStream(crew: HopPlayers, agent: number, kind: 'train' | 'play', world: number, episode: number) {
  return RandomStream.of(crew.settings.seed, 'hop-search', crew.names[agent], kind, world, episode);
}

/** The place of the player that `place` sees as number p: itself first, then the others in cyclic seat order. */
export function seen(place: number, p: number, seats: number): number {
  const seat = place % seats;
  return place - seat + ((seat + p) % seats);
}

function acts(play: Play, place: number): boolean {
  return play.game.acting[place] === 1 && play.present[place] === 1;
}

export function legalBits(game: Game, place: number): number {
  const { candidates } = game.shape;
  let bits = 0;
  for (let c = 0; c < game.numActions[place]; c++) bits |= game.legal[place * candidates + c] << c;
  return bits;
}

/** Whether the episode ran out of time for someone, rather than coming to its end. */
function cutOff(game: Game, world: number): boolean {
  const { seats } = game.shape;
  for (let place = world * seats; place < (world + 1) * seats; place++) if (game.truncated[place] === 1) return true;
  return false;
}
