/** Stage 1: do agents come out unequal, in the same order, seed after seed? The seed is the unit; one seed's ranking proves nothing. */

import { RandomStream } from '../../math/random.ts';
import { pagePower } from '../../math/ranks/power.ts';
import { fewestBlocks, friedmanTest, pageTest } from '../../math/ranks/rank-tests.ts';
import { interquartileInterval } from '../../math/robust.ts';
import { band } from '../../sweep/compare.ts';
import { type RunCurve, readCurve } from '../../sweep/curves.ts';
import { shares } from '../levels.ts';
import { emptyReport, type Investigation, type StageReport, type StageTest } from '../stage.ts';

export async function phenomenon(of: Investigation): Promise<StageReport> {
  const { plan, lab, command } = of;
  const runs = await lab.train(phenomenonOrders(of));
  const curves: RunCurve[] = [];
  for (const { recording } of runs) curves.push(await readCurve(recording));
  const report = judgeCurves(curves, of.names, command);
  report.did = `${runs.length} seeds of ${of.settings.algorithm} on ${of.settings.game}, ${plan.steps.toLocaleString('en-US')} steps each; every agent is judged by its mean return over the last 20 % of the steps. ${report.did}`;
  if (plan.cost) report.power += ` The budget cost power: ${plan.cost}`;
  return report;
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
  const report = emptyReport('phenomenon', 'Do equal agents come out unequal?', command);
  const agents = names.length;
  const blocks = curves.map(({ last }) => last).filter((last) => last.every((value) => !Number.isNaN(value)));
  report.charts = charts(curves, names);
  const fewest = fewestBlocks(agents, Math.min(shares.phenomenonPage, shares.phenomenonFriedman));
  if (blocks.length < 2) {
    report.found = `${blocks.length} runs have finished episodes of every agent in their last fifth; two are the least that can be compared.`;
    return report;
  }
  // Page's L rises along the columns; the preset order is that the first agent does best.
  const page = pageTest(blocks.map((block) => [...block].reverse()));
  const friedman = friedmanTest(blocks, RandomStream.of(1, 'friedman'));
  const tests: StageTest[] = [
    {
      name: "Page's trend along the agents' numbers",
      statistic: page.statistic,
      p: page.p,
      level: shares.phenomenonPage,
      significant: page.p <= shares.phenomenonPage,
      method: page.method,
    },
    {
      name: "Friedman's test for any difference",
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
  report.status = significant ? 'found' : blocks.length < fewest ? 'open' : 'clear';
  const order = [...names.keys()].sort((a, b) => intervals[b].estimate - intervals[a].estimate);
  report.found = significant
    ? `The inequality is systematic: ${order.map((agent) => names[agent]).join(' > ')} (interquartile means ${order.map((agent) => rounded(intervals[agent].estimate)).join(', ')}), agreement between seeds W = ${rounded(friedman.w)}.`
    : `The ranking is what chance gives: agreement between seeds W = ${rounded(friedman.w)}, p = ${rounded(Math.min(page.p, friedman.p))} at best. That is no proof of equality.`;
  const seen = seenRange(agents, within, blocks.length);
  report.power =
    blocks.length < fewest
      ? `With ${blocks.length} seeds of ${agents} agents no ranking can reach the level; ${fewest} seeds are the least.`
      : `A trend of ${rounded(seen)} between the first and the last agent (${rounded((100 * seen) / Math.abs(grand))} % of the mean return) would have been seen with power 0.9.`;
  report.did = `Order and any difference were tested exactly, with the seed as the unit; ${fewest} seeds are the least that can reach the level.`;
  return report;
}

/** The even trend that Page's test sees nine times of ten, by simulation. */
function seenRange(size: number, within: number, blocks: number): number {
  const plan = { size, within: 1, level: shares.phenomenonPage };
  let [low, high] = [0, 16];
  for (let i = 0; i < 7; i++) {
    const middle = (low + high) / 2;
    if (pagePower(plan, middle, blocks, RandomStream.of(1, 'power', i), 120) < 0.9) low = middle;
    else high = middle;
  }
  return high * Math.sqrt(within);
}

function charts(curves: readonly RunCurve[], names: readonly string[]): StageReport['charts'] {
  if (curves.length === 0) return [];
  return [
    {
      kind: 'curves',
      title: 'Return of each agent over training',
      note: 'Interquartile mean over seeds; the band is its 95 % bootstrap interval.',
      bands: names.map((name, agent) => band(name, curves, { agent })),
    },
    {
      kind: 'boxes',
      title: 'The last 20 % of the steps',
      note: 'One point is one seed: its mean return over the last 20 % of the steps.',
      unit: 'return',
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
