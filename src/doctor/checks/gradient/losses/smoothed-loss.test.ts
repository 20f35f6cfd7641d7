import { describe, expect, it } from 'vitest';
import { changed, first, type Made } from '../../../../../test/support/programs.ts';
import { numbers } from '../../../../../test/support/tables.ts';

/** Policy losses that are told as running means of their policy, with what `also` adds to each. */
const smoothed = (keep: number, also: (step: number) => number) => (made: Made) => {
  const { steps } = made.tables;
  const policy = steps.policy ? numbers(steps, 'policy') : null;
  const running = new Map<number, number>();
  steps.policy_loss = numbers(steps, 'policy_loss').map((loss, step) => {
    const of = policy?.[step] ?? 0;
    running.set(of, keep * (running.get(of) ?? loss) + (1 - keep) * loss + also(step));
    return running.get(of)!;
  });
  delete steps.loss;
};

describe('a policy loss', () => {
  it('that is told as a running mean is a remark, with what it keeps', async () => {
    const found = await changed(
      'healthy/echo-2',
      smoothed(0.9, () => 0),
    );
    expect(first(found)).toEqual(['healthy', undefined]);
    const [{ id, summary }] = found.remarks;
    expect(id).toBe('metric-misreported');
    expect(summary).toMatch(/a running mean that keeps 0\.9 of the one before/);
  });

  it('that is nearly one is not called one', async () => {
    const found = await changed(
      'healthy/echo-2',
      smoothed(0.9, (step) => (step % 3) * 0.01),
    );
    // The gradients of this run show that only the number is wrong.
    const [{ id, summary }] = found.remarks;
    expect(id).toBe('metric-misreported');
    expect(summary).not.toMatch(/running mean/);
  });
});
