/** Pages of docs/ that are made from the program's own tables, so that they cannot differ from it. */
import { checkJsonSchema } from '../../cli/check/result.ts';
import { causes } from '../../doctor/causes.ts';
import { type Limit, topics } from '../../doctor/limits.ts';
import { faults } from '../../faults/index.ts';
import { type ColumnSpec, tables } from '../../recording/columns.ts';
import { describeTokenSettings } from '../../recording/token-settings.ts';
import { readings } from '../../training/record/readings.ts';
import { describeSettings } from '../../training/settings.ts';
import { causePage } from '../causes.ts';
import { bandText } from './page-pictures.ts';

export interface Page {
  path: string;
  text: string;
}

export function generatedPages(): Page[] {
  return [
    { path: 'docs/columns.md', text: columnsPage() },
    { path: 'docs/readings.md', text: readingsPage() },
    { path: 'docs/settings.md', text: settingsPage() },
    { path: 'docs/limits.md', text: limitsPage() },
    ...causes.map((cause) => ({
      path: `docs/causes/${cause.id}.md`,
      text: `${causePage(
        cause,
        faults.filter((fault) => fault.cause === cause.id),
      )}\n`,
    })),
    { path: 'docs/causes/README.md', text: causesPage() },
    { path: 'docs/check.schema.json', text: `${JSON.stringify(checkJsonSchema(), null, 2)}\n` },
  ];
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
  lines.push(
    '',
    '## Settings of a language model',
    '',
    'What `settings` of the manifest declares of language models, all optional. The doctor holds a run to what is declared; where nothing is, it accepts every custom that fits.',
    '',
    '| setting | values | meaning |',
    '| --- | --- | --- |',
    ...describeTokenSettings().map(({ name, values, meaning }) => `| \`${name}\` | ${values} | ${meaning} |`),
  );
  return `${lines.join('\n')}\n`;
}

function type(column: ColumnSpec): string {
  return column.ragged ? `list of ${column.kind}` : column.kind;
}

function marks(column: ColumnSpec): string {
  return [column.required ? 'required' : '', column.key ? 'key' : ''].filter(Boolean).join(', ');
}

function readingsPage(): string {
  const lines = [
    '# What do the readings mean?',
    '',
    'Every reading is recomputed from the rows, over all minibatches of an update. The band shows where healthy runs usually lie; it is there to inform. A reading outside it is not a',
    'fault: many healthy runs stay below it. `node scripts/docs.mjs` generates this page from the table that the program uses (`src/training/record/readings.ts`).',
    '',
    '| reading | unit | how it is computed | usual band | what it tells |',
    '| --- | --- | --- | --- | --- |',
  ];
  for (const reading of readings)
    lines.push(
      `| \`${reading.name}\` | ${reading.unit} | ${cell(reading.formula)} | ${reading.band ? bandText(reading.band) : ''} | ${reading.explanation} |`,
    );
  return `${lines.join('\n')}\n`;
}

function settingsPage(): string {
  const lines = [
    '# Which settings does a run have?',
    '',
    'A setting is given as `--set NAME=VALUE`, or in a `--config` file. `trueline train --describe` prints the same list; this page is made from it by `node scripts/docs.mjs`.',
    '',
    '| setting | default | meaning |',
    '| --- | --- | --- |',
  ];
  for (const { path, default: value, description, choices } of describeSettings()) {
    const shown = value === undefined ? '' : `\`${JSON.stringify(value)}\``;
    lines.push(`| \`${path}\` | ${shown}${choices ? ` of ${choices.join(', ')}` : ''} | ${cell(description)} |`);
  }
  return `${lines.join('\n')}\n`;
}

/** A bar would end the cell of a table. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function causesPage(): string {
  const groups = {
    A: 'The distribution is not replayed',
    B: "The credit is not the sample's own",
    C: 'The gradient does not move the policy, or moves it wrongly',
    D: 'The network cannot express it',
    E: 'The reading lies',
    F: 'Equal agents come out unequal',
  };
  const lines = [
    '# Which causes can a diagnosis name?',
    '',
    "Each has a page of its own, made from the doctor's table by `node scripts/docs.mjs`.",
  ];
  for (const [group, title] of Object.entries(groups)) {
    lines.push('', `## ${title}`, '', '| cause | meaning |', '| --- | --- |');
    for (const cause of causes.filter((item) => item.group === group))
      lines.push(`| [${cause.id}](${cause.id}.md) | ${cell(cause.meaning)} |`);
  }
  return `${lines.join('\n')}\n`;
}

const kinds: Record<Limit['kind'], string> = {
  definition: 'what the cause means',
  tolerance: 'how exact numbers can be',
  test: 'how surely chance is excluded',
  score: 'what it is worth beside others',
};

const topicTitles: Record<keyof typeof topics, string> = {
  common: 'What all checks share',
  replay: 'The distribution',
  credit: 'Credit',
  rewards: 'Rewards',
  pairing: 'Credit of other rows',
  gradient: 'Gradient and step',
  network: 'The network',
  reading: 'Readings',
  scores: 'Scores',
  tokens: 'Language models',
  continuous: 'Continuous actions',
  memory: 'Memory and inputs',
  planning: 'Agents that plan',
  buffers: 'Replay buffers',
  logs: 'Figures of logs',
};

function limitsPage(): string {
  const rows = (table: Readonly<Record<string, Limit>>) =>
    Object.entries(table).map(
      ([name, { value, kind, what, why }]) => `| \`${name}\` | ${value} | ${what} | ${kinds[kind]} | ${why} |`,
    );
  const sections = Object.entries(topics).flatMap(([topic, table]) => [
    '',
    `## ${topicTitles[topic as keyof typeof topics]}`,
    '',
    '| limit | value | of what | kind | why |',
    '| --- | ---: | --- | --- | --- |',
    ...rows(table),
  ]);
  return `${[
    '# Where does the doctor draw the line?',
    '',
    'Most findings are exact: a transform makes numbers agree, or it does not. Where something has to be *large enough*, the limit is one of these. None of them',
    'belongs to a game or to a fault. This page is made from the tables that the checks use (`src/doctor/limits`) by `node scripts/docs.mjs`. A score says how well',
    'a cause is supported, from 0 to 1; it orders causes, and is not a probability.',
    ...sections,
  ].join('\n')}\n`;
}
