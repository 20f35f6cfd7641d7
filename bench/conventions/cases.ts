/** Which programs are trained: covering arrays of healthy ones, and every fault under random conventions and with random columns missing. */
import { join, resolve } from 'node:path';
import { RandomStream } from '../../src/math/random.ts';
import type { Program } from '../judging.ts';
import { output, python } from '../support.ts';
import { absent, conventions, dropped, forbidden, optional } from './conventions.ts';
import { coveringArray, type Row, Rules } from './covering.ts';

const root = resolve(process.env.npm_package_json ? join(process.env.npm_package_json, '..') : process.cwd());
const folder = join(root, 'bench', 'conventions');

export interface Case extends Program {
  conventions: Row;
  drop: string[];
  fault?: string;
}

interface Fault {
  causes: string[];
  needs: Record<string, string[]>;
  tells: string[];
  shows: Record<string, string[]>;
}

export const command = (): string[] => [python('torch'), join(folder, 'run.py')];

export function faults(): Record<string, Fault> {
  return JSON.parse(output(python('torch'), [join(folder, 'run.py'), 'list'])) as Record<string, Fault>;
}

const rules = new Rules(conventions, forbidden);

/** What sets a program apart, in words. */
function describe(row: Row): string {
  return Object.entries(row)
    .map(([name, level]) => `${name} ${level}`)
    .join(', ');
}

export function healthyCases(out: string, arrays: readonly number[]): Case[] {
  return arrays.flatMap((seed) =>
    coveringArray(rules, seed).map((row, i) => ({
      what: `healthy ${seed}-${i}`,
      out: join(out, `healthy-${seed}-${i}`),
      seed: 1000 * seed + i,
      conventions: row,
      drop: dropped(row.columns),
      enough: row.columns === 'all' || row.columns === 'docs',
    })),
  );
}

/** Conventions at random among those that a fault needs and that go together. */
export function faultyCases(out: string, seeds: readonly number[], chosen = faults()): Case[] {
  return seeds.flatMap((seed) =>
    Object.entries(chosen).map(([name, fault], i) => {
      const random = RandomStream.of(seed, 'fault', name);
      const own = new Rules(
        Object.fromEntries(Object.entries(conventions).map(([key, levels]) => [key, fault.needs[key] ?? levels])),
        forbidden.filter(
          ([a, x, b, y]) => (fault.needs[a]?.includes(x) ?? true) && (fault.needs[b]?.includes(y) ?? true),
        ),
      );
      const row = own.named(own.complete(own.empty(), (_, levels) => shuffled(levels, random))!);
      const left = Object.entries(optional).flatMap(([table, names]) =>
        names.filter(() => random.uniform() < 0.12).map((column) => `${table}.${column}`),
      );
      const drop = [...new Set([...dropped(row.columns), ...(random.uniform() < 0.6 ? [] : left)])];
      // By columns alone, never by what became of it: each must be one that such a program has and records.
      const missing = new Set([...drop, ...absent(row)]);
      const tellable =
        fault.tells.every((columns) => columns.split('|').some((column) => !missing.has(column))) &&
        Object.entries(fault.shows).every(([name, levels]) => levels.includes(row[name]));
      return {
        what: `${name} ${seed} (${describe(row)}; without ${drop.join(' ') || 'nothing'})`,
        out: join(out, `fault-${seed}-${i}`),
        seed: 7 * seed + i,
        conventions: row,
        drop,
        fault: name,
        causes: fault.causes,
        tellable,
      };
    }),
  );
}

function shuffled(levels: number[], random: RandomStream): number[] {
  return levels
    .map((level) => ({ level, key: random.uniform() }))
    .sort((a, b) => a.key - b.key)
    .map(({ level }) => level);
}
