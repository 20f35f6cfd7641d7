/** Several runs at once, for the terminal: what they share first, then each with its decisive fact. Names come from strangers. */

import type { Diagnosis } from '../doctor/diagnosis.ts';
import { told } from '../language/language.ts';
import { fold } from './charts/plot.ts';
import { scalarsSentence } from './logs/scalars-sentence.ts';
import { printable } from './safe-text.ts';
import type { Style } from './style.ts';

export interface SeveralDiagnoses {
  runs: readonly { name: string; diagnosis: Diagnosis }[];
  unread: readonly { name: string; why: string }[];
  /** The most agents that one of the runs has returns of. */
  agents?: number;
}

export function runsText(
  path: string,
  { runs, unread, agents = 0 }: SeveralDiagnoses,
  paint: Style,
  width: number,
): string {
  const folded = (text: string, indent: string) =>
    fold(printable(text), width - indent.length).map((line) => `${indent}${line}`);
  const counts = new Map<string, number>();
  for (const { diagnosis } of runs)
    for (const id of new Set(diagnosis.scalars?.symptoms.map((symptom) => symptom.id)))
      counts.set(id, (counts.get(id) ?? 0) + 1);
  const lines = [
    paint.bold(
      `${printable(path)}  ${told(`${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`, `${runs.length} 次训练`)}`,
    ),
  ];
  const shared = [...counts].sort((a, b) => b[1] - a[1]);
  if (shared.length > 0) {
    lines.push('', paint.bold(told('Symptoms', '症状')));
    for (const [id, count] of shared)
      lines.push(`  ${String(count).padStart(4)}${told(' of ', ' / ')}${runs.length}  ${paint.yellow(id)}`);
  }
  lines.push('', paint.bold(told('Runs', '各次训练')));
  for (const { name, diagnosis } of runs) {
    lines.push(...folded(name, '  '));
    if (diagnosis.scalars) lines.push(...folded(scalarsSentence(diagnosis.scalars, diagnosis.causes), '    '));
  }
  if (unread.length > 0) {
    lines.push('', paint.bold(told('Not read', '未读取')));
    for (const { why } of unread) lines.push(...folded(why, '  ').map(paint.dim));
  }
  lines.push(
    '',
    ...folded(
      `${told('One of them whole:', '查看其中一次的全部：')} trueline diagnose ${path} --run ${runs[0]?.name ?? 'NAME'}`,
      '',
    ),
  );
  if (agents > 1)
    lines.push(
      ...folded(
        `${told(`Whether its ${agents} agents come out unequal over these runs:`, `这些训练中 ${agents} 个智能体的结果是否不平等：`)} trueline symmetry ${path}`,
        '',
      ),
    );
  return lines.join('\n');
}
