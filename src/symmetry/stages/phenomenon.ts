/** Stage 1: do agents come out unequal, in the same order, seed after seed? The seed is the unit; one seed's ranking proves nothing. */

import { gameMaker } from '../../games/index.ts';
import { told } from '../../language/language.ts';
import { RandomStream } from '../../math/random.ts';
import { pagePower } from '../../math/ranks/power.ts';
import { fewestBlocks, friedmanTest, pageTest } from '../../math/ranks/rank-tests.ts';
import { interquartileInterval } from '../../math/robust.ts';
import { band } from '../../sweep/compare.ts';
import { type RunCurve, readCurve } from '../../sweep/curves.ts';
import { shares, wantedPower } from '../levels.ts';
import { scaleOf, seedsForTrend, visibleEffect, wouldTake } from '../power.ts';
import { emptyReport, type Investigation, type StageReport, type StageTest } from '../stage.ts';

export async function phenomenon(of: Investigation): Promise<StageReport> {
  const { plan, lab, command } = of;
  const runs = await lab.train(phenomenonOrders(of));
  const curves: RunCurve[] = [];
  for (const { recording } of runs) curves.push(await readCurve(recording));
  const report = judgeCurves(curves, of.names, command);
  const steps = plan.steps.toLocaleString('en-US');
  const who = of.settings.players?.join(', ') ?? of.settings.algorithm;
  report.did = told(
    `${runs.length} seeds of ${who} on ${of.settings.game}, ${steps} steps each; every agent is judged by its mean return over the last 20 % of the steps. ${report.did}`,
    `在 ${of.settings.game} 上用 ${who} 训练了 ${runs.length} 个随机种子，每个 ${steps} 步；每个智能体按最后 20 % 步数的平均回报评判。${report.did}`,
  );
  report.found += learnt(of, report);
  if (plan.cost) report.power += told(` The budget cost power: ${plan.cost}`, `时间预算降低了检验功效：${plan.cost}`);
  return report;
}

/** How far the agents have come: what they earn, beside random players and what each could earn alone. Agents that have learnt nothing yet may well be equal. */
function learnt(of: Investigation, report: StageReport): string {
  const mean = report.figures['mean return'];
  if (typeof mean !== 'number') return '';
  const { game, gameSettings } = of.settings;
  const { alone } = gameMaker(game, gameSettings)(1);
  const random = of.reports.find(({ id }) => id === 'random-play')?.figures['mean return by seat'];
  const byChance = Array.isArray(random) ? rounded(random.reduce((a, b) => a + b, 0) / random.length) : null;
  if (alone !== undefined) report.figures['mean return without help'] = alone;
  const earned = told(` At the end an agent earns ${mean} on average`, `训练结束时每个智能体平均得 ${mean}`);
  const beside = byChance === null ? '' : told(` (random players ${byChance})`, `（随机玩家 ${byChance}）`);
  if (alone !== undefined)
    return mean > alone
      ? told(
          `${earned}${beside}, more than the ${alone} that it could earn alone: the agents cooperate.`,
          `${earned}${beside}，高于单独行动最多能得的 ${alone}：智能体已学会合作。`,
        )
      : told(
          `${earned}${beside}, no more than the ${alone} that it could earn alone: the agents have not learnt to cooperate, so an inequality that comes with cooperation cannot be seen yet. More --steps may bring it.`,
          `${earned}${beside}，不高于单独行动最多能得的 ${alone}：智能体尚未学会合作，因此还看不到随合作而来的不平等。可以增大 --steps。`,
        );
  if (byChance === null) return told(`${earned}.`, `${earned}。`);
  return mean > byChance
    ? told(`${earned}${beside}.`, `${earned}${beside}。`)
    : told(
        `${earned}${beside}: the agents have learnt nothing yet that random players cannot do. More --steps may bring it.`,
        `${earned}${beside}：智能体还没有学到任何胜过随机玩家的东西。可以增大 --steps。`,
      );
}

/** The runs of the phenomenon, which later stages look at again. */
export function phenomenonOrders({ plan }: Investigation) {
  return Array.from({ length: plan.seeds }, (_, i) => ({
    label: `seed ${plan.firstSeed + i + 1}`,
    settings: { steps: plan.steps, recording: { record: 'off' } },
    seed: plan.firstSeed + i + 1,
    evaluate: [{ episodes: plan.learntEpisodes, deal: true }],
  }));
}

export function judgeCurves(curves: readonly RunCurve[], names: readonly string[], command: string): StageReport {
  const report = emptyReport('phenomenon', command);
  const agents = names.length;
  const blocks = curves.map(({ last }) => last).filter((last) => last.every((value) => !Number.isNaN(value)));
  report.charts = charts(curves, names);
  const fewest = fewestBlocks(agents, Math.min(shares.phenomenonPage, shares.phenomenonFriedman));
  if (blocks.length < 2) {
    report.found = told(
      `${blocks.length} runs have finished episodes of every agent in their last fifth; two are the least that can be compared.`,
      `有 ${blocks.length} 次训练在最后五分之一里包含每个智能体的完整回合；至少需要两次才能比较。`,
    );
    return report;
  }
  // Page's L rises along the columns; the preset order is that the first agent does best.
  const page = pageTest(blocks.map((block) => [...block].reverse()));
  const friedman = friedmanTest(blocks, RandomStream.of(1, 'friedman'));
  const tests: StageTest[] = [
    {
      name: told("Page's trend along the agents' numbers", 'Page 检验：沿智能体编号的趋势'),
      statistic: page.statistic,
      p: page.p,
      level: shares.phenomenonPage,
      significant: page.p <= shares.phenomenonPage,
      method: page.method,
    },
    {
      name: told("Friedman's test for any difference", 'Friedman 检验：任何差异'),
      statistic: friedman.statistic,
      p: friedman.p,
      level: shares.phenomenonFriedman,
      significant: friedman.p <= shares.phenomenonFriedman,
      method: friedman.method,
    },
  ];
  report.tests = tests;
  const means = names.map((_, agent) => blocks.map((block) => block[agent]));
  const intervals = means.map((values, agent) =>
    interquartileInterval([values], { stream: RandomStream.of(1, 'interquartile', agent) }),
  );
  const all = blocks.flat();
  const grand = all.reduce((a, b) => a + b, 0) / all.length;
  const within = blocks.reduce((sum, block) => sum + variance(block), 0) / blocks.length;
  report.figures = {
    seeds: blocks.length,
    'mean return': rounded(grand),
    'means by agent': means.map((values) => rounded(values.reduce((a, b) => a + b, 0) / values.length)),
    'their spread over seeds': means.map((values) => rounded(Math.sqrt(variance(values)))),
    'interquartile means': intervals.map(({ estimate }) => rounded(estimate)),
    'their lower ends': intervals.map(({ low }) => rounded(low)),
    'their upper ends': intervals.map(({ high }) => rounded(high)),
    "Kendall's W": rounded(friedman.w),
  };
  const significant = tests.some((test) => test.significant);
  const noise = residualVariance(blocks);
  const seen = seenRange(agents, noise, blocks.length);
  const blind = blocks.length < fewest || seen > visibleEffect(grand, within);
  report.status = significant ? 'found' : blind ? 'open' : 'clear';
  const order = [...names.keys()].sort((a, b) => intervals[b].estimate - intervals[a].estimate);
  const ranking = `${order.map((agent) => names[agent]).join(' > ')}`;
  const estimates = order.map((agent) => rounded(intervals[agent].estimate)).join(', ');
  const w = rounded(friedman.w);
  const p = rounded(Math.min(page.p, friedman.p));
  report.found = significant
    ? told(
        `The inequality is systematic: ${ranking} (interquartile means ${estimates}), agreement between seeds W = ${w}.`,
        `不平等是系统性的：${ranking}（四分位间均值 ${estimates}），各种子之间的一致性 W = ${w}。`,
      )
    : told(
        `The ranking is what chance gives: agreement between seeds W = ${w}, p = ${p} at best. That is no proof of equality.`,
        `排序与偶然情形无异：各种子之间的一致性 W = ${w}，p 最小为 ${p}。这并不证明智能体相等。`,
      );
  const share = rounded((100 * seen) / scaleOf(grand, within));
  const wanted = seedsForTrend(agents, noise, shares.phenomenonPage, visibleEffect(grand, within));
  report.power =
    blocks.length < fewest
      ? told(
          `With ${blocks.length} seeds of ${agents} agents no ranking can reach the level; ${fewest} seeds are the least, and an effect of 10 % of the mean return would take about ${wanted}.`,
          `${agents} 个智能体只有 ${blocks.length} 个随机种子时，任何排序都达不到显著性水平；至少需要 ${fewest} 个，而要看出平均回报 10 % 的效应大约需要 ${wanted} 个。`,
        )
      : told(
          `A trend of ${rounded(seen)} between the first and the last agent (${share} % of the mean return) would have been seen with power ${wantedPower}.`,
          `从第一个到最后一个智能体相差 ${rounded(seen)}（平均回报的 ${share} %）的趋势会以 ${wantedPower} 的功效被发现。`,
        ) + (blind && !significant ? wouldTake(wanted, 'seeds') : '');
  report.did = told(
    `Order and any difference were tested exactly, with the seed as the unit; ${fewest} seeds are the least that can reach the level.`,
    `以随机种子为单位，对次序和任何差异做了精确检验；至少 ${fewest} 个种子才能达到显著性水平。`,
  );
  return report;
}

/** What differs from seed to seed once the means of seeds and of agents are taken away: a difference between agents that all seeds share is what is looked for, and hides nothing. */
export function residualVariance(blocks: readonly (readonly number[])[]): number {
  const size = blocks[0].length;
  const means = blocks[0].map((_, agent) => blocks.reduce((sum, block) => sum + block[agent], 0) / blocks.length);
  const apart = blocks.map((block) => variance(block.map((value, agent) => value - means[agent])) * (size - 1));
  return apart.reduce((sum, squares) => sum + squares, 0) / ((size - 1) * (blocks.length - 1));
}

/** The even trend that Page's test sees nine times of ten, by simulation. */
function seenRange(size: number, noise: number, blocks: number): number {
  const plan = { size, within: 1, level: shares.phenomenonPage };
  let [low, high] = [0, 16];
  for (let i = 0; i < 7; i++) {
    const middle = (low + high) / 2;
    if (pagePower(plan, middle, blocks, RandomStream.of(1, 'power', i), 120) < 0.9) low = middle;
    else high = middle;
  }
  return high * Math.sqrt(noise);
}

function charts(curves: readonly RunCurve[], names: readonly string[]): StageReport['charts'] {
  if (curves.length === 0) return [];
  return [
    {
      kind: 'curves',
      title: told('Return of each agent over training', '训练过程中各智能体的回报'),
      note: told(
        'Interquartile mean over seeds; the band is its 95 % bootstrap interval.',
        '各种子的四分位间均值；色带是其 95 % 自助法区间。',
      ),
      bands: names.map((name, agent) => band(name, curves, { agent })),
    },
    {
      kind: 'boxes',
      title: told('The last 20 % of the steps', '最后 20 % 的步数'),
      note: told(
        'One point is one seed: its mean return over the last 20 % of the steps.',
        '一个点是一个随机种子：它在最后 20 % 步数里的平均回报。',
      ),
      unit: told('return', '回报'),
      groups: [
        {
          label: '',
          boxes: names.map((name, agent) => ({ label: name, values: curves.map(({ last }) => last[agent]) })),
        },
      ],
    },
  ];
}

export function variance(values: ArrayLike<number>): number {
  const list = Array.from(values);
  const mean = list.reduce((a, b) => a + b, 0) / list.length;
  return list.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (list.length - 1);
}

export const rounded = (value: number): number => Number(value.toPrecision(4));
