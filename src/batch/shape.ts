/** How wide the columns of a batch are, by its game and by what companions add to its rows. */
import type { ActionKind } from '../distributions/distribution.ts';
import { actionKind } from '../distributions/index.ts';
import type { Game, GameColumn } from '../games/game.ts';

export interface BatchShape {
  readonly observation: number;
  /** Length of the central critic's input; 0 where the critic sees the observation. */
  readonly criticState: number;
  /** The most candidates of one row. */
  readonly candidates: number;
  readonly features: number;
  /** What an action is. */
  readonly action: ActionKind;
  /** Extra figures of the game: values per row of each. */
  readonly extras: readonly { readonly name: string; readonly width: number }[];
}

/** `accompanying` is how many values follow the game's observation in what a policy sees, `noted` what a companion adds to the rows. */
export function batchShape(
  game: Game,
  criticState: number,
  accompanying = 0,
  noted: readonly GameColumn[] = [],
): BatchShape {
  const { candidates, features } = game.shape;
  const observation = game.shape.observation + accompanying;
  const extras = [...(game.extras ?? []), ...noted].map(({ name, width }) => ({ name, width }));
  return { observation, criticState, candidates, features, action: actionKind(game.shape), extras };
}
