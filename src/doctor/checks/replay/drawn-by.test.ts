import { describe, expect, it } from 'vitest';
import type { Finding } from '../../diagnosis.ts';
import { OldLogp } from '../../transforms/replay/old-logp.ts';
import { DrawnBy } from './drawn-by.ts';

const finding: Finding = {
  cause: 'old-logp-wrong',
  confidence: 0.9,
  agents: [0],
  onset: 1,
  rows: 4000,
  transform: new OldLogp('other-number'),
  summary: '',
  evidence: [],
};

/** Choices between two, drawn by a policy that takes the first with a chance of `by`. */
function drawn(by: number, old: number, fresh: number): DrawnBy {
  const found = new DrawnBy();
  for (let i = 0; i < 4000; i++) {
    // As even as draws can be.
    const first = (i * 0.6180339887498949) % 1 < by;
    found.add(Math.log(first ? fresh : 1 - fresh) - Math.log(first ? old : 1 - old));
  }
  return found;
}

describe('which policy drew the actions', () => {
  it('is the old one where an earlier policy played', () => {
    expect(drawn(0.5, 0.5, 0.6).named(finding).cause).toBe('stale-samples');
  });

  it('is the new one where only the log-probabilities are of another policy', () => {
    expect(drawn(0.6, 0.5, 0.6).named(finding).cause).toBe('old-logp-wrong');
  });

  it('is not told where the first iteration disagrees as well', () => {
    expect(drawn(0.5, 0.5, 0.6).named({ ...finding, onset: 0 }).cause).toBe('old-logp-wrong');
  });
});
