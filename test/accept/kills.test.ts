import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe('what must hold of programs that are killed or have no room, reduced', () => {
  it('each is gone on with to the same bits, and nothing of the user is touched', () => {
    expect(acceptReduced('kills').length).toBeGreaterThanOrEqual(6);
  });
});
