import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { causes } from '../causes.ts';
import { checks } from '../checks/index.ts';
import type { Finding } from '../diagnosis.ts';
import { rank } from '../explain.ts';

const folder = import.meta.dirname;
const folders = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => readdirSync(join(folder, name)).map((id) => ({ id, path: join(folder, name, id) })));
const ids = causes.map(({ id }) => id);

describe('the causes', () => {
  it('are the folders, each with its entry, and every folder is listed once', () => {
    expect([...ids].sort()).toEqual(folders.map(({ id }) => id).sort());
    expect(folders.filter(({ path }) => !existsSync(join(path, 'cause.ts')))).toEqual([]);
  });

  it('have one place each in the flow, so that none ranks first by accident', () => {
    expect(new Set(causes.map(({ place }) => place)).size).toBe(causes.length);
    for (const { id, place } of causes) expect(place, id).toBeGreaterThan(0);
    const finding: Finding = {
      cause: 'unheard-of',
      confidence: 1,
      agents: [],
      onset: 0,
      rows: 9,
      summary: '',
      evidence: [],
    };
    expect(() => rank([finding])).toThrow(/unheard-of, which is not in causes.ts/);
  });

  it('explain only causes that exist, and never themselves', () => {
    for (const { id, explains } of causes)
      for (const other of explains ?? []) {
        expect(ids, `${id} explains ${other}`).toContain(other);
        expect(other).not.toBe(id);
      }
  });

  it('of groups A to E can each be named by a check, and of the others only what rows prove by themselves', () => {
    const named = new Set(checks.flatMap((check) => check.causes));
    expect([...named].sort()).toEqual(
      causes
        .filter(({ id, group }) => group !== 'F' || id === 'reward-bookkeeping')
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('say in both languages what they mean and what to change, and how to change it in code', () => {
    for (const { id, group, meaning, symptoms, remedy, pytorch, trueline, chinese } of causes) {
      expect([meaning.endsWith('.'), remedy.endsWith('.')], id).toEqual([true, true]);
      expect(
        [chinese.meaning, chinese.remedy].every((text) => /\p{Script=Han}.*。$/u.test(text)),
        id,
      ).toBe(true);
      expect(
        chinese.symptoms.map((text) => /\p{Script=Han}/u.test(text)),
        id,
      ).toEqual(symptoms.map(() => true));
      // Trueline trains no language models: their causes have code in PyTorch alone.
      if (group !== 'F') expect(pytorch.length, id).toBeGreaterThan(0);
      if (group !== 'F') expect(trueline, id).not.toBe('');
    }
  });

  it('ask for columns of the recording, as table.column', () => {
    for (const { id, group, decidedBy } of causes) {
      if (group !== 'F') expect(decidedBy?.length, id).toBeGreaterThan(0);
      for (const column of decidedBy ?? [])
        expect(column, id).toMatch(/^(samples|responses|replays|targets|copies|steps|tensors)\.[a-z_]+$/);
    }
  });
});
