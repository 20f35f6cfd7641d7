/** Who earns what beside whom, as a page: a cell's colour is its return, and every figure stands in it. */
import { told } from '../../language/language.ts';
import { number } from '../number.ts';
import { safeText } from '../safe-text.ts';
import { pageShell } from './page-shell.ts';

export interface Encounter {
  readonly mean: number;
  readonly halfWidth: number;
  readonly episodes: number;
}

export function heatMap(
  game: string,
  players: readonly string[],
  matrix: readonly (readonly Encounter[])[],
  command: string,
): string {
  const means = matrix.flat().map(({ mean }) => mean);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const share = (mean: number) => (high > low ? (mean - low) / (high - low) : 0.5);
  const cell = ({ mean, halfWidth, episodes }: Encounter) =>
    `<td style="text-align:right;padding:.6rem .8rem;background:color-mix(in srgb, #2a7f9e ${Math.round(70 * share(mean))}%, transparent)" title="${episodes}"><b>${number(mean)}</b><br><small>± ${number(halfWidth)}</small></td>`;
  const title = told(`${safeText(game)}: who earns what beside whom`, `${safeText(game)}：谁在谁旁边得到多少`);
  const head = players.map((player) => `<th scope="col">${safeText(player)}</th>`).join('');
  const rows = matrix.map(
    (cells, i) =>
      `<tr><th scope="row" style="text-align:left">${safeText(players[i])}</th>${cells.map(cell).join('')}</tr>`,
  );
  return pageShell(title, [
    `<main><h1>${title}</h1>`,
    `<p>${told(
      "Mean return of the row's agent in the first seat while the column's agents sit in all others, with 95 % intervals. The darker, the more it earns.",
      '行的智能体坐第一个位置、列的智能体坐其余位置时，前者的平均回报及 95 % 区间。颜色越深，得到的越多。',
    )}</p>`,
    `<div style="overflow-x:auto"><table><thead><tr><td></td>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`,
    `<p><code>${safeText(command)}</code></p></main>`,
  ]);
}
