import { describe, expect, it } from 'vitest';
import '../../recording/node.ts';
import { faults, healthy, isFirst } from '../../../test/support/tokens/cases.ts';
import { tokenRun } from '../../../test/support/tokens/run.ts';
import { tokenChecks } from '../checks/tokens/index.ts';
import { diagnose } from '../diagnose.ts';
import type { Diagnosis } from '../diagnosis.ts';

const told: Diagnosis[] = [];

describe('the doctor for language models', () => {
  it.each(healthy.slice(0, 3))('calls a healthy run healthy: %s', async (_, options) => {
    const { verdict, causes, unexplained } = await diagnose(await tokenRun(options));
    expect({
      causes: causes.map(({ id, summary }) => `${id}: ${summary}`),
      unexplained: unexplained.map(({ summary }) => summary),
    }).toEqual({ causes: [], unexplained: [] });
    expect(verdict).toBe('healthy');
  });

  it.each(faults.filter(isFirst))('names %s first: %o', async (cause, options) => {
    const diagnosis = await diagnose(await tokenRun(options));
    told.push(diagnosis);
    const { causes, unexplained } = diagnosis;
    expect([causes[0]?.id, ...unexplained.map(({ summary }) => summary)].slice(0, 1)).toEqual([cause]);
  });

  it('says in a remark that metrics are over padding, too', async () => {
    const { verdict, remarks } = await diagnose(await tokenRun({ reported: 'padded' }));
    expect(verdict).toBe('healthy');
    expect(remarks.map(({ id }) => id)).toContain('metric-misreported');
    expect(remarks.find(({ id }) => id === 'metric-misreported')!.summary).toContain('over padding, too');
    const right = await diagnose(await tokenRun({ reported: 'right' }));
    expect(right.remarks.map(({ id }) => id)).not.toContain('metric-misreported');
    expect(right.checks.find(({ id }) => id === 'token-metrics')!.status).toBe('pass');
  });

  it('says in a remark that most groups are solved', async () => {
    const { verdict, remarks } = await diagnose(await tokenRun({ easy: 'mostly' }));
    expect(verdict).toBe('healthy');
    expect(remarks.find(({ id }) => id === 'group-degenerate')!.summary).toContain(
      '25 of 30 groups (83.33 %) carry no signal: all of their rewards are equal; in 25 of them every answer has the best reward that there is.',
    );
  });

  it('was shown every cause that it may name, every check failing, and every transform of tokens', () => {
    const causes = new Set(told.map(({ causes: [first] }) => first?.id));
    const named = new Set(tokenChecks.flatMap((check) => check.causes));
    expect([...named].filter((id) => !causes.has(id))).toEqual(['reward-token-wrong', 'metric-misreported']);
    const failing = new Set(
      told.flatMap(({ checks }) => checks.filter(({ status }) => status === 'fail').map(({ id }) => id)),
    );
    expect(tokenChecks.map(({ id }) => id).filter((id) => !failing.has(id))).toEqual([
      'token-returns',
      'token-metrics',
    ]);
    const used = new Set(told.flatMap((diagnosis) => diagnosis.causes.map(({ transform }) => transform?.id)));
    for (const id of ['baseline-over', 'column-for', 'grows-with', 'loss-term', 'normaliser', 'token-shift'])
      expect(used).toContain(id);
  });
});
