/** Stage 2: is the game itself fair? Exact relabelling first, then what each seat sees, then random players by the hundred thousand. Equality is claimed only where an equivalence test claims it. */
import { anyDifferenceTest, columnMeans, equivalenceTest, trendTest, withinVariance } from '../../math/block-sums.ts';
import { normalTwoSided } from '../../math/distributions.ts';
import { detectableRange, equivalenceBlocks, trendBlocks } from '../../math/ranks/power.ts';
import { equivalenceLevel, equivalenceMargin, shares, wantedPower } from '../levels.ts';
import {
  emptyReport,
  type Investigation,
  type PlayedSums,
  type StageReport,
  type StageTest,
  type ViewSums,
} from '../stage.ts';
import { rounded } from './phenomenon.ts';

const pilotEpisodes = 20_000;
const viewEpisodes = 10_000;
const relabelEpisodes = 300;

/** `look` plays the pilot only, which is enough for what is proved exactly and for large effects; it never claims equality. */
export async function randomPlayStage(of: Investigation, look = false): Promise<StageReport> {
  const { lab, plan, seats } = of;
  const report = emptyReport('random-play', 'Is the game fair?', of.command);
  const relabelled = await lab.relabel(relabelEpisodes);
  const views = await lab.views(viewEpisodes);
  const seen = judgeViews(views);
  const pilot = await lab.play({ purpose: 'pilot', episodes: pilotEpisodes, deal: false });
  const planned = plannedEpisodes(pilot, seats, plan.episodes);
  const early = tests(pilot, shares.pilot / 3, shares.pilot / 3, shares.pilot / 3);
  const asymmetric = (relabelled ?? []).length > 0;
  // A quick investigation plays no further once the game is proved unfair; the pilot still says about how much.
  const shown = plan.quick && !plan.all && (asymmetric || seen.test.significant);
  const decided = look || shown || early.some((test) => test.significant);
  const played = decided ? pilot : await lab.play({ purpose: 'random play', episodes: planned.episodes, deal: false });
  const made = decided ? early : tests(played, shares.trend, shares.page, shares.friedman);
  report.tests = [seen.test, ...made];
  const { values } = played.seats;
  const means = columnMeans(values);
  const grand = means.reduce((a, b) => a + b, 0) / seats;
  const within = withinVariance(values);
  const margin = marginOf(grand, within);
  const equal = equivalenceTest(values, margin, equivalenceLevel);
  const range = Math.max(...means) - Math.min(...means);
  const percent = (value: number) => `${rounded((100 * value) / Math.abs(grand))} %`;
  report.figures = {
    episodes: values.blocks,
    'mean return by seat': means.map(rounded),
    'largest difference': rounded(range),
    'equivalence margin': rounded(margin),
    'equivalence p': rounded(equal.p),
    equivalent: equal.equivalent,
    'narrowest margin that could be claimed': rounded(equal.narrowest),
  };
  report.did = [
    relabelled === null
      ? 'The game has no relabelling, so exact symmetry could not be tried.'
      : `Seats were exchanged in ${relabelEpisodes} episodes and every outcome had to move with them exactly.`,
    `What each seat sees at the start was compared in ${views.episodes.toLocaleString('en-US')} episodes, entry by entry.`,
    `Independent random players played ${values.blocks.toLocaleString('en-US')} episodes${look || shown ? ', the pilot; more were not needed' : decided ? ', the pilot, which decided at once' : `, planned from a pilot of ${pilotEpisodes.toLocaleString('en-US')}`}.`,
  ].join(' ');
  const biased = made.some((test) => test.significant);
  const parts: string[] = [];
  if (asymmetric) parts.push(`Exact relabelling fails: ${relabelled?.[0]}.`);
  if (seen.test.significant) parts.push(seen.sentence);
  if (biased || parts.length > 0)
    parts.push(
      `Random players are paid ${biased ? 'by seat' : 'so'}: ${means.map((mean, seat) => `seat ${seat + 1} ${rounded(mean)}`).join(', ')}, ${percent(range)} between best and worst${biased ? '' : ', which by itself is no more than chance gives'}.`,
    );
  if (parts.length > 0) {
    report.status = 'found';
    report.found = parts.join(' ');
    // Whether the seat or the name is favoured is for the next stage, but what relabelling and views show can only be the seat.
    if (asymmetric || seen.test.significant)
      report.findings.push({
        cause: 'environment-seat-bias',
        proof: asymmetric ? 'rows' : 'statistics',
        confidence: 0.99,
        agents: seen.test.significant ? seen.seats : [],
        summary: parts.join(' '),
        evidence: {
          check: asymmetric ? 'exact relabelling' : 'views',
          measured: asymmetric
            ? { difference: relabelled?.[0] ?? '' }
            : { z: rounded(seen.test.statistic), seats: seen.seats.map((seat) => seat + 1) },
          expected: asymmetric ? { difference: 'none' } : { z: 'below the level' },
        },
        rows: values.blocks,
        onset: 0,
      });
  } else {
    report.status = look ? 'open' : 'clear';
    report.found = equal.equivalent
      ? `No seat is better for random players, and they are equivalent: every seat's mean return lies within ${percent(margin)} of the mean of all (p = ${rounded(equal.p)}).`
      : `No difference between seats was found, but equality cannot be claimed either: only that every seat lies within ${percent(equal.narrowest)} of the mean.`;
    if (relabelled !== null) report.found += ' Exact relabelling holds.';
    const by = `random play of ${values.blocks.toLocaleString('en-US')} episodes, equivalent within ${percent(margin)}${relabelled === null ? '' : '; exact relabelling'} and views`;
    if (!look && equal.equivalent) report.rulesOut.push({ cause: 'environment-seat-bias', by });
  }
  const level = decided ? shares.pilot / 3 : shares.trend;
  const detectable = detectableRange({ size: seats, within, level }, values.blocks, wantedPower);
  report.power = `A trend of ${percent(detectable)} of the mean return between the first and the last seat is seen with power ${wantedPower} at level ${rounded(level)}${planned.capped && !decided ? `; for ${percent(margin)} it would have taken ${planned.wanted.toLocaleString('en-US')} episodes` : ''}.`;
  report.charts.push({
    kind: 'effects',
    title: 'Random players, by seat',
    note: `Distance of each seat's mean return from the mean of all, ${values.blocks.toLocaleString('en-US')} episodes, with 99.9 % intervals. The dotted lines are the margin of the equivalence test, ±${rounded(margin)}.`,
    unit: 'return',
    margin,
    effects: seatEffects(played),
  });
  return report;
}

/** One hundredth of the mean return; of the spread within episodes where the mean is too near 0 to measure by. */
export function marginOf(grand: number, within: number): number {
  const size = Math.abs(grand) > 0.1 * Math.sqrt(within) ? Math.abs(grand) : Math.sqrt(within);
  return equivalenceMargin * size;
}

function tests({ seats }: PlayedSums, trendLevel: number, pageLevel: number, anyLevel: number): StageTest[] {
  const trend = trendTest(seats.values);
  const page = trendTest(seats.ranks);
  const any = anyDifferenceTest(seats.ranks);
  const made = (name: string, { statistic, p }: { statistic: number; p: number }, level: number): StageTest => ({
    name,
    statistic,
    p,
    level,
    significant: p <= level,
    method: 'permutation within episodes',
  });
  return [
    made('trend of returns along the seats', trend, trendLevel),
    made("Page's trend of ranks along the seats", page, pageLevel),
    made("Friedman's test for any difference", any, anyLevel),
  ];
}

function plannedEpisodes({ seats }: PlayedSums, size: number, most: number) {
  const within = withinVariance(seats.values);
  const means = columnMeans(seats.values);
  const grand = means.reduce((a, b) => a + b, 0) / size;
  const margin = marginOf(grand, within);
  const wanted = Math.max(
    trendBlocks({ size, within, level: shares.trend }, margin, wantedPower),
    equivalenceBlocks({ size, within, level: equivalenceLevel }, margin, wantedPower),
  );
  const rounds = 10_000;
  const episodes = Math.max(pilotEpisodes, Math.min(most, Math.ceil(wanted / rounds) * rounds));
  return { wanted, episodes, capped: wanted > most };
}

/** The entry whose mean differs most between a seat and the others, in standard errors. */
function judgeViews(views: ViewSums): { test: StageTest; seats: number[]; sentence: string } {
  const tried = views.sum.length * views.entries;
  let worst = 0;
  const odd = new Map<number, number>();
  views.sum.forEach((row, seat) => {
    row.forEach((sum, entry) => {
      // A normal approximation wants some observations that are not alike.
      if (views.nonzero[seat][entry] < 50) return;
      const mean = sum / views.episodes;
      const error = Math.sqrt(
        Math.max(1e-12, views.squares[seat][entry] / views.episodes - mean * mean) / views.episodes,
      );
      const z = mean / error;
      worst = Math.max(worst, Math.abs(z));
      if (normalTwoSided(z) * tried <= shares.views) odd.set(seat, (odd.get(seat) ?? 0) + 1);
    });
  });
  const p = Math.min(1, normalTwoSided(worst) * tried);
  // The mean of the others moves with one that is odd, so the oddest stands for all.
  const most = Math.max(0, ...odd.values());
  const seats = [...odd].filter(([, count]) => count > 0.6 * most).map(([seat]) => seat);
  return {
    test: {
      name: 'views: entries that one seat sees otherwise',
      statistic: worst,
      p,
      level: shares.views,
      significant: p <= shares.views,
      method: 'Bonferroni over entries',
    },
    seats,
    sentence: `Seat ${seats.map((seat) => seat + 1).join(', ')} sees the game otherwise than the others: ${most} of ${views.entries} entries of its observation differ in their mean.`,
  };
}

function seatEffects({ seats }: PlayedSums) {
  const { blocks, apart, apartSquares } = seats.values;
  return apart.map((sum, seat) => {
    const mean = sum / blocks;
    const half = 3.29 * Math.sqrt(Math.max(0, apartSquares[seat] / blocks - mean * mean) / blocks);
    return { label: `seat ${seat + 1}`, mean, low: mean - half, high: mean + half };
  });
}
