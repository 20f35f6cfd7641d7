/** What the outcomes of a bench add up to. A fault without effect is listed and counts neither way. */
import type { Outcome, Result } from './outcome.ts';

export interface FaultScore {
  fault: string;
  cause: string;
  runs: number;
  first: number;
  among: number;
  missed: number;
  noEffect: number;
  /** What was named first instead, most often first. */
  instead: string[];
}

export interface Score {
  faults: FaultScore[];
  /** Faulty runs that count. */
  runs: number;
  first: number;
  /** Named first or after another. */
  named: number;
  missed: number;
  noEffect: number;
  healthy: { runs: number; silent: number; falseAlarms: number; notEnoughEvidence: number };
  /** Where a fault struck some agents only, or began late: runs of which the named agents, or the onset, were right. */
  agents: { runs: number; right: number };
  onset: { runs: number; right: number };
  /** Runs that came out wrong, by name, with what was said. */
  wrong: { id: string; result: Result; named: string[] }[];
  goals: { what: string; measured: number; least: number; met: boolean }[];
}

/** Shares that must be reached. */
const goalFirst = 0.95;
const goalNamed = 0.99;

export function score(outcomes: readonly Outcome[]): Score {
  const byFault = new Map<string, Outcome[]>();
  const healthy: Outcome[] = [];
  for (const outcome of outcomes) {
    if (outcome.job.fault === '') healthy.push(outcome);
    else byFault.set(outcome.job.fault, [...(byFault.get(outcome.job.fault) ?? []), outcome]);
  }
  const faults = [...byFault].map(([fault, own]) => scoreFault(fault, own));
  const sum = (key: 'runs' | 'first' | 'among' | 'missed' | 'noEffect') =>
    faults.reduce((total, entry) => total + entry[key], 0);
  const count = (list: readonly Outcome[], result: Result) =>
    list.filter((outcome) => outcome.result === result).length;
  const runs = sum('runs');
  const first = sum('first');
  const named = first + sum('among');
  const silent = count(healthy, 'silent');
  const told = (key: 'agentsRight' | 'onsetRight') => {
    const known = outcomes.filter((outcome) => outcome.result !== 'no-effect' && outcome[key] !== undefined);
    return { runs: known.length, right: known.filter((outcome) => outcome[key]).length };
  };
  const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole);
  const goal = (what: string, measured: number, least: number) => ({ what, measured, least, met: measured >= least });
  return {
    faults,
    runs,
    first,
    named,
    missed: sum('missed'),
    noEffect: sum('noEffect'),
    healthy: {
      runs: healthy.length,
      silent,
      falseAlarms: count(healthy, 'false-alarm'),
      notEnoughEvidence: count(healthy, 'not-enough-evidence'),
    },
    agents: told('agentsRight'),
    onset: told('onsetRight'),
    wrong: outcomes
      .filter(({ result }) => result !== 'first' && result !== 'silent' && result !== 'no-effect')
      .map(({ job, result, named }) => ({ id: job.id, result, named: named.map(({ id }) => id) })),
    goals: [
      ...(runs > 0
        ? [
            goal('share of faulty runs whose cause is named first', share(first, runs), goalFirst),
            goal('share of faulty runs whose cause is named', share(named, runs), goalNamed),
          ]
        : []),
      ...(healthy.length > 0
        ? [goal('share of healthy runs that come out healthy', share(silent, healthy.length), 1)]
        : []),
    ],
  };
}

function scoreFault(fault: string, own: readonly Outcome[]): FaultScore {
  const count = (result: Result) => own.filter((outcome) => outcome.result === result).length;
  const others = new Map<string, number>();
  for (const { result, named } of own) {
    if (result !== 'among' && result !== 'missed') continue;
    const name = named[0]?.id ?? 'nothing';
    others.set(name, (others.get(name) ?? 0) + 1);
  }
  const noEffect = count('no-effect');
  return {
    fault,
    cause: own[0].cause,
    runs: own.length - noEffect,
    first: count('first'),
    among: count('among'),
    missed: count('missed'),
    noEffect,
    instead: [...others].sort((a, b) => b[1] - a[1]).map(([name, times]) => (times > 1 ? `${name} (${times})` : name)),
  };
}
