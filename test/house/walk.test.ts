import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faults } from '../../src/faults/index.ts';

const docs = resolve(import.meta.dirname, '../../docs');
const text = readFileSync(resolve(docs, 'walk.md'), 'utf8');
const steps = [...text.matchAll(/^(\d+)\. \[([^\]]+)\]\(([^)]+)\)/gm)];

describe('the walk of one decision', () => {
  it('opens at most 40 files, each once, numbered in their order', () => {
    expect(steps.map(([, number]) => Number(number))).toEqual(steps.map((_, i) => i + 1));
    expect(steps.length).toBeGreaterThan(20);
    expect(steps.length).toBeLessThanOrEqual(40);
    expect(new Set(steps.map(([, , , path]) => path)).size).toBe(steps.length);
    expect(text.match(/\]\(\.\.\/src/g)).toHaveLength(steps.length);
  });

  it('leads only to files that exist, by their own names', () => {
    expect(steps.filter(([, , , path]) => !existsSync(resolve(docs, path))).map(([line]) => line)).toEqual([]);
    expect(steps.filter(([, , name, path]) => path !== `../src/${name}`).map(([line]) => line)).toEqual([]);
  });

  it('walks with a fault that the zoo has', () => {
    const [, fault] = text.match(/--fault ([a-z-]+)/)!;
    expect(faults.map(({ id }) => id)).toContain(fault);
  });
});
