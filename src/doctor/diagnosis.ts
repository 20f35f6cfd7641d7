/** What a diagnosis is made of, as `trueline diagnose --json` prints it. Keys are those of the format `trueline/diagnosis/2` and never change their meaning. */

import type { Proof } from './proof.ts';
import type { ScalarReading } from './scalars/scalars.ts';
import type { Transform, TransformValue } from './transforms/transform.ts';

export type Verdict = 'healthy' | 'faulty' | 'unexplained' | 'not-enough-evidence';
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
  /** A score from 0 to 1, no probability: how well the transform fits, and how many rows support it. */
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
  /** What follows from this cause, as measured in this run. */
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

/** Rows that disagree with what they should be, and that no cause accounts for. */
export interface Unexplained {
  check: string;
  rows: number;
  /** Of the rows that the check looked at. */
  share: number;
  onset: number;
  agents: string[];
  summary: string;
  /** Causes that could still fit, the likelier first. */
  candidates: string[];
  /** Columns that were not recorded and would decide between them, the most telling first. */
  to_decide: string[];
}

/** True, and no harm to the training. */
export interface Remark {
  id: string;
  summary: string;
  remedy: string;
}

/** What people worry about, and why the rows excuse it. */
export interface Cleared {
  symptom: string;
  why: string;
}

/** The three questions that a run must answer before it may be called healthy. */
export type Area = 'replay' | 'credit' | 'gradient';

export interface Coverage {
  /** Rows that decided each question; 0 where it could not be asked. */
  rows: Record<Area, number>;
  /** What stands in the way of "healthy", as sentences; empty where nothing does. */
  gaps: string[];
}

export interface Diagnosis {
  format: 'trueline/diagnosis/2';
  verdict: Verdict;
  causes: Cause[];
  unexplained: Unexplained[];
  remarks: Remark[];
  cleared: Cleared[];
  checks: CheckReport[];
  coverage: Coverage;
  /** The run is still being written: the verdict is one so far. */
  so_far?: true;
  /** What is wrong with the recording itself, as `trueline validate` says it; over it, nothing is called healthy. */
  problems?: string[];
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
  /** The rows that prove it, which pictures draw and residuals are read off. */
  proof?: Proof;
  before?: number;
  after?: number;
  summary: string;
  /** The summary is in the language that is spoken; otherwise it is English. */
  told?: true;
  evidence: Evidence[];
  /** The reported reading that it is about, where it is about nothing else. */
  reading?: string;
  /** Causes of other checks that would leave the same rows, to be listed beside it where it is only a candidate. */
  instead?: readonly string[];
}

/** What a check leaves open after its findings. */
export interface Open {
  rows: number;
  share: number;
  onset: number;
  agents: number[];
  /** Causes that these rows speak for more than for others. */
  likely?: readonly string[];
  /** Causes that what was measured of these rows rules out. */
  excluded?: readonly string[];
}

/** A check that warns has to say what it leaves open, so that no warning can stand under a healthy verdict. */
export type Outcome = Judged & ({ status: Exclude<Status, 'warn'>; open?: Open } | { status: 'warn'; open: Open });

/** What is left open by rows of which nothing more is known. */
export const leaving = (rows: number, looked: number): Open => ({
  rows,
  share: looked > 0 ? Math.min(1, rows / looked) : 1,
  onset: 0,
  agents: [],
});

interface Judged {
  measured: Figures;
  expected: Figures;
  findings: Finding[];
  /** Customs of the program that were recognised. */
  remarks?: Remark[];
  /** What people worry about in such runs, and the rows excuse. */
  cleared?: Cleared[];
  /** What was measured of rows that a check of the same group cannot explain: the causes that it speaks for, nearest first, and columns that would decide between them. */
  points?: { causes: readonly string[]; columns: readonly string[] };
  note?: string;
}

/** Short and honest: 4 significant digits, text where JSON has no number. */
export function figure(value: number): number | string {
  if (!Number.isFinite(value)) return String(value);
  return Number.isInteger(value) ? value : Number(value.toPrecision(4));
}

/** "12.5 %". */
export const percent = (share: number): string => `${figure(100 * share)} %`;
