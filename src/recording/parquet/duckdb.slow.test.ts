import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memory, readAll, tables } from '../../../test/support/parquet.ts';
import { BadInput } from '../bad-input.ts';
import type { Column, NumberColumn } from '../column.ts';
import { openParquet, writeParquet } from './index.ts';
import { readStruct } from './thrift.ts';

let folder: string;
let duckdb: DuckDBConnection;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parquet-'));
  duckdb = await (await DuckDBInstance.create(':memory:')).connect();
  await duckdb.run('SET threads = 1');
});
afterAll(async () => {
  duckdb.closeSync();
  await rm(folder, { recursive: true });
});

/** What DuckDB writes for a query. */
async function written(query: string, options: string): Promise<Uint8Array> {
  const path = join(folder, 'theirs.parquet');
  await duckdb.run(`COPY (${query}) TO '${path}' (FORMAT parquet, ${options})`);
  return new Uint8Array(await readFile(path));
}

/** The rows of a column as plain values. */
function plain(column: Column): unknown[] {
  if (column.kind === 'text') return column.values;
  const { values, offsets, kind } = column;
  const items = Array.from(values as ArrayLike<number | bigint>, (value) => (kind === 'bool' ? value === 1 : value));
  if (!offsets) return items;
  return Array.from({ length: column.rows }, (_, row) => items.slice(offsets[row]!, offsets[row + 1]!));
}

async function columnOf(bytes: Uint8Array, name: string): Promise<unknown[]> {
  return (await readAll(bytes)).flatMap((group) => plain(group.get(name)!));
}

const QUERY = `SELECT i::INTEGER AS episode, (i % 4)::UTINYINT AS agent, (i % 200 - 100)::TINYINT AS tiny, (i * 3)::USMALLINT AS small,
    (4294967295 - i)::UINTEGER AS seed, i::BIGINT AS step, (i * 1000000007)::BIGINT AS wide, (9223372036854775807 - i)::BIGINT AS huge,
    (18446744073709551615 - i)::UBIGINT AS hash, (i / 7)::FLOAT AS reward, (i / 7)::DOUBLE AS value, i % 3 = 0 AS terminated,
    'kind ' || (i % 9) AS "group", [(i * k) % 40 for k in range(i % 9)]::INTEGER[] AS subset, [k % 2 = i % 2 for k in range(i % 5)] AS legal,
    [(i / (k + 1))::FLOAT for k in range(i % 9)] AS logits, [(i / (k + 1))::DOUBLE for k in range(8)] AS obs
  FROM range(5000) r(i) ORDER BY i`;

describe('a Parquet file of DuckDB', () => {
  const encodings = ['snappy', 'zstd', 'gzip', 'uncompressed'].flatMap((codec) =>
    ['V1', 'V2'].map((version) => `COMPRESSION ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE 2048`),
  );
  it.each(encodings)('is read value by value as DuckDB itself reads it: %s', async (options) => {
    const bytes = await written(QUERY, options);
    const table = await openParquet(memory(bytes));
    expect(table.rows).toBe(5000);
    expect(table.rowGroups.map((group) => group.rows)).toEqual([2048, 2048, 904]);
    const wanted = (await duckdb.runAndReadAll(QUERY)).getColumnsObjectJS();
    const groups = await readAll(bytes);
    for (const { name } of table.columns) {
      const found = groups.flatMap((group) => plain(group.get(name)!));
      // Narrowed integers are compared as numbers: DuckDB gives every 64-bit one as a bigint.
      const narrowed = wanted[name]!.map((value) =>
        typeof value === 'bigint' && typeof found[0] !== 'bigint' ? Number(value) : value,
      );
      expect(found, name).toEqual(narrowed);
    }
    const types = Object.fromEntries([...groups[0]!].map(([name, column]) => [name, column.values.constructor.name]));
    expect(types).toMatchObject({
      agent: 'Uint8Array',
      tiny: 'Int8Array',
      small: 'Uint16Array',
      seed: 'Uint32Array',
      step: 'Int32Array',
      huge: 'BigInt64Array',
      hash: 'BigUint64Array',
      reward: 'Float32Array',
      value: 'Float64Array',
      terminated: 'Uint8Array',
      subset: 'Int32Array',
      legal: 'Uint8Array',
      logits: 'Float32Array',
    });
    expect(groups[2]!.get('wide')!.values).toBeInstanceOf(Float64Array);
  });

  it('has its nulls told and turned into NaN, and its null lists into empty ones', async () => {
    const bytes = await written(
      `SELECT CASE WHEN i % 7 = 3 THEN NULL ELSE i END::INTEGER AS seat, CASE WHEN i % 7 = 4 THEN NULL ELSE i / 2 END::FLOAT AS value,
        CASE WHEN i = 5 THEN NULL ELSE i % 2 = 0 END AS truncated, CASE WHEN i = 6 THEN NULL ELSE 'x' END AS "group", NULL::DOUBLE AS reward,
        CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN [] WHEN 2 THEN [NULL, i] ELSE [i, 1, 2] END::FLOAT[] AS logits
      FROM range(3000) r(i) ORDER BY i`,
      'COMPRESSION snappy, ROW_GROUP_SIZE 122880',
    );
    const [group] = await readAll(bytes);
    const seat = group!.get('seat')!;
    expect(seat).toMatchObject({ kind: 'float', nullAt: 3, nulls: 429 });
    expect(plain(seat).slice(0, 5)).toEqual([0, 1, 2, Number.NaN, 4]);
    expect(group!.get('value')).toMatchObject({ kind: 'float', nullAt: 4 });
    expect(plain(group!.get('value')!).slice(3, 6)).toEqual([1.5, Number.NaN, 2.5]);
    expect(plain(group!.get('truncated')!).slice(4, 7)).toEqual([1, Number.NaN, 1]);
    expect(plain(group!.get('group')!).slice(5, 8)).toEqual(['x', '', 'x']);
    expect(group!.get('reward')).toMatchObject({ kind: 'float', nulls: 3000, nullAt: 0 });
    expect(plain(group!.get('logits')!).slice(0, 8)).toEqual([
      [],
      [],
      [Number.NaN, 2],
      [3, 1, 2],
      [],
      [],
      [Number.NaN, 6],
      [7, 1, 2],
    ]);
  });

  it('is refused where a list of integers has a null in it', async () => {
    const bytes = await written('SELECT [1, NULL]::INTEGER[] AS subset', 'COMPRESSION snappy');
    await expect(readAll(bytes)).rejects.toThrow('x.parquet, subset: a list of integers has a null in it');
  });

  it('has the columns listed that have no form here, and the others read', async () => {
    const bytes = await written(
      "SELECT 7 AS t, {a: 1, b: 'x'} AS s, TIMESTAMP '2020-01-01' AS at, [[1]] AS nested, 1.5::DECIMAL(5, 2) AS price, 'x'::BLOB AS raw, 8 AS agent",
      'COMPRESSION snappy',
    );
    const table = await openParquet(memory(bytes));
    expect(table.columns.map((column) => column.name)).toEqual(['t', 'agent']);
    expect(table.unreadable.map((column) => column.name)).toEqual(['s', 'at', 'nested', 'price', 'raw']);
    expect(await columnOf(bytes, 'agent')).toEqual([8]);
    await expect(table.readColumns(['at'], 0)).rejects.toThrow('x.parquet, at: it is of type TIMESTAMP');
  });

  it('without rows keeps its columns', async () => {
    const bytes = await written('SELECT 1 AS t, [1.5::FLOAT] AS logits WHERE false', 'COMPRESSION snappy');
    const [group] = await readAll(bytes);
    expect(group!.get('t')).toMatchObject({ kind: 'int', rows: 0 });
    expect((group!.get('logits') as NumberColumn).offsets).toEqual(Int32Array.of(0));
  });

  it('gives a sentence or a whole table when it is damaged anywhere, in any codec', async () => {
    const query = `SELECT i::INTEGER AS t, i % 5 AS agent, (i / 7)::FLOAT AS reward, 'kind ' || (i % 9) AS "group",
      CASE WHEN i % 9 = 0 THEN NULL ELSE [k + i for k in range(i % 5)] END::FLOAT[] AS logits FROM range(400) r(i)`;
    const files: Uint8Array[] = [];
    for (const codec of ['snappy', 'gzip', 'zstd', 'uncompressed']) {
      for (const version of ['V1', 'V2'])
        files.push(await written(query, `COMPRESSION ${codec}, PARQUET_VERSION ${version}`));
    }
    const change = fc.record({
      file: fc.nat(files.length - 1),
      at: fc.nat(),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
      removed: fc.constantFrom(0, 0, 0, 1, 5),
    });
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(change, async ({ file, at, bytes, removed }) => {
        const whole = files[file]!;
        const damaged = whole.slice();
        const place = at % whole.length;
        damaged.set(bytes.subarray(0, whole.length - place), place);
        try {
          const groups = await readAll(
            removed ? Uint8Array.from([...damaged.subarray(0, place), ...damaged.subarray(place + removed)]) : damaged,
          );
          for (const column of groups.flatMap((group) => [...group.values()])) {
            const ragged = column.kind !== 'text' && column.offsets;
            expect(ragged ? ragged[column.rows] : column.rows).toBe(column.values.length);
          }
        } catch (error) {
          if (!(error instanceof BadInput)) throw error;
          expect(error.message).toMatch(/^x\.parquet/);
          refused++;
        }
      }),
      { numRuns: 1500 },
    );
    expect(refused).toBeGreaterThan(150);
  });
});

describe('a gzip page of DuckDB', () => {
  it('is never read wrong, because gzip has a checksum', async () => {
    const bytes = await written(
      'SELECT i::INTEGER AS t, (i / 7)::FLOAT AS reward FROM range(300) r(i)',
      'COMPRESSION gzip',
    );
    const wanted = await readAll(bytes);
    const { end, fields } = readStruct(bytes, 4);
    let refused = 0;
    for (let at = end; at < end + (fields.field_3 as number); at++) {
      const damaged = bytes.slice();
      damaged[at]! ^= 1 << (at % 8);
      const found = await readAll(damaged).catch((error: unknown) => {
        expect(error).toBeInstanceOf(BadInput);
        refused++;
        return wanted;
      });
      expect(found).toEqual(wanted);
    }
    expect(refused).toBeGreaterThan(100);
  });
});

describe('a Parquet file of our own', () => {
  it('is read by DuckDB value by value, whatever the types, lists and row groups', async () => {
    const path = join(folder, 'ours.parquet');
    const tablesAndOptions = fc.tuple(
      tables(70),
      fc.constantFrom('snappy' as const, 'uncompressed' as const),
      fc.integer({ min: 8, max: 80 }),
    );
    await fc.assert(
      fc.asyncProperty(tablesAndOptions, async ([table, codec, rowGroupRows]) => {
        await writeFile(path, writeParquet(table, { codec, rowGroupRows }));
        const found = (await duckdb.runAndReadAll(`SELECT * FROM '${path}'`)).getColumnsObjectJS();
        for (const { name, column } of table) expect(found[name], name).toEqual(plain(column));
      }),
      { numRuns: 100 },
    );
  });

  it('has the types that DuckDB would give them', async () => {
    const path = join(folder, 'types.parquet');
    const arrays = [
      Int8Array,
      Int16Array,
      Int32Array,
      Uint8Array,
      Uint16Array,
      Uint32Array,
      BigInt64Array,
      BigUint64Array,
    ];
    const table = arrays.map((array): { name: string; column: Column } => ({
      name: array.name,
      column: { kind: 'int', rows: 1, values: new array(1) },
    }));
    table.push({
      name: 'bool',
      column: { kind: 'bool', rows: 1, values: Uint8Array.of(1), offsets: Int32Array.of(0, 1) },
    });
    await writeFile(path, writeParquet(table, { codec: 'snappy' }));
    const types = (await duckdb.runAndReadAll(`DESCRIBE SELECT * FROM '${path}'`)).getColumnsObjectJS().column_type;
    expect(types).toEqual([
      'TINYINT',
      'SMALLINT',
      'INTEGER',
      'UTINYINT',
      'USMALLINT',
      'UINTEGER',
      'BIGINT',
      'UBIGINT',
      'BOOLEAN[]',
    ]);
  });
});
