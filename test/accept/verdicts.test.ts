import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe('what must hold of verdicts on programs of other customs, reduced', () => {
  it('healthy programs are not accused whatever they differ in, and bugs are named under customs drawn at random', () => {
    const figures = acceptReduced('verdicts');
    expect(figures[0].value).toBe(12);
  });
});
