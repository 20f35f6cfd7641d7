/** What tells a cause when the columns that tell it best are missing. */
import { describe, expect, it } from 'vitest';
import { record, stored } from '../../../../test/support/tables.ts';
import { diagnose } from '../../diagnose.ts';

describe('with columns missing', () => {
  it("gradients that were never cleared show in the critic's last bias", async () => {
    const made = await stored('gradients-accumulate/pytorch-without-zero-grad');
    delete made.tables.replays.logits;
    const { causes, checks } = await diagnose(await record(made));
    expect(checks.find(({ id }) => id === 'critic-gradient')?.status).toBe('fail');
    expect(causes[0]?.id).toBe('gradients-accumulate');
  });

  it('a policy that does not move is a candidate of several causes, and none of them is named', async () => {
    const made = await stored('optimizer-unbound/optimizer-unbound');
    Reflect.deleteProperty(made.tables, 'tensors');
    const { verdict, unexplained } = await diagnose(await record(made));
    expect(verdict).toBe('unexplained');
    const open = unexplained.find(({ check }) => check === 'movement');
    expect(open?.candidates).toEqual(expect.arrayContaining(['learning-rate-too-small', 'optimizer-unbound']));
    expect(open?.to_decide).toContain('tensors.delta');
  });
});

describe('means and deviations of continuous actions, where no loss was reported', () => {
  it.each([
    'policy-detached/continuous-policy-loss-detached,-deviations-of-the-state',
    'gradients-accumulate/continuous-gradients-never-cleared',
  ])("show in the head's gradient: %s", async (name) => {
    const made = await stored(name);
    for (const column of ['loss', 'policy_loss', 'value_loss', 'entropy']) delete made.tables.steps[column];
    const { causes, checks } = await diagnose(await record(made));
    expect(checks.find(({ id }) => id === 'head-gradient')?.status).toBe('fail');
    expect(causes[0]?.id).toBe(name.split('/')[0]);
  });

  it('are what the rows give in a healthy run', async () => {
    const { checks } = await diagnose(await record(await stored('healthy/continuous-healthy')));
    const head = checks.find(({ id }) => id === 'head-gradient');
    expect(head?.status).toBe('pass');
    expect(head?.measured['policy.whole']).toBe(head?.measured.steps);
  });
});
