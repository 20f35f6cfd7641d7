/** A comparison of runs as one page that needs no network. */
import type { Interval } from '../math/robust.ts';
import { band, type Comparison } from '../sweep/compare.ts';
import { svgDrawer } from './charts/svg.ts';
import { number } from './number.ts';
import { pageShell } from './pages/page-shell.ts';
import { chartFigure } from './run-figures.ts';
import { safeText } from './safe-text.ts';

/** An interval in words. */
export const span = ({ low, high }: Interval) => `${number(low)} to ${number(high)}`;

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
  const head = ['settings', 'game', 'runs', 'IQM', `${percent} %`, 'mean', 'median', 'P(better than the first)'];
  const draw = await svgDrawer();
  const title = `Comparison of ${groups.length} settings`;
  const curves = chartFigure(
    {
      kind: 'curves',
      title: 'Return over training',
      note: `Interquartile mean over seeds; the band is its ${percent} % bootstrap interval.`,
      bands: comparisonBands(comparison),
    },
    draw,
  );
  const boxes = chartFigure(
    {
      kind: 'boxes',
      title: 'The last 20 % of the steps',
      note: 'One point is one run: its mean return over agents.',
      unit: 'return',
      groups: [
        { label: '', boxes: groups.map(({ label, runs: own }) => ({ label, values: own.map(({ score }) => score) })) },
      ],
    },
    draw,
  );
  return pageShell(title, [
    `<header><p class="kicker">Trueline comparison</p><h1>${title}</h1></header><main>`,
    `<section><h2>Results</h2>${tableHtml(head, rows)}<p>Each run is judged by its mean return over agents in the last 20 % of its steps. IQM is the interquartile mean over runs. Intervals are ${percent} % bootstrap intervals from ${number(repeats)} draws, runs drawn anew within each game.</p><div class="pictures">${curves}${boxes}</div></section>`,
    `<section><h2>Runs</h2>${tableHtml(['settings', 'seed', 'return', 'by agent', 'folder'], runs)}</section></main>`,
    `<footer><p>Made by <code>${safeText(command)}</code>. The same as data: add <code>--json</code>.</p></footer>`,
  ]);
}

function tableHtml(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${safeText(cell)}</${tag}>`).join('')}</tr>`;
  return `<div class="scroll"><table class="fold"><thead>${line(head, 'th')}</thead><tbody>${rows.map((row) => line(row, 'td')).join('')}</tbody></table></div>`;
}
