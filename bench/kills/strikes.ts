/** Strikes a program at every call that changes the disk, again and again, and looks each time at what is left and whether it can be gone on with. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type How = 'before' | 'after' | 'torn' | 'full' | 'power';

export interface Target {
  name: string;
  hows: readonly How[];
  /** One way for each call, by turns, in place of all of them. */
  turns?: boolean;
  /** Makes what is there before the program runs. */
  prepare?(folder: string): Promise<void> | void;
  /** The program: what is started, with a folder of its own. */
  command(folder: string): { program: string; args: string[]; env?: Record<string, string> };
  /** Goes on after the strike, as a user would, until all is done. */
  recover(folder: string): Promise<void>;
}

export interface Struck {
  strikes: number;
  /** What did not hold, in a sentence each. */
  broken: string[];
}

/** A file of the user's beside what is written, which must never be touched. */
const own = { name: 'mine/20240101.jpg', text: 'a photograph' };

/** Sums of all files below a folder but what says how long something took or depends on when it was stopped. */
export function bits(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const newest = new Map<string, string>();
  for (const path of paths) if (path.endsWith('.checkpoint')) newest.set(join(path, '..'), path);
  for (const path of paths) {
    if (!statSync(join(folder, path)).isFile()) continue;
    if (path.endsWith('.checkpoint') && newest.get(join(path, '..')) !== path) continue;
    const bytes = readFileSync(join(folder, path));
    const text = path.endsWith('result.json') ? bytes.toString().replace(/"seconds": [\d.e+-]+/, '') : bytes;
    found[path] = createHash('sha256').update(text).digest('hex').slice(0, 16);
  }
  return found;
}

/** As it is in the source: it is loaded by programs that know nothing of the bench. */
const preload = join(process.cwd(), 'bench/kills/strike.mjs');

async function run(target: Target, folder: string, tally: string, how: How, at: number) {
  const { program, args, env = {} } = target.command(folder);
  const child = spawn(program, args, {
    env: {
      ...process.env,
      NO_COLOR: '1',
      NODE_OPTIONS: `--import ${preload}`,
      STRIKE_UNDER: folder,
      STRIKE_TALLY: tally,
      STRIKE_AT: String(at),
      STRIKE_HOW: how,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const [status, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { status, signal, said };
}

/** Every call is struck, or with `most` so many of them, spread evenly. */
export async function strike(
  target: Target,
  scratch: string,
  most: number,
  say: (line: string) => void,
): Promise<Struck> {
  const make = async (name: string) => {
    const folder = join(scratch, `${target.name}-${name}`);
    mkdirSync(join(folder, 'mine'), { recursive: true });
    writeFileSync(join(folder, own.name), own.text);
    await target.prepare?.(folder);
    return folder;
  };
  const whole = await make('whole');
  const tally = join(scratch, `${target.name}.tally`);
  const undisturbed = await run(target, whole, tally, 'before', 0);
  if (undisturbed.status !== 0) throw new Error(`${target.name}, undisturbed: ${undisturbed.said}`);
  await target.recover(whole);
  const wanted = bits(whole);
  const calls = statSync(tally).size;
  const strikes: { how: How; at: number }[] = [];
  for (let at = 1; at <= calls; at++)
    for (const [i, how] of target.hows.entries())
      if (!target.turns || (at - 1) % target.hows.length === i) strikes.push({ how, at });
  const every = Math.max(1, strikes.length / most);
  const chosen = strikes.filter((_, i) => Math.floor(i / every) !== Math.floor((i - 1) / every));
  say(`${target.name}: ${calls} calls that change the disk, ${chosen.length} strikes ...`);
  const broken: string[] = [];
  const one = async (i: number, { how, at }: (typeof chosen)[number]) => {
    const folder = await make(String(i));
    const own_ = `${tally}.${i}`;
    const complain = (what: string) => broken.push(`${target.name}, ${how} call ${at} of ${calls}: ${what}`);
    try {
      const { status, signal, said } = await run(target, folder, own_, how, at);
      const reached = existsSync(own_) && statSync(own_).size >= at;
      if (how === 'full') {
        // A file that the run can do without may be missing from a full disk; otherwise it says so and ends.
        if (status !== 0 && (status !== 2 || !/no room left/.test(said) || /\n +at /.test(said)))
          complain(`ended with ${status ?? signal}: ${said.slice(-300)}`);
      } else if (reached && signal !== 'SIGKILL') complain(`was not killed: ${status} ${said.slice(-300)}`);
      await target.recover(folder);
      const found = bits(folder);
      for (const path of new Set([...Object.keys(found), ...Object.keys(wanted)])) {
        if (found[path] !== wanted[path])
          complain(
            `${path} is ${found[path] === undefined ? 'missing' : wanted[path] === undefined ? 'left over' : 'another'}`,
          );
      }
    } catch (error) {
      complain((error as Error).message);
    }
    rmSync(folder, { recursive: true, force: true });
  };
  // Two at a time: most of a strike is the start of a program.
  const waiting = [...chosen.entries()];
  const hand = async () => {
    for (let next = waiting.shift(); next && broken.length < 20; next = waiting.shift()) await one(...next);
  };
  await Promise.all([hand(), hand()]);
  return { strikes: chosen.length, broken };
}
