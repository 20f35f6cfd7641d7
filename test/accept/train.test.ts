import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';
import { findPython } from '../support/run.ts';

describe.skipIf(!findPython('torch'))('what must hold of the trainer, reduced', () => {
  it('PPO solves the probe games and echo, and every contestant of the bench runs', () => {
    expect(acceptReduced('train').length).toBeGreaterThanOrEqual(10);
  });
});
