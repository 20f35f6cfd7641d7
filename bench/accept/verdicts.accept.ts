/** What must hold of verdicts on programs of other customs: none of the healthy ones is accused, and bugs are named, whatever the conventions and the columns. */
import { command, faultyCases, healthyCases } from '../conventions/cases.ts';
import { judge, tally } from '../judging.ts';
import { keptFolder } from '../kept.ts';
import { type Figure, figure } from '../support.ts';

export const needs = ['python3-torch', 'python3-numpy'];

/** Every so-many-th healthy program of the first array, and these faults, make the reduced instance. */
const stride = 12;
const reduced = [
  'mask forgotten',
  'nothing stored as log-probability',
  'credit of the other agent',
  'normalisation declared and forgotten',
  'ends one step late',
  'reset rows trained',
  'list of another agent, cut to the own length',
  'first choices while acting',
];

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const full = size === 'full';
  // In full this takes hours: what was recorded is kept, so that a run that was ended goes on where it was.
  const folder = keptFolder(`verdicts-${size}`, ['bench/conventions']);
  const healthy = healthyCases(folder, full ? [1, 2, 3, 4, 5] : [1]).filter((_, i) => full || i % stride === 0);
  const faulty = faultyCases(folder, full ? [1, 2, 3, 4] : [1]).filter(({ fault }) => full || reduced.includes(fault!));
  const judged = await judge(say, command(), [...healthy, ...faulty]);
  return [figure('programs trained', judged.length, ''), ...tally(judged)];
}
