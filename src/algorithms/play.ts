/** Play as an algorithm sees it: the decisions that learners are asked for, and what may accompany them. A companion draws nothing from the streams of play, so play without it is the same play. */
import type { Batch } from '../batch/batch.ts';
import type { Actions } from '../distributions/distribution.ts';
import type { Game, GameColumn } from '../games/game.ts';
import type { Player } from '../games/players.ts';
import type { ActJob, ActOutputs, Engine } from '../net/types.ts';
import type { Learner } from './learner.ts';

/** The decisions that one learner is asked for at once. */
export interface Asked extends ActJob {
  readonly learner: Learner;
  readonly out: Required<ActOutputs>;
  /** Per row: the temperature that the decision was made at, as it will be recorded. */
  readonly temperatures: Float32Array;
}

/** The stages through which every decision and every value goes, in play and in imagination alike. */
export interface PlayStages {
  /** One decision per row of all that are asked: action, log-probability, local logits, and the value in units of the rewards. The learners differ. */
  act(engine: Engine, asked: readonly Asked[]): void;
  /** Values of the critic's inputs, in units of the rewards. */
  values(learner: Learner, state: Float32Array, count: number, out: Float32Array): void;
}

/** The worlds that are played, place by place. */
export interface Play {
  readonly game: Game;
  readonly places: number;
  /** Which agent sits at a place in the current episode, and per agent the index of its learner, or -1. */
  readonly agentAt: Int32Array;
  readonly seating: { readonly learnerOf: Int32Array };
  /** 1 until the episode has ended for the place. */
  readonly present: Uint8Array;
  /** The batch row of the place's latest decision while it can still be paid; -1 where there is none. */
  readonly openRow: Int32Array;
  readonly actions: Actions;
  episode(world: number): number;
}

/** The places that a learner is asked about, with the inputs of its policy, `width` values each. */
export interface AskedPlaces {
  readonly learner: Pick<Learner, 'index'>;
  readonly length: number;
  readonly place: Int32Array;
  readonly width: number;
  readonly rows: { readonly obs: Float32Array };
}

/** What accompanies play: it adds to what policies see, and looks on. */
export interface Companion {
  /** How many values follow the game's observation in the input of a learner's policy. */
  widthOf(learner: number): number;
  /** A new episode has begun. */
  begin(play: Play, world: number): void;
  /** Fills what follows the observation for the places that a learner is asked about. */
  extend(play: Play, asked: AskedPlaces): void;
  /** Chooses anew for the places that a learner was asked about, where it plans: action, log-probability and the logits of what it chose from. */
  decide?(play: Play, asked: Asked & AskedPlaces): void;
  /** Everybody has chosen, and nothing has happened yet. */
  decided(play: Play, batch: Batch): void;
  /** The game has moved on; nobody was paid yet. */
  stepped(play: Play): void;
  /** What it notes about the latest decisions, per place, as extra columns of the rows. */
  readonly notes?: readonly GameColumn[];
}

/** Learnt policies among scripted players, one decision at a time, where a policy must watch everybody at the table. */
export interface Table {
  watch(player: Player): Player;
  player(learner: Learner): Player;
}
