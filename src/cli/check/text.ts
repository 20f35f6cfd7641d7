/** The answer for a terminal: at most 25 lines of at most 80 columns, what matters first. Names come from strangers. */
import { told } from '../../language/language.ts';
import { fold } from '../../report/charts/plot.ts';
import { number } from '../../report/number.ts';
import { harmless } from '../../report/safe-text.ts';
import type { Style } from '../../report/style.ts';
import { verdictColour, verdictWord } from '../../report/verdict.ts';
import { quoted } from '../common/options.ts';
import type { CheckedRun, CheckResult } from './result.ts';

const [most, widest] = [25, 80];
/** Runs that are named one by one; the others are counted. */
const listed = 6;

export function checkText(found: CheckResult, paint: Style, columns = widest): string {
  const result = harmless(found);
  const width = Math.max(40, Math.min(widest, columns));
  const [worst] = result.runs;
  const lines: string[] = [];
  if (result.runs.length > 1 || result.unread.length > 0 || result.beside.length > 0)
    lines.push(...several(result, paint, width));
  // The last line is the next command, which must never be the one that is cut off.
  const next = `${told('next:', '下一步：')} ${worst.next}`;
  lines.push(...runLines(worst, paint, width));
  const kept = lines.length >= most ? [...lines.slice(0, most - 2), paint.dim('...')] : lines;
  return [...kept, paint.bold(next)].join('\n');
}

function several({ path, runs, unread, beside }: CheckResult, paint: Style, width: number): string[] {
  const counts = new Map<CheckedRun['verdict'], number>();
  for (const { verdict } of runs) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const parts = [...counts].map(([verdict, count]) =>
    told(`${number(count)} ${verdict}`, `${verdictWord(verdict)} ${number(count)}`),
  );
  if (unread.length > 0) parts.push(told(`${number(unread.length)} not read`, `未读取 ${number(unread.length)}`));
  const lines = [paint.bold(cut(`${path}: ${parts.join(', ')}`, width))];
  for (const run of runs.slice(0, listed))
    lines.push(
      cut(
        `  ${told(run.verdict, verdictWord(run.verdict))}${run.cause ? ` (${run.cause})` : ''}  ${below(path, run.name)}`,
        width,
      ),
    );
  if (runs.length > listed)
    lines.push(
      paint.dim(
        told(
          `  and ${number(runs.length - listed)} more; --json lists all`,
          `  另有 ${number(runs.length - listed)} 次；--json 列出全部`,
        ),
      ),
    );
  if (unread.length > 0) lines.push(paint.dim(cut(`  ${told('not read:', '未读取：')} ${unread[0].why}`, width)));
  if (beside.length > 0)
    lines.push(
      paint.dim(
        cut(
          told(
            `  not judged: ${number(beside.length)} ${beside.length === 1 ? 'log' : 'logs'} beside (trueline check ${quoted(beside[0])})`,
            `  未判断：旁边的 ${number(beside.length)} 份日志（trueline check ${quoted(beside[0])}）`,
          ),
          width,
        ),
      ),
    );
  return [...lines, ''];
}

function runLines(run: CheckedRun, paint: Style, width: number): string[] {
  const colour = verdictColour(run.verdict, paint);
  const cause = run.verdict === 'faulty' && run.cause ? `: ${run.cause}` : '';
  const early = run.state === 'running' ? told(' so far', '（截至目前）') : '';
  const lines = [paint.bold(colour(`${verdictWord(run.verdict)}${early}${cause}`)) + paint.dim(`  ${run.name}`)];
  const part = (head: string, text: string, room: number) => {
    const folded = fold(text, width - 10);
    const kept =
      folded.length > room ? [...folded.slice(0, room - 1), `${folded[room - 1].slice(0, width - 14)} ...`] : folded;
    kept.forEach((line, i) => {
      lines.push(`${paint.dim(padded(i === 0 ? head : ''))}${line}`);
    });
  };
  // The verdict stands in the line above.
  part(
    '',
    run.sentence.replace(
      /^((Healthy|Unexplained|Not enough evidence)( so far)?: |(健康|截至目前健康|原因不明|证据不足)：)/,
      '',
    ),
    6,
  );
  if (run.decisive && run.kind === 'recording') part(told('proof', '证据'), run.decisive.text, 2);
  if (run.remedy) part(run.kind === 'log' ? told('perhaps', '也许') : told('change', '修改'), run.remedy, 4);
  if (run.code) part('', run.code, 2);
  for (const site of run.where.slice(0, 3)) part(told('near', '附近'), site, 1);
  if (run.also.length > 0) part(run.kind === 'log' ? told('or', '或') : told('also', '另有'), run.also.join(', '), 2);
  for (const { cause: id, reason } of run.ignored.slice(0, 2))
    part(told('ignored', '已忽略'), `${id}${reason ? ` (${reason})` : ''}`, 1);
  if (run.remarks.length > 0) part(told('remarks', '备注'), run.remarks.join(', '), 1);
  return lines;
}

const below = (path: string, name: string) => (name.startsWith(`${path}/`) ? name.slice(path.length + 1) : name);

const cut = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 3)}...` : text);

/** A Chinese character is two columns wide. */
const padded = (head: string) =>
  head + ' '.repeat(Math.max(0, 10 - [...head].reduce((sum, letter) => sum + (letter > '\u2e7f' ? 2 : 1), 0)));
