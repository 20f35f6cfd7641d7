import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const src = resolve(import.meta.dirname, '../../src');
/** In the order of the flow: who may know everything that comes before it, and who only what it names. */
const flow: readonly { room: string; knows?: readonly string[] }[] = [
  { room: 'language', knows: [] },
  { room: 'recording', knows: [] },
  { room: 'math', knows: [] },
  { room: 'distributions', knows: ['math'] },
  { room: 'losses', knows: ['math', 'distributions'] },
  { room: 'net', knows: ['math', 'distributions', 'losses'] },
  { room: 'games', knows: ['math', 'net', 'distributions'] },
  { room: 'batch', knows: ['net', 'games', 'distributions'] },
  { room: 'algorithms' },
  { room: 'doctor', knows: ['recording', 'math'] },
  { room: 'training' },
  { room: 'faults' },
  { room: 'sweep' },
  { room: 'symmetry' },
];
const rooms = new Map(
  flow.map(({ room, knows }, place) => [room, new Set(knows ?? flow.slice(0, place).map((before) => before.room))]),
);

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (path) =>
    path.endsWith('.ts') &&
    !path.includes('assembly') &&
    !path.endsWith('.test.ts') &&
    !path.endsWith('.generated.ts') &&
    !path.includes('fixtures'),
);
const imports = (path: string) =>
  [...readFileSync(join(src, path), 'utf8').matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map(
    (match) => match[1],
  );

/** The loss of an algorithm is a room of its own: plain arithmetic that the engines follow, and that knows neither engines nor training. */
const roomOf = (path: string) =>
  /^algorithms[/\\][^/\\]+[/\\]loss\.ts$/.test(path) ? 'losses' : path.split(/[/\\]/)[0];

describe('the rooms of the house', () => {
  it('know only the rooms that come before them in the flow', () => {
    const wrong: string[] = [];
    for (const path of files) {
      const room = roomOf(path);
      const known = rooms.get(room);
      if (!known) continue;
      for (const name of imports(path)) {
        if (!name.startsWith('.')) continue;
        const target = roomOf(relative(src, resolve(src, dirname(path), name)));
        // Whoever speaks to a reader asks which language it is.
        if (target !== room && target !== 'language' && !known.has(target)) wrong.push(`${path} imports ${name}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('import Node only in files named node.ts, apart from the command line and the sweep', () => {
    const wrong = files.filter(
      (path) =>
        !/^(cli|report|sweep)[/\\]/.test(path) &&
        !/(^|[/\\])node\.ts$/.test(path) &&
        imports(path).some((name) => name.startsWith('node:')),
    );
    expect(wrong).toEqual([]);
  });
});
