/** What was read from a log, for the terminal: which column is which metric, and what was not known. */
import { told } from '../../language/language.ts';
import type { ImportedLog } from '../../recording/importers/open.ts';
import type { Recognised } from '../../recording/importers/recognise.ts';
import { printable } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { number, table } from '../table.ts';

/** Names come from strangers, and a name could move the cursor. */
export function logText(imported: ImportedLog, paint: Style): string {
  const { log: _, ...rest } = imported;
  const log: Omit<ImportedLog, 'log'> = JSON.parse(JSON.stringify(rest), (_, value) =>
    typeof value === 'string' ? printable(value) : value,
  );
  const files = log.files.length === 1 ? '' : told(` in ${log.files.length} files`, `，共 ${log.files.length} 个文件`);
  const lines = [
    `${paint.bold(log.name)}  ${log.kind}, ${told(`${number(log.rows)} numbers`, `${number(log.rows)} 个数`)}${files}`,
  ];
  for (const notice of log.notices) lines.push(paint.yellow(notice));
  const known = log.columns.filter((column) => column.metric !== null);
  const agents = known.some((column) => column.agent !== null);
  if (known.length > 0) {
    const head = [
      told('column of the log', '日志的列'),
      told('read as', '读作'),
      told('unit', '单位'),
      ...(agents ? [told('agent', '智能体')] : []),
      '',
    ];
    const rows = known.map((column) => [
      column.name,
      column.used ? (column.metric as string) : paint.dim(told('not read', '未读取')),
      column.unit,
      ...(agents ? [column.agent ?? ''] : []),
      paint.dim(column.note),
    ]);
    lines.push(table(head.map(paint.dim), rows));
  }
  lines.push(...unknownLines(log.columns, paint));
  const settings = Object.entries(log.manifest.settings ?? {});
  if (settings.length > 0)
    lines.push(
      `  ${told('settings:', '设置：')} ${settings.map(([name, value]) => `${name} ${String(value)}`).join(', ')}`,
    );
  return lines.join('\n');
}

function unknownLines(columns: readonly Recognised[], paint: Style): string[] {
  const unknown = columns.filter((column) => column.metric === null && column.note === '');
  const others = columns.filter((column) => column.metric === null && column.note !== '');
  const lines: string[] = [];
  if (unknown.length > 0) {
    const guessed = unknown.find((column) => column.guesses.length > 0);
    const example = guessed ? `${guessed.guesses[0]}=${guessed.name}` : `kl=${unknown[0].name}`;
    lines.push(
      `  ${told('not understood:', '没有看懂：')} ${unknown.map((column) => column.name).join(', ')}`,
      paint.dim(
        told(
          `  (a name can be mapped by hand, such as --map ${example} if that is what it is)`,
          `  （可以手工对应列名，例如 --map ${example}，如果它就是的话）`,
        ),
      ),
    );
  }
  if (others.length > 0)
    lines.push(
      paint.dim(`  ${told('kept, not judged:', '保留但不评判：')} ${others.map((column) => column.name).join(', ')}`),
    );
  return lines;
}
