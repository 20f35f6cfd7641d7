/** What tells a cause when the columns that tell it best are missing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numbers, plain, record, stored } from '../../../../test/support/tables.ts';
import { echo, recordRun } from '../../../../test/support/tiny-runs.ts';
import { createEngine } from '../../../net/engine.ts';
import type { Engine } from '../../../net/types.ts';
import type { Manifest } from '../../../recording/manifest.ts';
import { diagnose } from '../../diagnose.ts';
import { staysSpread } from './head/bonus-witness.ts';

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

const coefficient = 0.2;
let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 1 });
});
afterAll(() => engine.dispose());

/** A run without a bonus in its gradients that declares one; with or without it in the loss that it reports. */
async function declared(inLoss: boolean) {
  const made = await plain(await recordRun(engine, { ...echo, ppo: { ...echo.ppo, entropyCoefficient: 0 } }));
  const settings = made.manifest.settings as Manifest['settings'] & Record<string, unknown>;
  settings.entropy_coefficient = coefficient;
  const { loss, entropy } = {
    loss: numbers(made.tables.steps, 'loss'),
    entropy: numbers(made.tables.steps, 'entropy'),
  };
  if (inLoss) made.tables.steps.loss = loss.map((value, i) => value - coefficient * entropy[i]);
  return diagnose(await record(made));
}

describe('an entropy bonus that has no gradient', () => {
  it('is named where the loss holds it and the gradient of the head does not', async () => {
    const { causes } = await declared(true);
    expect(causes[0].id).toBe('loss-formula-differs');
    expect(causes[0].summary).toMatch(/The loss holds the entropy times 0\.2, .* the bonus has no gradient/);
  });

  it('is not claimed where the loss does not hold it either: then it is only declared', async () => {
    const { causes } = await declared(false);
    expect(causes.map(({ summary }) => summary).join()).not.toMatch(/the bonus has no gradient/);
  });
});

describe('choices that stay spread out', () => {
  it('are near the largest entropy in the later half, or no lower in the end than at first', () => {
    expect(staysSpread([0.9, 0.995, 0.996])).toBe(true);
    expect(staysSpread([0.7, 0.5, 0.72])).toBe(true);
    expect(staysSpread([0.99, 0.8, 0.5])).toBe(false);
  });
});
