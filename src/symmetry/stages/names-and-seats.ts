/** Stage 3: with names dealt to seats anew in every episode, does the advantage stay with the seat or follow the name? Random play first; learnt policies where they were trained. */
import {
  anyDifferenceTest,
  type BlockSums,
  columnMeans,
  equivalenceTest,
  withinVariance,
} from '../../math/block-sums.ts';
import { RandomStream } from '../../math/random.ts';
import { meanInterval } from '../../math/ranks/paired-tests.ts';
import { detectableRange } from '../../math/ranks/power.ts';
import { friedmanTest } from '../../math/ranks/rank-tests.ts';
import type { EvaluationResult } from '../../sweep/work.ts';
import { equivalenceLevel, shares, wantedPower } from '../levels.ts';
import { emptyReport, type Investigation, type StageReport, type TrainedRun } from '../stage.ts';
import { rounded } from './phenomenon.ts';
import { marginOf } from './random-play.ts';

export async function namesAndSeats(of: Investigation): Promise<StageReport> {
  const { lab, plan, names, seats } = of;
  const report = emptyReport('names-and-seats', 'The seat, or the name?', of.command);
  const before = of.reports.find(({ id }) => id === 'random-play');
  // Where the game was found unfair, the same effort says whom it favours.
  const episodes = Math.max(plan.dealtEpisodes, before?.status === 'found' ? Number(before.figures.episodes) : 0);
  const { seats: bySeat, names: byName } = await lab.play({ purpose: 'dealt', episodes, deal: true });
  const seat = anyDifferenceTest(bySeat.values);
  const name = anyDifferenceTest(byName);
  report.tests = [
    {
      name: 'returns by seat, names dealt',
      statistic: seat.statistic,
      p: seat.p,
      level: shares.dealtSeats,
      significant: seat.p <= shares.dealtSeats,
      method: 'permutation within episodes',
    },
    {
      name: 'returns by name, names dealt',
      statistic: name.statistic,
      p: name.p,
      level: shares.dealtNames,
      significant: name.p <= shares.dealtNames,
      method: 'permutation within episodes',
    },
  ];
  const [bySeats, byNames] = [columnMeans(bySeat.values), columnMeans(byName)];
  const grand = bySeats.reduce((a, b) => a + b, 0) / seats;
  report.figures = {
    episodes,
    'mean return by seat': bySeats.map(rounded),
    'mean return by name': byNames.map(rounded),
  };
  report.did = `Names were dealt to seats at random in each of ${episodes.toLocaleString('en-US')} episodes of random play.`;
  const [seatTest, nameTest] = report.tests;
  if (nameTest.significant) report.findings.push(finding('environment-name-bias', byName, names, nameTest, grand));
  if (seatTest.significant) {
    const places = names.map((_, place) => `seat ${place + 1}`);
    report.findings.push(finding('environment-seat-bias', bySeat.values, places, seatTest, grand));
  }
  report.status = report.findings.length > 0 ? 'found' : 'clear';
  const said = (values: readonly number[], label: (i: number) => string) =>
    values.map((value, i) => `${label(i)} ${rounded(value)}`).join(', ');
  report.found =
    report.findings.length > 0
      ? nameTest.significant
        ? `The advantage follows the name: ${said(byNames, (i) => names[i])}.${seatTest.significant ? ` And it stays with the seat: ${said(bySeats, (i) => `seat ${i + 1}`)}.` : ' Seats do not matter.'}`
        : `The advantage stays with the seat: ${said(bySeats, (i) => `seat ${i + 1}`)}. Names do not matter.`
      : 'Neither seats nor names are shown to make a difference to random players.';
  const margin = marginOf(grand, withinVariance(byName));
  const equal = equivalenceTest(byName, margin, equivalenceLevel);
  const within = `${rounded((100 * (equal.equivalent ? margin : equal.narrowest)) / Math.abs(grand))} %`;
  report.figures['equivalence p of names'] = rounded(equal.p);
  if (!nameTest.significant && !seatTest.significant)
    report.found += equal.equivalent
      ? ` Names are equivalent: the mean return of each lies within ${within} of the mean of all (p = ${rounded(equal.p)}).`
      : ` Equality of names cannot be claimed, only that each lies within ${within} of the mean of all.`;
  if (!nameTest.significant && equal.equivalent)
    report.rulesOut.push({
      cause: 'environment-name-bias',
      by: `random play with names dealt, ${episodes.toLocaleString('en-US')} episodes, equivalent within ${within}`,
    });
  const detectable = detectableRange(
    { size: seats, within: withinVariance(bySeat.values), level: shares.dealtNames },
    episodes,
    wantedPower,
  );
  report.power = `A trend of ${rounded((100 * detectable) / Math.abs(grand))} % of the mean return along seats or names is seen with power ${wantedPower}.`;
  report.charts.push({
    kind: 'effects',
    title: 'Names dealt to seats, random players',
    note: `Distance from the mean of all over ${episodes.toLocaleString('en-US')} episodes, with 99.9 % intervals.`,
    unit: 'return',
    effects: [...effects(bySeat.values, (i) => `seat ${i + 1}`), ...effects(byName, (i) => names[i])],
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
  return {
    cause,
    proof: 'statistics' as const,
    confidence: 0.99,
    agents: odd,
    summary: `Random players are paid ${odd.map((i) => `${rounded((100 * apart[i]) / Math.abs(grand))} % of the mean more or less as ${labels[i]}`).join(', ')}, with names dealt to seats (p = ${rounded(test.p)}).`,
    evidence: {
      check: 'names dealt to seats',
      measured: { 'mean returns': means.map(rounded), 'chi-square': rounded(test.statistic), p: rounded(test.p) },
      expected: { 'mean returns': 'equal' },
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
        name: `learnt policies by ${of}, names dealt`,
        statistic: result.statistic,
        p: result.p,
        level,
        significant: result.p <= level,
        method: result.method,
      },
      effects: distances.map((values, i) => ({
        label: of === 'seat' ? `seat ${i + 1}` : names[i],
        ...meanInterval(values),
      })),
    };
  };
  const [seat, name] = [test('seat', shares.learntSeats), test('name', shares.learntNames)];
  report.tests.push(seat.test, name.test);
  report.did += ` Then the learnt policies of ${dealt.length} seeds played ${dealt[0].episodes.toLocaleString('en-US')} episodes each with names dealt.`;
  report.found += ` For the learnt policies ${seat.test.significant ? 'the seat matters' : 'no seat is shown to be better'} (p = ${rounded(seat.test.p)}), and ${name.test.significant ? 'one name has learnt more than another, wherever it sits' : 'no name is shown to have learnt more'} (p = ${rounded(name.test.p)}).`;
  report.charts.push({
    kind: 'effects',
    title: 'Names dealt to seats, learnt policies',
    note: `Distance from the mean of all: mean over ${dealt.length} seeds with 95 % intervals.`,
    unit: 'return',
    effects: [...seat.effects, ...name.effects],
  });
}
