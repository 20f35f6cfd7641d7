/** The sentence of a recording that has rows and a log: what the rows told comes first. */
import { expect, it } from 'vitest';
import { record, stored } from '../../test/support/tables.ts';
import { diagnose } from '../doctor/diagnose.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { verdictSentence } from './verdict.ts';

const quiet: NonNullable<Diagnosis['scalars']> = {
  metrics: {},
  symptoms: [],
  ruled_out: [],
  record_next: [],
  not_understood: [],
  not_looked_for: [],
  notes: [],
} as never;

it('tells what rows lack, although a log lies beside them', async () => {
  const made = await stored('healthy/echo-1');
  for (const name of ['value', 'reward', 'advantage']) delete made.tables.samples[name];
  const found = await diagnose(await record(made));
  expect(found.verdict).toBe('not-enough-evidence');
  const sentence = verdictSentence(found);
  expect(verdictSentence({ ...found, scalars: quiet })).toBe(sentence);
  expect(sentence).toContain('whether advantages are what rewards, values and ends give');
});

it('tells what a log shows where there are no rows', async () => {
  const made = await stored('healthy/echo-1');
  const found = await diagnose(await record(made));
  const checks = [{ id: 'scalars', status: 'pass' as const, needs: [], measured: {}, expected: {} }];
  const log = { ...found, verdict: 'not-enough-evidence' as const, checks, scalars: quiet };
  expect(verdictSentence(log)).toContain('this log shows no symptom');
});
