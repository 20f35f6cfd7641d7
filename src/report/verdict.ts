/** The verdict in one sentence, as the terminal and the page say it: what was checked comes with it, because healthy means no more than that. */

import { causeById } from '../doctor/causes.ts';
import type { Area, Diagnosis, Unexplained, Verdict } from '../doctor/diagnosis.ts';
import { comma, type Pair, space, told } from '../language/language.ts';
import { scalarsSentence } from './logs/scalars-sentence.ts';
import { number } from './number.ts';
import { harmless } from './safe-text.ts';
import type { Style } from './style.ts';

const words: Record<Verdict, Pair> = {
  healthy: ['Healthy', '健康'],
  faulty: ['Faulty', '有故障'],
  unexplained: ['Unexplained', '原因不明'],
  'not-enough-evidence': ['Not enough evidence', '证据不足'],
};

export const verdictWord = (verdict: Verdict): string => told(...words[verdict]);

export const verdictColour = (verdict: Verdict, paint: Style) =>
  ({ healthy: paint.green, faulty: paint.red, unexplained: paint.red, 'not-enough-evidence': paint.yellow })[verdict];

/** Whether rows were looked at; a log beside them then only adds to what they tell. */
export const hasRows = ({ checks }: Pick<Diagnosis, 'checks'>): boolean =>
  checks.some(({ id, status }) => id !== 'scalars' && status !== 'not-checked');

export function verdictSentence(diagnosis: Diagnosis): string {
  const { verdict, causes, checks, coverage } = diagnosis;
  if (diagnosis.scalars && !hasRows(diagnosis)) return scalarsSentence(diagnosis.scalars, causes);
  const open = checks.filter((check) => check.status === 'not-checked').map(({ id }) => id);
  const [done, all] = [checks.length - open.length, checks.length];
  const made = told(`${done} of ${all} checks`, `${all} 项检查中的 ${done} 项`);
  const word = verdictWord(verdict);
  if (verdict === 'faulty') {
    const [first, ...others] = causes;
    const ids = others.map((cause) => cause.id).join(', ');
    const rest = others.length === 0 ? '' : told(` Also: ${ids}.`, `另有：${ids}。`);
    const left =
      diagnosis.unexplained.length === 0 ? '' : told(' Some rows stay unexplained.', '还有一些行未得到解释。');
    const entry = causeById(first.id);
    const meaning = entry ? told(entry.meaning, entry.chinese.meaning) : first.summary;
    const score = number(first.confidence);
    return told(
      `${word}: ${first.id} (score ${score}). ${meaning}${rest}${left}`,
      `${word}：${first.id}（得分 ${score}）。${meaning}${rest}${left}`,
    );
  }
  if (verdict === 'unexplained')
    return `${word}${told(': ', '：')}${diagnosis.unexplained.map(unexplainedText).join(space())}`;
  if (verdict === 'not-enough-evidence') {
    if (diagnosis.so_far)
      return told(`So far: ${made}, too early to say.`, `截至目前：完成了 ${made}，尚早，无法下结论。`);
    const gaps = coverage.gaps.join(told('; ', '；'));
    const log = diagnosis.scalars?.symptoms.length ? scalarsSentence(diagnosis.scalars, causes) : '';
    return told(
      `${word}: ${made} could be made, and ${gaps}.${log && ` The log beside the rows: ${log}`}`,
      `${word}：能做 ${made}，而${gaps}。${log && `行之外的日志：${log}`}`,
    );
  }
  const areas = (Object.keys(coverage.rows) as Area[]).filter((area) => coverage.rows[area] > 0);
  const seen = areas
    .map((area) => {
      const rows = number(coverage.rows[area]);
      return told(`${area} on ${rows} rows`, `${told(...areaWords[area])} ${rows} 行`);
    })
    .join(comma());
  const ignored = diagnosis.ignored?.length ?? 0;
  const aside =
    ignored > 0
      ? told(`, ${ignored} accepted ${ignored === 1 ? 'cause' : 'causes'} aside`, `（不计 ${ignored} 个已接受的原因）`)
      : '';
  const uncovered = open.length > 0 ? told(` Not covered: ${open.join(', ')}.`, `未覆盖：${open.join('、')}。`) : '';
  return told(
    `${diagnosis.so_far ? 'Healthy so far' : word}: ${made} were made and found nothing wrong${aside}${seen ? ` (${seen})` : ''}.${uncovered}`,
    `${diagnosis.so_far ? '截至目前健康' : word}：做了 ${made}，没有发现问题${aside}${seen ? `（${seen}）` : ''}。${uncovered}`,
  );
}

/** A diagnosis as data: what was found, and the sentence that the terminal begins with, in the language that is spoken. */
export function diagnosisData(diagnosis: Diagnosis): Diagnosis & { summary: string } {
  const { format, verdict, ...found } = diagnosis;
  return { format, verdict, summary: verdictSentence(harmless(diagnosis)), ...found };
}

const areaWords: Record<Area, Pair> = {
  replay: ['replay', '重放'],
  credit: ['credit', '优势'],
  gradient: ['gradient', '梯度'],
};

export function unexplainedText({ summary, candidates, to_decide }: Unexplained): string {
  const fitting = candidates.slice(0, 4).join(', ');
  const columns = to_decide.slice(0, 2);
  const fits = fitting ? told(` It could be ${fitting}.`, `可能是 ${fitting}。`) : '';
  const column =
    columns.length > 0
      ? told(` Record ${columns.join(' and ')} to decide.`, `记录 ${columns.join(' 与 ')} 即可判定。`)
      : '';
  return `${summary}${fits}${column}`;
}
