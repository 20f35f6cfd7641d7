/** Learnt HOP+ agents as players among scripted ones, one decision at a time. Everybody at the table is watched, because what an agent infers depends on what all have done. */

import type { Game } from '../../games/game.ts';
import type { Player } from '../../games/players.ts';
import type { RandomStream } from '../../math/random.ts';
import type { Learner } from '../learner.ts';
import type { Table } from '../play.ts';
import { policyPlayer } from '../policy-player.ts';
import type { HopPlayers } from './companion.ts';
import { legalBits, searchStream, seen } from './companion.ts';
import { copyRow } from './modules/ring.ts';

export class HopTable implements Table {
  /** Per place: decisions of the current episode, the latest two actions, what it saw last, and the trace of its history. */
  private readonly decisions: Int32Array;
  private readonly actions: Int32Array;
  private readonly now;
  private readonly trace: Float32Array;
  /** A new episode hands every place a new stream. */
  private readonly streams: (RandomStream | null)[];
  private readonly joint: Int32Array;
  /** Per place: the stream of its searches, and how many episodes it has searched in. */
  private readonly searches: (RandomStream | null)[];
  private readonly begun: Int32Array;

  constructor(
    private readonly crew: HopPlayers,
    game: Game,
  ) {
    const { seats } = game.shape;
    const places = game.worlds * seats;
    this.decisions = new Int32Array(places);
    this.actions = new Int32Array(2 * places);
    this.now = crew.planes.states(places);
    this.trace = new Float32Array(places * crew.traceWidth);
    this.streams = new Array<RandomStream | null>(places).fill(null);
    this.joint = new Int32Array(seats);
    this.searches = new Array<RandomStream | null>(places).fill(null);
    this.begun = new Int32Array(places);
  }

  /** A scripted player whose actions the others see. */
  watch(player: Player): Player {
    return {
      name: player.name,
      act: (game, place, stream) => {
        this.begin(place, stream);
        return this.keep(place, player.act(game, place, stream));
      },
    };
  }

  player(learner: Learner): Player {
    const { crew } = this;
    const { planes, traceWidth } = crew;
    const hop = crew.of(learner.index)!;
    const states = planes.states(1);
    const mask = new Int32Array(planes.players);
    const trace = new Float32Array(traceWidth);
    const inputs = new Float32Array(planes.observation + crew.width);
    const sampler = policyPlayer(learner, inputs);
    const search = this.searcher(learner);
    return {
      name: learner.name,
      act: (game, place, stream) => {
        this.begin(place, stream);
        const { observation, seats } = game.shape;
        const at = place * planes.stateWidth;
        for (let p = 0; p < seats; p++) this.joint[p] = this.before(seen(place, p, seats), place);
        if (this.decisions[place] > 0)
          hop.subgoals?.follow(this.now, at, this.joint, 0, this.trace, place * traceWidth);
        planes.parse(game.obs, place * observation, this.now, at);
        copyRow(this.now, place, states, 0, planes.stateWidth);
        copyRow(this.trace, place, trace, 0, traceWidth);
        for (let p = 0; p < seats; p++)
          mask[p] = states[p] === planes.nowhere ? 0 : legalBits(game, seen(place, p, seats));
        inputs.set(game.obs.subarray(place * observation, (place + 1) * observation));
        if (search) return this.keep(place, search(game, place, stream));
        hop.extend({ states, recent: this.joint, mask, trace }, 1, crew.iteration, inputs, inputs.length);
        return this.keep(place, sampler.act(game, place, stream));
      },
    };
  }

  /** Finds the move of one place by search; null where the learner has none. */
  private searcher(learner: Learner): ((game: Game, place: number, stream: RandomStream) => number) | null {
    const { crew } = this;
    const planner = crew.plannerOf(learner.index);
    if (!planner || !learner.searches) return null;
    const one = () => new Float32Array(1);
    const logits = new Float32Array(crew.planes.actions);
    const out = { action: new Int32Array(1), logp: one(), entropy: one(), value: one(), logits };
    const uniforms = one();
    const at = new Int32Array(1);
    return (game, place, stream) => {
      const { seats } = game.shape;
      at[0] = place;
      uniforms[0] = Math.min(stream.uniform(), 1 - 2 ** -24);
      if (this.decisions[place] === 0)
        this.searches[place] = searchStream(crew, place % seats, 'play', place, this.begun[place]++);
      const recent = (_: number, p: number) => this.joint[p];
      const { trace } = this;
      planner.decide(
        {
          game,
          learner,
          place: at,
          length: 1,
          out,
          uniforms,
          noise: 0,
          recent,
          trace,
          stream: () => this.searches[place]!,
        },
        crew.iteration,
      );
      return out.action[0];
    };
  }

  private begin(place: number, stream: RandomStream): void {
    if (this.streams[place] === stream) return;
    const { traceWidth } = this.crew;
    this.streams[place] = stream;
    this.decisions[place] = 0;
    this.trace.fill(0, place * traceWidth, (place + 1) * traceWidth);
  }

  private keep(place: number, action: number): number {
    this.actions[2 * place + (this.decisions[place]++ & 1)] = action;
    return action;
  }

  /** What `other` did in the step before the one that `place` decides in; -1 where it had left, or there was none. */
  private before(other: number, place: number): number {
    const step = this.decisions[place] - 1;
    return step >= 0 && this.decisions[other] > step ? this.actions[2 * other + (step & 1)] : -1;
  }
}
