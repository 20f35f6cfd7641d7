/** Stage 6: the ablation ladder, and one learner put into every seat in turn. A module is blamed only where the difference in trend between two rungs is significant, paired by seed. */

import { gameMaker } from '../../games/index.ts';
import { playerNames } from '../../games/players.ts';
import { comma, space, told } from '../../language/language.ts';
import { RandomStream } from '../../math/random.ts';
import { friedmanTest } from '../../math/ranks/rank-tests.ts';
import { type RunCurve, readCurve } from '../../sweep/curves.ts';
import { shares, wantedPower } from '../levels.ts';
import { seedsForTrend, visibleEffect } from '../power.ts';
import { type Rung, rungsOf } from '../rungs.ts';
import { emptyReport, type Investigation, type StageReport } from '../stage.ts';
import { changeOfTrend } from '../trend.ts';
import { phenomenonOrders, rounded, variance } from './phenomenon.ts';

interface Climbed {
  rung: Rung;
  curves: RunCurve[];
}

export async function ladder(of: Investigation, full: readonly RunCurve[]): Promise<StageReport> {
  const report = emptyReport('ladder', of.command);
  const rungs = rungsOf(of.settings);
  const climbed: Climbed[] = [];
  for (const rung of rungs) {
    const curves = rung.settings === null ? [...full] : await trainRung(of, rung);
    climbed.push({ rung, curves });
  }
  const labels = rungs.map(({ label }) => told(...label)).join(comma());
  report.did =
    rungs.length === 1
      ? told(
          'There is one rung only, because the algorithm has no module to switch off.',
          '只有一级，因为该算法没有可以关掉的模块。',
        )
      : told(
          `The ladder has ${rungs.length} rungs (${labels}), the same seeds on each.`,
          `共有 ${rungs.length} 级（${labels}），每级使用相同的种子。`,
        );
  // The share of the level is for all steps of the ladder together.
  const level = shares.ladder / Math.max(1, climbed.length - 1);
  const visible: boolean[] = [];
  for (let i = 1; i < climbed.length; i++) visible.push(compareRungs(report, climbed[i - 1], climbed[i], level));
  report.charts.push({
    kind: 'boxes',
    title: told('The ladder', '消融阶梯'),
    note: told(
      'One point is one seed: mean return over the last 20 % of the steps, by rung and agent.',
      '一个点是一个种子：最后 20 % 步数的平均回报，按级别与智能体分列。',
    ),
    unit: told('return', '回报'),
    groups: climbed.map(({ rung, curves }) => ({
      label: told(...rung.label),
      boxes: of.names.map((name, agent) => ({ label: name, values: curves.map(({ last }) => last[agent]) })),
    })),
  });
  visible.push(await rotatedLearner(of, report));
  report.status = report.findings.length > 0 ? 'found' : visible.every(Boolean) ? 'clear' : 'open';
  return report;
}

async function trainRung(of: Investigation, rung: Rung): Promise<RunCurve[]> {
  const runs = await of.lab.train(
    phenomenonOrders(of).map(({ evaluate: _, ...order }) => ({
      ...order,
      label: `${order.label}, ${rung.label[0]}`,
      settings: { ...order.settings, ...rung.settings },
    })),
  );
  const curves: RunCurve[] = [];
  for (const { recording } of runs) curves.push(await readCurve(recording));
  return curves;
}

/** Whether it would have seen a change of a tenth of the mean return. */
function compareRungs(report: StageReport, upper: Climbed, lower: Climbed, level: number): boolean {
  const test = changeOfTrend(lower.curves, upper.curves, level);
  const significant = test.p <= level;
  const [above, below] = [told(...upper.rung.label), told(...lower.rung.label)];
  const name = told(
    `trend of ${above} against ${below}, paired by seed`,
    `“${above}”与“${below}”的趋势之差，按种子配对`,
  );
  const method = told("Student's t", 'Student t 检验');
  report.tests.push({ name, statistic: test.t, p: test.p, level, significant, method });
  const [mean, p] = [rounded(test.mean), rounded(test.p)];
  const said = told(
    `From ${below} to ${above} the trend along the agents changes by ${mean} (p = ${p})`,
    `从“${below}”到“${above}”，沿智能体编号的趋势变化 ${mean}（p = ${p}）`,
  );
  const judged = significant
    ? told(': the order appears here.', '：次序在这里出现。')
    : test.exact
      ? told(
          ', not by a bit: what it leaves out has not acted yet, and nothing is known of it.',
          '，一位不差：被关掉的部分尚未起作用，对它一无所知。',
        )
      : told(`, which is not significant; ${test.said}.`, `，不显著；${test.said}。`);
  report.found += `${report.found ? space() : ''}${said}${judged}`;
  report.power += `${report.power ? space() : ''}${test.power}`;
  for (const cause of upper.rung.blames ?? []) {
    if (!significant && test.excluded && !test.exact)
      report.rulesOut.push({ cause, by: told(`the ladder, ${name}: ${test.said}`, `消融阶梯，${name}：${test.said}`) });
  }
  const [blamed] = upper.rung.blames ?? [];
  if (significant && blamed)
    report.findings.push({
      cause: blamed,
      proof: 'statistics',
      confidence: 0.95,
      agents: [],
      summary: told(
        `${said}: what ${below} leaves out brings the order in.`,
        `${said}：“${below}”所关掉的部分带来了次序。`,
      ),
      evidence: {
        check: told('ablation ladder', '消融阶梯'),
        measured: { 'change of trend': rounded(test.mean), p: rounded(test.p) },
        expected: { 'change of trend': 0 },
      },
      rows: 0,
      onset: 0,
    });
  return significant || test.visible;
}

/** One learner among scripted players, in each seat in turn, with the same seeds: whatever differs is the seat's. Whether it would have seen a tenth of the mean return. */
async function rotatedLearner(of: Investigation, report: StageReport): Promise<boolean> {
  const { plan, seats, settings, lab } = of;
  const game = gameMaker(settings.game, settings.gameSettings)(1);
  const others = playerNames(game).find((name) => name !== 'random') ?? 'random';
  const orders = Array.from({ length: plan.seeds }, (_, i) =>
    Array.from({ length: seats }, (_unused, seat) => ({
      label: `seed ${plan.firstSeed + i + 1}, learner in seat ${seat + 1}`,
      settings: {
        steps: Math.ceil(plan.steps / seats),
        recording: { record: 'off' },
        players: Array.from({ length: seats }, (_other, place) => (place === seat ? 'learn' : others)),
      },
      seed: plan.firstSeed + i + 1,
    })),
  );
  const runs = await lab.train(orders.flat());
  const blocks: number[][] = [];
  for (const order of orders) {
    const block: number[] = [];
    for (const [seat, { label }] of order.entries()) {
      const run = runs.find((item) => item.label === label);
      block.push(run ? (await readCurve(run.recording)).last[seat] : Number.NaN);
    }
    if (block.every((value) => !Number.isNaN(value))) blocks.push(block);
  }
  if (blocks.length < 2) {
    report.found += `${report.found ? space() : ''}${told(
      `${blocks.length} seeds of a single learner in every seat finished; two are the least that can be compared.`,
      `单个学习者轮流坐遍每个位置的训练完成了 ${blocks.length} 个种子；至少需要两个才能比较。`,
    )}`;
    return false;
  }
  const test = friedmanTest(blocks, RandomStream.of(1, 'rotated learner'));
  const significant = test.p <= shares.rotatedLearner;
  report.tests.push({
    name: told(`one learner among ${others} players, by seat`, `单个学习者与 ${others} 玩家同局，按位置`),
    statistic: test.statistic,
    p: test.p,
    level: shares.rotatedLearner,
    significant,
    method: test.method,
  });
  report.did += told(
    ` One learner was trained in each seat in turn among ${others} players, ${blocks.length} seeds.`,
    `单个学习者轮流坐在每个位置上，与 ${others} 玩家同局训练，共 ${blocks.length} 个种子。`,
  );
  const means = Array.from(
    { length: seats },
    (_, seat) => blocks.reduce((sum, block) => sum + block[seat], 0) / blocks.length,
  );
  const p = rounded(test.p);
  const earned = means
    .map((mean, seat) => told(`${rounded(mean)} in seat ${seat + 1}`, `位置 ${seat + 1} 上 ${rounded(mean)}`))
    .join(comma());
  report.found += `${report.found ? space() : ''}${told(
    `A single learner earns ${earned} (p = ${p})${significant ? ': the seat matters to a learner' : ', which is not significant'}.`,
    `单个学习者的所得：${earned}（p = ${p}）${significant ? '：位置对学习者有影响' : '，不显著'}。`,
  )}`;
  const within = blocks.reduce((sum, block) => sum + variance(block), 0) / blocks.length;
  const effect = visibleEffect(means.reduce((a, b) => a + b, 0) / seats, within);
  const wanted = seedsForTrend(seats, within, shares.rotatedLearner, effect);
  const visible = blocks.length >= wanted;
  report.power += `${report.power ? space() : ''}${told(
    `For a single learner, ${blocks.length} seeds ${visible ? 'are enough to see' : 'are too few to see'} an effect of 10 % of the mean return with power ${wantedPower}.`,
    `对单个学习者，${blocks.length} 个种子${visible ? '足以' : '不足以'}以 ${wantedPower} 的功效看出平均回报 10 % 的效应。`,
  )}${visible ? '' : told(` It would take about ${wanted} seeds.`, `大约需要 ${wanted} 个种子。`)}`;
  if (significant)
    report.findings.push({
      cause: 'environment-seat-bias',
      proof: 'statistics',
      confidence: 0.95,
      agents: [],
      summary: told(
        `One learner among ${others} players earns ${earned}, the same seeds in each (p = ${p}).`,
        `与 ${others} 玩家同局的单个学习者所得：${earned}，各位置使用相同的种子（p = ${p}）。`,
      ),
      evidence: {
        check: told('one learner in every seat', '单个学习者轮流坐遍每个位置'),
        measured: { 'mean returns': means.map(rounded), p: rounded(test.p) },
        expected: { 'mean returns': told('equal', '相等') },
      },
      rows: 0,
      onset: 0,
    });
  return significant || visible;
}
