/** The part of a diagnosis that speaks of a log, for the terminal: what is seen, what fits, what cannot be, and what to record next. */
import type { Diagnosis } from '../doctor/diagnosis.ts';
import type { ScalarReading } from '../doctor/scalars/scalars.ts';
import { number } from './number.ts';
import { fold } from './plot.ts';
import type { Style } from './style.ts';

export function scalarLines(reading: ScalarReading, diagnosis: Diagnosis, paint: Style, width: number): string[] {
  const folded = (text: string, indent: string) => fold(text, width - indent.length).map((line) => `${indent}${line}`);
  const lines: string[] = [];
  if (reading.symptoms.length > 0) {
    lines.push('', paint.bold('Symptoms'));
    for (const symptom of reading.symptoms) {
      const whose = symptom.agents.length > 0 ? ` (${symptom.agents.join(', ')})` : '';
      lines.push(`  ${paint.yellow(symptom.id)}`, ...folded(`${symptom.summary}${whose}`, '    '));
    }
  }
  if (diagnosis.causes.length > 0) {
    lines.push('', paint.bold('Causes that fit'));
    for (const cause of diagnosis.causes)
      lines.push(
        `  ${cause.id}, confidence ${number(cause.confidence)}`,
        ...folded(cause.remedy, '    ').map(paint.dim),
      );
    lines.push(paint.dim(`  More: trueline explain ${diagnosis.causes[0].id}`));
  }
  if (reading.ruled_out.length > 0) {
    lines.push('', paint.bold('Ruled out'));
    const reasons = new Map<string, string[]>();
    for (const { id, by } of reading.ruled_out) reasons.set(by, [...(reasons.get(by) ?? []), id]);
    for (const [by, ids] of reasons) lines.push(...folded(ids.join(', '), '  '), ...folded(by, '    ').map(paint.dim));
  }
  if (reading.record_next.length > 0) {
    lines.push('', paint.bold('What to record next, to decide between them'));
    for (const { columns, decides } of reading.record_next)
      lines.push(
        ...folded(columns.join(', '), '  '),
        ...folded(`decides ${decides.join(', ')}`, '    ').map(paint.dim),
      );
  }
  for (const note of reading.notes) lines.push('', ...folded(note, ''));
  return lines;
}
