/** The page of what agents earn beside others, from what is kept of the protocol. */
import { mean } from '../../src/math/statistics.ts';
import { interval } from '../../src/training/lineup/match.ts';
import type { AdaptSizes, Result } from './meeting.ts';

export interface AdaptTable {
  part: string;
  /** Per algorithm: self-play. */
  own: Result[][];
  rows: { label: string; cells: Result[][] }[];
  /** HOP's networks without their search, among themselves, and what its search gains, seed by seed. */
  alone: Result[];
  gains: number[];
}

const names: Record<string, string> = { 'hop-planner': 'HOP', hop: 'HOP+', ppo: 'PPO', mappo: 'MAPPO' };
const titles: Record<string, string> = {
  '4h1s': 'Stag hunt, one stag (`4h1s`)',
  '4h2s': 'Stag hunt, two stags (`4h2s`)',
  snowdrift: 'Snowdrift',
};

/** Without an interval where there is one seed. */
function shown(values: readonly number[]): string {
  if (values.length === 0) return '–';
  const { mean: middle, halfWidth } = interval([...values]);
  return values.length === 1 ? middle.toFixed(2) : `${middle.toFixed(2)} ± ${halfWidth.toFixed(2)}`;
}

const asItIs = (results: readonly Result[]) => shown(results.map(({ curve }) => mean(curve)));
const learnt = (results: readonly Result[]) => shown(results.flatMap((result) => result.learnt ?? []));

export function adaptPage(tables: readonly AdaptTable[], { seeds, steps }: AdaptSizes): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const counted = ({ own, rows }: AdaptTable) => {
    const counts = [...own, ...rows.flatMap(({ cells }) => cells.filter((_, i) => cells[i].length > 0))].map(
      (results) => results.length,
    );
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return least === most ? `${least} of ${seeds.length} seeds` : `${least} to ${most} of ${seeds.length} seeds a cell`;
  };
  const sections = tables
    .filter(({ own }) => own.some((results) => results.length > 0))
    .flatMap((table) => [
      `## ${titles[table.part]}`,
      '',
      `${counted(table)}.`,
      '',
      line(['beside', ...Object.values(names)]),
      line(['---', ...Object.values(names).map(() => '---')]),
      line(['their own kind', ...table.own.map(asItIs)]),
      ...table.rows.map(({ label, cells }) =>
        line([
          names[label] ?? label,
          ...cells.map((results) => (results.length === 0 ? '–' : `${asItIs(results)}; ${learnt(results)}`)),
        ]),
      ),
      '',
      ...(table.gains.length > 0
        ? [
            `HOP's networks without their search earn ${asItIs(table.alone)} among themselves; what search gains, seed by seed, is ${shown(table.gains)}.`,
            '',
          ]
        : []),
    ]);
  return [
    '# What agents earn beside others: the figures',
    '',
    `Made by \`npm run bench -- hop-adapt\` from what is kept in bench/hop/results; [the page on HOP](hop.md#what-hop-does-beside-others) says what they mean. Returns of the agent in the first seat: as it is, and after ${steps} decisions of learning beside the three others. Means with 95 % intervals over seeds; a dash where nothing was measured.`,
    '',
    ...sections,
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}
