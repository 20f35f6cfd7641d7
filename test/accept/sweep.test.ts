import { describe, expect, it } from 'vitest';
import { findRedis } from '../../bench/redis/server.ts';
import { acceptReduced } from '../support/accept.ts';

describe.skipIf(!findRedis())('what must hold of sweeps over Redis, reduced', () => {
  it('each job is done once, with the bits that it has here, while workers are killed and Redis is restarted', () => {
    expect(acceptReduced('sweep').length).toBe(4);
  });
});
