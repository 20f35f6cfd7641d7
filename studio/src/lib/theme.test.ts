import { describe, expect, it } from 'vitest';

// Runes are compiled into a page; here a state is its value.
Object.assign(globalThis, { $state: <T>(value: T) => value });
const { colour, dash, palette } = await import('./theme.svelte.ts');

describe('colours of curves', () => {
  it('differ for fifteen runs on both grounds, and agents of a run by their strokes', () => {
    for (const colours of Object.values(palette)) expect(new Set(colours.slice(0, 15)).size).toBe(15);
    expect(new Set(Array.from({ length: 15 }, (_, i) => colour(i))).size).toBe(15);
    expect(new Set(Array.from({ length: 8 }, (_, i) => dash(i).join())).size).toBe(8);
  });
});
