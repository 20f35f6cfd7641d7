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
