/** MAPPO: PPO whose critic sees the joint state. Its input is built for the same place and moment as the actor's, so it cannot belong to another agent or step. */

/** What of a game a critic's input is made from; every game has it. */
export interface CriticSource {
  /** Per world. */
  readonly state: Float32Array;
  /** Per place, which is `world * seats + seat`. */
  readonly obs: Float32Array;
}

export interface CriticShape {
  readonly seats: number;
  readonly state: number;
  readonly observation: number;
}

/** What a critic sees of a place, written into one row of its input. */
export interface CriticView {
  /** Length of the input; 0 where the critic sees the actor's observation. */
  readonly width: number;
  write(game: CriticSource, place: number, out: Float32Array, at: number): void;
}

/** Independent PPO: the critic sees what the actor sees. */
export const ownView: CriticView = { width: 0, write: () => {} };

/** The joint state, then which seat is judged, then what that seat itself sees. */
export function centralView(shape: CriticShape): CriticView {
  const { state, seats, observation } = shape;
  return {
    width: state + seats + observation,
    write(game, place, out, at) {
      const world = Math.floor(place / seats);
      for (let i = 0; i < state; i++) out[at + i] = game.state[world * state + i];
      out.fill(0, at + state, at + state + seats);
      out[at + state + (place % seats)] = 1;
      const own = at + state + seats;
      for (let i = 0; i < observation; i++) out[own + i] = game.obs[place * observation + i];
    },
  };
}
