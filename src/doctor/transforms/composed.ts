/** Two faults at once: the second works on what the first has made. */

import { told } from '../../language/language.ts';
import type { CreditRows } from './credit/credit-rows.ts';
import type { ReplayRows, View } from './replay/replay-rows.ts';
import type { Transform } from './transform.ts';

export class Composed implements Transform {
  readonly id = 'composed';

  constructor(readonly of: readonly Transform[]) {}

  apply(rows: CreditRows): Float64Array | null {
    let own: ArrayLike<number> | null = rows.own;
    for (const transform of this.of) own = own && (transform.apply?.({ ...rows, own }) ?? null);
    return own && Float64Array.from(own);
  }

  alter(view: View, rows: ReplayRows): View | null {
    let altered: View | null = view;
    for (const transform of this.of) altered = altered && (transform.alter?.(altered, rows) ?? null);
    return altered;
  }

  describe(): string {
    return this.of.map((transform) => transform.describe()).join(told(', and then ', '，然后'));
  }
}
