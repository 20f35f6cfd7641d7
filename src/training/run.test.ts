import { expect, it } from 'vitest';
import { train } from './run.ts';

it('smoke', async () => {
  const t0 = performance.now();
  const result = await train({ game: 'echo', steps: 60000, kernel: 'auto', worlds: 64, rollout: 24 }, { onNotice: (s) => console.log(s), onIteration: (r) => { if (r.iteration % 5 === 0) console.log(r.iteration, r.returns[0].mean.toFixed(3), JSON.stringify(r.readings[0]), r.stepsPerSecond.toFixed(0)); } });
  console.log(result.trainer.manifest().writer, result.evaluate(1000), performance.now() - t0);
  result.dispose();
  expect(1).toBe(1);
});
