/** Stage 4: are agents set up and updated alike? Declared settings, the settings that the rows show, counts of updates; and runs in which only the order of updates differs. */
import { diagnose } from '../../doctor/diagnose.ts';
import { space, told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { type RunCurve, readCurve } from '../../sweep/curves.ts';
import { type Audit, auditRecording } from '../audit/audit.ts';
import { dataFindings, settingsFindings, updateFindings } from '../audit/findings.ts';
import { bufferCharts, counterTable, settingsTable } from '../audit/tables.ts';
import { shares } from '../levels.ts';
import { emptyReport, type Investigation, type StageReport, type TrainedRun } from '../stage.ts';
import { changeOfTrend, trendOf } from '../trend.ts';
import { phenomenonOrders, rounded } from './phenomenon.ts';

/** Trains a run whose every row is kept, and looks at it once; a second with the order of updates reversed where settings differ, to tell whether the order does it. */
export async function audit(of: Investigation): Promise<NonNullable<Investigation['audits']>> {
  if (of.audits) return of.audits;
  const { plan, lab } = of;
  const settings = {
    steps: plan.auditSteps,
    worlds: 32,
    rollout: 32,
    guard: 'off',
    recording: { record: 'all' },
    // Imagination waits for a good world model; here it begins at once, so that its rows can be followed too.
    ...(of.settings.algorithm === 'hop' ? { hop: { imagination: { error: 1 } } } : {}),
  };
  const recorded = async (label: string, order: string) => {
    const [run] = await lab.train([{ label, settings: { ...settings, order }, seed: plan.firstSeed + 1 }]);
    return run?.recording ?? null;
  };
  const recording = await recorded('every row kept', 'fixed');
  if (!recording)
    throw new BadInput(
      told(
        'the run whose every row is looked at failed, as said above; the same command tries it again',
        '如上所述，逐行检查的那次训练失败了；再执行同一条命令会重试',
      ),
    );
  const usual = await auditRecording(recording);
  const differ = settingsFindings(usual, null).length > 0;
  const turned = differ ? await recorded('every row kept, order reversed', 'reversed') : null;
  // What the rows of equal agents show is more specific than the doctor, who is asked where they show nothing.
  const shown = differ || updateFindings(usual).length > 0 || dataFindings(usual).length > 0;
  of.audits = {
    usual,
    reversed: turned ? await auditRecording(turned) : null,
    doctor: shown && !plan.all ? null : await diagnose(recording),
  };
  return of.audits;
}

export async function settingsAndUpdates(of: Investigation): Promise<StageReport> {
  const { usual, reversed } = await audit(of);
  const steps = of.plan.auditSteps.toLocaleString('en-US');
  return judgeSettings(
    usual,
    reversed,
    of.command,
    reversed
      ? told(
          `Two runs of ${steps} steps were recorded row by row, one with the order of updates reversed.`,
          `逐行录制了两次 ${steps} 步的训练，其中一次把更新次序颠倒。`,
        )
      : told(`A run of ${steps} steps was recorded row by row.`, `逐行录制了一次 ${steps} 步的训练。`),
  );
}

export function judgeSettings(usual: Audit, reversed: Audit | null, command: string, did: string): StageReport {
  const report = emptyReport('settings-and-updates', command);
  report.findings = [...updateFindings(usual), ...settingsFindings(usual, reversed)];
  const updates = usual.counts.last['updates.policy'] ?? [];
  const settings = settingsTable(usual);
  const counters = counterTable(usual);
  report.tables = [settings, counters].filter(({ rows }) => rows.length > 0);
  report.charts = bufferCharts(usual);
  const found = report.findings.length > 0;
  report.status = found ? 'found' : report.tables.length > 0 ? 'clear' : 'open';
  report.did = `${did} ${told(
    'Settings were compared field by field, as declared and as the rows show them (learning rate, coefficients, clip range, discount, lambda), and what was counted was compared between agents.',
    '逐项比较了各智能体的设置，既看声明的，也看由数据行得出的（学习率、系数、裁剪范围、折扣、lambda），并比较了各项计数。',
  )}`;
  const alike = told(
    `${settings.rows.length} settings that could be seen are the same for all agents`,
    `能看到的 ${settings.rows.length} 项设置对所有智能体都相同`,
  );
  const unseen = told('No setting of single agents could be seen', '看不到各智能体自己的任何设置');
  const counted = told(
    `${counters.rows.length} counters were compared, and all agents were updated equally often`,
    `比较了 ${counters.rows.length} 项计数，所有智能体的更新次数相同`,
  );
  const uncounted = told('updates were not counted', '没有更新次数的计数');
  report.found = found
    ? report.findings.map(({ summary }) => summary).join(space())
    : `${settings.rows.length > 0 ? alike : unseen}${told('; ', '；')}${updates.length > 0 ? counted : uncounted}${told('.', '。')}`;
  report.power =
    report.status === 'open'
      ? told(
          'Nothing was there to compare: agent_settings in the manifest, counters, or rows (samples, steps, tensors) would decide it, however few seeds.',
          '没有可比较的内容：清单中的 agent_settings、计数表或数据行（samples、steps、tensors）即可判定，与种子数量无关。',
        )
      : told(
          'Rows are compared exactly: a difference that reaches the recorded columns is seen whatever its effect.',
          '数据行是精确比较的：凡是进入所录列的差异都会被看到，无论其影响多大。',
        );
  if (!report.findings.some(({ cause }) => cause === 'settings-differ') && usual.samples > 0)
    report.rulesOut.push({
      cause: 'settings-differ',
      by: told('settings declared and recomputed from the rows', '声明的设置以及由数据行重算的设置'),
    });
  if (!report.findings.some(({ cause }) => cause === 'update-count-differs') && updates.length > 0)
    report.rulesOut.push({ cause: 'update-count-differs', by: told('counters of updates', '更新次数的计数') });
  return report;
}

/** Long runs may count what short ones cannot: an agent that stops learning late. */
export async function recountUpdates(report: StageReport, runs: readonly TrainedRun[]): Promise<void> {
  for (const { recording, label } of runs) {
    const found = updateFindings(await auditRecording(recording));
    if (found.length === 0) continue;
    if (!report.findings.some(({ cause }) => cause === 'update-count-differs')) {
      report.findings.push(
        ...found.map((finding) => ({
          ...finding,
          summary: told(`In ${label}: ${finding.summary}`, `在 ${label} 中：${finding.summary}`),
        })),
      );
      report.found = report.findings.map(({ summary }) => summary).join(space());
      report.status = 'found';
      report.rulesOut = report.rulesOut.filter(({ cause }) => cause !== 'update-count-differs');
    }
    return;
  }
  report.did += told(
    ` Updates were counted in the ${runs.length} long runs as well.`,
    `在 ${runs.length} 次长训练中也数了更新次数。`,
  );
}

/** The experiment: the same seeds with the order reversed and shuffled. An order that decides turns the ranking round. */
export async function orderExperiment(
  of: Investigation,
  report: StageReport,
  usual: readonly RunCurve[],
): Promise<void> {
  const trained = async (order: string) => {
    const runs = await of.lab.train(
      phenomenonOrders(of).map(({ evaluate: _, ...wanted }) => ({
        ...wanted,
        label: `${wanted.label}, order ${order}`,
        settings: { ...wanted.settings, order },
      })),
    );
    const curves: RunCurve[] = [];
    for (const { recording } of runs) curves.push(await readCurve(recording));
    return curves;
  };
  const [reversed, shuffled] = [await trained('reversed'), await trained('shuffled')];
  const trends = [usual, reversed, shuffled].map((curves) => curves.map(trendOf));
  const test = changeOfTrend(reversed, usual, shares.order);
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const [straight, turned, mixed] = trends.map(mean);
  const significant = test.p <= shares.order;
  report.tests.push({
    name: told(
      'trend in the usual order against the reversed one, paired by seed',
      '通常次序与颠倒次序的趋势之差，按种子配对',
    ),
    statistic: test.t,
    p: test.p,
    level: shares.order,
    significant,
    method: told("Student's t", 'Student t 检验'),
  });
  report.did += told(
    ` Then ${reversed.length} seeds were trained again with the order of updates reversed, and shuffled.`,
    `随后把更新次序颠倒、打乱，各重新训练了 ${reversed.length} 个种子。`,
  );
  const figures = told(
    `trend ${rounded(straight)} in the usual order, ${rounded(turned)} reversed, ${rounded(mixed)} shuffled`,
    `通常次序的趋势 ${rounded(straight)}，颠倒 ${rounded(turned)}，打乱 ${rounded(mixed)}`,
  );
  const turns = told(
    `The ranking turns round with the order of updates: ${figures}`,
    `排序随更新次序而颠倒：${figures}`,
  );
  if (significant && Math.sign(straight) !== Math.sign(turned)) {
    report.status = 'found';
    report.found += told(` ${turns}.`, `${turns}。`);
    report.findings.push({
      cause: 'training-order-matters',
      proof: 'statistics',
      confidence: 0.99,
      agents: [],
      summary: told(`${turns} (p = ${rounded(test.p)}).`, `${turns}（p = ${rounded(test.p)}）。`),
      evidence: {
        check: told('order of updates', '更新次序'),
        measured: { usual: rounded(straight), reversed: rounded(turned), shuffled: rounded(mixed) },
        expected: { usual: told('as reversed', '与颠倒时相同') },
      },
      rows: 0,
      onset: 0,
    });
  } else {
    report.found += told(
      ` The ranking is not shown to turn round with the order of updates: ${figures} (p = ${rounded(test.p)}); ${test.said}.`,
      `没有证据表明排序随更新次序而颠倒：${figures}（p = ${rounded(test.p)}）；${test.said}。`,
    );
    if (test.excluded)
      report.rulesOut.push({
        cause: 'training-order-matters',
        by: told(`the order reversed and shuffled: ${test.said}`, `颠倒与打乱更新次序：${test.said}`),
      });
  }
  report.charts.push({
    kind: 'boxes',
    title: told('The order of updates', '更新的先后次序'),
    note: told(
      'One point is one seed: the trend of the last 20 % of the steps along the agents, positive where the first does best.',
      '一个点是一个种子：最后 20 % 步数沿智能体编号的趋势，为正表示第一个最好。',
    ),
    unit: told('trend', '趋势'),
    groups: [
      {
        label: '',
        boxes: [told('usual', '通常'), told('reversed', '颠倒'), told('shuffled', '打乱')].map((label, i) => ({
          label,
          values: trends[i],
        })),
      },
    ],
  });
}
