import { describe, expect, it } from 'vitest';
import { record, stored } from '../../../test/support/tables.ts';
import { diagnose } from '../diagnose.ts';

const noteOf = async (name: string, check: string, without: readonly string[] = []) => {
  const { checks } = await diagnose(await record(await stored(name), { without }));
  return checks.find(({ id }) => id === check)?.note;
};

describe('what a check lacks', () => {
  it('is told in columns of the actions at hand', async () => {
    const gone = ['replays.mean', 'replays.log_std'];
    expect(await noteOf('healthy/continuous-healthy', 'head-gradient', gone)).toBe(
      'needs replays.mean or replays.choice_logits',
    );
    expect(await noteOf('healthy/echo-1', 'head-gradient', ['replays.logits'])).toBe('needs replays.logits');
  });

  it('is nothing where the check is of another kind of actions', async () => {
    expect(await noteOf('healthy/echo-1', 'density')).toBeUndefined();
    expect(await noteOf('healthy/continuous-healthy', 'network')).toMatch(/none; samples\.log_std serves/);
  });
});
