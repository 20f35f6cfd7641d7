import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';
import { findPython } from '../support/run.ts';

describe.skipIf(!findPython('torch'))('what must hold of the recorder, reduced', () => {
  it('every fault of the examples is named first, and healthy runs raise no alarm', () => {
    expect(acceptReduced('recorder').length).toBeGreaterThanOrEqual(5);
  });
});
