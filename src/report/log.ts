/** What was read from a log, for the terminal: which column is which metric, and what was not known. */
import type { ImportedLog } from '../recording/importers/open.ts';
import type { Recognised } from '../recording/importers/recognise.ts';
import { printable } from './safe-text.ts';
import type { Style } from './style.ts';
import { number, table } from './table.ts';

/** Names come from strangers, and a name could move the cursor. */
export function logText(imported: ImportedLog, paint: Style): string {
  const { log: _, ...told } = imported;
  const log: Omit<ImportedLog, 'log'> = JSON.parse(JSON.stringify(told), (_, value) =>
    typeof value === 'string' ? printable(value) : value,
  );
  const files = log.files.length === 1 ? '' : ` in ${log.files.length} files`;
  const lines = [`${paint.bold(log.name)}  ${log.kind}, ${number(log.rows)} numbers${files}`];
  for (const notice of log.notices) lines.push(paint.yellow(notice));
  const known = log.columns.filter((column) => column.metric !== null);
  const agents = known.some((column) => column.agent !== null);
  if (known.length > 0) {
    const head = ['column of the log', 'read as', 'unit', ...(agents ? ['agent'] : []), ''];
    const rows = known.map((column) => [
      column.name,
      column.used ? (column.metric as string) : paint.dim('not read'),
      column.unit,
      ...(agents ? [column.agent ?? ''] : []),
      paint.dim(column.note),
    ]);
    lines.push(table(head.map(paint.dim), rows));
  }
  lines.push(...unknownLines(log.columns, paint));
  const settings = Object.entries(log.manifest.settings ?? {});
  if (settings.length > 0)
    lines.push(`  settings: ${settings.map(([name, value]) => `${name} ${String(value)}`).join(', ')}`);
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
      `  not understood: ${unknown.map((column) => column.name).join(', ')}`,
      paint.dim(`  (a name can be mapped by hand, such as --map ${example} if that is what it is)`),
    );
  }
  if (others.length > 0) lines.push(paint.dim(`  kept, not judged: ${others.map((column) => column.name).join(', ')}`));
  return lines;
}
