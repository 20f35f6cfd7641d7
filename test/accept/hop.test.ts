import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe('what must hold of HOP+, reduced', () => {
  it('agents begin to learn, modules foresee what they must, and the recording is healthy', () => {
    expect(acceptReduced('hop').length).toBeGreaterThanOrEqual(15);
  });
});
