import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/run.ts';

const { goesWithMit, productionPackages } = (await import(join(root, 'scripts/licences.mjs'))) as {
  goesWithMit(licence: string): boolean;
  productionPackages(): { name: string; licence: string; optional: boolean }[];
};

describe('licences', () => {
  it('go with MIT, all of them, and are listed by the build', () => {
    const packages = productionPackages();
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const names = packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), ...Object.keys(peerDependencies)]));
    expect(packages.filter(({ licence }) => !goesWithMit(licence))).toEqual([]);
    const list = readFileSync(join(root, 'dist/LICENCES.md'), 'utf8');
    for (const { name, licence } of packages)
      expect(list).toMatch(new RegExp(`\\| ${name} \\|.*\\| ${licence.replace(/[().+]/g, '.')} \\|`));
  });

  it('are refused where they do not', () => {
    expect(['MIT', '(MIT OR GPL-3.0)', 'Apache-2.0 AND ISC'].map(goesWithMit)).toEqual([true, true, true]);
    expect(['GPL-3.0', 'MIT AND AGPL-3.0', 'unknown', 'SEE LICENSE IN X'].map(goesWithMit)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
