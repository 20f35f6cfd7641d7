/** Stage 5: does each agent learn from its own data, all of it and nothing else? Rewards, rows, owners, subgoals and imagination, row by row. */
import type { Diagnosis } from '../../doctor/diagnosis.ts';
import { space, told } from '../../language/language.ts';
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
  const report = emptyReport('data', command);
  const found = dataFindings(usual);
  // What is known here of equal agents is more specific than what the doctor says of any run.
  report.findings = found.length > 0 ? found : doctorFindings(doctor, usual);
  const { rows, rewards, imagined } = usual;
  const compared = usual.samples > 0 || usual.counts.iterations > 0;
  report.status = report.findings.length > 0 ? 'found' : usual.samples > 0 ? 'clear' : 'open';
  if (usual.samples > 0)
    report.figures = {
      'decisions by agent': rows.map(({ decisions }) => decisions),
      'rows stored by agent': rows.map(({ stored }) => stored),
      'reward paid by agent': rewards.map(({ paid }) => rounded(paid)),
      'reward stored by agent': rewards.map(({ stored }) => rounded(stored)),
      'imagined rows by agent': imagined.map((own) => own.imagined),
    };
  const many = usual.samples.toLocaleString('en-US');
  const checks = doctor?.checks.filter(({ status }) => status !== 'not-checked').length ?? 0;
  report.did =
    usual.samples > 0
      ? told(
          `${many} rows were followed from the game to the update: stored rewards against what the game paid, stored rows against decisions taken, whose rows each policy was trained on${doctor ? `, and the doctor's ${checks} checks` : ''}.`,
          `从游戏到更新逐行跟踪了 ${many} 行：所存奖励与游戏实付的对比，所存行数与实际决策数的对比，每个策略用了谁的行${doctor ? `，以及诊断的 ${checks} 项检查` : ''}。`,
        )
      : '';
  report.found =
    report.findings.length > 0
      ? report.findings.map(({ summary }) => summary).join(space())
      : usual.samples > 0
        ? told(
            'Every decision of every agent reached its own buffer once, with the reward that the game paid for it, and each policy was trained on its own rows.',
            '每个智能体的每次决策都恰好进入自己的缓冲区一次，并带着游戏为它付出的奖励；每个策略都用自己的行训练。',
          )
        : compared
          ? told(
              'What modules counted agrees between agents, but no samples were recorded, so no row could be followed.',
              '各模块的计数在智能体之间一致，但没有录下样本，因此无法逐行跟踪。',
            )
          : told('No samples were recorded, so no row could be followed.', '没有录下样本，因此无法逐行跟踪。');
  report.power =
    usual.samples > 0
      ? told(
          'Rows are compared exactly: a single kind of wrong row is seen from 8 rows on.',
          '数据行是精确比较的：同一种错误从 8 行起即可看到。',
        )
      : told(
          'The tables samples and replays of one run would decide it, however few seeds.',
          '一次训练的 samples 与 replays 表即可判定，与种子数量无关。',
        );
  const named = new Set(report.findings.map(({ cause }) => cause));
  const rule = (cause: string, checked: boolean, by: string) => {
    if (checked && !named.has(cause)) report.rulesOut.push({ cause, by });
  };
  rule(
    'reward-bookkeeping',
    rewards.some(({ rows: seen }) => seen > 0),
    told('stored rewards against what the game paid, row by row', '逐行对比所存奖励与游戏实付的奖励'),
  );
  rule(
    'data-imbalance',
    rows.some(({ decisions }) => decisions > 0),
    told('stored rows against decisions taken', '所存行数与实际决策数的对比'),
  );
  rule(
    'perspective-mismatch',
    usual.turns.some(({ rows: seen }) => seen > 0),
    told('candidate lists of sampling and update, row by row', '逐行对比采样与更新时的候选列表'),
  );
  rule(
    'trained-on-other-agent',
    doctor?.checks.some(({ id, status }) => id === 'ownership' && status === 'pass') ?? false,
    told("owners of the rows in each policy's updates", '每个策略的更新所用各行的归属'),
  );
  rule(
    'subgoal-log-incomplete',
    usual.counts.sum['subgoal.expected'] !== undefined,
    told('length of the subgoal logs', '子目标日志的长度'),
  );
  rule(
    'imagined-misattributed',
    imagined.some((own) => own.imagined > 0),
    told('imagined rows by agent', '各智能体的想象行数'),
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
        confidence >= 0.4 && (betweenAgents.has(id) || agents.length < audit.learns.filter(Boolean).length),
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
