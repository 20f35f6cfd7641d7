/** The part of a diagnosis that speaks of a log, for the terminal: what is seen, what fits, what cannot be, and what to record next. */

import type { Diagnosis } from '../../doctor/diagnosis.ts';
import type { ScalarReading, Symptom } from '../../doctor/scalars/scalars.ts';
import { told } from '../../language/language.ts';
import { fold, sparkline } from '../charts/plot.ts';
import { number } from '../number.ts';
import type { Style } from '../style.ts';

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
  return [
    told(
      `${spark} ${number(least)} to ${number(greatest)}${log ? ', drawn by its logarithm' : ''}`,
      `${spark} ${number(least)} 到 ${number(greatest)}${log ? '，按对数绘制' : ''}`,
    ),
  ];
}

export function scalarLines(reading: ScalarReading, diagnosis: Diagnosis, paint: Style, width: number): string[] {
  const folded = (text: string, indent: string) => fold(text, width - indent.length).map((line) => `${indent}${line}`);
  const lines: string[] = [];
  if (reading.symptoms.length > 0) {
    lines.push('', paint.bold(told('Symptoms', '症状')));
    for (const symptom of reading.symptoms) {
      const whose = symptom.agents.length > 0 ? ` (${symptom.agents.join(', ')})` : '';
      lines.push(`  ${paint.yellow(symptom.id)}`, ...folded(`${symptom.summary}${whose}`, '    '));
      lines.push(...curveLines(symptom, Math.min(60, width - 24)).map((line) => `    ${line}`));
      if (symptom.record_next.length > 0)
        lines.push(
          ...folded(
            told(
              `to prove it, record ${symptom.record_next.join(', ')}`,
              `要证明它，请记录 ${symptom.record_next.join('、')}`,
            ),
            '    ',
          ).map(paint.dim),
        );
    }
  }
  if (diagnosis.causes.length > 0) {
    lines.push('', paint.bold(told('Causes that fit', '符合的原因')));
    for (const cause of diagnosis.causes)
      lines.push(
        `  ${cause.id}${told(', score', '，得分')} ${number(cause.confidence)}`,
        ...folded(cause.remedy, '    ').map(paint.dim),
      );
    lines.push(paint.dim(`  ${told('More:', '更多：')} trueline explain ${diagnosis.causes[0].id}`));
  }
  if (reading.ruled_out.length > 0) {
    lines.push('', paint.bold(told('Ruled out', '已排除')));
    const reasons = new Map<string, string[]>();
    for (const { id, by } of reading.ruled_out) reasons.set(by, [...(reasons.get(by) ?? []), id]);
    for (const [by, ids] of reasons) lines.push(...folded(ids.join(', '), '  '), ...folded(by, '    ').map(paint.dim));
  }
  if (reading.record_next.length > 0) {
    lines.push(
      '',
      paint.bold(told('What to record next, to decide between them', '接下来记录什么，以便在它们之间判定')),
    );
    for (const { columns, decides } of reading.record_next)
      lines.push(
        ...folded(columns.join(', '), '  '),
        ...folded(`${told('decides', '可判定')} ${decides.join(', ')}`, '    ').map(paint.dim),
      );
  }
  if (reading.not_understood.length > 0) {
    lines.push('', paint.bold(told('Not understood', '没有看懂的列')));
    for (const { name, guesses } of reading.not_understood)
      lines.push(
        ...folded(
          guesses.length > 0
            ? told(
                `${name}: is it ${guesses.join(' or ')}? --map ${guesses[0]}=${name}`,
                `${name}：是 ${guesses.join(' 或 ')} 吗？--map ${guesses[0]}=${name}`,
              )
            : name,
          '  ',
        ),
      );
    if (reading.not_looked_for.length > 0)
      lines.push(
        ...folded(
          told(
            `If one of them tells it, this would be looked for: ${reading.not_looked_for.join('; ')}.`,
            `如果其中某列给出相应的数值，会查找：${reading.not_looked_for.join('；')}。`,
          ),
          '  ',
        ).map(paint.dim),
      );
  }
  for (const note of reading.notes) lines.push('', ...folded(note, ''));
  return lines;
}
