/** Stage 8: from everything found to a cause, with the others ruled out and by what. Rows that contradict each other come before statistics, and the specific before the general. */
import { causeById, causes as vocabulary } from '../../doctor/causes.ts';
import type { Cause, CheckReport, Diagnosis, Verdict } from '../../doctor/diagnosis.ts';
import { emptyReport, type StageReport, type SymmetryFinding } from '../stage.ts';

/** Causes of group F that rows prove, the more specific first; what is not listed comes after them in the doctor's own order. */
const priority = [
  'perspective-mismatch',
  'subgoal-log-incomplete',
  'imagined-misattributed',
  'reward-bookkeeping',
  'update-count-differs',
  'training-order-matters',
  'settings-differ',
  'data-imbalance',
  'environment-name-bias',
  'environment-seat-bias',
];

const causesOfInequality = vocabulary.filter(({ group }) => group === 'F').map(({ id }) => id);

export interface SymmetryDiagnosis extends Diagnosis {
  /** The stages in the order of the plan. */
  stages: StageReport[];
}

const order = [
  'phenomenon',
  'random-play',
  'names-and-seats',
  'settings-and-updates',
  'data',
  'ladder',
  'sharing',
  'explanation',
];

export function explain(reports: readonly StageReport[], names: readonly string[], command: string): SymmetryDiagnosis {
  const findings = ranked(reports.flatMap((report) => report.findings));
  const ruledOut = reports.flatMap((report) => report.rulesOut);
  const phenomenon = reports.find(({ id }) => id === 'phenomenon');
  const causes = findings.map((finding) => describe(finding, names, phenomenon));
  const verdict: Verdict =
    causes.length > 0
      ? 'faulty'
      : phenomenon?.status === 'clear'
        ? 'healthy'
        : phenomenon === undefined && reports.length > 0 && reports.every(({ status }) => status === 'clear')
          ? 'healthy'
          : phenomenon?.status === 'found'
            ? 'unexplained'
            : 'not-enough-evidence';
  const report = emptyReport('explanation', 'What explains it?', command);
  report.status = causes.length > 0 ? 'found' : verdict === 'healthy' ? 'clear' : 'open';
  report.rulesOut = ruledOut.filter(({ cause }) => !causes.some(({ id }) => id === cause));
  report.did =
    'Findings of all stages were ranked: rows that contradict each other before statistics, specific causes before general ones.';
  report.found = conclusion(verdict, causes, phenomenon, reports);
  report.power = 'Each stage states its own.';
  const stages = [...reports, report].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  return {
    format: 'trueline/diagnosis/2',
    verdict,
    causes,
    unexplained:
      verdict === 'unexplained' && phenomenon
        ? [
            {
              check: phenomenon.id,
              rows: 0,
              share: 1,
              onset: 0,
              agents: [...names],
              summary: phenomenon.found,
              candidates: causesOfInequality.filter((id) => !ruledOut.some(({ cause }) => cause === id)),
              to_decide: [],
            },
          ]
        : [],
    remarks: [],
    cleared: [],
    checks: stages.map(asCheck),
    coverage: { rows: { replay: 0, credit: 0, gradient: 0 }, gaps: [] },
    stages,
  };
}

/** One entry per cause, the strongest of its findings. */
function ranked(findings: readonly SymmetryFinding[]): SymmetryFinding[] {
  const place = ({ cause, proof }: SymmetryFinding) => {
    const at = priority.indexOf(cause);
    return (proof === 'rows' ? 0 : 100) + (at < 0 ? priority.length : at);
  };
  const sorted = [...findings].sort((a, b) => place(a) - place(b));
  return sorted.filter((finding, i) => sorted.findIndex(({ cause }) => cause === finding.cause) === i);
}

function describe(finding: SymmetryFinding, names: readonly string[], phenomenon: StageReport | undefined): Cause {
  const entry = causeById(finding.cause);
  const agents =
    finding.agents.length > 0 ? finding.agents.map((agent) => names[agent] ?? `agent ${agent}`) : [...names];
  return {
    id: finding.cause,
    confidence: finding.confidence,
    agents,
    onset: Math.max(0, finding.onset),
    rows: finding.rows,
    summary: finding.summary,
    evidence: [finding.evidence],
    symptoms: phenomenon?.status === 'found' ? [phenomenon.found] : [],
    remedy: entry?.remedy ?? '',
  };
}

function conclusion(
  verdict: Verdict,
  causes: readonly Cause[],
  phenomenon: StageReport | undefined,
  reports: readonly StageReport[],
): string {
  if (causes.length > 0) {
    const [first, ...rest] = causes;
    const also = rest.length > 0 ? ` Found as well: ${rest.map(({ id }) => id).join(', ')}.` : '';
    return `${first.id}: ${first.summary} ${first.remedy}${also}`;
  }
  const fair = reports.find(({ id }) => id === 'random-play');
  if (verdict === 'healthy')
    return `No cause of inequality was found, and the ranking of the agents is what chance gives. ${fair?.found ?? ''}`.trim();
  if (phenomenon?.status === 'found')
    return 'The inequality is systematic, but no stage found what causes it. What is not ruled out above is left: look at what the recordings do not hold.';
  return `There is too little to judge by. ${phenomenon?.power ?? ''}`.trim();
}

function asCheck({ id, status, figures, found }: StageReport): CheckReport {
  const result = { found: 'fail', clear: 'pass', open: 'warn', 'not-run': 'not-checked' } as const;
  return { id, status: result[status], needs: [], measured: figures, expected: {}, note: found };
}
