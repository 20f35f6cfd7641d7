import { expect, it, vi } from 'vitest';
import { Together } from './together.ts';

function later<T>(): { promise: Promise<T>; resolve(value: T): void; reject(error: Error): void } {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

it('shows everything at once when the last piece has come, one that fails among them', async () => {
  const together = new Together(60_000);
  const shown: string[] = [];
  const [a, b, c] = [later<string>(), later<string>(), later<string>()];
  const waits = [a, b, c].map(({ promise }) => together.take(promise, (piece) => void shown.push(piece)));
  a.resolve('a');
  await a.promise;
  expect(shown).toEqual([]);
  c.reject(new Error('gone'));
  b.resolve('b');
  await expect(waits[2]).rejects.toThrow('gone');
  await Promise.all(waits.slice(0, 2));
  expect(shown).toEqual(['a', 'b']);
});

it('shows what there is after pauses that double', async () => {
  vi.useFakeTimers();
  const together = new Together(100);
  const shown: number[] = [];
  const pieces = Array.from({ length: 40 }, () => later<number>());
  const waits = pieces.map(({ promise }) => together.take(promise, (piece) => void shown.push(piece)));
  const times: number[] = [];
  for (let i = 0; i < 39; i++) {
    const before = shown.length;
    pieces[i].resolve(i);
    await vi.advanceTimersByTimeAsync(50);
    if (shown.length > before) times.push(i);
  }
  expect(times.length).toBeLessThanOrEqual(4);
  pieces[39].resolve(39);
  await Promise.all(waits);
  vi.useRealTimers();
  expect(shown).toHaveLength(40);
});
