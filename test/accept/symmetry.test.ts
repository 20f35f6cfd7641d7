import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe('what must hold of the symmetry investigation, reduced', () => {
  it('claims nothing of equal agents, states the equivalence, and names the causes of three faults', () => {
    expect(acceptReduced('symmetry').length).toBe(4);
  });
});
