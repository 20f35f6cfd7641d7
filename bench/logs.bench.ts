/** A gigabyte of log, diagnosed in a process of its own: time of the clock, time of the processor (which counts where the machine is not quiet), and the most memory that it had. */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { event, eventFile, frame, simpleValue } from './import/events.ts';
import { type Figure, figure, output } from './support.ts';

export const parts = ['csv', 'jsonl', 'tensorboard', 'console'];

const names = ['episodic_return', 'approx_kl', 'clip_fraction', 'entropy', 'policy_loss', 'value_loss'];
const columns = [...names, 'explained_variance', 'learning_rate', 'grad_norm', 'advantage_mean', 'advantage_std'];
const gigabyte = 2 ** 30;

/** Numbers like those of a run that learns, with as many digits as programs write. */
function numbers(update: number): number[] {
  const wave = (k: number) => 0.1 * Math.sin(update * (0.7 + 0.13 * k));
  const done = 1 - Math.exp(-update / 1e6);
  return [
    20 + 400 * done + 20 * wave(0),
    0.012 * (1 + wave(1)),
    0.12 * (1 + wave(2)),
    0.65 - 0.4 * done + 0.05 * wave(3),
    -0.01 + 0.01 * wave(4),
    3 * (1.2 - done) * (1 + wave(5)),
    0.9 * done + 0.05 * wave(6),
    0.0003,
    0.4 * (1 + wave(7)),
    1e-9 * wave(8),
    1 + 1e-6 * wave(9),
  ];
}

const blocks: Record<string, (from: number, count: number) => Uint8Array> = {
  csv: (from, count) => lines(from, count, (step, values) => `${step},${values.join(',')}\n`),
  jsonl: (from, count) =>
    lines(from, count, (step, values) => {
      const row = Object.fromEntries(columns.map((name, i) => [`train/${name}`, values[i]]));
      return `${JSON.stringify({ step, ...row })}\n`;
    }),
  console: (from, count) =>
    lines(
      from,
      count,
      (step, values) =>
        `[update ${step}] ${columns.map((name, i) => `${name}: ${values[i].toPrecision(6)}`).join(', ')}\n`,
    ),
  tensorboard: (from, count) =>
    Uint8Array.from(
      Array.from({ length: count }, (_, k) =>
        numbers(from + k).map((value, i) =>
          frame(event(from + k, 1.7e9, [[`losses/${columns[i]}`, simpleValue(value)]])),
        ),
      ).flat(2),
    ),
};

function lines(from: number, count: number, line: (step: number, values: number[]) => string): Uint8Array {
  return new TextEncoder().encode(Array.from({ length: count }, (_, k) => line(from + k, numbers(from + k))).join(''));
}

/** One block is made and written again and again: making a gigabyte would take longer than reading it. */
export function write(file: string, part: string, size: number): void {
  const out = openSync(file, 'w');
  if (part === 'csv') writeSync(out, `global_step,${columns.join(',')}\n`);
  if (part === 'tensorboard') writeSync(out, eventFile());
  const block = blocks[part](1, part === 'tensorboard' ? 2000 : 20_000);
  for (let written = 0; written < size; written += block.length) writeSync(out, block);
  closeSync(out);
}

export async function bench(
  say: (line: string) => void,
  { size = gigabyte }: { size?: number } = {},
  wanted: readonly string[] = parts,
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'logs-'));
  const program = join(process.cwd(), 'build', 'bench', 'logs', 'diagnose-one.js');
  const figures: Figure[] = [];
  try {
    for (const part of wanted) {
      const file = join(
        folder,
        { csv: 'progress.csv', jsonl: 'log.jsonl', console: 'train.log' }[part] ?? 'events.out.tfevents.1',
      );
      say(`${part} ...`);
      write(file, part, size);
      const told = JSON.parse(output(process.execPath, [program, file]));
      const whole = statSync(file).size >= gigabyte;
      const note = `${(told.numbers / 1e6).toFixed(0)} million numbers; ${told.seconds.toFixed(0)} s by the clock`;
      figures.push(
        figure(`${part}: processor time`, told.cpu, 's', whole ? { most: 60 } : undefined, note),
        figure(`${part}: memory`, told.peak / 2 ** 20, 'MiB', { most: 500 }),
      );
      rmSync(file);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return figures;
}
