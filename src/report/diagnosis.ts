/** A diagnosis for the terminal: the verdict in one sentence, the evidence, the remedy, then what was checked and what could not be. */
import type { Cause, CheckReport, Diagnosis, Figures } from '../doctor/diagnosis.ts';
import type { Style } from './style.ts';
import { number, table } from './table.ts';

export function verdictSentence(diagnosis: Diagnosis): string {
  const { verdict, causes } = diagnosis;
  const checked = diagnosis.checks.filter((check) => check.status !== 'not-checked').length;
  if (verdict === 'healthy') return `Healthy: ${checked} checks found nothing wrong.`;
  if (verdict === 'faulty') {
    const [first, ...others] = causes;
    const rest = others.length === 0 ? '' : `, and ${others.length} more`;
    return `Faulty: ${first.id} (confidence ${number(first.confidence)})${rest}.`;
  }
  const fits = causes.length > 0 ? ` What would fit: ${causes.map((cause) => cause.id).join(', ')}.` : '';
  return `Not enough evidence: ${checked} of ${diagnosis.checks.length} checks had their columns.${fits}`;
}

export function diagnosisText(diagnosis: Diagnosis, paint: Style): string {
  const colour = { healthy: paint.green, faulty: paint.red, 'not-enough-evidence': paint.yellow }[diagnosis.verdict];
  const lines = [paint.bold(colour(verdictSentence(diagnosis)))];
  diagnosis.causes.forEach((cause, i) => {
    lines.push('', ...causeLines(cause, diagnosis.causes.length > 1 ? `${i + 1}. ` : '', paint));
  });
  for (const cause of diagnosis.ignored ?? [])
    lines.push('', paint.yellow(`Ignored, as asked: ${cause.id}. ${cause.summary}`));
  lines.push('', ...checkLines(diagnosis.checks, paint));
  return lines.join('\n');
}

function causeLines(cause: Cause, prefix: string, paint: Style): string[] {
  const lines = [paint.bold(`${prefix}${cause.id}`), `   ${cause.summary}`];
  const facts = [
    `confidence ${number(cause.confidence)}`,
    `${number(cause.rows)} rows`,
    `from iteration ${cause.onset}`,
  ];
  if (cause.agents.length > 0) facts.push(`agents ${cause.agents.join(', ')}`);
  lines.push(paint.dim(`   ${facts.join(', ')}`));
  if (cause.transform !== undefined) {
    lines.push(`   undone by: ${cause.transform}`, ...residuals(cause, paint));
  }
  const rows = cause.evidence.flatMap((item) => evidenceRows(item.check, item.measured, item.expected));
  if (rows.length > 0) lines.push(indent(table(['evidence', 'measured', 'expected'].map(paint.dim), rows)));
  lines.push(`   ${paint.bold('What to change:')} ${cause.remedy}`);
  if (cause.symptoms.length > 0) lines.push(paint.dim(`   It explains: ${cause.symptoms.join('; ')}`));
  lines.push(paint.dim(`   More: trueline explain ${cause.id}`));
  return lines;
}

/** Two bars on a logarithmic scale: how much disagreement there was, and how much is left once the fault is undone. */
function residuals(cause: Cause, paint: Style): string[] {
  const bar = (value: number | undefined) => {
    if (value === undefined || !Number.isFinite(value)) return '';
    const length = Math.round(Math.max(0, Math.min(30, (Math.log10(Math.max(value, 1e-9)) + 9) * 3)));
    return '█'.repeat(length);
  };
  return [
    `     before ${paint.red(bar(cause.residual_before))} ${number(cause.residual_before)}`,
    `     after  ${paint.green(bar(cause.residual_after))} ${number(cause.residual_after)}`,
  ];
}

function evidenceRows(check: string, measured: Figures, expected: Figures): string[][] {
  return Object.entries(measured).map(([name, value]) => [
    `${check}: ${name}`,
    show(value),
    name in expected ? show(expected[name]) : '',
  ]);
}

function show(value: Figures[string]): string {
  if (typeof value === 'number') return number(value);
  return Array.isArray(value) ? value.map((item) => number(item)).join(', ') : String(value);
}

function checkLines(checks: readonly CheckReport[], paint: Style): string[] {
  const marks = { pass: paint.green('pass'), warn: paint.yellow('warn'), fail: paint.red('fail') };
  const lines: string[] = [];
  for (const status of ['fail', 'warn', 'pass'] as const) {
    const names = checks.filter((check) => check.status === status).map((check) => check.id);
    if (names.length > 0) lines.push(`${marks[status]}  ${names.join(', ')}`);
  }
  for (const check of checks.filter((item) => item.status === 'not-checked')) {
    lines.push(
      paint.dim(
        `not checked: ${check.id}${check.needs.length > 0 ? ` needs ${check.needs.join(', ')}` : ''}${check.note ? ` (${check.note})` : ''}`,
      ),
    );
  }
  return lines;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => ` ${line}`)
    .join('\n');
}
