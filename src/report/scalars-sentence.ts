/** What a log amounts to, in one sentence, as the terminal and the page say it. */
import type { Cause } from '../doctor/diagnosis.ts';
import type { ScalarReading } from '../doctor/scalars/scalars.ts';

export function scalarsSentence(reading: ScalarReading, causes: readonly Cause[]): string {
  const { length } = reading.symptoms;
  if (length === 0)
    return 'Not enough evidence for a verdict: this log shows no symptom, and a log alone cannot prove a run healthy.';
  const shown = `this log shows ${length} ${length === 1 ? 'symptom' : 'symptoms'}, and a log alone proves no cause`;
  const fits =
    causes.length > 0
      ? ` What fits best: ${causes
          .slice(0, 3)
          .map((cause) => cause.id)
          .join(', ')}.`
      : '';
  return `Not enough evidence for a verdict: ${shown}.${fits}`;
}
