import { describe, expect, it } from 'vitest';
import '../../recording/node.ts';
import { faults, healthy, isFirst } from '../../../test/support/tokens/cases.ts';
import { tokenRun } from '../../../test/support/tokens/run.ts';
import { diagnose } from '../diagnose.ts';

describe('the doctor for language models', () => {
  it.each(healthy.slice(3))('calls a healthy run healthy: %s', async (_, options) => {
    const { verdict, causes, unexplained } = await diagnose(await tokenRun(options));
    expect({
      causes: causes.map(({ id, summary }) => `${id}: ${summary}`),
      unexplained: unexplained.map(({ summary }) => summary),
    }).toEqual({ causes: [], unexplained: [] });
    expect(verdict).toBe('healthy');
  });

  it.each(faults.filter((fault, i) => !isFirst(fault, i)))('names %s first: %o', async (cause, options) => {
    const { causes, unexplained } = await diagnose(await tokenRun(options));
    expect([causes[0]?.id, ...unexplained.map(({ summary }) => summary)].slice(0, 1)).toEqual([cause]);
  });
});
