import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe.skipIf(process.platform !== 'linux')('what must hold of readers under attack, reduced', () => {
  it('a few hundred spoiled inputs: no crash, no hang, no bomb, nothing healthy over damage', () => {
    expect(acceptReduced('attacks').length).toBe(5);
  });
});
