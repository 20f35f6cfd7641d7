import { expect, it, vi } from 'vitest';
import { desks, takeDesk } from './pool.ts';

it('reads however many runs with at most four workers, and a training with one of its own', () => {
  const begun: string[] = [];
  vi.stubGlobal(
    'Worker',
    class {
      constructor(url: URL) {
        begun.push(url.pathname);
      }
      terminate() {}
    },
  );
  const taken = Array.from({ length: 60 }, () => takeDesk(false));
  expect(begun).toHaveLength(4);
  expect(desks()).toBe(4);
  expect(new Set(taken.map(({ caller }) => caller)).size).toBe(4);
  takeDesk(true).leave();
  expect(begun).toHaveLength(5);
  for (const desk of taken) desk.leave();
  vi.unstubAllGlobals();
});
