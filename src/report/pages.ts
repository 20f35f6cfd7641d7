/** Pages of docs/ that are made from the program's own tables, so that they cannot differ from it. */
import { type ColumnSpec, tables } from '../recording/columns.ts';

export interface Page {
  path: string;
  text: string;
}

export function generatedPages(): Page[] {
  return [{ path: 'docs/columns.md', text: columnsPage() }];
}

function columnsPage(): string {
  const lines = [
    '# The tables and columns of a recording',
    '',
    'This page is made from the table that the reader and the writer use (`src/recording/columns.ts`) by `node scripts/docs.mjs`.',
    '[What is a recording?](recording.md) explains the folder around it.',
    '',
    'A column marked **required** must be in every chunk of its table. A **key** may not be negative, NaN or null. Every other number may be',
    'NaN (not known) or infinite: that is evidence, and it is kept.',
  ];
  for (const table of tables) {
    lines.push(
      '',
      `## ${table.name}`,
      '',
      `One row is ${table.row}.`,
      '',
      '| column | type | | meaning |',
      '| --- | --- | --- | --- |',
    );
    for (const column of table.columns)
      lines.push(`| \`${column.name}\` | ${type(column)} | ${marks(column)} | ${column.meaning} |`);
  }
  return `${lines.join('\n')}\n`;
}

function type(column: ColumnSpec): string {
  return column.ragged ? `list of ${column.kind}` : column.kind;
}

function marks(column: ColumnSpec): string {
  return [column.required ? 'required' : '', column.key ? 'key' : ''].filter(Boolean).join(', ');
}
