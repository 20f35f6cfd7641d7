/** Stage 2: is the game itself fair? Exact relabelling first, then what each seat sees, then random players by the hundred thousand. Equality is claimed only where an equivalence test claims it. */
import { comma, space, told } from '../../language/language.ts';
import { anyDifferenceTest, columnMeans, equivalenceTest, trendTest, withinVariance } from '../../math/block-sums.ts';
import { normalTwoSided } from '../../math/distributions.ts';
import { detectableRange, equivalenceBlocks, trendBlocks } from '../../math/ranks/power.ts';
import { equivalenceLevel, shares, wantedPower } from '../levels.ts';
import { marginOf, scaleOf, visibleEffect, wouldTake } from '../power.ts';
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
  const report = emptyReport('random-play', of.command);
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
  const percent = (value: number) => `${rounded((100 * value) / scaleOf(grand, within))} %`;
  report.figures = {
    episodes: values.blocks,
    'mean return by seat': means.map(rounded),
    'largest difference': rounded(range),
    'equivalence margin': rounded(margin),
    'equivalence p': rounded(equal.p),
    equivalent: equal.equivalent,
    'narrowest margin that could be claimed': rounded(equal.narrowest),
  };
  const [watched, many] = [views.episodes, values.blocks].map((count) => count.toLocaleString('en-US'));
  const first = pilotEpisodes.toLocaleString('en-US');
  const how =
    look || shown
      ? told(', the pilot; more were not needed', '（先导试验；不需要更多）')
      : decided
        ? told(', the pilot, which decided at once', '（先导试验，立即得出结论）')
        : told(`, planned from a pilot of ${first}`, `（由 ${first} 局的先导试验规划）`);
  report.did = [
    relabelled === null
      ? told(
          'The game has no relabelling, so exact symmetry could not be tried.',
          '该游戏没有重新编号的办法，因此无法检验精确对称。',
        )
      : told(
          `Seats were exchanged in ${relabelEpisodes} episodes and every outcome had to move with them exactly.`,
          `在 ${relabelEpisodes} 局中交换了位置，每个结果都必须精确地随之移动。`,
        ),
    told(
      `What each seat sees at the start was compared in ${watched} episodes, entry by entry.`,
      `在 ${watched} 局中逐项比较了各位置开局时看到的内容。`,
    ),
    told(`Independent random players played ${many} episodes${how}.`, `相互独立的随机玩家玩了 ${many} 局${how}。`),
  ].join(space());
  const biased = made.some((test) => test.significant);
  const paid = means.map((mean, seat) => `${seatName(seat)} ${rounded(mean)}`).join(comma());
  const parts: string[] = [];
  if (asymmetric)
    parts.push(told(`Exact relabelling fails: ${relabelled?.[0]}.`, `精确的重新编号不成立：${relabelled?.[0]}。`));
  if (seen.test.significant) parts.push(seen.sentence);
  if (biased || parts.length > 0)
    parts.push(
      told(
        `Random players are paid ${biased ? 'by seat' : 'so'}: ${paid}, ${percent(range)} between best and worst${biased ? '' : ', which by itself is no more than chance gives'}.`,
        `随机玩家的所得${biased ? '随位置而异' : ''}：${paid}，最好与最差相差 ${percent(range)}${biased ? '' : '，这本身与偶然情形无异'}。`,
      ),
    );
  if (parts.length > 0) {
    report.status = 'found';
    report.found = parts.join(space());
    // Whether the seat or the name is favoured is for the next stage, but what relabelling and views show can only be the seat.
    if (asymmetric || seen.test.significant)
      report.findings.push({
        cause: 'environment-seat-bias',
        proof: asymmetric ? 'rows' : 'statistics',
        confidence: 0.99,
        agents: seen.test.significant ? seen.seats : [],
        summary: parts.join(space()),
        evidence: {
          check: asymmetric ? told('exact relabelling', '精确的重新编号') : told('views', '所见内容'),
          measured: asymmetric
            ? { difference: relabelled?.[0] ?? '' }
            : { z: rounded(seen.test.statistic), seats: seen.seats.map((seat) => seat + 1) },
          expected: asymmetric ? { difference: told('none', '无') } : { z: told('below the level', '低于水平') },
        },
        rows: values.blocks,
        onset: 0,
      });
  } else {
    report.found = equal.equivalent
      ? told(
          `No seat is better for random players, and they are equivalent: every seat's mean return lies within ${percent(margin)} of the mean of all (p = ${rounded(equal.p)}).`,
          `对随机玩家没有哪个位置更好，而且位置等价：每个位置的平均回报与总平均之差都在 ${percent(margin)} 以内（p = ${rounded(equal.p)}）。`,
        )
      : told(
          `No difference between seats was found, but equality cannot be claimed either: only that every seat lies within ${percent(equal.narrowest)} of the mean.`,
          `没有发现位置之间的差异，但也不能断言相等：只能说每个位置与平均之差在 ${percent(equal.narrowest)} 以内。`,
        );
    if (relabelled !== null) report.found += told(' Exact relabelling holds.', '精确的重新编号成立。');
    const by = told(
      `random play of ${many} episodes, equivalent within ${percent(margin)}${relabelled === null ? '' : '; exact relabelling'} and views`,
      `${many} 局随机玩法，在 ${percent(margin)} 内等价${relabelled === null ? '' : '；精确的重新编号'}以及所见内容`,
    );
    if (!look && equal.equivalent) report.rulesOut.push({ cause: 'environment-seat-bias', by });
  }
  const level = decided ? shares.pilot / 3 : shares.trend;
  const detectable = detectableRange({ size: seats, within, level }, values.blocks, wantedPower);
  const effect = visibleEffect(grand, within);
  if (parts.length === 0) report.status = !look && detectable <= effect ? 'clear' : 'open';
  const more = planned.wanted.toLocaleString('en-US');
  report.power =
    told(
      `A trend of ${percent(detectable)} of the mean return between the first and the last seat is seen with power ${wantedPower} at level ${rounded(level)}${planned.capped && !decided ? `; for ${percent(margin)} it would have taken ${more} episodes` : ''}.`,
      `从第一个到最后一个位置相差平均回报 ${percent(detectable)} 的趋势会以 ${wantedPower} 的功效在水平 ${rounded(level)} 上被发现${planned.capped && !decided ? `；要看出 ${percent(margin)} 则需要 ${more} 局` : ''}。`,
    ) +
    (detectable > effect
      ? wouldTake(trendBlocks({ size: seats, within, level }, effect, wantedPower), 'episodes')
      : '');
  report.charts.push({
    kind: 'effects',
    title: told('Random players, by seat', '随机玩家，按位置'),
    note: told(
      `Distance of each seat's mean return from the mean of all, ${many} episodes, with 99.9 % intervals. The dotted lines are the margin of the equivalence test, ±${rounded(margin)}.`,
      `各位置平均回报与总平均之差，${many} 局，附 99.9 % 区间。虚线是等价检验的界限 ±${rounded(margin)}。`,
    ),
    unit: told('return', '回报'),
    margin,
    effects: seatEffects(played),
  });
  return report;
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
    method: byPermutation(),
  });
  return [
    made(told('trend of returns along the seats', '回报沿位置的趋势'), trend, trendLevel),
    made(told("Page's trend of ranks along the seats", 'Page 检验：名次沿位置的趋势'), page, pageLevel),
    made(told("Friedman's test for any difference", 'Friedman 检验：任何差异'), any, anyLevel),
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
      name: told('views: entries that one seat sees otherwise', '所见内容：某位置看到的不同之处'),
      statistic: worst,
      p,
      level: shares.views,
      significant: p <= shares.views,
      method: told('Bonferroni over entries', '对各项做 Bonferroni 校正'),
    },
    seats,
    sentence: told(
      `Seat ${seats.map((seat) => seat + 1).join(', ')} sees the game otherwise than the others: ${most} of ${views.entries} entries of its observation differ in their mean.`,
      `位置 ${seats.map((seat) => seat + 1).join('、')} 看到的游戏与其他位置不同：其观测的 ${views.entries} 项中有 ${most} 项的均值不同。`,
    ),
  };
}

function seatEffects({ seats }: PlayedSums) {
  const { blocks, apart, apartSquares } = seats.values;
  return apart.map((sum, seat) => {
    const mean = sum / blocks;
    const half = 3.29 * Math.sqrt(Math.max(0, apartSquares[seat] / blocks - mean * mean) / blocks);
    return { label: seatName(seat), mean, low: mean - half, high: mean + half };
  });
}

export const seatName = (seat: number) => told(`seat ${seat + 1}`, `位置 ${seat + 1}`);
export const byPermutation = () => told('permutation within episodes', '局内置换检验');
