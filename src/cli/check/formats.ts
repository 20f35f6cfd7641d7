/** The answer for other programs: JUnit's XML, which CI servers show as tests, and Markdown for a pull request. */
import { told } from '../../language/language.ts';
import { safeText } from '../../report/safe-text.ts';
import { verdictWord } from '../../report/verdict.ts';
import type { CheckedRun, CheckResult } from './result.ts';

/** One test per run; a verdict that fails is a failure, what could not be read an error. */
export function junit(result: CheckResult, failing: (run: CheckedRun) => boolean): string {
  const failures = result.runs.filter(failing).length;
  const cases = result.runs.map((run) => {
    const head = `  <testcase classname="trueline" name="${safeText(run.name)}">`;
    if (failing(run)) {
      const type = run.cause && run.verdict === 'faulty' ? run.cause : run.verdict;
      return `${head}\n    <failure type="${type}" message="${safeText(oneLine(run.sentence))}">${safeText(details(run))}</failure>\n  </testcase>`;
    }
    return `${head}\n    <system-out>${safeText(`${run.verdict}: ${run.sentence}`)}</system-out>\n  </testcase>`;
  });
  const errors = result.unread.map(
    ({ name, why }) =>
      `  <testcase classname="trueline" name="${safeText(name)}">\n    <error type="unread" message="${safeText(oneLine(why))}"/>\n  </testcase>`,
  );
  const tests = result.runs.length + result.unread.length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="trueline check" tests="${tests}" failures="${failures}" errors="${result.unread.length}" skipped="0">`,
    ...cases,
    ...errors,
    '</testsuite>',
  ].join('\n');
}

export function markdown(result: CheckResult): string {
  const lines = [`### Trueline: ${verdictWord(result.verdict).toLowerCase()}`, ''];
  lines.push(
    told('| run | verdict | cause | what decides it |', '| 训练 | 判定 | 原因 | 依据 |'),
    '| --- | --- | --- | --- |',
  );
  for (const run of result.runs)
    lines.push(
      `| ${cell(run.name)} | ${verdictWord(run.verdict).toLowerCase()}${run.state === 'running' ? told(' so far', '（截至目前）') : ''} | ${run.cause ?? ''} | ${cell(run.decisive?.text ?? '')} |`,
    );
  for (const { name, why } of result.unread)
    lines.push(`| ${cell(name)} | ${told('not read', '未读取')} | | ${cell(why)} |`);
  for (const run of result.runs.filter(({ verdict }) => verdict === 'faulty' || verdict === 'unexplained'))
    lines.push(
      '',
      `**${cell(run.name)}**`,
      '',
      text(run.sentence),
      ...change(run),
      '',
      `${told('Next:', '下一步：')} \`${run.next.replaceAll('`', "'")}\``,
    );
  return lines.join('\n');
}

function change(run: CheckedRun): string[] {
  const lines = run.remedy ? ['', `${told('What to change:', '如何修改：')} ${text(run.remedy)}`] : [];
  if (run.where.length > 0)
    lines.push('', told(`Near ${run.where.map(cell).join(', ')}.`, `在 ${run.where.map(cell).join('、')} 附近。`));
  if (run.code) lines.push('', '```python', run.code, '```');
  return lines;
}

/** What a person needs to mend it, as plain text. */
export function details(run: CheckedRun): string {
  return [
    `${told(run.verdict, verdictWord(run.verdict))}${run.cause ? ` (${run.cause})` : ''}: ${run.sentence}`,
    ...(run.decisive ? [`${told('proof:', '证据：')} ${run.decisive.text}`] : []),
    ...(run.remedy ? [`${told('change:', '修改：')} ${run.remedy}`] : []),
    ...(run.code ? [`        ${run.code}`] : []),
    ...run.where.map((site) => `${told('near:', '附近：')} ${site}`),
    `${told('next:', '下一步：')} ${run.next}`,
  ].join('\n');
}

const oneLine = (words: string) => words.replaceAll(/\s+/g, ' ');
/** Markdown takes HTML, and names come from strangers. */
const text = (words: string) =>
  safeText(oneLine(words))
    .replaceAll(/[[\]*_`]/g, '\\$&')
    .replaceAll('&#39;', "'");
const cell = (words: string) => text(words).replaceAll('|', '\\|');
