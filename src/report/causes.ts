/** The page of one cause, for `trueline explain` and for docs/causes/: both are made from the doctor's table and the zoo's. */

import { accountsFor } from '../doctor/causes/cause.ts';
import { type CauseEntry, causes } from '../doctor/causes.ts';
import { checks } from '../doctor/checks/index.ts';
import type { Fault } from '../faults/index.ts';

export function causePage(cause: CauseEntry, reproducing: readonly Fault[]): string {
  const lines = [`# ${cause.id}`, '', cause.meaning, ''];
  if (cause.symptoms.length > 0)
    lines.push('## What you see', '', ...cause.symptoms.map((symptom) => `- ${symptom}`), '');
  lines.push(
    '## How it is proved',
    '',
    cause.proof,
    '',
    `What tells it from its neighbours: ${lowerFirst(cause.toldApart)}`,
    '',
  );
  const finders = checks.filter((check) => check.causes.includes(cause.id));
  for (const { id, question, needs } of finders)
    lines.push(`- \`${id}\`: ${question} It needs ${needs.map((columns) => columns.join(' or ')).join(', ')}.`);
  if (finders.length > 0) lines.push('');
  const symptoms = causes.filter((other) => other !== cause && accountsFor(cause, other));
  if (symptoms.length > 0)
    lines.push(`Where it is found, these are read as its symptoms: ${symptoms.map(({ id }) => id).join(', ')}.`, '');
  lines.push(
    '## What to change',
    '',
    cause.remedy,
    '',
    'In PyTorch:',
    '',
    '```python',
    cause.pytorch,
    '```',
    '',
    'In Trueline:',
    '',
    '```ts',
    cause.trueline,
    '```',
  );
  if (reproducing.length > 0) {
    lines.push('', '## See it happen', '');
    for (const fault of reproducing) lines.push(`- \`trueline train echo --fault ${fault.id}\`: ${fault.sentence}`);
  }
  return lines.join('\n');
}

/** A column's name or an abbreviation keeps its own spelling. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
}
