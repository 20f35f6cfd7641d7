import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BadInput } from '../../recording/bad-input.ts';
import { trainInto } from '../../training/node.ts';
import { adaptCommand } from './adapt.ts';
import { crossplayCommand } from './crossplay.ts';

const folder = mkdtempSync(join(tmpdir(), 'lineup-'));
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  const small = {
    game: 'stag-hunt',
    steps: 100,
    worlds: 4,
    rollout: 8,
    network: { hidden: [8] },
    kernel: 'simd' as const,
  };
  const planner = { simulations: 8, samples: 2 };
  for (const algorithm of ['ppo', 'hop-planner'] as const) {
    const run = await trainInto(at(algorithm), { ...small, algorithm, planner });
    run.dispose();
  }
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

/** What a command prints, as JSON. */
async function told(command: ReturnType<typeof adaptCommand>, ...args: string[]): Promise<Record<string, never>> {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    lines.push(String(text));
    return true;
  });
  try {
    await command.exitOverride().parseAsync(['node', 'trueline', ...args, '--json']);
  } finally {
    spy.mockRestore();
  }
  return JSON.parse(lines.join(''));
}

describe('trueline adapt', () => {
  it('gives the return of every episode, as it is and while it learns, with intervals over lives', async () => {
    const args = ['--partners', `nearest-hare,${at('ppo')},random`, '--episodes', '2', '--lives', '3'];
    const { frozen, learning } = (await told(
      adaptCommand(),
      'stag-hunt',
      '--policy',
      at('hop-planner'),
      ...args,
    )) as never as Record<string, { mean: number; halfWidth: number }[]>;
    expect([frozen.length, learning.length]).toEqual([2, 2]);
    for (const { mean, halfWidth } of [...frozen, ...learning]) {
      expect(mean).toBeGreaterThanOrEqual(0);
      expect(halfWidth).toBeGreaterThanOrEqual(0);
    }
    const again = (await told(
      adaptCommand(),
      'stag-hunt',
      '--policy',
      at('hop-planner'),
      ...args,
      '--no-learn',
    )) as never as typeof frozen;
    expect((again as never as { frozen: unknown }).frozen).toEqual(frozen);
  }, 60_000);

  it('says what is wrong in a sentence', async () => {
    const bad = (...args: string[]) => told(adaptCommand(), 'stag-hunt', '--policy', at('ppo'), ...args);
    await expect(bad('--partners', 'random,random')).rejects.toThrow(/lists 2, but stag-hunt has 3 other seats/);
    await expect(bad('--partners', 'hop')).rejects.toThrow(/"hop" would learn, and nobody learns here/);
    await expect(bad('--partners', 'wolf')).rejects.toThrow(/has no player "wolf"/);
    await expect(told(adaptCommand(), 'snowdrift', '--policy', at('ppo'), '--partners', 'random')).rejects.toThrow(
      /was trained on stag-hunt, which has 128 observation where snowdrift has/,
    );
  });
});

describe('trueline crossplay', () => {
  it('gives the matrix of who earns what beside whom, and a page of it', async () => {
    const page = at('matrix.html');
    const { matrix } = (await told(
      crossplayCommand(),
      at('ppo'),
      'nearest-stag',
      'nearest-hare',
      '--episodes',
      '200',
      '--html',
      page,
    )) as never as {
      matrix: { mean: number; halfWidth: number; episodes: number }[][];
    };
    expect(matrix.map((row) => row.length)).toEqual([3, 3, 3]);
    // Four who hunt the stag, and four who hunt hares, as measured elsewhere: 2.85 and 0.86.
    expect(Math.abs(matrix[1][1].mean - 2.85)).toBeLessThan(0.4);
    expect(Math.abs(matrix[2][2].mean - 0.86)).toBeLessThan(0.12);
    expect(matrix[1][2].mean).toBeLessThan(matrix[1][1].mean);
    const text = readFileSync(page, 'utf8');
    expect(text.match(/<tr>/g)?.length).toBe(4);
    expect(text).toContain('nearest-stag');
  }, 60_000);

  it('says whom the game does not know before anybody plays', async () => {
    await expect(told(crossplayCommand(), at('ppo'), 'wolf')).rejects.toThrow(BadInput);
    await expect(told(crossplayCommand(), at('ppo'), 'wolf')).rejects.toThrow(/has no player "wolf"/);
  });
});
