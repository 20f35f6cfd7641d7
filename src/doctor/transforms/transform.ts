/** What a transform is: a value that undoes a fault. Its fields are its JSON form, so what was searched, drawn, printed and stored is one object; no text is ever read back. */
import type { CreditRows } from './credit/credit-rows.ts';
import type { ReplayRows, View } from './replay/replay-rows.ts';

/** As JSON holds it: an id, and its parameters beside it. */
export interface TransformValue {
  readonly id: string;
}

export interface Transform extends TransformValue {
  /** In words, in the language that is spoken. */
  describe(): string;
  /** Of credit: what was used in place of the rows' own. */
  apply?(rows: CreditRows): Float64Array | null;
  /** Of a distribution: how the row under the cursor was scored; null where it does not fit the row. */
  alter?(view: View, rows: ReplayRows): View | null;
}
