/** Stage 8: from everything found to a cause, with the others ruled out and by what. Rows that contradict each other come before statistics, and the specific before the general. */
import { causeById, causes as vocabulary } from '../../doctor/causes.ts';
import type { Cause, CheckReport, Diagnosis, Verdict } from '../../doctor/diagnosis.ts';
import { space, told } from '../../language/language.ts';
import { emptyReport, type StageReport, type SymmetryFinding, stageIds } from '../stage.ts';

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
  const report = emptyReport('explanation', command);
  report.status = causes.length > 0 ? 'found' : verdict === 'healthy' ? 'clear' : 'open';
  report.rulesOut = ruledOut.filter(({ cause }) => !causes.some(({ id }) => id === cause));
  report.did = told(
    'Findings of all stages were ranked: rows that contradict each other before statistics, specific causes before general ones.',
    '对各阶段的发现排了序：互相矛盾的数据行先于统计，具体的原因先于笼统的。',
  );
  report.found = conclusion(verdict, causes, phenomenon, reports);
  const stages = [...reports, report].sort((a, b) => stageIds.indexOf(a.id) - stageIds.indexOf(b.id));
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
    remedy: entry ? told(entry.remedy, entry.chinese.remedy) : '',
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
    const others = rest.map(({ id }) => id).join(', ');
    const also = rest.length > 0 ? told(` Found as well: ${others}.`, `另外还发现：${others}。`) : '';
    return `${first.id}${told(': ', '：')}${first.summary}${space()}${first.remedy}${also}`;
  }
  const fair = reports.find(({ id }) => id === 'random-play');
  const ofGame = fair && fair.status !== 'not-run' ? `${space()}${fair.found}` : '';
  if (verdict === 'healthy')
    return told(
      `No cause of inequality was found, and the ranking of the agents is what chance gives.${ofGame}`,
      `没有发现不平等的原因，智能体的排序与偶然情形无异。${ofGame}`,
    );
  if (phenomenon?.status === 'found')
    return told(
      'The inequality is systematic, but no stage found what causes it. What is not ruled out above is left: look at what the recordings do not hold.',
      '不平等是系统性的，但没有哪个阶段找到原因。剩下的是上面未被排除的原因：请看记录中所缺的内容。',
    );
  if (phenomenon?.tests.length)
    return told(
      `No cause of inequality was found, and no ranking that chance would not give; but a moderate inequality could not have been seen. ${phenomenon.power}${ofGame}`,
      `没有发现不平等的原因，也没有发现偶然之外的排序；但中等程度的不平等是看不出来的。${phenomenon.power}${ofGame}`,
    );
  return told(
    `There is too little to judge by. ${phenomenon?.found ?? ''}`,
    `可供判断的内容太少。${phenomenon?.found ?? ''}`,
  ).trim();
}

function asCheck({ id, status, figures, found }: StageReport): CheckReport {
  const result = { found: 'fail', clear: 'pass', open: 'warn', 'not-run': 'not-checked' } as const;
  return { id, status: result[status], needs: [], measured: figures, expected: {}, note: found };
}
