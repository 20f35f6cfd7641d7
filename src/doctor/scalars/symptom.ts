/** What a symptom of a log is: what is looked for in which figure, how it is seen, and which causes would look like it. Nothing here is proof. */
import type { Pair } from '../../language/language.ts';
import type { Figures as Evidence } from '../diagnosis.ts';
import { logLimits } from '../limits.ts';
import type { Figures } from './series.ts';
import type { View } from './view.ts';

/** Causes and what each is worth among those that would look alike. */
export type Weights = Record<string, number>;

/** Never more than an even chance: other faults, and bad luck, look the same in a log. */
export const most = logLimits.mostWeight.value;

/** A symptom as one log shows it. */
export interface Found {
  from: Figures;
  onset: number;
  sentence: string;
  measured: Evidence;
  expected: Evidence;
}

export interface Symptom {
  readonly id: string;
  /** Metrics that could show it. */
  readonly reads: readonly string[];
  /** What is looked for in them, to be said of a log that has none of them, or has them under names nobody knows. */
  readonly looksFor: Pair;
  find(view: View): Found | undefined;
  /** What would look like this, given everything else the log shows. */
  suggests(view: View, seen: ReadonlySet<string>, found: Found): Weights;
}

/** A symptom of one agent, or of the whole run. */
export interface Seen extends Found {
  symptom: Symptom;
  agent: number;
}

export function found(from: Figures, onset: number, sentence: string, measured: Evidence, expected: Evidence): Found {
  return { from, onset, sentence, measured, expected };
}
