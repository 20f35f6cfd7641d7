/** A comparison of runs as one page that needs no network. */
import { told } from '../language/language.ts';
import type { Interval } from '../math/robust.ts';
import { band, type Comparison } from '../sweep/compare.ts';
import { svgDrawer } from './charts/svg.ts';
import { number } from './number.ts';
import { pageShell } from './pages/page-shell.ts';
import { chartFigure } from './run-figures.ts';
import { safeText } from './safe-text.ts';

/** An interval in words. */
export const span = ({ low, high }: Interval) => `${number(low)} … ${number(high)}`;

/** The curves of every group. */
export function comparisonBands({ groups }: Comparison) {
  return groups.map(({ label, runs }) =>
    band(
      label,
      runs.map(({ curve }) => curve),
    ),
  );
}

export async function comparisonPage(comparison: Comparison, command: string): Promise<string> {
  const { groups, repeats, level } = comparison;
  const percent = Math.round(level * 100);
  const rows = groups.flatMap(({ label, games, improvement }) =>
    games.map((game) => [
      label,
      game.game,
      number(game.runs),
      number(game.interquartileMean.estimate),
      span(game.interquartileMean),
      number(game.mean),
      number(game.median),
      improvement ? `${number(improvement.estimate)} (${span(improvement)})` : '',
    ]),
  );
  const runs = groups.flatMap(({ label, runs: own }) =>
    own.map(({ folder, seed, score, curve }) => [
      label,
      seed === null ? '' : String(seed),
      number(score),
      curve.last.map((value) => number(value)).join(', '),
      folder,
    ]),
  );
  const head = [
    ...comparisonHead(`${percent} %`).slice(0, 6),
    told('median', '中位数'),
    told('P(better than the first)', 'P(优于第一组)'),
  ];
  const draw = await svgDrawer();
  const title = told(`Comparison of ${groups.length} settings`, `${groups.length} 组设置的对比`);
  const curves = chartFigure(
    {
      kind: 'curves',
      title: told('Return over training', '训练过程中的回报'),
      note: told(
        `Interquartile mean over seeds; the band is its ${percent} % bootstrap interval.`,
        `各种子的四分位间均值；色带是其 ${percent} % 自助法区间。`,
      ),
      bands: comparisonBands(comparison),
    },
    draw,
  );
  const boxes = chartFigure(
    {
      kind: 'boxes',
      title: told('The last 20 % of the steps', '最后 20 % 的步数'),
      note: told('One point is one run: its mean return over agents.', '一个点是一次训练：各智能体的平均回报。'),
      unit: told('return', '回报'),
      groups: [
        { label: '', boxes: groups.map(({ label, runs: own }) => ({ label, values: own.map(({ score }) => score) })) },
      ],
    },
    draw,
  );
  const explained = told(
    `Each run is judged by its mean return over agents in the last 20 % of its steps. IQM is the interquartile mean over runs. Intervals are ${percent} % bootstrap intervals from ${number(repeats)} draws, runs drawn anew within each game.`,
    `每次训练按最后 20 % 步数里各智能体的平均回报评判。IQM 是各次训练的四分位间均值。区间是 ${percent} % 自助法区间，抽样 ${number(repeats)} 次，在每个游戏内重抽训练。`,
  );
  return pageShell(title, [
    `<header><p class="kicker">${told('Trueline comparison', 'Trueline 对比')}</p><h1>${title}</h1></header><main>`,
    `<section><h2>${told('Results', '结果')}</h2>${tableHtml(head, rows)}<p>${explained}</p><div class="pictures">${curves}${boxes}</div></section>`,
    `<section><h2>${told('Runs', '各次训练')}</h2>${tableHtml([told('settings', '设置'), told('seed', '种子'), told('return', '回报'), told('by agent', '各智能体'), told('folder', '文件夹')], runs)}</section></main>`,
    `<footer><p>${told(`Made by <code>${safeText(command)}</code>. The same as data: add <code>--json</code>.`, `生成命令：<code>${safeText(command)}</code>。同样内容的数据：加上 <code>--json</code>。`)}</p></footer>`,
  ]);
}

function tableHtml(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${safeText(cell)}</${tag}>`).join('')}</tr>`;
  return `<div class="scroll"><table class="fold"><thead>${line(head, 'th')}</thead><tbody>${rows.map((row) => line(row, 'td')).join('')}</tbody></table></div>`;
}

/** The columns that the terminal and the page share. */
export const comparisonHead = (interval: string) => [
  told('settings', '设置'),
  told('game', '游戏'),
  told('runs', '次数'),
  'IQM',
  interval,
  told('mean', '均值'),
  told('P(better)', 'P(更优)'),
  interval,
];
