/** What a log amounts to, in one sentence, as the terminal and the page say it: its decisive fact first. */

import type { Cause } from '../../doctor/diagnosis.ts';
import type { ScalarReading } from '../../doctor/scalars/scalars.ts';
import { capital, told } from '../../language/language.ts';

export function scalarsSentence(reading: ScalarReading, causes: readonly Cause[]): string {
  const [first, ...others] = reading.symptoms;
  const unread = reading.not_understood.length;
  const columns = unread === 1 ? 'one column was' : `${unread} columns were`;
  const understood = Object.keys(reading.metrics).length;
  const read =
    understood === 0
      ? 'no figure to judge was understood'
      : `no symptom in the ${understood === 1 ? 'one column' : `${understood} columns`} that ${understood === 1 ? 'was' : 'were'} understood`;
  if (!first)
    return unread > 0
      ? told(
          `Not enough evidence for a verdict: ${read}, and ${columns} not. A log alone cannot prove a run healthy.`,
          `证据不足，无法判定：${understood === 0 ? '没有可判断的列' : `看懂的 ${understood} 列里没有症状`}，另有 ${unread} 列没有看懂。仅凭日志不能证明训练健康。`,
        )
      : told(
          'Not enough evidence for a verdict: this log shows no symptom, and a log alone cannot prove a run healthy.',
          '证据不足，无法判定：这份日志没有症状，而仅凭日志不能证明训练健康。',
        );
  const more =
    others.length > 0
      ? told(
          ` (and ${others.length} more ${others.length === 1 ? 'symptom' : 'symptoms'})`,
          `（另有 ${others.length} 个症状）`,
        )
      : '';
  const best = causes
    .slice(0, 3)
    .map((cause) => cause.id)
    .join(', ');
  const fits = best ? told(` What fits best: ${best}.`, `最符合的是：${best}。`) : '';
  const named = first.summary.startsWith(first.metric) ? first.summary : capital(first.summary);
  return told(
    `${named}${more}. A log alone proves no cause.${fits}`,
    `${named}${more}。仅凭日志不能证明任何原因。${fits}`,
  );
}
