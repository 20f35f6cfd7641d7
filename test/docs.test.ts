import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedPages } from '../src/report/pages.ts';
import { root } from './support/run.ts';

describe('the documentation', () => {
  it.each(generatedPages())('$path is what its table in the program says', ({ path, text }) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });
});
