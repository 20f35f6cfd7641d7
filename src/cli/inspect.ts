/** `trueline inspect`: what is in a recording, and which questions it cannot answer yet. */

import { Command } from 'commander';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { type ColumnSummary, type Inspection, inspect } from '../recording/check/inspect.ts';
import { openRows } from '../recording/importers/node.ts';
import { writeWhole } from '../recording/node.ts';
import type { Recording } from '../recording/recording.ts';
import { readingPanels, readingsPicture } from '../report/readings.ts';
import { harmless } from '../report/safe-text.ts';
import { type Style, style, wantsColour } from '../report/style.ts';
import { number, table } from '../report/table.ts';
import { firstMinibatches } from '../report/update/first-minibatch.ts';
import { summariseTensors } from '../report/update/tensors.ts';
import { firstText, tensorsText } from '../report/update/text.ts';
import { json, maxSize, print } from './common/options.ts';
import { progress } from './common/progress.ts';

const range = (from?: number, to?: number): string => told(`${from} to ${to}`, `${from} 至 ${to}`);

export function inspectCommand(): Command {
  return new Command('inspect')
    .description('Show the tables, columns and ranges of a recording, and which columns each check still needs.')
    .argument('<recording>', 'a folder with a manifest.json, a zip of one, or a dump of rollouts')
    .option('--svg <file>', 'draw the returns and readings over time, each against its band')
    .option(
      '--tensors',
      "show what the optimiser holds and moves: its groups, and each tensor's gradient and change per step",
    )
    .option(
      '--first',
      'show the first minibatch: old and new log-probabilities side by side, ratio, valid rows, KL, entropy',
    )
    .addOption(json())
    .addOption(maxSize())
    .addHelpText(
      'after',
      '\nExamples:\n  $ trueline inspect examples/echo\n  $ trueline inspect examples/echo --first --tensors\n  $ trueline inspect runs/city-1 --svg readings.svg\n',
    )
    .action(async (path: string, options: InspectFlags) => {
      const recording = await openRows(path, options);
      if (options.tensors || options.first) {
        await showUpdate(recording, options);
        return;
      }
      if (options.svg) await drawReadings(recording, options.svg);
      const bar = progress('reading');
      const inspection = await inspect(recording, bar.update);
      bar.stop();
      print(
        options.json
          ? JSON.stringify(inspection, null, 2)
          : inspectionText(harmless(inspection), style(wantsColour(process.stdout, process.env))),
      );
    });
}

interface InspectFlags {
  svg?: string;
  tensors?: boolean;
  first?: boolean;
  json?: boolean;
  maxSize?: number;
}

/** The optimiser's side of a recording, asked for by name. */
async function showUpdate(recording: Recording, flags: InspectFlags): Promise<void> {
  const first = flags.first ? await firstMinibatches(recording) : undefined;
  const tensors = flags.tensors ? await summariseTensors(recording) : undefined;
  const paint = style(wantsColour(process.stdout, process.env));
  const texts = [
    ...(first ?? []).map((minibatch) => firstText(minibatch, paint)),
    ...(tensors ? [tensorsText(tensors, paint)] : []),
  ];
  print(
    flags.json
      ? JSON.stringify({ ...(first ? { first } : {}), ...(tensors ? { tensors } : {}) }, null, 2)
      : texts.join('\n\n'),
  );
}

async function drawReadings(recording: Recording, file: string): Promise<void> {
  const panels = await readingPanels(recording);
  if (panels.length === 0)
    throw new BadInput(told('has neither returns nor readings over time to draw', '没有可绘制的回报或读数'), {
      file: recording.name,
    });
  const svg = await readingsPicture(recording.manifest.name ?? recording.name, panels);
  await writeWhole(file, [new TextEncoder().encode(svg)]);
}

export function inspectionText(inspection: Inspection, paint: Style): string {
  const { manifest } = inspection;
  const names = (list: { name: string }[] | undefined) =>
    list ? list.map((item) => item.name).join(', ') : told('not declared', '未声明');
  const lines = [
    `${paint.bold(inspection.name)}  ${manifest.name ?? ''}`.trimEnd(),
    `${told('  algorithm   ', '  算法      ')}${manifest.algorithm ?? told('not declared', '未声明')}${manifest.seed === undefined ? '' : `${told(', seed', '，种子')} ${manifest.seed}`}`,
    `${told('  agents      ', '  智能体    ')}${names(manifest.agents)}`,
    `${told('  policies    ', '  策略      ')}${names(manifest.policies)}`,
    `${told('  iterations  ', '  迭代      ')}${inspection.iterations ? range(inspection.iterations.first, inspection.iterations.last) : told('none', '无')}`,
  ];
  if (inspection.snapshots.length > 0)
    lines.push(`${told('  snapshots   ', '  快照      ')}${inspection.snapshots.length}`);
  for (const item of inspection.tables) {
    const files = told(`${item.files} ${item.files === 1 ? 'file' : 'files'}`, `${item.files} 个文件`);
    lines.push(
      '',
      `${paint.bold(item.name)}  ${told(`${number(item.rows)} rows in ${files}`, `${files}中的 ${number(item.rows)} 行`)}${item.known ? '' : paint.yellow(told('  not part of the format: kept, not judged', '  不属于该格式：保留但不评判'))}`,
    );
    const rows = item.columns.map((column) => [column.name, kind(column), ...ranges(column), remarks(column, paint)]);
    if (rows.length > 0)
      lines.push(
        table(
          [
            told('column', '列'),
            told('kind', '类型'),
            told('least', '最小'),
            told('mean', '均值'),
            told('most', '最大'),
            '',
          ].map(paint.dim),
          rows,
          ['left', 'left', 'right', 'right', 'right'],
        ),
      );
  }
  lines.push('');
  if (inspection.unanswered.length === 0)
    lines.push(
      paint.green(
        told(
          'Nothing essential is missing. `trueline diagnose` names the columns that its finer checks would need.',
          '没有缺少必需的列。`trueline diagnose` 会指出更细的检查还需要哪些列。',
        ),
      ),
    );
  else {
    lines.push(paint.bold(told('What this recording cannot answer yet', '这份记录还不能回答什么')));
    for (const { question, chinese, missing } of inspection.unanswered)
      lines.push(
        `  ${told(question, chinese)}`,
        paint.dim(`    ${told(`needs ${missing.join(', and ')}`, `需要 ${missing.join('、')}`)}`),
      );
  }
  return lines.join('\n');
}

function kind(column: ColumnSummary): string {
  if (!column.ragged) return column.kind;
  const lengths = column.shortest === column.longest ? `${column.longest}` : range(column.shortest, column.longest);
  return column.longest === undefined
    ? told(`${column.kind} list`, `${column.kind} 列表`)
    : told(`${column.kind} list of ${lengths}`, `${column.kind} 列表，长 ${lengths}`);
}

function ranges(column: ColumnSummary): string[] {
  if (column.kind === 'text') return ['', '', ''];
  return [number(column.min), number(column.mean), number(column.max)];
}

function remarks(column: ColumnSummary, paint: Style): string {
  const parts: string[] = [];
  if (column.texts) parts.push(column.texts.join(', ').slice(0, 60));
  if (!column.known) parts.push(paint.yellow(told('unknown column', '未知的列')));
  if (column.unknown > 0)
    parts.push(
      paint.yellow(told(`${number(column.unknown)} not known (NaN)`, `${number(column.unknown)} 个未知（NaN）`)),
    );
  if (column.infinite > 0)
    parts.push(paint.red(told(`${number(column.infinite)} infinite`, `${number(column.infinite)} 个无穷`)));
  return parts.join('; ');
}
