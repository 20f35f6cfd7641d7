/** The verdict in one sentence, as the terminal and the page say it: what was checked comes with it, because healthy means no more than that. */
import { causeById } from '../doctor/causes.ts';
import type { Area, Diagnosis, Unexplained, Verdict } from '../doctor/diagnosis.ts';
import { number } from './number.ts';
import { scalarsSentence } from './scalars-sentence.ts';
import type { Style } from './style.ts';

export const verdictWords: Record<Verdict, string> = {
  healthy: 'Healthy',
  faulty: 'Faulty',
  unexplained: 'Unexplained',
  'not-enough-evidence': 'Not enough evidence',
};

export const verdictColour = (verdict: Verdict, paint: Style) =>
  ({ healthy: paint.green, faulty: paint.red, unexplained: paint.red, 'not-enough-evidence': paint.yellow })[verdict];

export function verdictSentence(diagnosis: Diagnosis): string {
  const { verdict, causes, checks, coverage } = diagnosis;
  if (diagnosis.scalars) return scalarsSentence(diagnosis.scalars, causes);
  const open = checks.filter((check) => check.status === 'not-checked').map(({ id }) => id);
  const made = `${checks.length - open.length} of ${checks.length} checks`;
  if (verdict === 'faulty') {
    const [first, ...others] = causes;
    const rest = others.length === 0 ? '' : ` Also: ${others.map((cause) => cause.id).join(', ')}.`;
    const left = diagnosis.unexplained.length === 0 ? '' : ' Some rows stay unexplained.';
    const meaning = causeById(first.id)?.meaning ?? first.summary;
    return `Faulty: ${first.id} (score ${number(first.confidence)}). ${meaning}${rest}${left}`;
  }
  if (verdict === 'unexplained') return `Unexplained: ${diagnosis.unexplained.map(unexplainedText).join(' ')}`;
  if (verdict === 'not-enough-evidence') {
    if (diagnosis.so_far) return `So far: ${made}, too early to say.`;
    const [gap, ...gaps] = coverage.gaps;
    const more = gaps.length > 0 ? `; ${gaps.join('; ')}` : '';
    return `Not enough evidence: ${made} could be made, and ${gap}${more}.`;
  }
  const areas = (Object.keys(coverage.rows) as Area[]).filter((area) => coverage.rows[area] > 0);
  const seen = areas.map((area) => `${area} on ${number(coverage.rows[area])} rows`).join(', ');
  const ignored = diagnosis.ignored?.length ?? 0;
  const aside = ignored > 0 ? `, ${ignored} accepted ${ignored === 1 ? 'cause' : 'causes'} aside` : '';
  const uncovered = open.length > 0 ? ` Not covered: ${open.join(', ')}.` : '';
  return `${diagnosis.so_far ? 'Healthy so far' : 'Healthy'}: ${made} were made and found nothing wrong${aside}${seen ? ` (${seen})` : ''}.${uncovered}`;
}

export function unexplainedText({ summary, candidates, to_decide }: Unexplained): string {
  const fits = candidates.length > 0 ? ` It could be ${candidates.slice(0, 4).join(', ')}.` : '';
  const column = to_decide.length > 0 ? ` Record ${to_decide.slice(0, 2).join(' and ')} to decide.` : '';
  return `${summary}${fits}${column}`;
}
