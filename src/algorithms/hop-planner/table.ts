/** Agents that plan as players among others, one decision at a time. Beliefs follow the moves of everybody who is watched; goals that end an episode are not seen here, because the world begins anew first. */
import { Batch, batchShape } from '../../batch/batch.ts';
import type { Game } from '../../games/game.ts';
import type { Player } from '../../games/players.ts';
import type { RandomStream } from '../../math/random.ts';
import type { Learner } from '../learner.ts';
import type { Play, Table } from '../play.ts';
import { PlannerCompanion, type Planners } from './companion.ts';

export class PlannerTable implements Table {
  private readonly companion: PlannerCompanion;
  private readonly play: Play;
  private readonly batch: Batch;
  private readonly streams: (RandomStream | null)[];
  /** Per world: the seat that moved last. */
  private readonly last: Int32Array;

  constructor(crew: Planners, game: Game) {
    const { seats } = game.shape;
    const places = game.worlds * seats;
    this.companion = new PlannerCompanion(crew, game, null);
    this.batch = new Batch(batchShape(game, 0));
    this.streams = new Array<RandomStream | null>(places).fill(null);
    this.last = new Int32Array(game.worlds).fill(seats);
    this.play = {
      game: { ...ofOne(game), acting: new Uint8Array(places) } as Game,
      places,
      agentAt: Int32Array.from({ length: places }, (_, place) => place % seats),
      seating: { learnerOf: new Int32Array(seats) },
      present: new Uint8Array(places).fill(1),
      openRow: new Int32Array(places).fill(-1),
      actions: new Int32Array(places),
      episode: () => 0,
    };
  }

  watch(player: Player): Player {
    return {
      name: player.name,
      act: (game, place, stream) => {
        this.turn(game, place, stream);
        return this.note(game, place, player.act(game, place, stream));
      },
    };
  }

  player(learner: Learner): Player {
    const { actions } = this.play.game.shape;
    const one = () => new Float32Array(1);
    const out = {
      action: new Int32Array(1),
      logp: one(),
      entropy: one(),
      value: one(),
      logits: new Float32Array(actions),
    };
    const asked = {
      learner,
      policy: learner.policy,
      length: 1,
      place: new Int32Array(1),
      width: learner.inputs,
      uniforms: one(),
      temperature: 1,
      temperatures: one(),
      out,
      rows: {
        length: 1,
        obs: one(),
        state: one(),
        offsets: new Int32Array(2),
        subset: new Int32Array(1),
        legal: new Uint8Array(1),
        candidateFeatures: one(),
      },
    };
    return {
      name: learner.name,
      act: (game, place, stream) => {
        this.turn(game, place, stream);
        asked.place[0] = place;
        asked.uniforms[0] = stream.uniform();
        this.companion.decide({ ...this.play, game }, asked);
        return this.note(game, place, out.action[0]);
      },
    };
  }

  /** A new stream means a new episode; a seat that moves again, a new step. */
  private turn(game: Game, place: number, stream: RandomStream): void {
    const { seats } = game.shape;
    const world = Math.floor(place / seats);
    if (this.streams[place] !== stream) {
      // The first of a world to hold a new stream begins the episode for all.
      const fresh = this.last[world] >= place % seats || this.streams[place] === null;
      this.streams[place] = stream;
      if (fresh) this.companion.begin(this.play, world);
    }
    this.last[world] = place % seats;
  }

  private note(game: Game, place: number, action: number): number {
    const { play } = this;
    play.game.acting.fill(0);
    play.game.acting[place] = 1;
    (play.actions as Int32Array)[place] = action;
    this.companion.decided({ ...play, game: { ...ofOne(game), acting: play.game.acting } as Game }, this.batch);
    return action;
  }
}

/** What of a game a companion reads. */
function ofOne(game: Game) {
  const { shape, obs, legal, numActions, goals, goal, worlds, name } = game;
  return { shape, obs, legal, numActions, goals, goal, worlds, name };
}
