/** What must hold of verdicts on continuous actions, memory and replay buffers: faults are named first in both precisions, and no healthy variant raises an alarm. */
import { controlCases, controlCommand, fewCases } from '../continuous/cases.ts';
import { judge, tally } from '../judging.ts';
import { keptFolder } from '../kept.ts';
import { type Figure, figure } from '../support.ts';

export const needs = ['python3-torch', 'python3-numpy'];

const python = '/usr/bin/python3';

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const full = size === 'full';
  // In full this takes an hour: what was recorded is kept, so that a run that was ended goes on where it was.
  const folder = keptFolder(`continuous-${size}`, ['bench/continuous', 'examples/pytorch']);
  const all = controlCases(python, folder, full ? [1, 2, 3] : [1]);
  const judged = await judge(say, controlCommand(python), full ? all : fewCases(all));
  return [figure('programs run', judged.length, ''), ...tally(judged)];
}
