/** Numbers that decide between verdicts have one place. A literal in a check or transform is refused unless it is arithmetic or named below with its reason. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { causeById } from '../../src/doctor/causes.ts';
import { topics } from '../../src/doctor/limits.ts';

const rooms = ['checks', 'buffers', 'continuous', 'memory', 'scalars', 'transforms', 'pairing', 'tokens'];
const files = [
  'check.ts',
  'conventions.ts',
  'credit-rule.ts',
  'evidence/run-policies.ts',
  'evidence/run-readings.ts',
  'explain.ts',
  'found.ts',
  'optimiser-bound.ts',
  'proof.ts',
  'verdict.ts',
];

/** Literals that decide nothing, by file. */
const allowed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'transforms/replay/temperature.ts': { '5': 'the golden ratio' },
  'pairing/cover.ts': { '1024': 'the first size of a growing array' },
  'pairing/scoring.ts': {
    '32': 'the first size of growing buffers',
    '4': 'bytes of a single-precision number',
    '23': 'bits of its fraction',
    '0x7fffff': 'the mask of its fraction',
    '16': 'bits that half precision leaves at 0, and numbers that tell a format',
    '12': 'the fewest of these bits: bfloat16 and half precision leave more',
  },
  'pairing/search.ts': { '3': 'levels of normalisation that are not by agent and minibatch at once' },
  'scalars/notes.ts': { '3': 'the fewest agents that have an order' },
  'scalars/scalars.ts': { '120': 'points that are drawn' },
  'scalars/series.ts': {
    '0.05': 'a quantile by its name',
    '0.95': 'a quantile by its name',
    '3': 'the fewest numbers of a part',
    '4': 'neighbours that count as one',
    '5': "fifths, and Kendall's formula",
    '10': 'parts of a smooth curve',
    '18': "Kendall's formula",
    '200': 'numbers that a trend is taken of',
  },
  'scalars/symptoms/agents.ts': { '1e-9': 'so that nothing is divided by 0' },
  'scalars/symptoms/credit.ts': { '4': 'neighbours that count as one' },
  'scalars/symptoms/entropy.ts': { '4': 'quarters' },
  'scalars/symptoms/overshoot.ts': { '0.2': "PPO's default" },
  'scalars/view.ts': { '1e-9': 'so that nothing is divided by 0' },
  'tokens/advantage-fit.ts': {
    '1e-4': 'an epsilon that programs use',
    '1e-6': 'an epsilon that programs use',
    '1e-8': 'an epsilon that programs use',
    '0.5': 'a quantile that is told',
    '0.95': 'a quantile that is told',
    '0.8': 'the quantile that is the spread',
  },
  'tokens/engine-noise.ts': { '1e-7': 'so that the logarithm of 0 is a number' },
  'tokens/evidence.ts': {
    '240_000': 'rows that are kept',
    '480_000': 'uses that are kept',
    '2654435761': 'spreads numbers evenly',
    '4294967296': 'the same',
    '17': 'begins a fingerprint',
    '31': 'mixes it',
    '7919': 'mixes it',
    '1e6': 'digits of a log-probability in it',
  },
  'tokens/floor.ts': Object.fromEntries(
    ['0.5', '0.8', '0.9', '0.95', '0.98'].map((share) => [share, 'a quantile by its name']),
  ),
  'tokens/loss-fit.ts': {
    '20000': 'rows that are fitted',
    '5000': 'rows that are fitted',
    '1200': 'rows that are drawn',
    '0.5': 'a quantile by its name',
    '0.9': 'a quantile by its name',
    '0.1': 'orders fits; whether one is exact is decided elsewhere',
  },
  'tokens/loss-rows.ts': { '32': 'bits of a response in a key' },
  'tokens/reading.ts': {
    '41': 'bins of a histogram',
    '24': 'points of a curve',
    '3': 'responses that are shown',
    '800': 'tokens of a response that are shown',
    '8': 'rows of a point',
    '0.995': 'where a drawing ends',
    '1e-6': 'the narrowest drawing',
    '0.5': 'a quantile by its name',
    '0.9': 'a quantile by its name',
  },
  'tokens/reward-kl.ts': { '0.8': 'the quantile that is the spread' },
  'tokens/steps.ts': { '1048576': 'more minibatches than an epoch has' },
  'tokens/table.ts': { '1024': 'the first size of a growing array' },
  'tokens/token-check.ts': { '1200': 'rows that are drawn' },
  'optimiser-bound.ts': { '0.9': "Adam's default", '0.999': "Adam's default" },
};

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : [];
  });
}

/** Numbers other than 0, 1 and 2 in a file, except indices and digits of a text. */
function literals(path: string, text: string): { line: number; text: string }[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: { line: number; text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNumericLiteral(node) && !['0', '1', '2'].includes(node.text) && !isFormal(node))
      found.push({ line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, text: node.getText() });
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

function isFormal(node: ts.NumericLiteral): boolean {
  const { parent } = node;
  if (ts.isElementAccessExpression(parent)) return parent.argumentExpression === node;
  if (ts.isLiteralTypeNode(parent)) return true;
  if (ts.isCallExpression(parent)) return /\.to(Precision|Fixed)$/.test(parent.expression.getText());
  return isWeight(parent);
}

/** What a cause is worth beside others stands in a table by cause, at the symptom that they share. */
function isWeight(node: ts.Node): boolean {
  if (ts.isConditionalExpression(node)) return isWeight(node.parent);
  return ts.isPropertyAssignment(node) && ts.isStringLiteral(node.name) && causeById(node.name.text) !== undefined;
}

const root = join(import.meta.dirname, '../../src/doctor');

describe('limits of verdicts', () => {
  it('stand in limits.ts, and nowhere in the checks', () => {
    const paths = [...rooms.flatMap((room) => sources(join(root, room))), ...files.map((file) => join(root, file))];
    expect(paths.length).toBeGreaterThan(60);
    const refused = paths.flatMap((path) => {
      const name = path.slice(root.length + 1);
      return literals(path, readFileSync(path, 'utf8'))
        .filter(({ text }) => !(text in (allowed[name] ?? {})))
        .map(({ line, text }) => `${name}:${line}: ${text} belongs in limits.ts with its reason, or in budgets.ts`);
    });
    expect(refused).toEqual([]);
  });

  it('are found by the parser, wherever they stand', () => {
    const found = literals(
      'a.ts',
      'const a = b[3] + Number(c.toFixed(4)); if (a > -0.05 || a >= 5e-4) run(7, { x: 12 });',
    );
    expect(found.map(({ text }) => text)).toEqual(['0.05', '5e-4', '7', '12']);
  });

  it('allow nothing that is no longer there', () => {
    for (const [name, texts] of Object.entries(allowed)) {
      const there = new Set(literals(name, readFileSync(join(root, name), 'utf8')).map(({ text }) => text));
      expect(
        Object.keys(texts).filter((text) => !there.has(text)),
        name,
      ).toEqual([]);
    }
  });

  it('have one name each, a reason, and a use', () => {
    const { logs, ...rows } = topics;
    const names = Object.values(rows).flatMap((table) => Object.keys(table));
    expect(new Set(names).size).toBe(names.length);
    const text = sources(join(root, '..'))
      .filter((path) => !path.includes('doctor/limits/'))
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n');
    for (const [table, own] of [
      ['limits', names],
      ['logLimits', Object.keys(logs)],
    ] as const) {
      const used = new Set(Array.from(text.matchAll(new RegExp(`\\b${table}\\.(\\w+)`, 'g')), ([, name]) => name));
      for (const [, list] of text.matchAll(new RegExp(`const \\{([^}]*)\\} = ${table};`, 'g')))
        for (const part of list.split(',')) used.add(part.split(':')[0].trim());
      expect(own.filter((name) => !used.has(name))).toEqual([]);
    }
    for (const [name, { what, why }] of Object.values(topics).flatMap((table) => Object.entries(table))) {
      expect(what.length, name).toBeGreaterThan(3);
      expect(why.length, name).toBeGreaterThan(9);
    }
  });
});
