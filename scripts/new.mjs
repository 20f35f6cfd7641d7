/** `npm run new -- game|fault|cause|algorithm NAME`: writes a skeleton that works, with its test, and lists it where its kind is listed. TRUELINE_ROOT names another checkout. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root as here } from './setup.mjs';

const root = process.env.TRUELINE_ROOT ?? here;
const usage =
  'npm run new -- game|fault|algorithm NAME, or npm run new -- cause GROUP/NAME; NAME is words-with-hyphens';
const groups = { replay: 'A', credit: 'B', gradient: 'C', network: 'D', reading: 'E', symmetry: 'F' };

const [kind, path = ''] = process.argv.slice(2);
const name = path.split('/').at(-1);
const camel = name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const title = camel[0]?.toUpperCase() + camel.slice(1);

function stop(sentence) {
  console.error(`new: ${sentence}`);
  process.exit(2);
}

/** Every change is made in memory first, so that a refusal leaves nothing behind. */
const writes = new Map();
const create = (file, text) => {
  if (existsSync(join(root, file))) stop(`${file} is there already; choose another name`);
  writes.set(file, text);
};
const edit = (file, mark, put) => {
  const text = writes.get(file) ?? readFileSync(join(root, file), 'utf8');
  if (!text.includes(mark)) stop(`${file} no longer has the line ${JSON.stringify(mark)}; add ${name} by hand`);
  writes.set(file, text.replace(mark, put));
};

const makers = {
  game() {
    const folder = `src/games/${name}`;
    create(
      `${folder}/game.ts`,
      `/** ${title}: choose the symbol that is shown. Every step pays 1 for the right one. */
import { z } from 'zod';
import type { RandomStream } from '../../math/random.ts';
import { IndependentSeats } from '../independent.ts';

export const ${camel}Settings = z.strictObject({
  seats: z.int().min(1).max(64).default(2).describe('How many seats play side by side, each for itself.'),
  symbols: z.int().min(2).max(64).default(4).describe('How many symbols there are; each is one action.'),
  length: z.int().min(1).max(1000).default(10).describe('Steps in an episode.'),
});
export type ${title}Settings = z.infer<typeof ${camel}Settings>;

/** Memory of a place: steps taken, then the symbol that is shown. */
export class ${title} extends IndependentSeats {
  private readonly own: ${title}Settings;

  constructor(settings: ${title}Settings, worlds: number) {
    const { seats, symbols, length } = settings;
    const shape = { seats, observation: symbols, actions: symbols, candidates: symbols, features: 0, horizon: length };
    super('${name}', settings, shape, worlds, 2);
    this.own = settings;
  }

  protected begin(place: number, stream: RandomStream): void {
    this.show(place, stream);
  }

  protected play(place: number, choice: number, stream: RandomStream): void {
    const base = place * this.words;
    this.reward[place] = choice === this.memory[base + 1] ? 1 : 0;
    if (++this.memory[base] === this.own.length) this.terminated[place] = 1;
    this.show(place, stream);
  }

  /** Also after the last step, where only the observation is of use. */
  private show(place: number, stream: RandomStream): void {
    const { symbols } = this.own;
    const symbol = stream.below(symbols);
    this.memory[place * this.words + 1] = symbol;
    this.obs.fill(0, place * symbols, (place + 1) * symbols);
    this.obs[place * symbols + symbol] = 1;
  }
}
`,
    );
    create(
      `${folder}/game.test.ts`,
      `import { describe, expect, it } from 'vitest';
import { assertGame, gameMaker, gameOptimum, makeGame, makePlayer, meanBySeat, playEpisodes } from '../index.ts';

describe('${name}', () => {
  it('is a game: shapes, legality, determinism, ends, saving and relabelled seats', () => {
    assertGame(gameMaker('${name}'));
  });

  it('pays random players one step in as many as there are symbols', () => {
    const game = makeGame('${name}', { symbols: 4, length: 10 }, 16);
    const players = Array.from({ length: game.shape.seats }, () => makePlayer('random', game));
    for (const { mean } of meanBySeat(playEpisodes(game, players, 2000, 1))) expect(mean).toBeCloseTo(2.5, 0);
    expect(gameOptimum('${name}')).toBe(10);
  });
});
`,
    );
    const index = 'src/games/index.ts';
    edit(
      index,
      "import { GameRefusal } from './refusal.ts';",
      `import { GameRefusal } from './refusal.ts';\nimport { ${title}, ${camel}Settings } from './${name}/game.ts';`,
    );
    edit(
      index,
      '\n];\n\n/**',
      `
  entry({
    name: '${name}',
    summary: 'Choose the symbol that is shown.',
    schema: ${camel}Settings,
    make: (settings, worlds) => new ${title}(settings, worlds),
    optimum: (settings) => settings.length,
  }),
];

/**`,
    );
    return [folder, `Write the rules into game.ts; then: npm start -- train ${name}`];
  },

  fault() {
    create(
      `src/faults/${name}.ts`,
      `/** Faults: ${name}. Each replaces one stage from outside; the seed draws how strongly. */
import { between, type Fault, rounded } from './fault.ts';

export const ${camel}Faults: readonly Fault[] = [
  {
    id: '${name}',
    cause: 'return-inconsistent',
    stage: 'credit',
    sentence: 'Every return is multiplied after the advantages were computed.',
    shows: ['samples.return'],
    make(stream) {
      const factor = rounded(between(stream, 1.5, 3));
      return {
        strength: { factor },
        stages: (clean) => ({
          credit(batch, ppo) {
            clean.credit(batch, ppo);
            for (let row = 0; row < batch.rows; row++) batch.return[row] *= factor;
          },
        }),
      };
    },
  },
];
`,
    );
    create(
      `src/faults/${name}.test.ts`,
      `import { describe, expect, it } from 'vitest';
import { createEngine } from '../net/engine.ts';
import { memoryStore, Recording, RecordingWriter } from '../recording/index.ts';
import { Trainer } from '../training/trainer.ts';
import { applyFault, effect, findFault } from './index.ts';

const settings = { game: 'echo', seed: 1, worlds: 8, rollout: 16, kernel: 'simd' as const, network: { hidden: [8] } };

async function recorded(fault?: string): Promise<Recording> {
  const broken = fault ? applyFault(findFault(fault), 1, undefined, settings) : undefined;
  const engine = await createEngine({ kernel: 'simd', threads: 1 });
  const trainer = new Trainer(broken?.settings ?? { ...settings, guard: 'off' }, { engine, ...(broken ? { stages: broken.stages } : {}) });
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, trainer.manifest());
  trainer.record(writer);
  await trainer.iterate();
  await writer.close();
  engine.dispose();
  return Recording.open(store);
}

describe('${name}', () => {
  it('changes the columns that it says it shows in', async () => {
    const changed = await effect(await recorded('${name}'), await recorded());
    const names = changed.map(({ table, column }) => \`\${table}.\${column}\`);
    for (const column of findFault('${name}').shows) expect(names).toContain(column);
  });
});
`,
    );
    const index = 'src/faults/index.ts';
    edit(
      index,
      "import type { Fault, Strength } from './fault.ts';",
      `import type { Fault, Strength } from './fault.ts';\nimport { ${camel}Faults } from './${name}.ts';`,
    );
    edit(index, '  ...readingFaults,\n', `  ...readingFaults,\n  ...${camel}Faults,\n`);
    return [
      `src/faults/${name}.ts`,
      `Say what goes wrong, and name its cause; then: npm start -- train echo --fault ${name}`,
    ];
  },

  cause() {
    const [group] = path.split('/');
    if (!(group in groups) || group === name)
      stop(`a cause has a group: GROUP/NAME with GROUP one of ${Object.keys(groups).join(', ')}`);
    const folder = `src/doctor/causes/${group}/${name}`;
    create(
      `${folder}/cause.ts`,
      `/** What goes wrong, in one sentence. */
import type { CauseEntry } from '../../cause.ts';

export const ${camel}: CauseEntry = {
  id: '${name}',
  group: '${groups[group]}',
  place: ${nextPlace()},
  meaning: 'What goes wrong, in one sentence.',
  toldApart: 'What tells it from its neighbours.',
  symptoms: ['what its victims usually see'],
  // Where no transform undoes its rows: the picture of the run that shows it.
  pictures: ['kl'],
  proof: 'How a diagnosis proves it.',
  remedy: 'What to change, in one sentence.',
  pytorch: '# the same as code',
  trueline: '// the same as code',
  chinese: {
    symptoms: ['受影响的人通常看到什么'],
    meaning: '用一句话说明出了什么问题。',
    remedy: '用一句话说明应当修改什么。',
    toldApart: '如何与相近的原因区分。',
    proof: '诊断如何证明它。',
  },
};
`,
    );
    const list = 'src/doctor/causes.ts';
    edit(
      list,
      "import type { CauseEntry } from './causes/cause.ts';",
      `import type { CauseEntry } from './causes/cause.ts';\nimport { ${camel} } from './causes/${group}/${name}/cause.ts';`,
    );
    const text = writes.get(list);
    const first = /(readonly CauseEntry\[\] = \[)/.exec(text)?.[1];
    if (!first) stop(`${list} no longer has its list of causes; add ${camel} by hand`);
    edit(list, first, `${first}\n  ${camel},`);
    const check = groups[group] === 'F' ? '' : ' Add its id to the `causes` of the check that finds it.';
    return [folder, `Write its texts.${check} Then: node scripts/docs.mjs`];
  },

  algorithm() {
    const folder = `src/algorithms/${name}`;
    create(
      `${folder}/${name}.ts`,
      `/** ${title}: the loss and the update of PPO, until it has its own. */
import type { Algorithm } from '../algorithm.ts';
import { ppo } from '../ppo/ppo.ts';

export const ${camel}: Algorithm = {
  ...ppo,
  name: '${name}',
  meaning: 'what sets it apart, in a few words',
};
`,
    );
    create(
      `${folder}/${name}.test.ts`,
      `import { describe, expect, it } from 'vitest';
import { createEngine } from '../../net/engine.ts';
import { Trainer } from '../../training/trainer.ts';

describe('${name}', () => {
  it('trains an iteration, and twice the same', async () => {
    const engine = await createEngine({ kernel: 'simd', threads: 1 });
    const settings = { game: 'echo', algorithm: '${name}' as const, seed: 1, worlds: 8, rollout: 16, network: { hidden: [8] } };
    const [once, again] = [new Trainer(settings, { engine }), new Trainer(settings, { engine })];
    const report = await once.iterate();
    expect(report.rows).toBeGreaterThan(0);
    expect((await again.iterate()).readings).toEqual(report.readings);
    engine.dispose();
  });
});
`,
    );
    const index = 'src/algorithms/index.ts';
    edit(
      index,
      'import { type HopSettings,',
      `import { ${camel} } from './${name}/${name}.ts';\nimport { type HopSettings,`,
    );
    edit(index, '] as const;', `, '${name}'] as const;`);
    edit(
      index,
      "  'hop-planner': hopPlanner,\n",
      `  'hop-planner': hopPlanner,\n  ${camel === name ? name : `'${name}': ${camel}`},\n`,
    );
    return [folder, `Write its loss and update; then: npm start -- train echo --algorithm ${name}`];
  },
};

/** After every other place, until somebody says where in the flow it strikes. */
function nextPlace() {
  const places = [
    ...readFileSync(join(root, 'src/doctor/causes.ts'), 'utf8').matchAll(/'(\.\/causes\/.*?\/cause\.ts)'/g),
  ].map(([, file]) => Number(/place: (\d+)/.exec(readFileSync(join(root, 'src/doctor', file), 'utf8'))?.[1] ?? 0));
  return Math.max(0, ...places) + 10;
}

if (!Object.hasOwn(makers, kind ?? '')) stop(usage);
if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) stop(usage);
const [made, next] = makers[kind]();
for (const [file, text] of writes) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}
console.log(`Made ${made}.\n${next}\nnpm run fix formats it, and npm run check runs its test.`);
