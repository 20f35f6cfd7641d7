/** What a diagnosis is made of, as `trueline diagnose --json` prints it. Keys are those of the format `trueline/diagnosis/1` and never change their meaning. */

import type { ScalarReading } from './scalars/scalars.ts';
import type { Transform, TransformValue } from './transforms/transform.ts';

export type Verdict = 'healthy' | 'faulty' | 'not-enough-evidence';
export type Status = 'pass' | 'warn' | 'fail' | 'not-checked';

/** Named figures; a figure that is not finite is told as text. */
export type Figures = Record<string, number | string | boolean | null | number[]>;

export interface Evidence {
  check: string;
  measured: Figures;
  expected: Figures;
}

export interface Cause {
  id: string;
  /** From 0 to 1: how well the transform fits, and how many rows support it. */
  confidence: number;
  /** Names of the agents affected; all of them where every agent is. */
  agents: string[];
  /** The iteration in which it is first seen. */
  onset: number;
  /** Rows that show it, among those looked at. */
  rows: number;
  /** What undoes the fault: its id and parameters; `describeTransform` puts it into words. */
  transform?: TransformValue;
  residual_before?: number;
  residual_after?: number;
  summary: string;
  evidence: Evidence[];
  /** What follows from this cause, in this recording or usually. */
  symptoms: string[];
  remedy: string;
}

export interface CheckReport {
  id: string;
  status: Status;
  needs: string[];
  measured: Figures;
  expected: Figures;
  /** Why a check was not run, or what it would have liked to see. */
  note?: string;
}

export interface Diagnosis {
  format: 'trueline/diagnosis/1';
  verdict: Verdict;
  causes: Cause[];
  checks: CheckReport[];
  /** Causes that were found and silenced by the caller. */
  ignored?: Cause[];
  /** Why, by the id of the cause, where the caller said so. */
  reasons?: Record<string, string>;
  /** Where there is only a log: what it shows, rules out and lacks. The causes beside it fit, and are not proved. */
  scalars?: ScalarReading;
}

/** What a check found before causes are ranked and explained. */
export interface Finding {
  cause: string;
  confidence: number;
  /** Indices into the manifest's agents; empty where it is not about some of them. */
  agents: number[];
  onset: number;
  rows: number;
  transform?: Transform;
  before?: number;
  after?: number;
  summary: string;
  evidence: Evidence[];
}

export interface Outcome {
  status: Exclude<Status, 'not-checked'> | 'not-checked';
  measured: Figures;
  expected: Figures;
  findings: Finding[];
  note?: string;
}

/** Short and honest: 4 significant digits, text where JSON has no number. */
export function figure(value: number): number | string {
  if (!Number.isFinite(value)) return String(value);
  return Number.isInteger(value) ? value : Number(value.toPrecision(4));
}
