/** What comes from outside beside files: words of a command, requests to the studio, settings as YAML. Commands run in this process, in a folder of their own, with tasks so small that what is not refused ends at once. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/cli/common/config.ts';
import { main } from '../../src/cli/main.ts';
import { studioApp } from '../../src/cli/studio/app.ts';
import { Jobs } from '../../src/cli/studio/jobs.ts';
import { Library } from '../../src/cli/studio/library.ts';
import { Shelf } from '../../src/cli/studio/shelf.ts';
import { FolderWatch } from '../../src/cli/studio/watch.ts';
import type { RandomStream } from '../../src/math/random.ts';
import { readSweep } from '../../src/sweep/file.ts';
import { readSettings } from '../../src/training/settings.ts';
import { pick, spoilJson, spoilText, writtenOut } from './mutate.ts';
import type { Target } from './targets.ts';

/** The tasks are these whatever else is said: the last of an option counts. */
const tiny = [
  ...['--set', 'worlds=2', '--set', 'rollout=8', '--set', 'network={"hidden":[4]}', '--set', 'ppo.epochs=1'],
  ...['--steps', '64', '--evaluate', '0', '--threads', '1', '--kernel', 'simd'],
];
const gone = ['--redis', 'redis://127.0.0.1:1'];

const commands: readonly (readonly string[])[] = [
  ['validate', 'echo', '--json', '--max-size', '64M'],
  ['inspect', 'echo', '--json', '--svg', 'made.svg'],
  ['inspect', 'echo', '--first', '--tensors'],
  ['diagnose', 'echo', '--json', '--only', 'finite', '--agent', 'player_1', '--ignore', 'non-finite'],
  ['diagnose', 'log.csv', '--html', 'made.html', '--max-size', '64M'],
  ['convert', 'echo', 'made', '--to', 'jsonl', '--compress'],
  ['import', 'log.csv', 'made', '--run', 'one', '--json'],
  ['export', 'echo', '--onnx', '--out', 'made'],
  ['compare', 'echo', '--svg', 'made.svg', '--html', 'made.html', '--json'],
  ['explain', 'advantage-time-shifted', '--json'],
  ['play', 'echo', '--players', 'random', '--episodes', '3', '--seed', '1', '--deal', '--svg', 'made.svg'],
  ['train', 'echo', '--seed', '3', '--algorithm', 'ppo', '--fault', 'advantage-late', '--out', 'made', ...tiny],
  ['train', '--resume', 'made', '--guard', 'warn', ...tiny],
  ['train', '--describe', '--json'],
  ['train', '--schema', 'made.json'],
  ['sweep', 'list.json', '--out', 'made', '--threads', '1', '--queue', 'x', ...gone],
  ['sweep', '--status', '--queue', 'x', '--out', 'made', ...gone],
  ['worker', '--queue', 'x', '--threads', '1', '--lease', '30', '--shared', 'made', ...gone],
  ['studio', 'echo', '--host', 'no.such.host.invalid', '--port', '70000', '--token', 'x'],
  ['symmetry', 'log.csv', '--json', '--seeds', '2'],
  ['zoo', 'list', '--json'],
];
const words = [
  ...['', '-', '--', '--help', '--version', '-V', '-x', '--json', '--set', '--out', '--max-size=1', '--no-color'],
  ...['../../x', 'echo/manifest.json', '\u001b[2J', '\0', '__proto__=1', 'a.__proto__.b=1', 'constructor', 'NaN'],
  ...['-1', '1e308', '99999999999999999999', '0', '1e3', '0x10', '\ud800', 'x'.repeat(5000), '=', 'ppo.clip='],
  ...['gameSettings.seats=1e9', 'players=[1]', 'network={"hidden":[1000000]}', 'worlds=1e12', '名', '"', "'", '%00'],
];

/** A word is another, gone, twice, or joined to the next; or there is one more. */
function spoilWords(random: RandomStream, given: readonly string[]): string[] {
  const args = [...given];
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = 1 + random.below(args.length);
    const way = random.below(6);
    if (way === 0) args.splice(at, 1);
    else if (way === 1 && at < args.length) args[at] = spoilText(random, args[at]).slice(0, 10_000);
    else if (way === 2 && at < args.length) args.splice(at, 0, args[at]);
    else if (way === 3 && at + 1 < args.length) args.splice(at, 2, `${args[at]}=${args[at + 1]}`);
    else args.splice(at, way === 4 ? 1 : 0, pick(random, words));
  }
  // A task that was made larger is made small again, and nothing is served.
  if (given[0] === 'studio') return [...args, '--port', '70000'];
  return given.includes('--steps') ? [...args, ...tiny] : args;
}

/** Runs a command and gives what it said; a status that no command has is a crash. */
async function command(args: readonly string[]): Promise<void> {
  const written = { out: process.stdout.write, err: process.stderr.write };
  let said = '';
  process.stdout.write = () => true;
  process.stderr.write = (text: string | Uint8Array) => {
    said += String(text);
    return true;
  };
  const before = process.exitCode;
  process.exitCode = 0;
  try {
    await main(args);
    const status = Number(process.exitCode);
    if (![0, 1, 2, 3].includes(status) || /\n +at /.test(said))
      throw new Error(`${JSON.stringify(args).slice(0, 400)} ended with ${status}: ${said.slice(0, 400)}`);
    if (status === 2 && said.trim() === '') throw new Error(`${JSON.stringify(args)} was refused without a word`);
  } finally {
    process.exitCode = before;
    Object.assign(process.stdout, { write: written.out });
    Object.assign(process.stderr, { write: written.err });
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  }
}

const yaml = `game: stag-hunt
gameSettings: { width: 4, height: 4 }
ppo:
  clip: 0.2
  rate: &rate 3.0e-4
players: [ppo, nearest-stag]
seed: 1
`;
const list = { base: { game: 'echo', steps: 64 }, vary: { 'ppo.clip': [0.1, 0.2] }, seeds: 2 };
const request = {
  name: 'x',
  settings: { game: 'echo', gameSettings: { seats: 2 }, steps: 1000 },
  fault: 'advantage-late',
};
const investigation = { name: 'x', game: 'echo', seeds: 2, steps: 1000, quick: true };
const paths = [
  ...[
    '/',
    '/index.html',
    '/api/runs',
    '/api/watch',
    '/api/queue',
    '/api/files/echo',
    '/api/curves/echo?points=9',
    '/api/examined/echo',
    '/file/echo/manifest.json',
  ],
  ...['/api/jobs/x/stop', '/file/echo/../../etc/passwd', '/file/%2e%2e/x', '/file/echo/%00', '/file/%', '/api/train/x'],
];

export async function outsideTargets(root: string): Promise<Target[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'trueline-attacks-'));
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
  const home = join(scratch, 'a', 'b', 'c');
  mkdirSync(home, { recursive: true });
  let cases = 0;
  /** A folder of its own, deep enough that a path that climbs stays in what is thrown away. */
  const begin = (): string => {
    const folder = join(home, String(cases++));
    mkdirSync(folder);
    cpSync(join(root, 'examples', 'echo'), join(folder, 'echo'), { recursive: true });
    writeFileSync(join(folder, 'log.csv'), 'step,approx_kl,entropy\n1,0.01,1.2\n2,0.02,1.1\n');
    writeFileSync(join(folder, 'list.json'), JSON.stringify(list));
    return folder;
  };
  const served = begin();
  const watch = new FolderWatch(served, 3_600_000);
  const jobs = await Jobs.open(served, join(served, 'none.mjs'));
  const app = studioApp({
    folder: served,
    assets: served,
    watch,
    jobs,
    library: new Library(served, join(served, 'kept')),
    shelf: new Shelf(served, served),
  });
  return [
    {
      name: 'words of a command',
      weight: 8,
      attack: async (random) => {
        const folder = begin();
        const back = process.cwd();
        process.chdir(folder);
        try {
          await command(spoilWords(random, pick(random, commands)));
        } finally {
          process.chdir(back);
          rmSync(folder, { recursive: true, force: true });
        }
        return {};
      },
    },
    {
      name: 'a request to the studio',
      weight: 20,
      attack: async (random) => {
        const [path, body] = pick(random, [
          ['/api/train', request] as const,
          ['/api/symmetry', investigation] as const,
          [pick(random, paths), {}] as const,
        ]);
        const method = pick(random, ['GET', 'POST', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE']);
        const headers: Record<string, string> = { Host: '127.0.0.1', 'Content-Type': 'application/json' };
        const odd = pick(random, ['Host', 'Origin', 'Range', 'Cookie', 'Content-Type', 'Content-Length', 'none']);
        const values = [
          '',
          'evil.example',
          'bytes=0-',
          'bytes=9-1',
          'bytes=99999999999999999999-',
          'null',
          '-1',
          'x=%',
        ];
        if (odd !== 'none') headers[odd] = pick(random, values);
        const asked = random.below(3) === 0 ? spoilText(random, path).replace(/[^\x21-\x7e]/g, '%') : path;
        const text = spoilText(random, writtenOut(spoilJson(random, body)));
        const whole = new Request(new URL(`http://127.0.0.1/${asked.replace(/^\/+/, '')}`), {
          method,
          headers,
          ...(method === 'GET' || method === 'HEAD' ? {} : { body: text }),
        });
        const answer = await app.request(whole);
        await answer.body?.cancel();
        if (answer.status >= 500) throw new Error(`${method} ${asked.slice(0, 200)}: ${answer.status}`);
        return {};
      },
    },
    {
      name: 'settings as YAML',
      weight: 10,
      attack: async (random) => {
        let text = yaml;
        for (let times = 1 + random.below(4); times > 0; times--) text = spoilText(random, text);
        if (random.below(20) === 0) text += 'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c, *rate]\n';
        const file = join(home, 'settings.yaml');
        writeFileSync(file, text);
        readSettings(await readConfig(file));
        return {};
      },
    },
    {
      name: 'a list of a sweep',
      weight: 10,
      attack: async (random) => {
        const file = join(home, 'sweep.json');
        writeFileSync(file, writtenOut(spoilJson(random, list)));
        readSweep(await readConfig(file));
        return {};
      },
    },
  ];
}
