/** A diagnosis for the terminal: the verdict in one sentence, the evidence with a small plot, the remedy as code, then what was checked and what could not be. */

import { causeById } from '../doctor/causes.ts';
import type { Cause, CheckReport, Diagnosis, Figures } from '../doctor/diagnosis.ts';
import { describeTransform } from '../doctor/transforms/index.ts';
import { space, told } from '../language/language.ts';
import { figureName } from '../language/words.ts';
import { fold, plotText } from './charts/plot.ts';
import { scalarLines } from './logs/scalars.ts';
import type { Pictures } from './pictures/picture.ts';
import { residualBars } from './residual.ts';
import { harmless } from './safe-text.ts';
import type { Style } from './style.ts';
import { number, table } from './table.ts';
import { hasRows, unexplainedText, verdictColour, verdictSentence } from './verdict.ts';

export interface TextOptions {
  pictures?: Pictures;
  /** Columns of the terminal. */
  width?: number;
}

const widest = 120;

export function diagnosisText(found: Diagnosis, paint: Style, options: TextOptions = {}): string {
  // Agents are named by strangers, and a name could move the cursor.
  const diagnosis = harmless(found);
  const width = Math.max(40, Math.min(widest, options.width ?? 100));
  const colour = verdictColour(diagnosis.verdict, paint);
  const lines = fold(verdictSentence(diagnosis), width).map((line) => paint.bold(colour(line)));
  const log = diagnosis.scalars ? scalarLines(diagnosis.scalars, diagnosis, paint, width) : [];
  if (diagnosis.scalars && !hasRows(diagnosis)) return [...lines, ...log].join('\n');
  lines.push(...log);
  // Causes that fit a log are told with it, and are not proved.
  const causes = diagnosis.scalars ? [] : diagnosis.causes;
  causes.forEach((cause, i) => {
    const prefix = diagnosis.causes.length > 1 ? `${i + 1}. ` : '';
    lines.push('', ...causeLines(cause, prefix, paint, width, options.pictures));
  });
  const say = (head: string, words: string) => lines.push('', ...headed(head, words, paint, width));
  if (diagnosis.verdict === 'faulty')
    for (const left of diagnosis.unexplained) say(told('Left unexplained:', '未能解释：'), unexplainedText(left));
  for (const { id, summary, remedy } of diagnosis.remarks)
    say(told(`Remark (${id}):`, `备注（${id}）：`), `${summary}${space()}${remedy}`);
  for (const { symptom, why } of diagnosis.cleared)
    say(told('No cause for worry:', '无须担心：'), told(`${symptom}; ${why}.`, `${symptom}；${why}。`));
  for (const problem of diagnosis.problems ?? []) say(told('The recording itself:', '记录本身：'), problem);
  for (const cause of diagnosis.ignored ?? []) {
    const reason = diagnosis.reasons?.[cause.id];
    const why = reason ? told(` (${reason})`, `（${reason}）`) : '';
    const text = told(
      `Ignored, as asked: ${cause.id}${why}. ${cause.summary}`,
      `按要求忽略：${cause.id}${why}。${cause.summary}`,
    );
    lines.push('', ...fold(text, width).map(paint.yellow));
  }
  lines.push('', ...checkLines(diagnosis.checks, paint, width));
  return lines.join('\n');
}

function causeLines(
  cause: Cause,
  prefix: string,
  paint: Style,
  width: number,
  pictures: Pictures | undefined,
): string[] {
  const text = (words: string) => fold(words, width - 3).map((line) => `   ${line}`);
  const lines = [paint.bold(`${prefix}${cause.id}`), ...text(cause.summary)];
  const facts = [
    told(`score ${number(cause.confidence)}`, `得分 ${number(cause.confidence)}`),
    told(`${number(cause.rows)} rows`, `${number(cause.rows)} 行`),
    told(`from iteration ${cause.onset}`, `始于迭代 ${cause.onset}`),
  ];
  if (cause.agents.length > 0) facts.push(`${told('agents', '智能体')} ${cause.agents.join(', ')}`);
  lines.push(...text(facts.join(told(', ', '，'))).map(paint.dim));
  if (cause.transform !== undefined)
    lines.push(
      ...text(`${told('undone by:', '可由此还原：')} ${describeTransform(cause.transform)}`),
      ...residuals(cause, paint),
    );
  const rows = cause.evidence.flatMap((item) => evidenceRows(item.check, item.measured, item.expected));
  if (rows.length > 0)
    lines.push(
      indent(
        table([told('evidence', '证据'), told('measured', '实测'), told('expected', '预期')].map(paint.dim), rows),
      ),
    );
  const [picture] = pictures?.proofs.find((proof) => proof.cause === cause.id)?.pictures ?? [];
  if (picture) lines.push('', ...plotText(picture, width - 3).map((line) => `   ${line}`), '');
  lines.push(...headed(told('What to change:', '如何修改：'), cause.remedy, paint, width));
  const entry = causeById(cause.id);
  if (entry) {
    for (const [where, code] of [
      [told('In PyTorch', 'PyTorch 写法'), entry.pytorch],
      [told('In Trueline', 'Trueline 写法'), entry.trueline],
    ])
      if (code) lines.push(paint.dim(`   ${where}:`), ...code.split('\n').map((line) => `     ${paint.cyan(line)}`));
  }
  if (cause.symptoms.length > 0)
    lines.push(
      ...text(`${told('It explains:', '它解释了：')} ${cause.symptoms.join(told('; ', '；'))}`).map(paint.dim),
    );
  lines.push(
    ...text(`${told('More:', '更多：')} trueline explain ${cause.id} (docs/causes/${cause.id}.md)`).map(paint.dim),
  );
  return lines;
}

function headed(head: string, words: string, paint: Style, width: number): string[] {
  const [first, ...rest] = fold(`${head} ${words}`, width - 3);
  return [`   ${paint.bold(head)}${first.slice(head.length)}`, ...rest.map((line) => `   ${line}`)];
}

/** Bars on a logarithmic scale: how much disagreement there was, and how much is left once the fault is undone. */
function residuals(cause: Cause, paint: Style): string[] {
  const colour = { before: paint.red, after: paint.green };
  return residualBars(cause).map(
    ({ side, text, length }) =>
      `     ${told(side.padEnd(6), side === 'before' ? '还原前' : '还原后')} ${colour[side]('█'.repeat(Math.round(30 * length)))} ${text}`,
  );
}

function evidenceRows(check: string, measured: Figures, expected: Figures): string[][] {
  return Object.entries(measured).map(([name, value]) => [
    `${check}: ${figureName(name)}`,
    show(value),
    name in expected ? show(expected[name]) : '',
  ]);
}

function show(value: Figures[string]): string {
  if (typeof value === 'number') return number(value);
  return Array.isArray(value) ? value.map((item) => number(item)).join(', ') : String(value);
}

function checkLines(checks: readonly CheckReport[], paint: Style, width: number): string[] {
  const marks = {
    pass: paint.green(told('pass', '通过')),
    warn: paint.yellow(told('warn', '警告')),
    fail: paint.red(told('fail', '失败')),
  };
  const lines: string[] = [];
  const open = checks.filter((check) => check.status === 'not-checked');
  lines.push(
    paint.bold(
      told(
        `What was checked (${checks.length - open.length} of ${checks.length})`,
        `检查了什么（${checks.length - open.length} / ${checks.length}）`,
      ),
    ),
  );
  for (const status of ['fail', 'warn', 'pass'] as const) {
    const names = checks.filter((check) => check.status === status).map((check) => check.id);
    if (names.length === 0) continue;
    const [first, ...rest] = fold(names.join(', '), width - 6);
    lines.push(`${marks[status]}  ${first}`, ...rest.map((line) => `      ${line}`));
  }
  for (const check of open) {
    const why = check.note ?? told(`needs ${check.needs.join(', ')}`, `需要 ${check.needs.join(', ')}`);
    const [first, ...rest] = fold(
      `${told('not checked:', '未检查：')} ${check.id}${told(': ', '：')}${why}`,
      width - 2,
    );
    lines.push(paint.dim(first), ...rest.map((line) => paint.dim(`  ${line}`)));
  }
  return lines;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => ` ${line}`)
    .join('\n');
}
