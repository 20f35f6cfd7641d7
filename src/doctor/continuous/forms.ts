/** Which formula gives the recorded log-probabilities of continuous actions. The one thing to get wrong: a formula counts only where it gives nearly every row exactly, so rows that it cannot tell (far out in tanh) are left out before. */
import { limits } from '../limits.ts';
import { type Form, type Given, logpOf, type Reduce, type Row, usual } from './density.ts';
import type { Deviation, Family } from './laws.ts';

/** One use of one action: its distribution when it was drawn and in the update, and both log-probabilities. */
export interface Scoring {
  iteration: number;
  agent: number;
  sampled: Row;
  updated: Row;
  old: number;
  fresh: number;
  differs: boolean;
  /** Whether each pass recorded its own distribution, and whether the update used the old log-probability that acting stored. */
  own?: { sampled: boolean; updated: boolean; old: boolean };
}

/** The rows with the distribution of acting in both passes. */
export const crossed = (rows: readonly Scoring[]): Scoring[] =>
  rows.map((row) => ({ ...row, updated: { ...row.updated, law: row.sampled.law } }));

export function agrees(recorded: number, [logp, slack]: readonly [number, number]): boolean {
  return Math.abs(recorded - logp) <= limits.density.value * (1 + Math.abs(logp)) + slack;
}

/** All forms, those with the fewest departures from the usual one first. */
export function formsFor(dimensions: number, how: Given | null, family: Family = 'gaussian'): Form[] {
  const reduces: Reduce[] = dimensions > 1 ? ['sum', 'mean', 'first', 'last'] : ['sum'];
  const deviations: Deviation[] = family === 'gaussian' ? ['own', 'exponential', 'variance', 'root'] : ['own'];
  const actions = how && how.how !== 'same' ? (['raw', 'given'] as const) : (['raw'] as const);
  const squashed = how?.how === 'squashed';
  const scales = squashed && how.times.some((times) => Math.abs(times - 1) > limits.sameAction.value);
  const squashes = squashed
    ? [0, 1, 2, -1].flatMap((squash) =>
        (squash !== 0 && scales ? [false, true] : [false]).map((scaled) => ({ squash, scaled })),
      )
    : [{ squash: 0, scaled: false }];
  const all = reduces.flatMap((reduce) =>
    deviations.flatMap((deviation) =>
      actions.flatMap((action) => squashes.map((squash): Form => ({ reduce, deviation, action, ...squash }))),
    ),
  );
  return all.sort((a, b) => departures(a) - departures(b));
}

const departures = (form: Form) =>
  Number(form.reduce !== usual.reduce) +
  Number(form.deviation !== usual.deviation) +
  Number(form.action !== usual.action) +
  Number(form.squash < 0 || form.squash > 1);

/** The first form that gives nearly all of the rows; null where none does. */
export function fitted(
  forms: readonly Form[],
  rows: readonly Scoring[],
  side: 'old' | 'new',
  how: Given | null,
): Form | null {
  const told = rows.filter(({ sampled, updated }) => !farOut(side === 'old' ? sampled : updated, how));
  if (told.length < limits.fewestRows.value) return null;
  return (
    forms.find((form) => {
      let wrong = 0;
      const most = (1 - limits.formShare.value) * told.length;
      for (const { sampled, updated, old, fresh } of told) {
        const row = side === 'old' ? sampled : updated;
        if (!agrees(side === 'old' ? old : fresh, logpOf(form, row, how)) && ++wrong > most) return false;
      }
      return true;
    }) ?? null
  );
}

function farOut({ action }: Row, how: Given | null): boolean {
  return how?.how === 'squashed' && action.some((value) => Math.abs(Math.tanh(value)) > limits.farOut.value);
}

/** The parts in which two forms differ, as the second has them. */
export function difference(from: Form, to: Form): Partial<Form> {
  return Object.fromEntries(
    (Object.keys(from) as (keyof Form)[]).filter((key) => from[key] !== to[key]).map((key) => [key, to[key]]),
  );
}

/** What a departure from the usual form is called. */
export function causeOf({ squash, scaled, reduce, deviation, action }: Partial<Form>): string | null {
  if (reduce !== undefined) return 'dimensions-reduced-wrong';
  if (deviation !== undefined) return 'deviation-scale-wrong';
  if (action !== undefined) return 'clipped-action-stored';
  return squash !== undefined || scaled !== undefined ? 'squash-correction-wrong' : null;
}

/** How far a form is from the usual one: scoring squashed actions whole is best, forgetting something worse. */
export const oddness = ({ reduce, deviation, action, squash, scaled }: Form) =>
  2 * (Number(reduce !== 'sum') + Number(deviation !== 'own') + Number(action !== 'raw') + Math.abs(squash - 1)) +
  Number(squash !== 0 && !scaled);
