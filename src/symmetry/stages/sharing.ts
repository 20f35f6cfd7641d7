/** Stage 7: the same seeds with one policy for all. An order that stays belongs to the game or to the books; one that goes belongs to separate learning. */
import { told } from '../../language/language.ts';
import { RandomStream } from '../../math/random.ts';
import { friedmanTest } from '../../math/ranks/rank-tests.ts';
import { type RunCurve, readCurve } from '../../sweep/curves.ts';
import { asksToLearn } from '../../training/lineup/entry.ts';
import { shares } from '../levels.ts';
import { emptyReport, type Investigation, type StageReport } from '../stage.ts';
import { changeOfTrend } from '../trend.ts';
import { phenomenonOrders, rounded } from './phenomenon.ts';

export async function sharing(of: Investigation, separate: readonly RunCurve[]): Promise<StageReport> {
  const report = emptyReport('sharing', of.command);
  const kinds = new Set(of.settings.players?.filter((text) => asksToLearn(text)));
  if (kinds.size > 1) {
    report.status = 'not-run';
    report.found = told(
      `Not run: ${[...kinds].join(', ')} cannot share one policy.`,
      `未执行：${[...kinds].join('、')} 不能共用一个策略。`,
    );
    return report;
  }
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
    report.found = told(
      `${blocks.length} runs with one policy for all finished; two are the least that can be compared.`,
      `共用一个策略的训练完成了 ${blocks.length} 次；至少需要两次才能比较。`,
    );
    return report;
  }
  const alone = friedmanTest(blocks, RandomStream.of(1, 'shared'));
  const change = changeOfTrend(shared, separate, shares.sharing / 2);
  report.tests = [
    {
      name: told('any difference between agents that share one policy', '共用一个策略的智能体之间的任何差异'),
      statistic: alone.statistic,
      p: alone.p,
      level: shares.sharing / 2,
      significant: alone.p <= shares.sharing / 2,
      method: alone.method,
    },
    {
      name: told(
        'trend with separate against shared parameters, paired by seed',
        '独立参数与共享参数的趋势之差，按种子配对',
      ),
      statistic: change.t,
      p: change.p,
      level: shares.sharing / 2,
      significant: change.p <= shares.sharing / 2,
      method: told("Student's t", 'Student t 检验'),
    },
  ];
  const [inShared, differs] = report.tests.map(({ significant }) => significant);
  report.status = inShared || differs ? 'found' : change.visible ? 'clear' : 'open';
  report.did = told(
    `${shared.length} seeds were trained again with one policy for all agents.`,
    `让所有智能体共用一个策略，重新训练了 ${shared.length} 个种子。`,
  );
  const [w, p, changed] = [rounded(alone.w), rounded(alone.p), rounded(change.p)];
  report.found = inShared
    ? told(
        `The order survives shared parameters (W = ${w}, p = ${p}): it belongs to the game or to the bookkeeping, not to what each agent learns.`,
        `共享参数后次序仍在（W = ${w}，p = ${p}）：它属于游戏或记账，而不是各智能体所学。`,
      )
    : differs
      ? told(
          `The order goes away with shared parameters (p = ${changed}): it belongs to separate learning.`,
          `共享参数后次序消失（p = ${changed}）：它来自各自独立的学习。`,
        )
      : told(
          `Agents that share one policy are not shown to have an order (p = ${p}), nor the trend to differ from separate learning (p = ${changed}); ${change.said}.`,
          `没有证据表明共用策略的智能体有次序（p = ${p}），也没有证据表明趋势与独立学习不同（p = ${changed}）；${change.said}。`,
        );
  report.figures = { seeds: shared.length, "Kendall's W": w, 'change of trend': rounded(change.mean) };
  report.power = change.power;
  report.charts.push({
    kind: 'boxes',
    title: told('Separate and shared parameters', '独立参数与共享参数'),
    note: told(
      'One point is one seed: mean return over the last 20 % of the steps.',
      '一个点是一个种子：最后 20 % 步数的平均回报。',
    ),
    unit: told('return', '回报'),
    groups: [
      {
        label: told('separate', '独立'),
        boxes: of.names.map((name, agent) => ({ label: name, values: separate.map(({ last }) => last[agent]) })),
      },
      {
        label: told('shared', '共享'),
        boxes: of.names.map((name, agent) => ({ label: name, values: shared.map(({ last }) => last[agent]) })),
      },
    ],
  });
  return report;
}
