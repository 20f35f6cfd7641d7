/** What must hold of every reader under attack: no crash, no hang, no bomb, and nothing healthy said over damage. A case is its target and seed; what failed once is run first, for good. ATTACKS='a log: csv' takes one target, ATTACKS_CASES=500 so many cases. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RandomStream } from '../../src/math/random.ts';
import { BadInput } from '../../src/recording/bad-input.ts';
import { type Target, targets } from '../attacks/targets.ts';
import { type Figure, figure, peakMemory } from '../support.ts';

const longest = 5;
const largest = 512 * 2 ** 20;

interface Case {
  target: string;
  seed: number;
}

/** Cases that failed once. */
const kept = JSON.parse(readFileSync(join(process.cwd(), 'bench', 'attacks', 'kept.json'), 'utf8')) as Case[];

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const all = await targets(process.cwd());
  const wanted = Number(process.env.ATTACKS_CASES ?? (size === 'full' ? 20_000 : 300));
  const chosen = all.filter(({ name }) => name === (process.env.ATTACKS ?? name));
  const failures: (Case & { what: string })[] = [];
  const count = { crash: 0, hang: 0, bomb: 0, deceived: 0 };
  const deck = chosen.flatMap((target) => Array.from({ length: target.weight }, () => target));
  const cases: Case[] = [...kept];
  for (let seed = 1; cases.length < wanted + kept.length; seed++)
    cases.push({ target: deck[RandomStream.of(seed, 'target').below(deck.length)].name, seed });
  for (const [i, one] of cases.entries()) {
    const found = await attack(all.find(({ name }) => name === one.target)!, one.seed, size);
    for (const { kind, what } of found) {
      count[kind]++;
      if (failures.length < 20) failures.push({ ...one, what: `${kind}: ${what}` });
    }
    if ((i + 1) % 1000 === 0) say(`${i + 1} of ${cases.length} cases ...`);
  }
  for (const { target, seed, what } of failures) say(`${target}, seed ${seed}: ${what}`);
  return [
    figure('cases', cases.length, '', { least: wanted }),
    figure('crashes: an error that is no sentence for the user', count.crash, '', { most: 0 }),
    figure(`cases over ${longest} s`, count.hang, '', { most: 0 }),
    figure('cases over 512 MB', count.bomb, '', { most: 0 }),
    figure('verdicts of healthy over a damaged recording', count.deceived, '', { most: 0 }),
  ];
}

async function attack(
  target: Target,
  seed: number,
  size: 'full' | 'reduced',
): Promise<{ kind: 'crash' | 'hang' | 'bomb' | 'deceived'; what: string }[]> {
  const found: { kind: 'crash' | 'hang' | 'bomb' | 'deceived'; what: string }[] = [];
  // Linux forgets the peak of a process when asked to.
  writeFileSync('/proc/self/clear_refs', '5');
  const before = process.memoryUsage.rss();
  const [begun, used] = [performance.now(), process.cpuUsage()];
  // A promise that nobody awaits would end the program that runs this.
  const onRejection = (error: unknown) => found.push({ kind: 'crash', what: `nobody awaited: ${String(error)}` });
  process.on('unhandledRejection', onRejection);
  try {
    const { deceived } = await target.attack(RandomStream.of(seed, 'attack'));
    if (deceived) found.push({ kind: 'deceived', what: 'healthy' });
  } catch (error) {
    if (!(error instanceof BadInput)) found.push({ kind: 'crash', what: String((error as Error).stack).slice(0, 600) });
  }
  const elapsed = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(used);
  // Beside other tests the clock counts what those take, too; what only waits is given more of it. In full nothing else runs, and the clock counts.
  const busy = size === 'reduced' && elapsed <= 12 * longest;
  const seconds = busy ? Math.min(elapsed, (user + system) / 1e6) : elapsed;
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onRejection);
  if (seconds > longest) found.push({ kind: 'hang', what: `${seconds.toFixed(1)} s` });
  const grown = peakMemory() - before;
  if (grown > largest) found.push({ kind: 'bomb', what: `${Math.round(grown / 2 ** 20)} MB` });
  return found;
}
