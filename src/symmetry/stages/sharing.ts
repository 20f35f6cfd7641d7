/** Stage 7: the same seeds with one policy for all. An order that stays belongs to the game or to the books; one that goes belongs to separate learning. */

import { RandomStream } from '../../math/random.ts';
import { detectableMean } from '../../math/ranks/power.ts';
import { friedmanTest } from '../../math/ranks/rank-tests.ts';
import { type RunCurve, readCurve } from '../../sweep/curves.ts';
import { shares, wantedPower } from '../levels.ts';
import { emptyReport, type Investigation, type StageReport } from '../stage.ts';
import { changeOfTrend } from '../trend.ts';
import { phenomenonOrders, rounded } from './phenomenon.ts';

export async function sharing(of: Investigation, separate: readonly RunCurve[]): Promise<StageReport> {
  const report = emptyReport('sharing', 'Does the order survive shared parameters?', of.command);
  const runs = await of.lab.train(
    phenomenonOrders(of).map(({ evaluate: _, ...order }) => ({
      ...order,
      label: `${order.label}, shared`,
      settings: { ...order.settings, sharing: 'shared' },
    })),
  );
  const shared: RunCurve[] = [];
  for (const { recording } of runs) shared.push(await readCurve(recording));
  const blocks = shared.map(({ last }) => last);
  if (blocks.length < 2) {
    report.found = `${blocks.length} runs with one policy for all finished; two are the least that can be compared.`;
    return report;
  }
  const alone = friedmanTest(blocks, RandomStream.of(1, 'shared'));
  const change = changeOfTrend(shared, separate);
  report.tests = [
    {
      name: 'any difference between agents that share one policy',
      statistic: alone.statistic,
      p: alone.p,
      level: shares.sharing / 2,
      significant: alone.p <= shares.sharing / 2,
      method: alone.method,
    },
    {
      name: 'trend with separate against shared parameters, paired by seed',
      statistic: change.t,
      p: change.p,
      level: shares.sharing / 2,
      significant: change.p <= shares.sharing / 2,
      method: "Student's t",
    },
  ];
  const [inShared, differs] = report.tests.map(({ significant }) => significant);
  report.status = inShared || differs ? 'found' : 'clear';
  report.did = `${shared.length} seeds were trained again with one policy for all agents.`;
  report.found = inShared
    ? `The order survives shared parameters (W = ${rounded(alone.w)}, p = ${rounded(alone.p)}): it belongs to the game or to the bookkeeping, not to what each agent learns.`
    : differs
      ? `The order goes away with shared parameters (p = ${rounded(change.p)}): it belongs to separate learning.`
      : `Agents that share one policy are not shown to have an order (p = ${rounded(alone.p)}), nor the trend to differ from separate learning (p = ${rounded(change.p)}); ${change.said}.`;
  report.figures = { seeds: shared.length, "Kendall's W": rounded(alone.w), 'change of trend': rounded(change.mean) };
  report.power = `A change of trend of ${rounded(detectableMean(change.freedom + 1, shares.sharing / 2, wantedPower))} standard deviations of the paired trends is seen with power ${wantedPower}.`;
  report.charts.push({
    kind: 'boxes',
    title: 'Separate and shared parameters',
    note: 'One point is one seed: mean return over the last 20 % of the steps.',
    unit: 'return',
    groups: [
      {
        label: 'separate',
        boxes: of.names.map((name, agent) => ({ label: name, values: separate.map(({ last }) => last[agent]) })),
      },
      {
        label: 'shared',
        boxes: of.names.map((name, agent) => ({ label: name, values: shared.map(({ last }) => last[agent]) })),
      },
    ],
  });
  return report;
}
