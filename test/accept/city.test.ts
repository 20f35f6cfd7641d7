import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe('what must hold of the city, reduced', () => {
  it('the ladder stands, recordings are valid, and PPO and MAPPO learn', () => {
    expect(acceptReduced('city').length).toBeGreaterThanOrEqual(20);
  });
});
