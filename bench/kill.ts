/** Starts writers, kills them with SIGKILL at scattered moments, and reads what they left. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from '../src/recording/check/validate.ts';
import type { NumberColumn } from '../src/recording/column.ts';
import { openRecording } from '../src/recording/node.ts';

const rowsPerChunk = 500;

/** Writes rows for ever and says after each append how many were given. */
const script = (library: string) => `
import { createRecording } from ${JSON.stringify(library)};
const [folder, encoding] = process.argv.slice(2);
const writer = await createRecording(folder, { format: 'trueline/1' }, { encoding, chunkRows: ${rowsPerChunk} });
for (let given = 0; ; ) {
  const rows = 100;
  const numbers = (make) => Float64Array.from({ length: rows }, (_, i) => make(given + i));
  await writer.append('samples', {
    iteration: new Int32Array(rows), episode: numbers((i) => i), t: new Int32Array(rows), agent: new Int32Array(rows),
    old_logp: numbers((i) => -i), logits: { values: new Float32Array(rows * 8), offsets: Int32Array.from({ length: rows + 1 }, (_, i) => 8 * i) },
  });
  given += rows;
  process.stdout.write(given + '\\n');
}`;

async function killedAfter(file: string, path: string, encoding: string, delay: number): Promise<number> {
  const child = spawn(process.execPath, [file, path, encoding], { stdio: ['ignore', 'pipe', 'inherit'] });
  let given = 0;
  let tail = '';
  child.stdout.on('data', (data: Buffer) => {
    const lines = (tail + data.toString()).split('\n');
    tail = lines.pop() as string;
    if (lines.length > 0) given = Number(lines[lines.length - 1]);
  });
  await once(child.stdout, 'data');
  await new Promise((resolve) => setTimeout(resolve, delay));
  child.kill('SIGKILL');
  await once(child, 'close');
  return given;
}

/** How many recordings open with exactly the rows that were written, and the most chunks that one of them lacks. */
export async function killWriters(
  folder: string,
  encoding: 'npz' | 'parquet' | 'jsonl',
  kills: number,
  dist = join(process.cwd(), 'dist'),
): Promise<{ readable: number; chunksLost: number }> {
  const file = join(folder, 'writer.mjs');
  writeFileSync(file, script(join(dist, 'recording', 'node.js')));
  let readable = 0;
  let chunksLost = 0;
  for (let kill = 0; kill < kills; kill++) {
    const path = join(folder, `${encoding}-${kill}`);
    const given = await killedAfter(file, path, encoding, (kill * 37) % 61);
    const recording = await openRecording(path);
    // Killed before its first chunk, it opens and has no table yet.
    const { problems } = recording.tables.length > 0 ? await validate(recording) : { problems: [] };
    const { rows, columns } = await recording.read('samples', ['episode']);
    const episodes = (columns.get('episode') as NumberColumn | undefined)?.values;
    const whole =
      rows % rowsPerChunk === 0 &&
      (episodes === undefined || (episodes as Int32Array).every((value, i) => value === i));
    if (problems.length === 0 && whole) readable++;
    chunksLost = Math.max(chunksLost, Math.floor(given / rowsPerChunk) - rows / rowsPerChunk);
    rmSync(path, { recursive: true });
  }
  return { readable, chunksLost };
}
