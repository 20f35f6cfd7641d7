import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRecording } from '../src/recording/node.ts';
import { validate } from '../src/recording/validate.ts';
import { plain } from './support/arbitraries.ts';
import { root, temporaryFolder } from './support/run.ts';

const folder = temporaryFolder();
const rowsPerChunk = 500;

/** Writes rows for ever and says after each append how many were given. */
const script = `
import { createRecording } from ${JSON.stringify(join(root, 'dist/recording/node.js'))};
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

/** Kills a writer at a random moment; gives how many rows it had been given at least. */
async function killedRun(path: string, encoding: string, delay: number): Promise<number> {
  const file = join(folder, 'writer.mjs');
  writeFileSync(file, script);
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

describe('a writer killed at any moment', () => {
  it.each(['npz', 'parquet', 'jsonl'])(
    'leaves a recording that opens, with all chunks but the last: %s',
    async (encoding) => {
      const kills = process.env.TRUELINE_ACCEPT ? 100 : 8;
      for (let kill = 0; kill < kills; kill++) {
        const path = join(folder, `${encoding}-${kill}`);
        const given = await killedRun(path, encoding, (kill * 37) % 61);
        const recording = await openRecording(path);
        // Killed before its first chunk, it has no table yet.
        if (recording.tables.length > 0) expect((await validate(recording)).problems).toEqual([]);
        const { rows, columns } = await recording.read('samples', ['episode', 'old_logp']);
        expect(rows % rowsPerChunk).toBe(0);
        expect(rows).toBeGreaterThanOrEqual(Math.floor(given / rowsPerChunk) * rowsPerChunk - rowsPerChunk);
        const expected = Array.from({ length: rows }, (_, i) => i);
        if (rows > 0) expect(plain({ rows, columns }, ['episode'])).toEqual({ episode: expected });
        rmSync(path, { recursive: true });
      }
    },
  );
});
