/** Strikes a program at every call that changes the disk, again and again, and looks each time at what is left and whether it can be gone on with. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { timeFile } from '../../src/recording/run-files.ts';
import type { Program } from './programs.ts';
import { onSmallDisks } from './small-disk.ts';

export type How = 'before' | 'after' | 'torn' | 'full' | 'power';

export interface Target {
  name: string;
  hows: readonly How[];
  /** One way for each call, by turns, in place of all of them. */
  turns?: boolean;
  /** Is also run on real disks that are too small for it. */
  smallDisk?: boolean;
  /** Makes what is there before the program runs. */
  prepare?(folder: string): Promise<void> | void;
  /** The program: what is started, with a folder of its own. */
  command(folder: string): Program;
  /** What happens beside it while it runs. */
  during?(folder: string, child: ChildProcess): Promise<void>;
  /** Goes on after the strike, as a user would, until all is done. */
  recover(folder: string): Promise<void>;
  /** Ends what the target needed. */
  end?(): Promise<void>;
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

export interface Ended {
  status: number | null;
  signal: string | null;
  said: string;
}

/** With a strike, or undisturbed where there is none. */
export async function run(
  target: Target,
  folder: string,
  strike?: { tally: string; how: How; at: number },
): Promise<Ended> {
  const { program, args, env = {} } = target.command(folder);
  const child = spawn(program, args, {
    env: {
      ...process.env,
      NO_COLOR: '1',
      ...(strike && {
        NODE_OPTIONS: `--import ${preload}`,
        STRIKE_UNDER: folder,
        STRIKE_TALLY: strike.tally,
        STRIKE_AT: String(strike.at),
        STRIKE_HOW: strike.how,
      }),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said += data.toString();
  });
  const closed = once(child, 'close');
  if (target.during) await Promise.race([closed, target.during(folder, child)]);
  const [status, signal] = (await closed) as [number | null, string | null];
  return { status, signal, said };
}

/** On a full disk a program does without a file that it can do without, or says in one sentence where there is no room, and ends with 2. */
export function endedWrongly({ status, signal, said }: Ended, folder: string): string | undefined {
  if (status === 0) return undefined;
  if (status === 2 && /no room left/.test(said) && said.includes(folder) && !/\n +at /.test(said)) return undefined;
  return `ended with ${status ?? signal}: ${said.slice(-300)}`;
}

/** For how long a run was written to is another each time, and no part of it. */
export function differences(found: Record<string, string>, wanted: Record<string, string>): string[] {
  return [...new Set([...Object.keys(found), ...Object.keys(wanted)])]
    .filter((path) => found[path] !== wanted[path] && basename(path) !== timeFile)
    .map((path) => {
      if (found[path] === undefined) return `${path} is missing`;
      return wanted[path] === undefined ? `${path} is left over` : `${path} is another`;
    });
}

/** Every call is struck, or with `most` so many of them, spread evenly. */
export async function strike(
  target: Target,
  scratch: string,
  most: number,
  say: (line: string) => void,
): Promise<Struck> {
  const make = async (name: string, before?: (folder: string) => void) => {
    const folder = join(scratch, `${target.name}-${name}`);
    mkdirSync(folder);
    before?.(folder);
    mkdirSync(join(folder, 'mine'));
    writeFileSync(join(folder, own.name), own.text);
    await target.prepare?.(folder);
    return folder;
  };
  const whole = await make('whole');
  const tally = join(scratch, `${target.name}.tally`);
  const undisturbed = await run(target, whole, { tally, how: 'before', at: 0 });
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
    // At once: who ends a long run early still knows what it found.
    const complain = (what: string) => {
      broken.push(`${target.name}, ${how} call ${at} of ${calls}: ${what}`);
      say(broken[broken.length - 1]);
    };
    try {
      const { status, signal, said } = await run(target, folder, { tally: own_, how, at });
      const reached = existsSync(own_) && statSync(own_).size >= at;
      if (how === 'full') {
        // A file that the run can do without may be missing from a full disk; otherwise it says so and ends.
        const wrong = endedWrongly({ status, signal, said }, folder);
        if (wrong) complain(wrong);
      } else if (reached && signal !== 'SIGKILL') complain(`was not killed: ${status} ${said.slice(-300)}`);
      await target.recover(folder);
      for (const difference of differences(bits(folder), wanted)) complain(difference);
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
  const disks = target.smallDisk ? await onSmallDisks(target, make, wanted, scratch, most, say) : undefined;
  broken.push(...(disks?.broken ?? []));
  await target.end?.();
  return { strikes: chosen.length + (disks?.strikes ?? 0), broken };
}
