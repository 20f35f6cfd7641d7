/** What users import: few names, each explained with an example, none with two meanings. */
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root } from '../support/run.ts';

const entries = {
  trueline: 'src/index.ts',
  'trueline/games': 'src/games/index.ts',
  'trueline/recording': 'src/recording/index.ts',
  'trueline/recording/node': 'src/recording/node.ts',
  'trueline/training/node': 'src/training/node.ts',
  'trueline/doctor': 'src/doctor/index.ts',
  'trueline/testing': 'src/cli/check/testing.ts',
  'trueline/sweep': 'src/sweep/index.ts',
};

const configured = ts.getParsedCommandLineOfConfigFile(
  join(root, 'tsconfig.json'),
  { noEmit: true, incremental: false, tsBuildInfoFile: undefined },
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
);
const files = Object.values(entries).map((file) => join(root, file));
const program = ts.createProgram(files, configured?.options ?? {});
const checker = program.getTypeChecker();

/** Exported names, each with the thing that it stands for. */
function exportsOf(file: string): Map<string, ts.Symbol> {
  const source = program.getSourceFile(join(root, file));
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${file} is no module`);
  const real = (symbol: ts.Symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  return new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, real(symbol)]));
}

describe('the door', () => {
  const front = exportsOf(entries.trueline);

  it('has at most 30 names', () => {
    expect(front.size).toBeLessThanOrEqual(30);
    expect(front.has('train')).toBe(true);
  });

  it.each([...front.keys()])('explains %s, with an example', (name) => {
    const symbol = front.get(name) as ts.Symbol;
    expect(ts.displayPartsToString(symbol.getDocumentationComment(checker)).length).toBeGreaterThan(20);
    const example = symbol.getJsDocTags(checker).find((tag) => tag.name === 'example');
    expect(ts.displayPartsToString(example?.text)).toMatch(/\w/);
    expect(ts.displayPartsToString(example?.text)).toContain(name);
  });

  it('gives no name two meanings', () => {
    const meanings = new Map<string, ts.Symbol>();
    const twice: string[] = [];
    for (const file of Object.values(entries))
      for (const [name, symbol] of exportsOf(file)) {
        if ((meanings.get(name) ?? symbol) !== symbol) twice.push(`${name} of ${file}`);
        meanings.set(name, symbol);
      }
    expect(twice).toEqual([]);
  });

  it('leads to what package.json says', async () => {
    const { exports } = (await import('../../package.json')) as unknown as {
      exports: Record<string, { types: string }>;
    };
    const stated = Object.entries(exports)
      .filter(([path]) => !path.endsWith('.json'))
      .map(([path, { types: file }]) => [
        path.replace('.', 'trueline'),
        file.replace('./dist/types', 'src').replace('.d.ts', '.ts'),
      ]);
    expect(Object.fromEntries(stated)).toEqual(entries);
  });
});
