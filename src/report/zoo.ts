/** The bench of the zoo as text for the terminal and as a page for docs/. Both show the same figures. */
import type { FaultScore, Score } from '../faults/bench/score.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';

const percent = (part: number, whole: number) => (whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`);

export function scoreText(score: Score, paint: Style): string {
  const lines: string[] = [];
  if (score.faults.length > 0) {
    const head = ['fault', 'cause', 'runs', 'first', 'among', 'open', 'missed', 'without effect', 'named instead'];
    const right = 'right' as const;
    const left = 'left' as const;
    lines.push(
      table(head.map(paint.dim), score.faults.map(faultRow(paint)), [
        left,
        left,
        right,
        right,
        right,
        right,
        right,
        right,
      ]),
      '',
      ...faultLines(score),
    );
  }
  if (score.healthy.runs > 0) lines.push(healthyLine(score));
  const wrong = score.wrong.filter(({ result }) => result === 'false-alarm' || result === 'not-enough-evidence');
  for (const { id, result, named } of wrong) lines.push(`  ${id}: ${result} ${named.join(', ')}`);
  lines.push(
    '',
    ...score.goals.map(({ what, measured, least, met }) => {
      const text = `${what}: ${(100 * measured).toFixed(2)} %, goal ${100 * least} %`;
      return met ? paint.green(`met     ${text}`) : paint.red(`MISSED  ${text}`);
    }),
  );
  return lines.join('\n');
}

const faultRow = (paint: Style) => (entry: FaultScore) => {
  const cells = [entry.runs, entry.first, entry.among, entry.open, entry.missed, entry.noEffect].map((count) =>
    count === 0 ? '' : String(count),
  );
  const good = entry.missed + entry.among + entry.open === 0;
  return [good ? entry.fault : paint.yellow(entry.fault), entry.cause, ...cells, entry.instead.join(', ')];
};

function faultLines(score: Score): string[] {
  const { runs, first, named, open, missed, noEffect, agents, onset } = score;
  return [
    `${runs} faulty runs: named first ${first} (${percent(first, runs)}), named ${named} (${percent(named, runs)}), left open with the right cause among those that fit ${open}, missed ${missed}; ${noEffect} more without effect.`,
    `Of those missed, another cause was named in ${score.missedAs.faulty}, the rows were left unexplained in ${score.missedAs.unexplained}, and ${score.missedAs.healthy} were called healthy.`,
    `Where only some agents are struck, they are named in ${agents.right} of ${agents.runs} runs; where it begins late, the iteration in ${onset.right} of ${onset.runs}.`,
  ];
}

function healthyLine({ healthy }: Score): string {
  const { runs, silent, falseAlarms, notEnoughEvidence } = healthy;
  return `${runs} healthy runs: healthy ${silent}, false alarms ${falseAlarms}, not enough evidence ${notEnoughEvidence}.`;
}

export interface BenchPage {
  /** The command that makes the page. */
  command: string;
  /** What the figures are about: games, heads, seeds. */
  about: string;
  score: Score;
  /** Parts of the whole, such as a game or a head that was never looked at before. */
  parts: { name: string; score: Score }[];
}

/** What tuning never saw, and what changed once it had been looked at. */
const keptApart = [
  '## What was kept apart',
  '',
  'Snowdrift and the pointer head were kept out of all tuning until a first whole table (seeds 3001 to 3003). Some of what it missed was on them as well as on',
  'the other games, and changed the doctor once: clamped heads are known by parameters smaller than one of their own steps; agents of a shared policy are',
  'compared one by one where the whole does not fit; group means are tried on credit that was normalised per agent; a KL is compared down to what single',
  'precision can tell; a cause of some agents explains nothing about others; an update that goes against its rows counts only where the next one does too.',
  'Tables since then are of seeds that nobody had looked at.',
];

export function scorePage({ command, about, score, parts }: BenchPage): string {
  const lines = [
    '# How often does the doctor name the right cause?',
    '',
    'Every fault of the zoo is trained on several games, each recording is diagnosed, and what was named is compared with the fault. The diagnosis sees the',
    'recording alone. This page is written by the command that measures it:',
    '',
    `    ${command}`,
    '',
    about,
    '',
    'A run counts as *first* where the right cause leads the diagnosis, as *among* where it is named after another, as *open* where rows are left unexplained',
    'and the right cause is among those that could still fit, as *missed* otherwise. A fault that changed no recorded row, compared with the same run without it, is *without effect*: it is listed and not counted.',
    '',
    '| | runs | named first | named | open | missed | without effect | healthy runs | false alarms | not enough evidence |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...[{ name: 'all', score }, ...parts].map(({ name, score }) => summaryRow(name, score)),
    '',
    ...faultLines(score).slice(1),
    '',
    '## Fault by fault',
    '',
    '| fault | cause | runs | first | among | open | missed | without effect | named instead |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...score.faults.map(
      (entry) =>
        `| ${entry.fault} | [${entry.cause}](causes/${entry.cause}.md) | ${entry.runs} | ${entry.first} | ${entry.among} | ${entry.open} | ${entry.missed} | ${entry.noEffect} | ${entry.instead.join(', ')} |`,
    ),
  ];
  lines.push('', ...calibrationLines(score), '', ...keptApart);
  if (score.wrong.length > 0)
    lines.push(
      '',
      '## Runs that came out wrong',
      '',
      '| run | outcome | named |',
      '| --- | --- | --- |',
      ...score.wrong.map(({ id, result, named }) => `| ${id} | ${result} | ${named.join(', ') || 'nothing'} |`),
    );
  return `${lines.join('\n')}\n`;
}

/** Whether a score of 0.9 means nine in ten. */
function calibrationLines({ calibration }: Score): string[] {
  return [
    '## Is the score a probability?',
    '',
    'No: it is a score, made of the share of the rows that the transform accounts for and of how many there are. The table shows how often the cause that was named',
    'first was the right one, by its score; healthy runs in which a cause was named count as wrong ones.',
    '',
    '| score | runs | mean score | right |',
    '| --- | ---: | ---: | ---: |',
    ...calibration.map(
      ({ from, to, runs, meanConfidence, right }) =>
        `| ${from} to ${to} | ${runs} | ${meanConfidence} | ${right} (${percent(right, runs)}) |`,
    ),
  ];
}

function summaryRow(name: string, score: Score): string {
  const { runs, first, named, open, missed, noEffect, healthy } = score;
  const cells = [
    name,
    runs,
    `${first} (${percent(first, runs)})`,
    `${named} (${percent(named, runs)})`,
    open,
    missed,
    noEffect,
    healthy.runs,
    healthy.falseAlarms,
    healthy.notEnoughEvidence,
  ];
  return `| ${cells.join(' | ')} |`;
}
