import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe('what must hold of verdicts on Stable-Baselines3 as it is, reduced', () => {
  it('tuned settings are healthy, and bugs put in while they run are named', (context) => {
    const figures = acceptReduced('real');
    // Without PyPI the environment cannot be made; in CI that is an error of its own.
    if (figures.length === 0) context.skip();
    expect(figures[0].value).toBe(7);
  });
});
