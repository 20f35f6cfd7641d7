import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';
import { findPython } from '../support/run.ts';

describe.skipIf(!findPython('numpy'))('what must hold of recordings, reduced', () => {
  it('a killed writer leaves a recording that opens, at most one chunk short; the bench runs, within its memory', () => {
    const figures = acceptReduced('recording');
    expect(figures.length).toBeGreaterThanOrEqual(18);
  });
});
