import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe('what must hold of logs, reduced', () => {
  it('event files are read exactly, damage is told, healthy logs are silent, and no log proves anything', () => {
    expect(acceptReduced('import').length).toBe(8);
  });
});
