/** The logits of one pass divided by another temperature. */

import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { figure } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import type { Transform } from '../transform.ts';
import type { ReplayRow, ReplayRows, ReplayTransform, View } from './replay-rows.ts';

export class Temperature implements ReplayTransform {
  readonly id = 'temperature';

  constructor(
    readonly of: 'update' | 'sampling',
    readonly divisor: number,
  ) {}

  get explains(): 'old' | undefined {
    return this.of === 'sampling' ? 'old' : undefined;
  }

  alter(view: View): View {
    return { ...view, temperature: this.divisor };
  }

  fitted(rows: ReplayRows, few: readonly ReplayRow[]): Temperature | null {
    const divisor = fitTemperature(rows, few, this.of);
    return divisor === null ? null : new Temperature(this.of, divisor);
  }

  describe(): string {
    const divisor = figure(this.divisor);
    return told(
      `logits of ${this.of === 'update' ? 'the update' : 'sampling'} divided by ${divisor}`,
      `${this.of === 'update' ? '更新' : '采样'}的 logits 除以 ${divisor}`,
    );
  }
}

/** Golden-section search on the median error, from the best point of a coarse grid; null where no temperature but the recorded one fits. */
export function fitTemperature(
  rows: ReplayRows,
  few: readonly ReplayRow[],
  of: 'update' | 'sampling',
  beside?: Transform,
): number | null {
  const usable = few.filter((row) => {
    rows.at(row);
    const target = of === 'update' ? row.fresh : row.used;
    return Number.isFinite(target) && (of === 'update' ? rows.usedIsOwn : rows.freshIsOwn);
  });
  if (usable.length < limits.fitRows.value) return null;
  const error = (log: number) => {
    const gaps = usable.map((row) => {
      rows.at(row);
      const view = beside?.alter ? beside.alter(rows.view, rows) : rows.view;
      if (!view) return Number.POSITIVE_INFINITY;
      const found = rows.score({ ...view, temperature: view.temperature * Math.exp(log) });
      return Math.abs(found - (of === 'update' ? row.fresh : row.used));
    });
    gaps.sort((a, b) => a - b);
    return gaps[gaps.length >> 1];
  };
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  const { reach, step, halvings } = budgets.temperatures;
  for (let log: number = -reach; log <= reach; log += step) {
    const found = error(log);
    if (found < least) [best, least] = [log, found];
  }
  let [low, high] = [best - step, best + step];
  const golden = (Math.sqrt(5) - 1) / 2;
  let [a, b] = [high - golden * (high - low), low + golden * (high - low)];
  let [atA, atB] = [error(a), error(b)];
  // Each step keeps one of its two points, and with it what was found there.
  for (let k = 0; k < halvings; k++) {
    if (atA < atB) {
      [high, b, atB] = [b, a, atA];
      a = high - golden * (high - low);
      atA = error(a);
    } else {
      [low, a, atA] = [a, b, atB];
      b = low + golden * (high - low);
      atB = error(b);
    }
  }
  const log = (low + high) / 2;
  return Math.abs(log) < limits.sameTemperature.value ? null : Math.exp(log) * rows.at(usable[0]).view.temperature;
}
