/** The stages that recordings and logs made elsewhere allow: the phenomenon over their seeds, settings, updates and data row by row, and seats where names were dealt. */
import { diagnose } from '../doctor/diagnose.ts';
import { told } from '../language/language.ts';
import {
  addBlock,
  anyDifferenceTest,
  type BlockSums,
  columnMeans,
  emptySums,
  withinVariance,
} from '../math/block-sums.ts';
import { detectableRange, trendBlocks } from '../math/ranks/power.ts';
import { BadInput } from '../recording/bad-input.ts';
import type { Recording } from '../recording/recording.ts';
import { type RunCurve, readCurve } from '../sweep/curves.ts';
import { auditRecording } from './audit/audit.ts';
import { type AgentsOfLog, lateByAgent, readAgents } from './from-logs.ts';
import { shares, wantedPower } from './levels.ts';
import { scaleOf, visibleEffect, wouldTake } from './power.ts';
import { emptyReport, type StageReport } from './stage.ts';
import { judgeData } from './stages/data.ts';
import { explain, type SymmetryDiagnosis } from './stages/explanation.ts';
import { judgeCurves, rounded } from './stages/phenomenon.ts';
import { byPermutation } from './stages/random-play.ts';
import { judgeSettings } from './stages/settings-and-updates.ts';

export async function investigateRecordings(
  recordings: readonly Recording[],
  command: string,
  say: (sentence: string) => void = () => undefined,
): Promise<SymmetryDiagnosis> {
  const names = agentsOf(recordings);
  const reports: StageReport[] = [];
  const curves: RunCurve[] = [];
  const logs: AgentsOfLog[] = [];
  for (const recording of recordings) {
    if (recording.tables.includes('episodes')) {
      curves.push(await readCurve(recording));
      continue;
    }
    const log = await readAgents(recording);
    if (log) {
      logs.push(log);
      curves.push(log.curve);
    }
  }
  if (curves.length > 0) {
    const report = judgeCurves(curves, names, command);
    report.figures = { ...report.figures, ...lateByAgent(logs, names.length) };
    const all = logs.length === curves.length;
    const what = told(
      all ? 'logs' : logs.length > 0 ? 'recordings and logs' : 'recordings',
      all ? '个日志' : logs.length > 0 ? '个记录与日志' : '个记录',
    );
    report.did = told(
      `${curves.length} ${what} were taken as seeds; every agent is judged by its mean return over the last 20 % of the steps. ${report.did}`,
      `把 ${curves.length} ${what}当作随机种子；每个智能体按最后 20 % 步数的平均回报评判。${report.did}`,
    );
    reports.push(report);
  } else
    reports.push(
      notRun(
        'phenomenon',
        told(
          'It needs the table episodes, or a log that tells the returns of its agents apart.',
          '需要 episodes 表，或能分清各智能体回报的日志。',
        ),
        command,
      ),
    );
  let settings: StageReport | null = null;
  let data: StageReport | null = null;
  for (const [i, recording] of recordings.entries()) {
    say(
      told(
        `Looking at the rows of recording ${i + 1} of ${recordings.length}`,
        `正在逐行查看第 ${i + 1} / ${recordings.length} 个记录`,
      ),
    );
    const audit = await auditRecording(recording);
    const doctor = audit.samples > 0 ? await diagnose(recording) : null;
    settings = worse(
      settings,
      judgeSettings(
        audit,
        null,
        command,
        told(`${recordings.length} recordings were looked at.`, `查看了 ${recordings.length} 个记录。`),
      ),
    );
    data = worse(data, judgeData(audit, doctor, command));
  }
  if (settings) reports.push(settings);
  if (data) reports.push(data);
  reports.push(await dealt(recordings, names, command));
  reports.push(
    notRun(
      'random-play',
      told(
        'It needs the game itself: random play cannot be had from recordings.',
        '需要游戏本身：从记录中得不到随机玩法。',
      ),
      command,
    ),
  );
  const experiments = told(
    'It needs further runs; recordings of them can be compared with trueline compare.',
    '需要更多训练；其记录可用 trueline compare 比较。',
  );
  reports.push(notRun('ladder', experiments, command), notRun('sharing', experiments, command));
  return explain(reports, names, command);
}

function agentsOf(recordings: readonly Recording[]): string[] {
  const [first, ...rest] = recordings.map(({ manifest }) => (manifest.agents ?? []).map(({ name }) => name));
  if (first.length < 2)
    throw new BadInput(
      told(
        `tells ${first.length} agents apart; at least two are needed to be unequal`,
        `只分得出 ${first.length} 个智能体；至少要有两个才谈得上不平等`,
      ),
      {
        file: recordings[0].name,
      },
    );
  for (const [i, names] of rest.entries())
    if (names.join() !== first.join())
      throw new BadInput(
        told(
          `has the agents ${names.join(', ')}, and ${recordings[0].name} has ${first.join(', ')}; give recordings of the same agents`,
          `的智能体是 ${names.join('、')}，而 ${recordings[0].name} 的是 ${first.join('、')}；请给出相同智能体的记录`,
        ),
        { file: recordings[i + 1].name },
      );
  return first;
}

/** The report that found something, or the one that saw more; the later of equals. */
function worse(before: StageReport | null, now: StageReport): StageReport {
  const weight = { found: 2, clear: 1, open: 0, 'not-run': 0 };
  return before && weight[before.status] > weight[now.status] ? before : now;
}

function notRun(id: StageReport['id'], why: string, command: string): StageReport {
  return { ...emptyReport(id, command), status: 'not-run', found: why };
}

/** Where names were dealt to seats, every finished episode tells seats and names apart. */
async function dealt(
  recordings: readonly Recording[],
  names: readonly string[],
  command: string,
): Promise<StageReport> {
  const bySeat = emptySums(names.length);
  let moved = false;
  for (const recording of recordings) moved = (await addEpisodes(recording, names.length, bySeat)) || moved;
  if (!moved)
    return notRun(
      'names-and-seats',
      told(
        'It needs runs in which names are dealt to seats (episodes.seat), and here every agent keeps its seat.',
        '需要把名称随机分到位置上的训练（episodes.seat），而这里每个智能体都一直坐在自己的位置上。',
      ),
      command,
    );
  const report = emptyReport('names-and-seats', command);
  const { statistic, p } = anyDifferenceTest(bySeat);
  const significant = p <= shares.dealtSeats;
  const means = columnMeans(bySeat).map(rounded);
  report.tests = [
    {
      name: told('returns by seat, names dealt', '名称随机分座时各位置的回报'),
      statistic,
      p,
      level: shares.dealtSeats,
      significant,
      method: byPermutation(),
    },
  ];
  const within = withinVariance(bySeat);
  const grand = means.reduce((a, b) => a + b, 0) / means.length;
  const tested = { size: names.length, within, level: shares.dealtSeats };
  const [detectable, effect] = [detectableRange(tested, bySeat.blocks, wantedPower), visibleEffect(grand, within)];
  report.status = significant ? 'found' : detectable <= effect ? 'clear' : 'open';
  const many = bySeat.blocks.toLocaleString('en-US');
  report.did = told(
    `Names were dealt to seats in ${many} recorded episodes.`,
    `在录下的 ${many} 局中名称被随机分到位置上。`,
  );
  report.found = significant
    ? told(
        `The seat matters: ${means.join(', ')} by seat (p = ${rounded(p)}).`,
        `位置有影响：各位置 ${means.join('、')}（p = ${rounded(p)}）。`,
      )
    : told(`No seat is shown to be better (p = ${rounded(p)}).`, `没有证据表明哪个位置更好（p = ${rounded(p)}）。`);
  const share = rounded((100 * detectable) / scaleOf(grand, within));
  report.power =
    told(
      `A trend of ${share} % of the mean return along the seats is seen with power ${wantedPower}.`,
      `沿位置相差平均回报 ${share} % 的趋势会以 ${wantedPower} 的功效被发现。`,
    ) + (detectable > effect ? wouldTake(trendBlocks(tested, effect, wantedPower), 'episodes') : '');
  report.figures = { episodes: bySeat.blocks, 'mean return by seat': means };
  if (significant)
    report.findings.push({
      cause: 'environment-seat-bias',
      proof: 'statistics',
      confidence: 0.95,
      agents: [],
      summary: report.found,
      evidence: {
        check: told('names dealt to seats', '名称随机分座'),
        measured: { 'mean return by seat': means, p: rounded(p) },
        expected: { 'mean return by seat': told('equal', '相等') },
      },
      rows: bySeat.blocks,
      onset: 0,
    });
  return report;
}

/** Whether any agent sat in more than one seat. */
async function addEpisodes(recording: Recording, agents: number, into: BlockSums): Promise<boolean> {
  if (!recording.tables.includes('episodes')) return false;
  const table = await recording.read('episodes', ['episode', 'agent', 'seat', 'return']);
  const numbers = (name: string) => table.columns.get(name)?.values as ArrayLike<number> | undefined;
  const [episode, agent, seat, returns] = [numbers('episode'), numbers('agent'), numbers('seat'), numbers('return')];
  if (!episode || !agent || !seat || !returns) return false;
  const blocks = new Map<number, number[]>();
  let moved = false;
  for (let row = 0; row < table.rows; row++) {
    if (seat[row] !== agent[row]) moved = true;
    const block = blocks.get(episode[row]) ?? new Array<number>(agents).fill(Number.NaN);
    block[seat[row]] = returns[row];
    blocks.set(episode[row], block);
  }
  if (moved) for (const block of blocks.values()) if (!block.some(Number.isNaN)) addBlock(into, block);
  return moved;
}
