import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe('what must hold of the games, reduced', () => {
  it('the checker finds nothing, seats are alike, scripted players do as they should, and PPO begins to learn', () => {
    // Speed is for the bench: its two figures are there and are not judged here.
    expect(acceptReduced('games').length).toBeGreaterThanOrEqual(7);
  });
});
