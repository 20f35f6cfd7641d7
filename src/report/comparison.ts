/** A comparison of runs as one page that needs no network. */
import type { Interval } from '../math/robust.ts';
import type { Comparison } from '../sweep/compare.ts';
import { number } from './table.ts';

const safe = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const span = ({ low, high }: Interval) => `${number(low)} to ${number(high)}`;

export function comparisonPage({ groups, repeats, level }: Comparison, curves: string, command: string): string {
  const percent = Math.round(level * 100);
  const rows = groups.flatMap(({ label, games, improvement }) =>
    games.map((game) => [
      safe(label),
      safe(game.game),
      number(game.runs),
      number(game.interquartileMean.estimate),
      span(game.interquartileMean),
      number(game.mean),
      number(game.median),
      improvement ? `${number(improvement.estimate)} (${span(improvement)})` : '',
    ]),
  );
  const runs = groups.flatMap(({ label, runs }) =>
    runs.map(({ folder, seed, score, curve }) => [
      safe(label),
      seed === null ? '' : String(seed),
      number(score),
      curve.last.map((value) => number(value)).join(', '),
      safe(folder),
    ]),
  );
  const head = ['settings', 'game', 'runs', 'IQM', `${percent} %`, 'mean', 'median', 'P(better than the first)'];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Comparison of ${groups.length} settings</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:62rem;padding:0 1rem;color:#22262a}table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .75rem;text-align:left;border-bottom:1px solid #ddd;font-variant-numeric:tabular-nums}svg{max-width:100%;height:auto}code{background:#f2f2f2;padding:.1rem .3rem}</style></head>
<body><h1>Comparison of ${groups.length} settings</h1>
${tableHtml(head, rows)}
<p>Each run is judged by its mean return over agents in the last 20 % of its steps. IQM is the interquartile mean over runs. Intervals are ${percent} % bootstrap intervals from ${number(repeats)} draws, runs drawn anew within each game.</p>
${curves}
<h2>Runs</h2>
${tableHtml(['settings', 'seed', 'return', 'by agent', 'folder'], runs)}
<p>Made by <code>${safe(command)}</code></p>
</body></html>
`;
}

function tableHtml(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<table>${line(head, 'th')}${rows.map((row) => line(row, 'td')).join('')}</table>`;
}
