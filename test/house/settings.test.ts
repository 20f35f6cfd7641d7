/** Keeps the table of settings in docs/recording.md in step with what the doctor reads: every name on both sides, and every value that a setting is compared with. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const doctor = join(root, 'src/doctor');
const read = readdirSync(doctor, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .flatMap((file) => [
    ...readFileSync(join(doctor, file), 'utf8').matchAll(
      /\brun\.(?:number|text|setting|declares)\('(\w+)'\)(?: [!=]== (?:'([\w-]+)'|(true|false)))?/g,
    ),
  ])
  .map(([, name, text, truth]) => ({ name, value: text === undefined ? truth : `"${text}"` }));

const page = readFileSync(join(root, 'docs/recording.md'), 'utf8');
const section = page.split('## The settings that the doctor reads')[1].split('\n## ')[0];
const rows = new Map(
  [...section.matchAll(/^\| `(\w+)` \| (.*?) \| .+ \|$/gm)].map(([, name, values]) => [name, values]),
);

describe('the table of settings in docs/recording.md', () => {
  it('has the names that the doctor reads, and no others', () => {
    expect([...rows.keys()].sort()).toEqual([...new Set(read.map(({ name }) => name))].sort());
    expect(rows.size).toBeGreaterThan(20);
  });

  it.each(read.filter(({ value }) => value !== undefined))('says that $name may be $value', ({ name, value }) => {
    expect(rows.get(name)).toContain(`\`${value}\``);
  });
});
