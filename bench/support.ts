/** What the benches share: interleaved medians, processes with their peak memory, and figures beside their goals. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { number, table } from '../src/report/table.ts';

export interface Figure {
  what: string;
  value: number;
  unit: string;
  /** What must hold, where something must: at most or at least this. */
  goal?: { most?: number; least?: number };
  met?: boolean;
  note?: string;
}

export function figure(what: string, value: number, unit: string, goal?: Figure['goal'], note?: string): Figure {
  const met =
    goal && value <= (goal.most ?? Number.POSITIVE_INFINITY) && value >= (goal.least ?? Number.NEGATIVE_INFINITY);
  return { what, value, unit, ...(goal ? { goal, met } : {}), ...(note ? { note } : {}) };
}

export function figureTable(figures: readonly Figure[]): string {
  const goal = ({ goal }: Figure) =>
    goal === undefined
      ? ''
      : goal.most !== undefined
        ? `at most ${number(goal.most)}`
        : `at least ${number(goal.least)}`;
  const rows = figures.map((item) => [
    item.what,
    `${number(item.value)} ${item.unit}`,
    goal(item),
    item.met === undefined ? '' : item.met ? 'met' : 'MISSED',
    item.note ?? '',
  ]);
  return table(['figure', 'measured', 'goal', '', ''], rows, ['left', 'right', 'right']);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Runs the contestants in turn, round after round, so that a slow moment of the machine hits all of them; medians in their order. */
export async function interleaved(
  rounds: number,
  contestants: readonly (() => Promise<number> | number)[],
): Promise<number[]> {
  const times: number[][] = contestants.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contestant] of contestants.entries()) times[i].push(await contestant());
  }
  return times.map(median);
}

export async function timed(work: () => Promise<unknown> | unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

/** A Python that has the modules; Debian's before any other. */
export function python(...modules: string[]): string {
  // Looked for and not imported: torch takes seconds to import.
  const look = `import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ${JSON.stringify(modules)})))`;
  const found = ['/usr/bin/python3', 'python3'].find((path) => spawnSync(path, ['-c', look]).status === 0);
  if (!found)
    throw new Error(
      `no Python with ${modules.join(' and ')} was found; apt-get install python3-${modules.join(' python3-')}`,
    );
  return found;
}

/** Runs a program to its end and gives its standard output. */
export function output(command: string, args: string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 1 << 28,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ').slice(0, 80)} ended with status ${status}`);
  return stdout;
}

/** The most memory that this process has had, in bytes; Linux tells it without sampling. */
export function peakMemory(): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  return line ? Number(line[1]) * 1024 : process.resourceUsage().maxRSS * 1024;
}
