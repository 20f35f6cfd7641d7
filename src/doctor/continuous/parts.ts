/** What the recorded log-probabilities of single dimensions tell where means and deviations are missing: how they were made one number, and whether the two passes differ by tanh's derivative. The one thing to get wrong: parts do not show which of two passes is right, only in what they differ. */
import type { Iteration } from '../evidence/iteration.ts';
import { limits } from '../limits.ts';
import { type Form, logDerivative, type Reduce } from './density.ts';
import { vector } from './laws.ts';

export interface PartsRow {
  iteration: number;
  agent: number;
  action: Float64Array | null;
  old: number;
  fresh: number;
  /** Of acting and of the update; one serves for both where only it is known. */
  sampled: Float64Array;
  updated: Float64Array;
  own: boolean;
}

/** One use of one action by its parts; null where they are not recorded. */
export function partsRow(
  { samples, replays, number }: Iteration,
  row: number,
  sample: number,
  old: number,
): PartsRow | null {
  const [first, second] = [samples!.list('logp_parts'), replays!.list('logp_parts')];
  const [sampled, updated] = [vector(first, sample), vector(second, row)];
  const either = sampled ?? updated;
  if (!either) return null;
  return {
    iteration: number,
    agent: samples!.column('agent')![sample],
    action: vector(samples!.list('action_values') ?? null, sample, either.length),
    old,
    fresh: replays!.measured('new_logp')![row],
    sampled: either,
    updated: updated ?? either,
    own: sampled !== null && updated !== null,
  };
}

const near = (a: number, b: number) => Math.abs(a - b) <= limits.density.value * (1 + Math.abs(b));
const nearlyAll = <T>(rows: readonly T[], holds: (row: T) => boolean) =>
  rows.filter(holds).length >= limits.formShare.value * rows.length;

export function reducedBy(reduce: Reduce, parts: Float64Array): number {
  if (reduce === 'first') return parts[0];
  if (reduce === 'last') return parts[parts.length - 1];
  const sum = parts.reduce((total, part) => total + part, 0);
  return reduce === 'mean' ? sum / parts.length : sum;
}

/** How the parts of a pass became its log-probability; null where by none of the known ways. */
function reduceOf(rows: readonly PartsRow[], side: 'old' | 'new'): Reduce | null {
  const several = rows.some(({ sampled }) => sampled.length > 1);
  const kinds: readonly Reduce[] = several ? ['sum', 'mean', 'first', 'last'] : ['sum'];
  return (
    kinds.find((kind) =>
      nearlyAll(rows, ({ old, fresh, sampled, updated }) =>
        side === 'old' ? near(reducedBy(kind, sampled), old) : near(reducedBy(kind, updated), fresh),
      ),
    ) ?? null
  );
}

export interface ToldByParts {
  side: 'old' | 'new' | 'both';
  form: Partial<Form>;
  /** A row's log-probability on that side by the usual formula, and by the one that was found. */
  usual(row: PartsRow): number;
  given(row: PartsRow): number;
}

/** In what the passes differ from the usual, by their parts alone; null where they do not, or where the parts do not show it. */
export function toldByParts(rows: readonly PartsRow[], differ: boolean): ToldByParts | null {
  if (rows.length < limits.fewestRows.value) return null;
  const [old, fresh] = [reduceOf(rows, 'old'), reduceOf(rows, 'new')];
  if (old && fresh && (old !== 'sum' || fresh !== 'sum')) {
    if (old === fresh && differ) return null;
    const [side, reduce] =
      old === fresh ? (['both', old] as const) : old === 'sum' ? (['new', fresh] as const) : (['old', old] as const);
    const by = (kind: Reduce) => (row: PartsRow) => reducedBy(kind, side === 'new' ? row.updated : row.sampled);
    return { side, form: { reduce }, usual: by('sum'), given: by(reduce) };
  }
  if (!differ || old !== 'sum' || fresh !== 'sum') return null;
  const told = rows.filter(
    ({ own, action }) => own && action?.every((value) => Math.abs(Math.tanh(value)) <= limits.farOut.value),
  );
  if (told.length < limits.fewestRows.value) return null;
  const times = [1, -1, 2, -2].find((times) =>
    nearlyAll(told, ({ action, sampled, updated }) =>
      action!.every((value, d) => near(updated[d] - sampled[d], times * logDerivative(value))),
    ),
  );
  // What is greater by the derivative did not take it off, or took it off once less often.
  if (times === undefined) return null;
  const correction = ({ action }: PartsRow) =>
    Math.abs(times) * (action?.reduce((sum, value) => sum + logDerivative(value), 0) ?? Number.NaN);
  const side = times > 0 ? 'new' : 'old';
  const usual = ({ old, fresh }: PartsRow) => (side === 'new' ? old : fresh);
  return {
    side,
    form: { squash: Math.abs(times) === 1 ? 0 : -1 },
    usual,
    given: (row) => usual(row) + correction(row),
  };
}
