/** Stage 5: does each agent learn from its own data, all of it and nothing else? Rewards, rows, owners, subgoals and imagination, row by row. */
import type { Diagnosis } from '../../doctor/diagnosis.ts';
import type { Audit } from '../audit/audit.ts';
import { dataFindings } from '../audit/findings.ts';
import { emptyReport, type Investigation, type StageReport, type SymmetryFinding } from '../stage.ts';
import { rounded } from './phenomenon.ts';
import { audit } from './settings-and-updates.ts';

export async function data(of: Investigation): Promise<StageReport> {
  const { usual, doctor } = await audit(of);
  return judgeData(usual, doctor, of.command);
}

export function judgeData(usual: Audit, doctor: Diagnosis | null, command: string): StageReport {
  const report = emptyReport('data', 'Does each agent learn from its own data?', command);
  const found = dataFindings(usual);
  // What is known here of equal agents is more specific than what the doctor says of any run.
  report.findings = found.length > 0 ? found : doctorFindings(doctor, usual);
  report.status = report.findings.length > 0 ? 'found' : 'clear';
  const { rows, rewards, imagined } = usual;
  report.figures = {
    'decisions by agent': rows.map(({ decisions }) => decisions),
    'rows stored by agent': rows.map(({ stored }) => stored),
    'reward paid by agent': rewards.map(({ paid }) => rounded(paid)),
    'reward stored by agent': rewards.map(({ stored }) => rounded(stored)),
    'imagined rows by agent': imagined.map((own) => own.imagined),
  };
  report.did = `${usual.samples.toLocaleString('en-US')} rows were followed from the game to the update: stored rewards against what the game paid, stored rows against decisions taken, whose rows each policy was trained on${doctor ? `, and the doctor's ${doctor.checks.filter(({ status }) => status !== 'not-checked').length} checks` : ''}.`;
  report.found =
    report.findings.length > 0
      ? report.findings.map(({ summary }) => summary).join(' ')
      : 'Every decision of every agent reached its own buffer once, with the reward that the game paid for it, and each policy was trained on its own rows.';
  report.power = 'Rows are compared exactly: a single kind of wrong row is seen from 8 rows on.';
  const named = new Set(report.findings.map(({ cause }) => cause));
  const rule = (cause: string, checked: boolean, by: string) => {
    if (checked && !named.has(cause)) report.rulesOut.push({ cause, by });
  };
  rule(
    'reward-bookkeeping',
    rewards.some(({ rows: seen }) => seen > 0),
    'stored rewards against what the game paid, row by row',
  );
  rule(
    'data-imbalance',
    rows.some(({ decisions }) => decisions > 0),
    'stored rows against decisions taken',
  );
  rule(
    'perspective-mismatch',
    usual.turns.some(({ rows: seen }) => seen > 0),
    'candidate lists of sampling and update, row by row',
  );
  rule(
    'trained-on-other-agent',
    doctor?.checks.some(({ id, status }) => id === 'ownership' && status === 'pass') ?? false,
    "owners of the rows in each policy's updates",
  );
  rule('subgoal-log-incomplete', usual.counts.sum['subgoal.expected'] !== undefined, 'length of the subgoal logs');
  rule(
    'imagined-misattributed',
    imagined.some((own) => own.imagined > 0),
    'imagined rows by agent',
  );
  return report;
}

/** What mixes agents up, or weighs those who leave first differently, makes agents unequal even where it strikes them all. */
const betweenAgents = new Set([
  'trained-on-other-agent',
  'advantage-agent-swapped',
  'critic-context-misaligned',
  'phantom-steps',
  'padding-trained',
]);

/** A fault that strikes only some agents makes them unequal; most that strike all alike do not. */
function doctorFindings(doctor: Diagnosis | null, audit: Audit): SymmetryFinding[] {
  if (doctor?.verdict !== 'faulty') return [];
  return doctor.causes
    .filter(
      ({ id, agents, confidence }) =>
        confidence >= 0.4 &&
        (betweenAgents.has(id) || agents.length < audit.policyOf.filter((policy) => policy >= 0).length),
    )
    .map(({ id, confidence, agents, summary, evidence, rows, onset }) => ({
      cause: id,
      proof: 'rows' as const,
      confidence,
      agents: agents.map((name) => audit.agents.indexOf(name)).filter((agent) => agent >= 0),
      summary,
      evidence: evidence[0] ?? { check: 'doctor', measured: {}, expected: {} },
      rows,
      onset,
    }));
}
