/** One seed of each algorithm on three games gives the very bits that are kept here, and the native engine those of WASM. A change that alters them on purpose says so, and keeps the new ones (KEEP_BITS=1). */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../net/engine.ts';
import { buildNative, findCompiler, findNative } from '../net/native/node.ts';
import { packageRoot } from '../net/node.ts';
import type { Engine } from '../net/types.ts';
import { decodeCheckpoint } from './checkpoint.ts';
import type { SettingsInput } from './settings.ts';
import { Trainer } from './trainer.ts';

const file = new URL('./fixtures/bits.json', import.meta.url);
const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
const keep = process.env.KEEP_BITS === '1';

let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ kernel: 'simd', threads: 2 });
});
afterAll(() => {
  engine.dispose();
  if (keep) writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`);
});

const small: SettingsInput = {
  worlds: 8,
  rollout: 12,
  steps: 1_000_000,
  network: { hidden: [16] },
  ppo: { epochs: 2, minibatches: 2 },
  recording: { first: 3, every: 8 },
};

const stagHunt: SettingsInput = { ...small, game: 'stag-hunt' };
const echo: SettingsInput = { ...small, game: 'echo', gameSettings: { seats: 3 } };
const city: SettingsInput = { ...small, game: 'city', worlds: 2, collect: 'episodes', rollout: 1 };
const learning = { hidden: [8], batch: 16, updates: 2 };
const modules = {
  worldModel: { ...learning, members: 2 },
  otherAgents: learning,
  subgoals: { ...learning, size: 3 },
  // Any error is allowed, so that there are imagined rows from the first iteration on.
  imagination: { longest: 2, error: 1 },
};
const hop: SettingsInput = { ...small, algorithm: 'hop', hop: modules, worlds: 4 };

const runs: Record<string, SettingsInput> = {
  'ppo on stag-hunt': stagHunt,
  'ppo on city': city,
  'ppo on echo, shared, dealt, adaptive': {
    ...echo,
    sharing: 'shared',
    deal: true,
    ppo: { epochs: 2, minibatches: 3, adaptiveKl: 0.01, advantageNormalisation: 'minibatch', anneal: true },
  },
  'mappo on stag-hunt, shared': { ...stagHunt, algorithm: 'mappo', sharing: 'shared' },
  'mappo on city': { ...city, algorithm: 'mappo' },
  'mappo on echo, a random player': { ...echo, algorithm: 'mappo', players: ['learn', 'random', 'learn'] },
  'hop on stag-hunt': { ...hop, game: 'stag-hunt' },
  'hop on stag-hunt, shared, dealt': { ...hop, game: 'stag-hunt', sharing: 'shared', deal: true },
  'hop on snowdrift, no subgoals': { ...hop, game: 'snowdrift', hop: { ...modules, without: ['subgoals'] } },
};

class Hash {
  private readonly hash = createHash('sha256');

  add(value: unknown): this {
    if (ArrayBuffer.isView(value)) this.hash.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    else if (Array.isArray(value)) for (const item of value) this.add(item);
    else if (typeof value === 'object' && value !== null)
      for (const key of Object.keys(value).sort()) this.add(key).add((value as Record<string, unknown>)[key]);
    else this.hash.update(`${value};`);
    return this;
  }

  get text(): string {
    return this.hash.digest('hex').slice(0, 16);
  }
}

async function bits(settings: SettingsInput, iterations: number, engine: Engine): Promise<Record<string, string>> {
  const tables = new Map<string, Hash>();
  const trainer = new Trainer(settings, { engine });
  trainer.record({
    append: async (table, columns) => {
      const hash = tables.get(table) ?? new Hash();
      tables.set(table, hash.add(columns));
    },
    flush: async () => {},
    position: () => ({}),
    close: async () => {},
  });
  const reports = new Hash();
  for (let i = 0; i < iterations; i++) {
    // The name of a probe is a word about the run, and was told later than these bits were kept.
    const { probe: _, ...figures } = await trainer.iterate();
    reports.add(figures);
  }
  const { learners, worlds, crew } = decodeCheckpoint(await trainer.save());
  return {
    learners: new Hash().add(learners).text,
    worlds: new Hash().add(worlds).text,
    modules: new Hash().add(crew).text,
    reports: reports.text,
    ...Object.fromEntries([...tables].sort().map(([table, hash]) => [table, hash.text])),
  };
}

describe('a seed gives the same bits as it always did', () => {
  it.each(Object.keys(runs))('%s', { timeout: 300_000 }, async (name) => {
    const found = await bits(runs[name], 20, engine);
    if (keep) kept[name] = found;
    expect({ [name]: found }).toEqual({ [name]: kept[name] });
  });
});

const possible = 'addon' in findNative(packageRoot) || findCompiler() !== null;

describe.skipIf(!possible)('the native engine gives the same bits as WebAssembly', () => {
  const engines: Engine[] = [];
  beforeAll(async () => {
    if ('reason' in findNative(packageRoot)) buildNative(packageRoot);
    for (const name of ['wasm', 'native'] as const)
      engines.push(await createEngine({ engine: name, kernel: 'relaxed', threads: 2 }));
    return () => {
      for (const made of engines) made.dispose();
    };
  }, 300_000);

  it.each(Object.keys(runs))('%s', { timeout: 300_000 }, async (name) => {
    const [wasm, native] = [await bits(runs[name], 6, engines[0]), await bits(runs[name], 6, engines[1])];
    expect({ [name]: native }).toEqual({ [name]: wasm });
  });

  it('also where a run changes from one to the other', async () => {
    const settings: SettingsInput = { ...hop, game: 'stag-hunt' };
    const one = new Trainer(settings, { engine: engines[0] });
    const two = new Trainer(settings, { engine: engines[1] });
    for (let i = 0; i < 2; i++) await one.iterate();
    two.load(await one.save());
    await one.iterate();
    await two.iterate();
    expect(Buffer.from(await two.save()).equals(await one.save())).toBe(true);
  });
});
