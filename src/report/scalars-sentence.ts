/** What a log amounts to, in one sentence, as the terminal and the page say it: its decisive fact first. */
import type { Cause } from '../doctor/diagnosis.ts';
import type { ScalarReading } from '../doctor/scalars/scalars.ts';

export function scalarsSentence(reading: ScalarReading, causes: readonly Cause[]): string {
  const [first, ...others] = reading.symptoms;
  const unread = reading.not_understood.length;
  const columns = unread === 1 ? 'one column was' : `${unread} columns were`;
  if (!first)
    return unread > 0
      ? `Not enough evidence for a verdict: no symptom in the ${Object.keys(reading.metrics).length} columns that were understood, and ${columns} not. A log alone cannot prove a run healthy.`
      : 'Not enough evidence for a verdict: this log shows no symptom, and a log alone cannot prove a run healthy.';
  const more = others.length > 0 ? ` (and ${others.length} more ${others.length === 1 ? 'symptom' : 'symptoms'})` : '';
  const fits =
    causes.length > 0
      ? ` What fits best: ${causes
          .slice(0, 3)
          .map((cause) => cause.id)
          .join(', ')}.`
      : '';
  const fact =
    first.summary[0].toUpperCase() === first.summary[0]
      ? first.summary
      : `${first.summary[0].toUpperCase()}${first.summary.slice(1)}`;
  const named = first.summary.startsWith(first.metric) ? first.summary : fact;
  return `${named}${more}. A log alone proves no cause.${fits}`;
}
