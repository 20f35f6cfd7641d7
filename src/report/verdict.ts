/** The verdict in one sentence, as the terminal and the page say it. */
import { causeById } from '../doctor/causes.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { number } from './number.ts';
import { scalarsSentence } from './scalars-sentence.ts';

export function verdictSentence(diagnosis: Diagnosis): string {
  const { verdict, causes, checks } = diagnosis;
  if (diagnosis.scalars) return scalarsSentence(diagnosis.scalars, causes);
  const checked = checks.filter((check) => check.status !== 'not-checked').length;
  const ignored = diagnosis.ignored?.length ?? 0;
  const aside = ignored > 0 ? `, ${ignored} accepted ${ignored === 1 ? 'cause' : 'causes'} aside` : '';
  if (verdict === 'healthy') return `Healthy: ${checked} checks found nothing wrong${aside}.`;
  if (verdict === 'faulty') {
    const [first, ...others] = causes;
    const rest = others.length === 0 ? '' : ` Also: ${others.map((cause) => cause.id).join(', ')}.`;
    const meaning = causeById(first.id)?.meaning ?? first.summary;
    return `Faulty: ${first.id} (confidence ${number(first.confidence)}). ${meaning}${rest}`;
  }
  const fits = causes.length > 0 ? ` What would fit: ${causes.map((cause) => cause.id).join(', ')}.` : '';
  return `Not enough evidence: ${checked} of ${checks.length} checks had their columns.${fits}`;
}
