/** Several runs at once, for the terminal: what they share first, then each with its decisive fact. Names come from strangers. */
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { fold } from './charts/plot.ts';
import { printable } from './safe-text.ts';
import { scalarsSentence } from './scalars-sentence.ts';
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
  const lines = [paint.bold(`${printable(path)}  ${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`)];
  const shared = [...counts].sort((a, b) => b[1] - a[1]);
  if (shared.length > 0) {
    lines.push('', paint.bold('Symptoms'));
    for (const [id, count] of shared)
      lines.push(`  ${String(count).padStart(4)} of ${runs.length}  ${paint.yellow(id)}`);
  }
  lines.push('', paint.bold('Runs'));
  for (const { name, diagnosis } of runs) {
    lines.push(...folded(name, '  '));
    if (diagnosis.scalars) lines.push(...folded(scalarsSentence(diagnosis.scalars, diagnosis.causes), '    '));
  }
  if (unread.length > 0) {
    lines.push('', paint.bold('Not read'));
    for (const { why } of unread) lines.push(...folded(why, '  ').map(paint.dim));
  }
  lines.push('', ...folded(`One of them whole: trueline diagnose ${path} --run ${runs[0]?.name ?? 'NAME'}`, ''));
  if (agents > 1)
    lines.push(
      ...folded(`Whether its ${agents} agents come out unequal over these runs: trueline symmetry ${path}`, ''),
    );
  return lines.join('\n');
}
