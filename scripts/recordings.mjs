/** `node scripts/recordings.mjs`: makes the small recordings of test/recordings from the zoo, and from recordings.py what the zoo cannot have. One per cause, and one more for every transform and check that none of them shows yet. What is kept was diagnosed rightly when it was made. `node scripts/recordings.mjs CAUSE ...` makes only those causes' anew. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

ensureInstalled();
ensureBuilt();
const { diagnose } = await import('../dist/doctor/diagnose.js');
const { applyFault, faults, planningFaults, whyNot } = await import('../dist/faults/index.js');
const { createEngine } = await import('../dist/net/engine.js');
const { memoryStore, Recording, RecordingWriter } = await import('../dist/recording/index.js');
const { ZipBuilder } = await import('../dist/recording/files/zip.js');
const { folderStore } = await import('../dist/recording/node.js');
const { Trainer } = await import('../dist/training/trainer.js');
const { cleanStages } = await import('../dist/training/stages.js');

const run = (game, gameSettings, worlds, rollout, iterations, rest = {}) => ({
  iterations,
  settings: {
    game,
    gameSettings,
    worlds,
    rollout,
    steps: iterations * worlds * rollout * (gameSettings.seats ?? 4),
    guard: 'off',
    recording: { record: 'all' },
    network: { hidden: [8], head: 'fixed', ...rest.network },
    ppo: { epochs: 2, minibatches: 2, learningRate: 3e-3, ...rest.ppo },
  },
});
const echo = { seats: 2, length: 5, delay: 1 };
/** From the smallest on: the first in which the cause is named is kept. */
const setups = [
  run('echo', echo, 3, 10, 2),
  run('echo', echo, 4, 20, 3),
  run('stag-hunt', { horizon: 8 }, 3, 10, 2),
  run('stag-hunt', { horizon: 8 }, 4, 16, 4),
  run('echo', { ...echo, seats: 3 }, 6, 20, 6, { ppo: { epochs: 4 } }),
  run('stag-hunt', { horizon: 8 }, 6, 20, 6, { network: { hidden: [16] }, ppo: { epochs: 4 } }),
];
/** For faults of agents that plan. */
const plans = [2, 4].map((worlds) => {
  const { iterations, settings } = run('stag-hunt', { horizon: 8 }, worlds, 16, 3);
  const models = { hidden: [8], capacity: 128, window: 8, batch: 16, updates: 8 };
  return {
    iterations,
    settings: { ...settings, algorithm: 'hop-planner', planner: { simulations: 8, samples: 2, judged: 0.5, models } },
  };
});
const planning = new Set(planningFaults);
const seeds = [1, 2, 3];

const target = join(root, 'test', 'recordings');
const only = process.argv.slice(2);
for (const cause of only.length > 0 ? only : ['']) rmSync(join(target, cause), { recursive: true, force: true });
const all = [...faults, ...planningFaults];
const chosen = only.length > 0 ? all.filter(({ cause }) => only.includes(cause)) : all;
let engine = await createEngine({ kernel: 'simd', threads: 1 });
let trained = 0;

async function record({ settings, iterations }, stages) {
  // An engine keeps the memory of every policy it made.
  if (++trained % 16 === 0) {
    engine.dispose();
    engine = await createEngine({ kernel: 'simd', threads: 1 });
  }
  const trainer = new Trainer(settings, { engine, stages });
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, trainer.manifest());
  trainer.record(writer);
  for (let i = 0; i < iterations; i++) await trainer.iterate();
  await writer.close();
  return store;
}

async function keep(store, folder, name) {
  const builder = new ZipBuilder();
  const parts = [];
  for (const path of await store.list()) {
    const source = await store.open(path);
    parts.push(...(await builder.entry(path, [await source.read(0, source.size)], true)));
  }
  parts.push(...builder.end());
  mkdirSync(join(target, folder), { recursive: true });
  const bytes = Buffer.concat(parts);
  writeFileSync(join(target, folder, `${name}.zip`), bytes);
  return bytes.length;
}

/** What a diagnosis shows that another recording need not show again. */
function shown({ causes, remarks, checks }) {
  const [first] = [...causes, ...remarks];
  const transform = causes[0]?.transform ? [`transform ${causes[0].transform.id}`] : [];
  return [
    `cause ${first.id}`,
    ...transform,
    ...checks.filter(({ status }) => status === 'fail').map(({ id }) => `check ${id}`),
  ];
}

let bytes = 0;
for (const [i, setup] of only.length > 0 ? [] : setups.slice(0, 4).entries()) {
  const store = await record(setup, cleanStages);
  const { verdict } = await diagnose(await Recording.open(store));
  if (verdict === 'healthy') bytes += await keep(store, 'healthy', `${setup.settings.game}-${i + 1}`);
}
const seen = new Set();
const missing = [];

/** The smallest of the runs in which the cause is named first, and what it shows that none before it does. */
async function smallest(fault, tried) {
  for (const setup of tried) {
    if (whyNot(fault, setup.settings)) continue;
    for (const seed of seeds) {
      const { stages, settings } = applyFault(fault, seed, cleanStages, setup.settings);
      const store = await record({ ...setup, settings }, stages);
      const diagnosis = await diagnose(await Recording.open(store));
      if ([...diagnosis.causes, ...diagnosis.remarks][0]?.id !== fault.cause) continue;
      return { store, news: shown(diagnosis).filter((item) => !seen.has(item)) };
    }
  }
  return null;
}

async function keepNews(fault, { store, news }, name) {
  if (news.length === 0) return;
  const size = await keep(store, fault.cause, name);
  bytes += size;
  for (const item of news) seen.add(item);
  console.log(`${fault.cause}/${name}: ${Math.round(size / 1024)} kB, for ${news.join(', ')}`);
}

for (const fault of chosen) {
  const found = await smallest(fault, planning.has(fault) ? plans : setups);
  if (found) await keepNews(fault, found, fault.id);
  else missing.push(fault.id);
}
// What shows only in a longer run, or in another game.
for (const setup of [setups[1], setups[3]])
  for (const fault of chosen) {
    const found = await smallest(fault, [setup]);
    if (found) await keepNews(fault, found, `${fault.id}-longer`);
  }
engine.dispose();
// Faults that only another trainer can have.
const made = mkdtempSync(join(tmpdir(), 'recordings-'));
const python = spawnSync('/usr/bin/python3', [join(root, 'scripts', 'recordings.py'), made], { stdio: 'inherit' });
if (python.status !== 0) throw new Error('scripts/recordings.py needs Debian packages python3-numpy and python3-torch');
for (const cause of readdirSync(made).filter((name) => only.length === 0 || only.includes(name)))
  for (const name of readdirSync(join(made, cause))) {
    const store = await folderStore(join(made, cause, name));
    const diagnosis = await diagnose(await Recording.open(store));
    const told = cause === 'healthy' ? diagnosis.verdict : diagnosis.causes[0]?.id;
    if (told !== cause) throw new Error(`${cause}/${name} is called ${told ?? diagnosis.verdict}`);
    const size = await keep(store, cause, name);
    bytes += size;
    console.log(`${cause}/${name}: ${Math.round(size / 1024)} kB`);
  }
rmSync(made, { recursive: true });
console.log(`${Math.round(bytes / 1024)} kB in all; no small run shows ${missing.join(', ') || 'nothing less'}`);
