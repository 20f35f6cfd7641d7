import { describe, expect, it } from 'vitest';
import { acceptReduced } from '../support/accept.ts';

describe("logs that other programs' own loggers wrote, as they are stored", () => {
  it('are all read, no healthy run is accused, and of faults that a log shows nine in ten have their cause among the first two', () => {
    expect(acceptReduced('logs').length).toBe(7);
  });
});
