/** The part of a diagnosis that speaks of a log, for the terminal: what is seen, what fits, what cannot be, and what to record next. */
import type { Diagnosis } from '../doctor/diagnosis.ts';
import type { ScalarReading, Symptom } from '../doctor/scalars/scalars.ts';
import { fold, sparkline } from './charts/plot.ts';
import { number } from './number.ts';
import type { Style } from './style.ts';

/** A symptom's column from the first step to the last, with its least and greatest number; a growth of orders of magnitude is drawn by its logarithm. */
function curveLines({ curve }: Symptom, columns: number): string[] {
  const { value } = curve;
  if (value.length < 2) return [];
  const [least, greatest] = [Math.min(...value), Math.max(...value)];
  if (least === greatest) return [];
  const log = least > 0 && greatest > 100 * least;
  const y = log ? value.map(Math.log10) : value;
  const x = value.map((_, i) => i);
  const spark = sparkline(
    { x, y },
    { min: 0, max: x.length - 1 },
    { min: Math.min(...y), max: Math.max(...y) },
    Math.min(columns, x.length),
  );
  return [`${spark} ${number(least)} to ${number(greatest)}${log ? ', drawn by its logarithm' : ''}`];
}

export function scalarLines(reading: ScalarReading, diagnosis: Diagnosis, paint: Style, width: number): string[] {
  const folded = (text: string, indent: string) => fold(text, width - indent.length).map((line) => `${indent}${line}`);
  const lines: string[] = [];
  if (reading.symptoms.length > 0) {
    lines.push('', paint.bold('Symptoms'));
    for (const symptom of reading.symptoms) {
      const whose = symptom.agents.length > 0 ? ` (${symptom.agents.join(', ')})` : '';
      lines.push(`  ${paint.yellow(symptom.id)}`, ...folded(`${symptom.summary}${whose}`, '    '));
      lines.push(...curveLines(symptom, Math.min(60, width - 24)).map((line) => `    ${line}`));
      if (symptom.record_next.length > 0)
        lines.push(...folded(`to prove it, record ${symptom.record_next.join(', ')}`, '    ').map(paint.dim));
    }
  }
  if (diagnosis.causes.length > 0) {
    lines.push('', paint.bold('Causes that fit'));
    for (const cause of diagnosis.causes)
      lines.push(`  ${cause.id}, score ${number(cause.confidence)}`, ...folded(cause.remedy, '    ').map(paint.dim));
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
  if (reading.not_understood.length > 0) {
    lines.push('', paint.bold('Not understood'));
    for (const { name, guesses } of reading.not_understood)
      lines.push(
        ...folded(
          guesses.length > 0 ? `${name}: is it ${guesses.join(' or ')}? --map ${guesses[0]}=${name}` : name,
          '  ',
        ),
      );
    if (reading.not_looked_for.length > 0)
      lines.push(
        ...folded(`If one of them tells it, this would be looked for: ${reading.not_looked_for.join('; ')}.`, '  ').map(
          paint.dim,
        ),
      );
  }
  for (const note of reading.notes) lines.push('', ...folded(note, ''));
  return lines;
}
