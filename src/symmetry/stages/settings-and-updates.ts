/** Stage 4: are agents set up and updated alike? Declared settings, the settings that the rows show, counts of updates; and runs in which only the order of updates differs. */
import { diagnose } from '../../doctor/diagnose.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { type RunCurve, readCurve } from '../../sweep/curves.ts';
import { type Audit, auditRecording } from '../audit/audit.ts';
import { dataFindings, settingsFindings, updateFindings } from '../audit/findings.ts';
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
    throw new BadInput('the run whose every row is looked at failed, as said above; the same command tries it again');
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
      ? `Two runs of ${steps} steps were recorded row by row, one with the order of updates reversed.`
      : `A run of ${steps} steps was recorded row by row.`,
  );
}

export function judgeSettings(usual: Audit, reversed: Audit | null, command: string, did: string): StageReport {
  const report = emptyReport('settings-and-updates', 'Are agents set up and updated alike?', command);
  report.findings = [...updateFindings(usual), ...settingsFindings(usual, reversed)];
  report.status = report.findings.length > 0 ? 'found' : 'clear';
  const rates = usual.policyOf.map((policy) => (policy >= 0 ? usual.rates.relative[policy] : Number.NaN));
  const updates = usual.counts.last['updates.policy'] ?? [];
  const known = (values: readonly number[]) => values.filter((value) => !Number.isNaN(value)).map(rounded);
  report.figures = {
    'updates by agent': known(updates),
    'learning rates, relative': known(rates),
    'discounts that the rows show': known(usual.credit.map(({ gamma }) => gamma)),
    'lambdas that the rows show': known(usual.credit.map(({ lambda }) => lambda)),
    'entropy coefficients that the rows show': known(
      usual.policyOf.map((policy) => usual.coefficients[policy]?.entropy ?? Number.NaN),
    ),
  };
  report.did = `${did} Settings were compared field by field, as declared and as the rows show them (learning rate, coefficients, clip range, discount, lambda), and updates were counted.`;
  report.found =
    report.findings.length > 0
      ? report.findings.map(({ summary }) => summary).join(' ')
      : 'Every setting that could be seen is the same for all agents, and all were updated equally often.';
  report.power =
    'Rows are compared exactly: a difference that reaches the recorded columns is seen whatever its effect.';
  if (!report.findings.some(({ cause }) => cause === 'settings-differ') && usual.samples > 0)
    report.rulesOut.push({ cause: 'settings-differ', by: 'settings declared and recomputed from the rows' });
  if (!report.findings.some(({ cause }) => cause === 'update-count-differs') && updates.length > 0)
    report.rulesOut.push({ cause: 'update-count-differs', by: 'counters of updates' });
  return report;
}

/** Long runs may count what short ones cannot: an agent that stops learning late. */
export async function recountUpdates(report: StageReport, runs: readonly TrainedRun[]): Promise<void> {
  for (const { recording, label } of runs) {
    const found = updateFindings(await auditRecording(recording));
    if (found.length === 0) continue;
    if (!report.findings.some(({ cause }) => cause === 'update-count-differs')) {
      report.findings.push(...found.map((finding) => ({ ...finding, summary: `In ${label}: ${finding.summary}` })));
      report.found = report.findings.map(({ summary }) => summary).join(' ');
      report.status = 'found';
      report.rulesOut = report.rulesOut.filter(({ cause }) => cause !== 'update-count-differs');
    }
    return;
  }
  report.did += ` Updates were counted in the ${runs.length} long runs as well.`;
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
  const test = changeOfTrend(reversed, usual);
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const [straight, turned, mixed] = trends.map(mean);
  const significant = test.p <= shares.order;
  report.tests.push({
    name: 'trend in the usual order against the reversed one, paired by seed',
    statistic: test.t,
    p: test.p,
    level: shares.order,
    significant,
    method: "Student's t",
  });
  report.did += ` Then ${reversed.length} seeds were trained again with the order of updates reversed, and shuffled.`;
  const figures = `trend ${rounded(straight)} in the usual order, ${rounded(turned)} reversed, ${rounded(mixed)} shuffled`;
  if (significant && Math.sign(straight) !== Math.sign(turned)) {
    report.status = 'found';
    report.found += ` The ranking turns round with the order of updates: ${figures}.`;
    report.findings.push({
      cause: 'training-order-matters',
      proof: 'statistics',
      confidence: 0.99,
      agents: [],
      summary: `The ranking turns round with the order of updates: ${figures} (p = ${rounded(test.p)}).`,
      evidence: {
        check: 'order of updates',
        measured: { usual: rounded(straight), reversed: rounded(turned), shuffled: rounded(mixed) },
        expected: { usual: 'as reversed' },
      },
      rows: 0,
      onset: 0,
    });
  } else {
    report.found += ` The ranking is not shown to turn round with the order of updates: ${figures} (p = ${rounded(test.p)}); ${test.said}.`;
    if (test.excluded)
      report.rulesOut.push({ cause: 'training-order-matters', by: `the order reversed and shuffled: ${test.said}` });
  }
  report.charts.push({
    kind: 'boxes',
    title: 'The order of updates',
    note: 'One point is one seed: the trend of the last 20 % of the steps along the agents, positive where the first does best.',
    unit: 'trend',
    groups: [{ label: '', boxes: ['usual', 'reversed', 'shuffled'].map((label, i) => ({ label, values: trends[i] })) }],
  });
}
