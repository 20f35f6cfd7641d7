/** `trueline compare`: groups runs by their settings and says which come out better, with intervals over seeds. */

import { Command } from 'commander';
import { told } from '../language/language.ts';
import { writeWhole } from '../recording/node.ts';
import { fold } from '../report/charts/plot.ts';
import { comparisonBands, comparisonHead, comparisonPage, span } from '../report/comparison.ts';
import { style, terminalColumns, wantsColour } from '../report/style.ts';
import { number, table } from '../report/table.ts';
import { type Comparison, compareRuns } from '../sweep/compare.ts';
import { readRuns } from '../sweep/node.ts';
import { json, print } from './common/options.ts';
import { progress } from './common/progress.ts';

interface Flags {
  json?: boolean;
  svg?: string;
  html?: string;
}

export function compareCommand(): Command {
  return new Command('compare')
    .description('Compare runs: interquartile means with intervals, probability of improvement, curves with bands.')
    .argument('<folder...>', 'folders of sweeps, or of single runs')
    .option('--svg <file>', 'write the curves as a picture')
    .option('--html <file>', 'write tables and curves as one page')
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ trueline compare runs/gamma --html gamma.html\n')
    .action(async (folders: string[], flags: Flags) => {
      const bar = progress('reading');
      const runs = await readRuns(folders, bar.update);
      bar.stop();
      const comparison = compareRuns(runs);
      const write = (file: string, text: string) => writeWhole(file, [new TextEncoder().encode(text)]);
      // The drawing library is loaded only where something is drawn.
      if (flags.svg !== undefined) {
        const { bandPicture } = await import('../report/charts/curves.ts');
        await write(
          flags.svg,
          await bandPicture(comparisonBands(comparison), told('Return over training', '训练过程中的回报')),
        );
      }
      if (flags.html !== undefined)
        await write(flags.html, await comparisonPage(comparison, `trueline compare ${folders.join(' ')}`));
      print(flags.json ? jsonText(comparison) : text(comparison));
    });
}

function text({ groups, repeats, level }: Comparison): string {
  const paint = style(wantsColour(process.stdout, process.env));
  const rows = groups.flatMap(({ label, games, improvement }) =>
    games.map((game) => [
      label,
      game.game,
      number(game.runs),
      number(game.interquartileMean.estimate),
      span(game.interquartileMean),
      number(game.mean),
      improvement ? number(improvement.estimate) : '',
      improvement ? span(improvement) : '',
    ]),
  );
  const head = comparisonHead('95 %');
  const percent = Math.round(level * 100);
  const right = 'right' as const;
  const left = 'left' as const;
  return [
    `${paint.bold(told('Mean return over agents in the last 20 % of the steps, by run', '最后 20 % 步数里各智能体的平均回报，按训练'))}`,
    table(head.map(paint.dim), rows, [left, left, right, right, left, right, right, left]),
    '',
    ...fold(
      told(
        `IQM: interquartile mean over runs. P(better): chance that a run of the row beats one of the first row. Intervals: ${percent} %, ${number(repeats)} bootstrap draws within games.`,
        `IQM：各次训练的四分位间均值。P(更优)：该行的一次训练胜过第一行的概率。区间：${percent} %，游戏内自助抽样 ${number(repeats)} 次。`,
      ),
      Math.min(100, terminalColumns()),
    ).map(paint.dim),
  ].join('\n');
}

function jsonText({ groups, repeats, level }: Comparison): string {
  const plain = groups.map(({ label, settings, games, improvement, runs }) => ({
    label,
    settings,
    games,
    improvement,
    runs: runs.map(({ folder, seed, game, score, curve }) => ({
      folder,
      seed,
      game,
      score,
      agents: Object.fromEntries(curve.agents.map((name, i) => [name, curve.last[i]])),
    })),
  }));
  return JSON.stringify({ format: 'trueline/comparison/1', repeats, level, groups: plain }, null, 2);
}
