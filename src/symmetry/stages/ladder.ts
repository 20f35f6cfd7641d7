/** Stage 6: the ablation ladder, and one learner put into every seat in turn. A module is blamed only where the difference in trend between two rungs is significant, paired by seed. */
import { gameMaker } from '../../games/index.ts';
import { playerNames } from '../../games/players.ts';
import { RandomStream } from '../../math/random.ts';
import { detectableMean } from '../../math/ranks/power.ts';
import { friedmanTest } from '../../math/ranks/rank-tests.ts';
import { type RunCurve, readCurve } from '../../sweep/curves.ts';
import { shares, wantedPower } from '../levels.ts';
import { type Rung, rungsOf } from '../rungs.ts';
import { emptyReport, type Investigation, type StageReport } from '../stage.ts';
import { changeOfTrend } from '../trend.ts';
import { phenomenonOrders, rounded } from './phenomenon.ts';

interface Climbed {
  rung: Rung;
  curves: RunCurve[];
}

export async function ladder(of: Investigation, full: readonly RunCurve[]): Promise<StageReport> {
  const report = emptyReport('ladder', 'At which rung does the order appear?', of.command);
  const rungs = rungsOf(of.settings.algorithm);
  const climbed: Climbed[] = [];
  for (const rung of rungs) {
    const curves = rung.settings === null ? [...full] : await trainRung(of, rung);
    climbed.push({ rung, curves });
  }
  report.did = `${rungs.length === 1 ? 'There is one rung only, because the algorithm has no module to switch off' : `The ladder has ${rungs.length} rungs (${rungs.map(({ label }) => label).join(', ')}), the same seeds on each`}.`;
  // The share of the level is for all steps of the ladder together.
  const level = shares.ladder / Math.max(1, climbed.length - 1);
  for (let i = 1; i < climbed.length; i++) compareRungs(report, climbed[i - 1], climbed[i], level);
  report.charts.push({
    kind: 'boxes',
    title: 'The ladder',
    note: 'One point is one seed: mean return over the last 20 % of the steps, by rung and agent.',
    unit: 'return',
    groups: climbed.map(({ rung, curves }) => ({
      label: rung.label,
      boxes: of.names.map((name, agent) => ({ label: name, values: curves.map(({ last }) => last[agent]) })),
    })),
  });
  await rotatedLearner(of, report);
  report.status = report.findings.length > 0 ? 'found' : 'clear';
  const seeds = full.length;
  report.power = `A difference between two rungs of ${rounded(detectableMean(seeds, level, wantedPower))} standard deviations of the paired trends is seen with power ${wantedPower} by ${seeds} seeds.`;
  return report;
}

async function trainRung(of: Investigation, rung: Rung): Promise<RunCurve[]> {
  const runs = await of.lab.train(
    phenomenonOrders(of).map(({ evaluate: _, ...order }) => ({
      ...order,
      label: `${order.label}, ${rung.label}`,
      settings: { ...order.settings, ...rung.settings },
    })),
  );
  const curves: RunCurve[] = [];
  for (const { recording } of runs) curves.push(await readCurve(recording));
  return curves;
}

function compareRungs(report: StageReport, upper: Climbed, lower: Climbed, level: number): void {
  const test = changeOfTrend(lower.curves, upper.curves);
  const significant = test.p <= level;
  const name = `trend of ${upper.rung.label} against ${lower.rung.label}, paired by seed`;
  report.tests.push({ name, statistic: test.t, p: test.p, level, significant, method: "Student's t" });
  const said = `From ${lower.rung.label} to ${upper.rung.label} the trend along the agents changes by ${rounded(test.mean)} (p = ${rounded(test.p)})`;
  report.found += `${report.found ? ' ' : ''}${said}${significant ? ': the order appears here.' : test.exact ? ', not by a bit: what it leaves out has not acted yet, and nothing is known of it.' : `, which is not significant; ${test.said}.`}`;
  for (const cause of upper.rung.blames ?? []) {
    if (!significant && test.excluded && !test.exact)
      report.rulesOut.push({ cause, by: `the ladder, ${name}: ${test.said}` });
  }
  const [blamed] = upper.rung.blames ?? [];
  if (significant && blamed)
    report.findings.push({
      cause: blamed,
      proof: 'statistics',
      confidence: 0.95,
      agents: [],
      summary: `${said}: what ${lower.rung.label} leaves out brings the order in.`,
      evidence: {
        check: 'ablation ladder',
        measured: { 'change of trend': rounded(test.mean), p: rounded(test.p) },
        expected: { 'change of trend': 0 },
      },
      rows: 0,
      onset: 0,
    });
}

/** One learner among scripted players, in each seat in turn, with the same seeds: whatever differs is the seat's. */
async function rotatedLearner(of: Investigation, report: StageReport): Promise<void> {
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
  if (blocks.length < 2) return;
  const test = friedmanTest(blocks, RandomStream.of(1, 'rotated learner'));
  const significant = test.p <= shares.rotatedLearner;
  report.tests.push({
    name: `one learner among ${others} players, by seat`,
    statistic: test.statistic,
    p: test.p,
    level: shares.rotatedLearner,
    significant,
    method: test.method,
  });
  report.did += ` One learner was trained in each seat in turn among ${others} players, ${blocks.length} seeds.`;
  const means = Array.from(
    { length: seats },
    (_, seat) => blocks.reduce((sum, block) => sum + block[seat], 0) / blocks.length,
  );
  report.found += `${report.found ? ' ' : ''}A single learner earns ${means.map((mean, seat) => `${rounded(mean)} in seat ${seat + 1}`).join(', ')} (p = ${rounded(test.p)})${significant ? ': the seat matters to a learner' : ', which is not significant'}.`;
  if (significant)
    report.findings.push({
      cause: 'environment-seat-bias',
      proof: 'statistics',
      confidence: 0.95,
      agents: [],
      summary: `One learner among ${others} players earns ${means.map((mean, seat) => `${rounded(mean)} in seat ${seat + 1}`).join(', ')}, the same seeds in each (p = ${rounded(test.p)}).`,
      evidence: {
        check: 'one learner in every seat',
        measured: { 'mean returns': means.map(rounded), p: rounded(test.p) },
        expected: { 'mean returns': 'equal' },
      },
      rows: 0,
      onset: 0,
    });
}
