/** Which distribution a game's decisions are drawn from. A new kind of action is a folder here and a line below. */
import { choice } from './categorical/categorical.ts';
import type { ActionKind } from './distribution.ts';

/** Every game so far offers lists of candidates. */
export function actionKind(_game: { readonly candidates: number }): ActionKind {
  return choice;
}
