/** The stages that recordings and logs made elsewhere allow: the phenomenon over their seeds, settings, updates and data row by row, and seats where names were dealt. */
import { diagnose } from '../doctor/diagnose.ts';
import { addBlock, anyDifferenceTest, type BlockSums, columnMeans, emptySums } from '../math/block-sums.ts';
import { BadInput } from '../recording/bad-input.ts';
import type { Recording } from '../recording/recording.ts';
import { type RunCurve, readCurve } from '../sweep/curves.ts';
import { auditRecording } from './audit/audit.ts';
import { type AgentsOfLog, lateByAgent, readAgents } from './from-logs.ts';
import { shares } from './levels.ts';
import { emptyReport, type StageReport } from './stage.ts';
import { judgeData } from './stages/data.ts';
import { explain, type SymmetryDiagnosis } from './stages/explanation.ts';
import { judgeCurves, rounded } from './stages/phenomenon.ts';
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
    report.did = `${curves.length} ${logs.length === curves.length ? 'logs' : logs.length > 0 ? 'recordings and logs' : 'recordings'} were taken as seeds; every agent is judged by its mean return over the last 20 % of the steps. ${report.did}`;
    reports.push(report);
  } else
    reports.push(
      notRun(
        'phenomenon',
        'Do equal agents come out unequal?',
        'It needs the table episodes, or a log that tells the returns of its agents apart.',
        command,
      ),
    );
  let settings: StageReport | null = null;
  let data: StageReport | null = null;
  for (const [i, recording] of recordings.entries()) {
    say(`Looking at the rows of recording ${i + 1} of ${recordings.length}`);
    const audit = await auditRecording(recording);
    const doctor = audit.samples > 0 ? await diagnose(recording) : null;
    settings = worse(settings, judgeSettings(audit, null, command, `${recordings.length} recordings were looked at.`));
    data = worse(data, judgeData(audit, doctor, command));
    if (audit.samples === 0 && data.status === 'clear')
      Object.assign(data, {
        status: 'open',
        found: 'No samples were recorded, so no row could be followed.',
        rulesOut: [],
      });
  }
  if (settings) reports.push(settings);
  if (data) reports.push(data);
  reports.push(await dealt(recordings, names, command));
  reports.push(
    notRun(
      'random-play',
      'Is the game fair?',
      'It needs the game itself: random play cannot be had from recordings.',
      command,
    ),
  );
  const experiments = 'It needs further runs; recordings of them can be compared with trueline compare.';
  reports.push(notRun('ladder', 'At which rung does the order appear?', experiments, command));
  reports.push(notRun('sharing', 'Does the order survive shared parameters?', experiments, command));
  return explain(reports, names, command);
}

function agentsOf(recordings: readonly Recording[]): string[] {
  const [first, ...rest] = recordings.map(({ manifest }) => (manifest.agents ?? []).map(({ name }) => name));
  if (first.length < 2)
    throw new BadInput(`tells ${first.length} agents apart; at least two are needed to be unequal`, {
      file: recordings[0].name,
    });
  for (const [i, names] of rest.entries())
    if (names.join() !== first.join())
      throw new BadInput(
        `has the agents ${names.join(', ')}, and ${recordings[0].name} has ${first.join(', ')}; give recordings of the same agents`,
        { file: recordings[i + 1].name },
      );
  return first;
}

/** The report that found something, or the later one. */
function worse(before: StageReport | null, now: StageReport): StageReport {
  return before && before.findings.length > 0 ? before : now;
}

function notRun(id: StageReport['id'], title: string, why: string, command: string): StageReport {
  return { ...emptyReport(id, title, command), status: 'not-run', found: why };
}

/** Where names were dealt to seats, every finished episode tells seats and names apart. */
async function dealt(
  recordings: readonly Recording[],
  names: readonly string[],
  command: string,
): Promise<StageReport> {
  const title = 'The seat, or the name?';
  const bySeat = emptySums(names.length);
  let moved = false;
  for (const recording of recordings) moved = (await addEpisodes(recording, names.length, bySeat)) || moved;
  if (!moved)
    return notRun(
      'names-and-seats',
      title,
      'It needs runs in which names are dealt to seats (episodes.seat), and here every agent keeps its seat.',
      command,
    );
  const report = emptyReport('names-and-seats', title, command);
  const { statistic, p } = anyDifferenceTest(bySeat);
  const significant = p <= shares.dealtSeats;
  const means = columnMeans(bySeat).map(rounded);
  report.tests = [
    {
      name: 'returns by seat, names dealt',
      statistic,
      p,
      level: shares.dealtSeats,
      significant,
      method: 'permutation within episodes',
    },
  ];
  report.status = significant ? 'found' : 'clear';
  report.did = `Names were dealt to seats in ${bySeat.blocks.toLocaleString('en-US')} recorded episodes.`;
  report.found = significant
    ? `The seat matters: ${means.join(', ')} by seat (p = ${rounded(p)}).`
    : `No seat is shown to be better (p = ${rounded(p)}).`;
  report.figures = { episodes: bySeat.blocks, 'mean return by seat': means };
  if (significant)
    report.findings.push({
      cause: 'environment-seat-bias',
      proof: 'statistics',
      confidence: 0.95,
      agents: [],
      summary: report.found,
      evidence: {
        check: 'names dealt to seats',
        measured: { 'mean return by seat': means, p: rounded(p) },
        expected: { 'mean return by seat': 'equal' },
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
