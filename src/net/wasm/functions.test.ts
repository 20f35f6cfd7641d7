import { describe, expect, it } from 'vitest';
import { loadKernels } from './kernels.ts';

describe('the functions of the kernels', () => {
  it('compute exp, log and tanh within a few units in the last place', async () => {
    for (const variant of ['relaxed', 'simd'] as const) {
      const { memory, exports } = await loadKernels(variant, false);
      const check = (
        name: 'exponentials' | 'logarithms' | 'tangents',
        exact: (x: number) => number,
        low: number,
        high: number,
        units: number,
      ) => {
        const count = 40_000;
        const at = memory.allocate(count * 4);
        const x = Float32Array.from({ length: count }, (_, i) => low + ((high - low) * i) / (count - 1));
        memory.f32.set(x, at >> 2);
        exports[name](at, count * 4);
        let worst = 0;
        let beyond = false;
        for (let i = 0; i < count; i++) {
          const wanted = exact(x[i]);
          if (wanted === 0) continue;
          const unit = 2 ** (Math.floor(Math.log2(Math.abs(wanted))) - 23);
          worst = Math.max(worst, Math.abs(memory.f32[(at >> 2) + i] - wanted) / unit);
          if (name === 'tangents') beyond ||= Math.abs(memory.f32[(at >> 2) + i]) > 1;
        }
        expect(beyond).toBe(false);
        expect(worst, `${variant} ${name} on ${low} to ${high}`).toBeLessThan(units);
      };
      check('exponentials', Math.exp, -86, 0, 2);
      check('exponentials', Math.exp, -1, 1, 2);
      check('exponentials', Math.exp, 0, 87, 2);
      check('logarithms', Math.log, 1, 40, 2);
      check('logarithms', Math.log, 1e-30, 1e-3, 2);
      check('tangents', Math.tanh, -1, 1, 4);
      check('tangents', Math.tanh, -12, 12, 7);
    }
  });
});
