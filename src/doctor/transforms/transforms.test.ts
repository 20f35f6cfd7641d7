import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Composed } from './composed.ts';
import { Ends } from './credit/ends.ts';
import { GroupMean } from './credit/group-mean.ts';
import { Lag } from './credit/lag.ts';
import { Sign } from './credit/sign.ts';
import { describeTransform, transformOf, transforms } from './index.ts';
import { Snapshot } from './replay/snapshot.ts';
import { Temperature } from './replay/temperature.ts';

const folder = new URL('.', import.meta.url).pathname;
const source = (at: string): string[] =>
  readdirSync(at, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? source(join(at, entry.name)) : [join(at, entry.name)],
  );

describe('a transform', () => {
  it('is in JSON what it is: its id with its parameters beside it', () => {
    const json = (value: unknown) => JSON.parse(JSON.stringify(value));
    expect(json(new Lag(-1, 'episode'))).toEqual({ id: 'lag', steps: -1, within: 'episode' });
    expect(json(new Temperature('update', 2))).toEqual({ id: 'temperature', of: 'update', divisor: 2 });
    expect(json(new GroupMean('action'))).toEqual({ id: 'group-mean', by: 'action' });
    expect(json(new Snapshot({ before: 3 }))).toEqual({ id: 'snapshot', before: 3 });
  });

  it('read from JSON is told in both languages as the one that was written', () => {
    for (const made of [new Lag(2, 'stream'), new Ends('late'), new GroupMean('place', true), new Snapshot({})]) {
      const read = transformOf(JSON.parse(JSON.stringify(made)))!;
      expect(describeTransform(read, 'en')).toBe(describeTransform(made, 'en'));
      expect(describeTransform(read, 'zh')).toBe(describeTransform(made, 'zh'));
      expect(describeTransform(read, 'zh')).toMatch(/\p{Script=Han}/u);
    }
    expect(describeTransform({ id: 'of-a-newer-version' })).toBe('of-a-newer-version');
  });

  it('has a file of its own, and every file is listed under its id', () => {
    const ids = source(folder)
      .filter((path) => !path.endsWith('.test.ts'))
      .flatMap((path) => /readonly id = '([^']+)'/.exec(readFileSync(path, 'utf8'))?.[1] ?? []);
    expect(ids.sort()).toEqual(Object.keys(transforms).sort());
  });

  it('is never read back from its words', () => {
    for (const path of [...source(join(folder, '..')), ...source(join(folder, '../../report'))])
      if (!path.endsWith('.test.ts'))
        expect(readFileSync(path, 'utf8'), path).not.toMatch(
          /transform\.(startsWith|endsWith|includes|replace|split)|\.(exec|test)\((\w+\.)?transform\b|describe\('en'\) ===/,
        );
  });

  it('of two faults is told and revived as both', () => {
    const made = new Composed([new Lag(1, 'episode'), new Sign()]);
    const read = transformOf(JSON.parse(JSON.stringify(made)))!;
    expect(JSON.parse(JSON.stringify(read))).toEqual({
      id: 'composed',
      of: [{ id: 'lag', steps: 1, within: 'episode' }, { id: 'sign' }],
    });
    expect(describeTransform(read, 'en')).toBe('lag 1 within (episode, agent), and then sign');
  });
});
