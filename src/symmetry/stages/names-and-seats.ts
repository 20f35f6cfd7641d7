/** Stage 3: with names dealt to seats anew in every episode, does the advantage stay with the seat or follow the name? Random play first; learnt policies where they were trained. */
import { comma, told } from '../../language/language.ts';
import {
  anyDifferenceTest,
  type BlockSums,
  columnMeans,
  equivalenceTest,
  withinVariance,
} from '../../math/block-sums.ts';
import { RandomStream } from '../../math/random.ts';
import { meanInterval } from '../../math/ranks/paired-tests.ts';
import { detectableRange, trendBlocks } from '../../math/ranks/power.ts';
import { friedmanTest } from '../../math/ranks/rank-tests.ts';
import type { EvaluationResult } from '../../sweep/work.ts';
import { equivalenceLevel, shares, wantedPower } from '../levels.ts';
import { marginOf, scaleOf, visibleEffect, wouldTake } from '../power.ts';
import { emptyReport, type Investigation, type StageReport, type TrainedRun } from '../stage.ts';
import { rounded } from './phenomenon.ts';
import { byPermutation, seatName } from './random-play.ts';

export async function namesAndSeats(of: Investigation): Promise<StageReport> {
  const { lab, plan, names, seats } = of;
  const report = emptyReport('names-and-seats', of.command);
  const before = of.reports.find(({ id }) => id === 'random-play');
  // Where the game was found unfair, the same effort says whom it favours.
  const episodes = Math.max(plan.dealtEpisodes, before?.status === 'found' ? Number(before.figures.episodes) : 0);
  const { seats: bySeat, names: byName } = await lab.play({ purpose: 'dealt', episodes, deal: true });
  const seat = anyDifferenceTest(bySeat.values);
  const name = anyDifferenceTest(byName);
  report.tests = [
    {
      name: told('returns by seat, names dealt', '名称随机分座时各位置的回报'),
      statistic: seat.statistic,
      p: seat.p,
      level: shares.dealtSeats,
      significant: seat.p <= shares.dealtSeats,
      method: byPermutation(),
    },
    {
      name: told('returns by name, names dealt', '名称随机分座时各名称的回报'),
      statistic: name.statistic,
      p: name.p,
      level: shares.dealtNames,
      significant: name.p <= shares.dealtNames,
      method: byPermutation(),
    },
  ];
  const [bySeats, byNames] = [columnMeans(bySeat.values), columnMeans(byName)];
  const grand = bySeats.reduce((a, b) => a + b, 0) / seats;
  report.figures = {
    episodes,
    'mean return by seat': bySeats.map(rounded),
    'mean return by name': byNames.map(rounded),
  };
  const many = episodes.toLocaleString('en-US');
  report.did = told(
    `Names were dealt to seats at random in each of ${many} episodes of random play.`,
    `在 ${many} 局随机玩法中，每局都把名称随机分到位置上。`,
  );
  const [seatTest, nameTest] = report.tests;
  if (nameTest.significant) report.findings.push(finding('environment-name-bias', byName, names, nameTest, grand));
  if (seatTest.significant) {
    const places = names.map((_, place) => seatName(place));
    report.findings.push(finding('environment-seat-bias', bySeat.values, places, seatTest, grand));
  }
  const said = (values: readonly number[], label: (i: number) => string) =>
    values.map((value, i) => `${label(i)} ${rounded(value)}`).join(comma());
  const [seatsSaid, namesSaid] = [said(bySeats, seatName), said(byNames, (i) => names[i])];
  report.found =
    report.findings.length > 0
      ? nameTest.significant
        ? told(
            `The advantage follows the name: ${namesSaid}.${seatTest.significant ? ` And it stays with the seat: ${seatsSaid}.` : ' Seats do not matter.'}`,
            `优势跟着名称走：${namesSaid}。${seatTest.significant ? `同时也留在位置上：${seatsSaid}。` : '位置没有影响。'}`,
          )
        : told(
            `The advantage stays with the seat: ${seatsSaid}. Names do not matter.`,
            `优势留在位置上：${seatsSaid}。名称没有影响。`,
          )
      : told(
          'Neither seats nor names are shown to make a difference to random players.',
          '没有证据表明位置或名称对随机玩家有影响。',
        );
  const spread = withinVariance(byName);
  const margin = marginOf(grand, spread);
  const equal = equivalenceTest(byName, margin, equivalenceLevel);
  const percent = (value: number) => `${rounded((100 * value) / scaleOf(grand, spread))} %`;
  const within = percent(equal.equivalent ? margin : equal.narrowest);
  report.figures['equivalence p of names'] = rounded(equal.p);
  if (!nameTest.significant && !seatTest.significant)
    report.found += equal.equivalent
      ? told(
          ` Names are equivalent: the mean return of each lies within ${within} of the mean of all (p = ${rounded(equal.p)}).`,
          `名称等价：每个名称的平均回报与总平均之差都在 ${within} 以内（p = ${rounded(equal.p)}）。`,
        )
      : told(
          ` Equality of names cannot be claimed, only that each lies within ${within} of the mean of all.`,
          `不能断言名称相等，只能说每个名称与总平均之差在 ${within} 以内。`,
        );
  if (!nameTest.significant && equal.equivalent)
    report.rulesOut.push({
      cause: 'environment-name-bias',
      by: told(
        `random play with names dealt, ${many} episodes, equivalent within ${within}`,
        `名称随机分座的随机玩法，${many} 局，在 ${within} 内等价`,
      ),
    });
  const tested = { size: seats, within: withinVariance(bySeat.values), level: shares.dealtNames };
  const detectable = detectableRange(tested, episodes, wantedPower);
  const effect = visibleEffect(grand, spread);
  report.status = report.findings.length > 0 ? 'found' : detectable <= effect ? 'clear' : 'open';
  report.power =
    told(
      `A trend of ${percent(detectable)} of the mean return along seats or names is seen with power ${wantedPower}.`,
      `沿位置或名称相差平均回报 ${percent(detectable)} 的趋势会以 ${wantedPower} 的功效被发现。`,
    ) + (detectable > effect ? wouldTake(trendBlocks(tested, effect, wantedPower), 'episodes') : '');
  report.charts.push({
    kind: 'effects',
    title: told('Names dealt to seats, random players', '名称随机分座，随机玩家'),
    note: told(
      `Distance from the mean of all over ${many} episodes, with 99.9 % intervals.`,
      `${many} 局中与总平均之差，附 99.9 % 区间。`,
    ),
    unit: told('return', '回报'),
    effects: [...effects(bySeat.values, seatName), ...effects(byName, (i) => names[i])],
  });
  return report;
}

function finding(
  cause: string,
  sums: BlockSums,
  labels: readonly string[],
  test: { statistic: number; p: number },
  grand: number,
) {
  const means = columnMeans(sums);
  const apart = sums.apart.map((value) => value / sums.blocks);
  const error = Math.sqrt((withinVariance(sums) * (1 - 1 / means.length)) / sums.blocks);
  const most = Math.max(...apart.map(Math.abs));
  const odd = apart.map((_, i) => i).filter((i) => Math.abs(apart[i]) > Math.max(3.3 * error, 0.6 * most));
  const share = (i: number) => rounded((100 * apart[i]) / Math.abs(grand));
  return {
    cause,
    proof: 'statistics' as const,
    confidence: 0.99,
    agents: odd,
    summary: told(
      `Random players are paid ${odd.map((i) => `${share(i)} % of the mean more or less as ${labels[i]}`).join(', ')}, with names dealt to seats (p = ${rounded(test.p)}).`,
      `名称随机分座时，随机玩家的所得与平均相差：${odd.map((i) => `${labels[i]} ${share(i)} %`).join('、')}（p = ${rounded(test.p)}）。`,
    ),
    evidence: {
      check: told('names dealt to seats', '名称随机分座'),
      measured: { 'mean returns': means.map(rounded), 'chi-square': rounded(test.statistic), p: rounded(test.p) },
      expected: { 'mean returns': told('equal', '相等') },
    },
    rows: sums.blocks,
    onset: 0,
  };
}

function effects(sums: BlockSums, label: (i: number) => string) {
  return sums.apart.map((sum, i) => {
    const mean = sum / sums.blocks;
    const half = 3.29 * Math.sqrt(Math.max(0, sums.apartSquares[i] / sums.blocks - mean * mean) / sums.blocks);
    return { label: label(i), mean, low: mean - half, high: mean + half };
  });
}

/** The learnt policies with names dealt: what belongs to the seat is the game's, what belongs to the name was learnt, or was put there. */
export function addLearnt(report: StageReport, runs: readonly TrainedRun[], names: readonly string[]): void {
  const dealt = runs
    .map(({ evaluations }) => evaluations.find(({ deal }) => deal))
    .filter((found) => found !== undefined);
  if (dealt.length < 2) return;
  const marginal = (found: EvaluationResult, of: 'name' | 'seat') =>
    names.map((_, i) => {
      let [sum, count] = [0, 0];
      for (let j = 0; j < names.length; j++) {
        const [name, seat] = of === 'name' ? [i, j] : [j, i];
        sum += (found.mean[name][seat] ?? 0) * found.count[name][seat];
        count += found.count[name][seat];
      }
      return sum / count;
    });
  const test = (of: 'name' | 'seat', level: number) => {
    const blocks = dealt.map((found) => marginal(found, of));
    const result = friedmanTest(blocks, RandomStream.of(1, 'learnt', of));
    const distances = names.map((_, i) =>
      blocks.map((block) => block[i] - block.reduce((a, b) => a + b, 0) / block.length),
    );
    return {
      test: {
        name: told(
          `learnt policies by ${of}, names dealt`,
          `名称随机分座时学到的策略，按${of === 'seat' ? '位置' : '名称'}`,
        ),
        statistic: result.statistic,
        p: result.p,
        level,
        significant: result.p <= level,
        method: result.method,
      },
      effects: distances.map((values, i) => ({
        label: of === 'seat' ? seatName(i) : names[i],
        ...meanInterval(values),
      })),
    };
  };
  const [seat, name] = [test('seat', shares.learntSeats), test('name', shares.learntNames)];
  report.tests.push(seat.test, name.test);
  const many = dealt[0].episodes.toLocaleString('en-US');
  report.did += told(
    ` Then the learnt policies of ${dealt.length} seeds played ${many} episodes each with names dealt.`,
    `随后 ${dealt.length} 个种子学到的策略在名称随机分座下各玩了 ${many} 局。`,
  );
  const [seatP, nameP] = [rounded(seat.test.p), rounded(name.test.p)];
  report.found += told(
    ` For the learnt policies ${seat.test.significant ? 'the seat matters' : 'no seat is shown to be better'} (p = ${seatP}), and ${name.test.significant ? 'one name has learnt more than another, wherever it sits' : 'no name is shown to have learnt more'} (p = ${nameP}).`,
    `对学到的策略，${seat.test.significant ? '位置有影响' : '没有证据表明哪个位置更好'}（p = ${seatP}），${name.test.significant ? '某个名称学得更多，无论坐在哪里' : '没有证据表明哪个名称学得更多'}（p = ${nameP}）。`,
  );
  report.charts.push({
    kind: 'effects',
    title: told('Names dealt to seats, learnt policies', '名称随机分座，学到的策略'),
    note: told(
      `Distance from the mean of all: mean over ${dealt.length} seeds with 95 % intervals.`,
      `与总平均之差：${dealt.length} 个种子的均值，附 95 % 区间。`,
    ),
    unit: told('return', '回报'),
    effects: [...seat.effects, ...name.effects],
  });
}
