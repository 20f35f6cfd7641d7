import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe('what must hold of the doctor, reduced', () => {
  it('its cost is measured beside reading, within its memory', () => {
    expect(acceptReduced('doctor').length).toBeGreaterThanOrEqual(4);
  });

  it('it names a fault of every group first and keeps silent on healthy runs', () => {
    expect(acceptReduced('zoo').length).toBeGreaterThanOrEqual(5);
  });
});
