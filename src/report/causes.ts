/** The page of one cause, for `trueline explain` and for docs/causes/: both are made from the doctor's table and the zoo's. */

import { accountsFor } from '../doctor/causes/cause.ts';
import { type CauseEntry, causes } from '../doctor/causes.ts';
import { checks } from '../doctor/checks/index.ts';
import type { Fault } from '../faults/index.ts';
import { spokenLanguage, told } from '../language/language.ts';

export function causePage(cause: CauseEntry, reproducing: readonly Fault[]): string {
  const lines = [`# ${cause.id}`, '', told(cause.meaning, cause.chinese.meaning), ''];
  if (cause.symptoms.length > 0)
    lines.push(
      told('## What you see', '## 你会看到'),
      '',
      ...cause.symptoms.map((symptom, i) => `- ${told(symptom, cause.chinese.symptoms[i])}`),
      '',
    );
  lines.push(told('## How it is proved', '## 如何证明'), '');
  const { proof, toldApart } = cause.chinese;
  lines.push(
    told(cause.proof, proof),
    '',
    told(`What tells it from its neighbours: ${lowerFirst(cause.toldApart)}`, `与相近原因的区别：${toldApart}`),
    '',
  );
  const finders = checks.filter((check) => check.causes.includes(cause.id));
  for (const { id, question, needs } of finders)
    lines.push(
      told(
        `- \`${id}\`: ${question[0]} It needs ${columnsOf(needs, ' or ')}.`,
        `- \`${id}\`：${question[1]}需要 ${columnsOf(needs, ' 或 ')}。`,
      ),
    );
  if (finders.length > 0) lines.push('');
  const symptoms = causes.filter((other) => other !== cause && accountsFor(cause, other));
  if (symptoms.length > 0)
    lines.push(
      told(
        `Where it is found, these are read as its symptoms: ${symptoms.map(({ id }) => id).join(', ')}.`,
        `若发现它，以下原因视为它的症状：${symptoms.map(({ id }) => id).join('、')}。`,
      ),
      '',
    );
  lines.push(
    told('## What to change', '## 如何修改'),
    '',
    told(cause.remedy, cause.chinese.remedy),
    '',
    told('In PyTorch:', 'PyTorch 写法：'),
    '',
    '```python',
    cause.pytorch,
    '```',
  );
  if (cause.trueline) lines.push('', told('In Trueline:', 'Trueline 写法：'), '', '```ts', cause.trueline, '```');
  if (reproducing.length > 0) {
    lines.push('', told('## See it happen', '## 亲眼看看'), '');
    for (const fault of reproducing)
      lines.push(`- \`trueline train echo --fault ${fault.id}\`${english() ? `: ${fault.sentence}` : ''}`);
  }
  return lines.join('\n');
}

/** A column's name or an abbreviation keeps its own spelling. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
}

const columnsOf = (needs: readonly (readonly string[])[], or: string) =>
  needs.map((columns) => columns.join(or)).join(', ');
const english = () => spokenLanguage() === 'en';
