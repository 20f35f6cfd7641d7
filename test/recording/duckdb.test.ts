import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { createRecording, openRecording, writeWhole } from '../../src/recording/node.ts';
import { plain } from '../support/arbitraries.ts';
import { temporaryFolder } from '../support/run.ts';

const folder = temporaryFolder();
const database = (await DuckDBInstance.create(':memory:')).connect();

async function query(sql: string): Promise<unknown[][]> {
  return (await (await database).runAndReadAll(sql)).getRowsJson() as unknown[][];
}

const samples = {
  iteration: Int32Array.of(0, 0, 1),
  episode: Int32Array.of(0, 0, 1),
  t: Int32Array.of(0, 1, 0),
  agent: Uint8Array.of(0, 1, 0),
  old_logp: Float32Array.of(-0.5, -1.5, -2.5),
  terminated: Uint8Array.of(0, 1, 0),
  logits: { values: Float32Array.of(1, 2, 3), offsets: Int32Array.of(0, 2, 2, 3) },
};

describe('DuckDB', () => {
  it.each(['parquet', 'jsonl', 'jsonl.gz'] as const)('reads what we write: %s', async (encoding) => {
    const path = join(folder, `ours-${encoding}`);
    const writer = await createRecording(path, { format: 'trueline/1' }, { encoding, chunkRows: 2 });
    await writer.append('samples', samples);
    await writer.append('samples', samples);
    await writer.close();
    const rows = await query(
      `SELECT iteration, t, agent, old_logp, terminated, logits FROM '${path}/samples/*.${encoding}' ORDER BY ALL`,
    );
    expect(rows).toHaveLength(6);
    const numbers = (value: unknown): unknown =>
      Array.isArray(value) ? value.map(numbers) : typeof value === 'string' ? Number(value) : value;
    expect(numbers(rows[0])).toEqual([0, 0, 0, -0.5, false, [1, 2]]);
    expect(rows[2][5]).toEqual([]);
  });

  it.each(['snappy', 'zstd', 'gzip', 'uncompressed'])('writes Parquet that we read: %s', async (codec) => {
    const path = join(folder, `theirs-${codec}`);
    await writeWhole(join(path, 'manifest.json'), [new TextEncoder().encode('{"format":"trueline/1"}')]);
    await writeWhole(join(path, 'samples', 'keep'), []);
    await query(`COPY (SELECT 0 AS iteration, i // 10 AS episode, i % 10 AS t, i % 3 AS agent, -ln(1 + i) AS old_logp,
      CASE WHEN i % 7 = 0 THEN NULL ELSE i / 2 END AS reward, i % 10 = 9 AS terminated, [i, i + 1, i + 2][1 : i % 4] AS subset,
      [(i / 4)::FLOAT, 0.5] AS logits, 'kind ' || (i % 5) AS note FROM range(5000) r(i))
      TO '${path}/samples/000000.parquet' (FORMAT parquet, COMPRESSION ${codec}, ROW_GROUP_SIZE 2048)`);
    const recording = await openRecording(path);
    const chunks: number[] = [];
    for await (const chunk of recording.chunks('samples')) chunks.push(chunk.rows);
    expect(chunks.length).toBeGreaterThan(1);
    const read = plain(await recording.read('samples'));
    const rows = Array.from({ length: 5000 }, (_, i) => i);
    expect(read.episode).toEqual(rows.map((i) => Math.floor(i / 10)));
    expect(read.reward).toEqual(rows.map((i) => (i % 7 === 0 ? Number.NaN : i / 2)));
    expect(read.terminated).toEqual(rows.map((i) => (i % 10 === 9 ? 1 : 0)));
    expect(read.subset).toEqual(rows.map((i) => [i, i + 1, i + 2].slice(0, i % 4)));
    expect(read.logits).toEqual(rows.map((i) => [Math.fround(i / 4), 0.5]));
    expect(read.note).toEqual(rows.map((i) => `kind ${i % 5}`));
    (read.old_logp as number[]).forEach((value, i) => {
      expect(value).toBeCloseTo(-Math.log(1 + i), 12);
    });
  });
});
