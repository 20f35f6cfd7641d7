/** What must hold of every reader under attack: no crash, no hang, no bomb, and nothing healthy said over damage. A case is its target and seed; what failed once is run first, for good. */
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
  const wanted = size === 'full' ? 20_000 : 300;
  const failures: (Case & { what: string })[] = [];
  const count = { crash: 0, hang: 0, bomb: 0, deceived: 0 };
  const deck = all.flatMap((target) => Array.from({ length: target.weight }, () => target));
  const cases: Case[] = [...kept];
  for (let seed = 1; cases.length < wanted + kept.length; seed++)
    cases.push({ target: deck[RandomStream.of(seed, 'target').below(deck.length)].name, seed });
  for (const [i, one] of cases.entries()) {
    const found = await attack(all.find(({ name }) => name === one.target)!, one.seed);
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
): Promise<{ kind: 'crash' | 'hang' | 'bomb' | 'deceived'; what: string }[]> {
  const found: { kind: 'crash' | 'hang' | 'bomb' | 'deceived'; what: string }[] = [];
  // Linux forgets the peak of a process when asked to.
  writeFileSync('/proc/self/clear_refs', '5');
  const before = process.memoryUsage.rss();
  const begun = performance.now();
  try {
    const { deceived } = await target.attack(RandomStream.of(seed, 'attack'));
    if (deceived) found.push({ kind: 'deceived', what: 'healthy' });
  } catch (error) {
    if (!(error instanceof BadInput)) found.push({ kind: 'crash', what: String((error as Error).stack).slice(0, 600) });
  }
  const seconds = (performance.now() - begun) / 1000;
  if (seconds > longest) found.push({ kind: 'hang', what: `${seconds.toFixed(1)} s` });
  const grown = peakMemory() - before;
  if (grown > largest) found.push({ kind: 'bomb', what: `${Math.round(grown / 2 ** 20)} MB` });
  return found;
}
