/** What the outcomes of a bench add up to. A fault without effect is listed and counts neither way. */
import type { Verdict } from '../../doctor/diagnosis.ts';
import type { Outcome, Result } from './outcome.ts';

export interface FaultScore {
  fault: string;
  cause: string;
  runs: number;
  first: number;
  among: number;
  /** Left unexplained, with the right cause among those that could still fit. */
  open: number;
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
  open: number;
  missed: number;
  /** What the verdict was where the cause was not named: another cause, rows unexplained, healthy, not enough evidence. */
  missedAs: Record<Verdict, number>;
  noEffect: number;
  healthy: { runs: number; silent: number; falseAlarms: number; notEnoughEvidence: number };
  /** Where a fault struck some agents only, or began late: runs of which the named agents, or the onset, were right. */
  agents: { runs: number; right: number };
  onset: { runs: number; right: number };
  /** How often the cause that was named first is the right one, by its confidence. */
  calibration: Calibration[];
  /** Runs that came out wrong, by name, with what was said. */
  wrong: { id: string; result: Result; named: string[] }[];
  goals: { what: string; measured: number; least: number; met: boolean }[];
}

/** Runs whose first cause has a confidence from `from` to below `to`, and those of them in which it is the right cause. */
export interface Calibration {
  from: number;
  to: number;
  runs: number;
  meanConfidence: number;
  right: number;
}

const bins = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0001];

/** A healthy run in which a cause is named is a wrong one; a run without a cause says nothing. */
function calibration(outcomes: readonly Outcome[]): Calibration[] {
  const told = outcomes.flatMap(({ result, cause, named: [first] }) =>
    first?.confidence === undefined || result === 'no-effect'
      ? []
      : [{ confidence: first.confidence, right: first.id === cause }],
  );
  return bins.slice(1).flatMap((to, i): Calibration[] => {
    const own = told.filter(({ confidence }) => confidence >= bins[i] && confidence < to);
    if (own.length === 0) return [];
    const mean = own.reduce((sum, { confidence }) => sum + confidence, 0) / own.length;
    return [
      {
        from: bins[i],
        to: Math.min(1, to),
        runs: own.length,
        meanConfidence: Number(mean.toFixed(3)),
        right: own.filter(({ right }) => right).length,
      },
    ];
  });
}

const verdicts: readonly Verdict[] = ['faulty', 'unexplained', 'healthy', 'not-enough-evidence'];

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
  const sum = (key: 'runs' | 'first' | 'among' | 'open' | 'missed' | 'noEffect') =>
    faults.reduce((total, entry) => total + entry[key], 0);
  const count = (list: readonly Outcome[], result: Result) =>
    list.filter((outcome) => outcome.result === result).length;
  const runs = sum('runs');
  const first = sum('first');
  const named = first + sum('among');
  const open = sum('open');
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
    open,
    missed: sum('missed'),
    missedAs: Object.fromEntries(
      verdicts.map((verdict) => [
        verdict,
        outcomes.filter((outcome) => outcome.result === 'missed' && outcome.verdict === verdict).length,
      ]),
    ) as Record<Verdict, number>,
    noEffect: sum('noEffect'),
    healthy: {
      runs: healthy.length,
      silent,
      falseAlarms: count(healthy, 'false-alarm'),
      notEnoughEvidence: count(healthy, 'not-enough-evidence'),
    },
    agents: told('agentsRight'),
    onset: told('onsetRight'),
    calibration: calibration(outcomes),
    wrong: outcomes
      .filter(({ result }) => result !== 'first' && result !== 'silent' && result !== 'no-effect')
      .map(({ job, result, named }) => ({ id: job.id, result, named: named.map(({ id }) => id) })),
    goals: [
      ...(runs > 0
        ? [
            goal('share of faulty runs whose cause is named first', share(first, runs), goalFirst),
            goal(
              'share of faulty runs whose cause is named, or left open with the right one among those that fit',
              share(named + open, runs),
              goalNamed,
            ),
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
    if (result !== 'among' && result !== 'open' && result !== 'missed') continue;
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
    open: count('open'),
    missed: count('missed'),
    noEffect,
    instead: [...others].sort((a, b) => b[1] - a[1]).map(([name, times]) => (times > 1 ? `${name} (${times})` : name)),
  };
}
