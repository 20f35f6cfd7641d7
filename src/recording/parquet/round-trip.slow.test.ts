import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { asRead, expectSame, KINDS, memory, part, readAll, tables } from '../../../test/support/parquet.ts';
import { BadInput } from '../bad-input.ts';
import type { Column } from '../column.ts';
import { openParquet, writeParquet } from './index.ts';
import { half } from './values.ts';

describe('a Parquet file of our own', () => {
  it('gives back every table to the last bit, whatever the types, lists, codec and row groups', async () => {
    const settings = fc.record({
      codec: fc.constantFrom('snappy' as const, 'uncompressed' as const),
      rowGroupRows: fc.integer({ min: 1, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(tables(90), settings, async (table, options) => {
        const rows = table[0]!.column.rows;
        const groups = await readAll(writeParquet(table, options));
        expect(groups.length).toBe(Math.max(1, Math.ceil(rows / options.rowGroupRows)));
        for (const [index, group] of groups.entries()) {
          const from = index * options.rowGroupRows;
          const to = Math.min(rows, from + options.rowGroupRows);
          for (const { name, column } of table) expectSame(group.get(name), asRead(part(column, from, to)));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps NaN with its payload, infinities, negative zero and the smallest numbers', async () => {
    const values = new Float32Array([Number.NaN, Infinity, -Infinity, -0, 0, 1e-45, 3.4028235e38, 0]);
    new Uint32Array(values.buffer)[7] = 0xffc12345;
    const column: Column = { kind: 'float', rows: 8, values };
    const [group] = await readAll(writeParquet([{ name: 'old_logp', column }], { codec: 'snappy' }));
    expectSame(group!.get('old_logp'), column);
  });

  it('keeps the types of a table without rows and of lists that are all empty', async () => {
    for (const rows of [0, 5, 20_000]) {
      const table = KINDS.flatMap(({ kind, array }, index) => [
        { name: `list ${index}`, column: { kind, rows, values: new array(0), offsets: new Int32Array(rows + 1) } },
        { name: `flat ${index}`, column: { kind, rows, values: new array(rows) } },
      ]);
      const [group] = await readAll(writeParquet(table, { codec: 'snappy' }));
      for (const { name, column } of table) expectSame(group!.get(name), asRead(column));
    }
  });

  it('gives back lists and dictionaries that take many pages, with a long list among empty ones', async () => {
    const rows = 200_000;
    const offsets = new Int32Array(rows + 1);
    for (let row = 0; row < rows; row++) offsets[row + 1] = offsets[row]! + (row === 777 ? 900_000 : row % 5);
    const count = offsets[rows]!;
    const subset = Int32Array.from({ length: count }, (_, index) => Math.imul(index, 2654435761) >>> 26);
    const logits = Float32Array.from({ length: count }, (_, index) => Math.sin(index));
    const agent = Uint8Array.from({ length: rows }, (_, row) => (row < 5000 ? 1 : row % 3));
    const table = [
      { name: 'subset', column: { kind: 'int', rows, values: subset, offsets } as Column },
      { name: 'logits', column: { kind: 'float', rows, values: logits, offsets } as Column },
      { name: 'agent', column: { kind: 'int', rows, values: agent } as Column },
    ];
    const bytes = writeParquet(table, { codec: 'snappy', rowGroupRows: rows });
    const [group] = await readAll(bytes);
    for (const { name, column } of table) expectSame(group!.get(name), column);
    expect(bytes.length).toBeLessThan(count * 4 + count);
  });

  it('keeps whole numbers beyond 32 bits that are held as floats', async () => {
    const values = Float64Array.of(2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 32, -(2 ** 32) - 1, 0, -1);
    const column: Column = { kind: 'int', rows: 6, values };
    const [group] = await readAll(writeParquet([{ name: 'episode', column }], { codec: 'snappy' }));
    expectSame(group!.get('episode'), column);
  });

  it('reads only the bytes of the columns asked for', async () => {
    const rows = 100_000;
    const float = (): Column => ({
      kind: 'float',
      rows,
      values: Float64Array.from({ length: rows }, (_, row) => Math.sqrt(row)),
    });
    const bytes = writeParquet(
      ['reward', 'value', 'advantage'].map((name) => ({ name, column: float() })),
      { codec: 'snappy' },
    );
    let read = 0;
    const source = memory(bytes);
    const counted = {
      ...source,
      read: (start: number, end: number) => {
        read += end - start;
        return source.read(start, end);
      },
    };
    const table = await openParquet(counted);
    const columns = await table.readColumns(['value'], 0);
    expect([...columns.keys()]).toEqual(['value']);
    expect(read).toBeLessThan(bytes.length / 2);
  });

  it('holds no more than 64 MiB of values in a row group of wide rows', async () => {
    const rows = 3000;
    const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * 8000);
    const column: Column = { kind: 'float', rows, values: new Float32Array(rows * 8000), offsets };
    const table = await openParquet(memory(writeParquet([{ name: 'obs', column }], { codec: 'snappy' })));
    expect(table.rowGroups.map((group) => group.rows)).toEqual([2097, 903]);
  });

  it('uses the zstd compressor it is given, and says so when there is none', async () => {
    // A whole zstd frame of one block that repeats one byte, which is all that a page of zeros needs.
    const zstd = (bytes: Uint8Array) => {
      expect(bytes.every((byte) => byte === 0)).toBe(true);
      const block = (bytes.length << 3) | 3;
      const size = [bytes.length & 255, (bytes.length >> 8) & 255, bytes.length >> 16, 0];
      return Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0xa0, ...size, block & 255, (block >> 8) & 255, block >> 16, 0);
    };
    const column: Column = { kind: 'float', rows: 10_000, values: new Float32Array(10_000) };
    const bytes = writeParquet([{ name: 't', column }], { codec: 'zstd', compress: { zstd } });
    expect(bytes.length).toBeLessThan(400);
    expectSame((await readAll(bytes))[0]!.get('t'), column);
    expect(() => writeParquet([{ name: 't', column }], { codec: 'zstd' })).toThrow(
      /no zstd compressor is at hand; use snappy/,
    );
  });

  it('refuses columns of unequal length and offsets that decrease', () => {
    const flat: Column = { kind: 'int', rows: 2, values: Int32Array.of(1, 2) };
    const three: Column = { kind: 'int', rows: 3, values: Int32Array.of(1, 2, 3) };
    const table = [
      { name: 'a', column: flat },
      { name: 'b', column: three },
    ];
    expect(() => writeParquet(table, { codec: 'snappy' })).toThrow('column b has 3 rows where the others have 2');
    const list: Column = { ...three, rows: 2, offsets: Int32Array.of(0, 3, 1) };
    expect(() => writeParquet([{ name: 'c', column: list }], { codec: 'snappy' })).toThrow('decrease at row 2');
  });

  it('limits what a row group may expand to', async () => {
    const column: Column = { kind: 'float', rows: 1000, values: new Float64Array(1000) };
    const bytes = writeParquet([{ name: 'reward', column }], { codec: 'snappy' });
    await expect(readAll(bytes, { maxSize: 7999 })).rejects.toThrow(
      /x\.parquet, reward: the column expands to 8000 bytes/,
    );
    await expect(readAll(bytes, { maxSize: 7999 })).rejects.toBeInstanceOf(BadInput);
    expect((await readAll(bytes, { maxSize: 8000 }))[0]!.get('reward')!.rows).toBe(1000);
  });

  it('names the column that it has not', async () => {
    const column: Column = { kind: 'int', rows: 1, values: Int32Array.of(1) };
    const table = await openParquet(memory(writeParquet([{ name: 't', column }], { codec: 'snappy' })));
    await expect(table.readColumns(['agent'], 0)).rejects.toThrow('x.parquet, agent: the file has no such column');
  });
});

describe('a Parquet file of another writer', () => {
  it('has the nulls of all its pages counted and the first told', async () => {
    const rows = 5000;
    const gap = <Value>(at: number, value: (row: number) => Value) =>
      Array.from({ length: rows }, (_, row) => (row === at || row === at - 4000 ? null : value(row)));
    const bytes = parquetWriteBuffer({
      columnData: [
        { name: 'group', data: gap(4990, (row) => `kind ${row}`), type: 'STRING', nullable: true },
        { name: 'seat', data: gap(4991, (row) => row), type: 'INT32', nullable: true },
        { name: 'step', data: gap(4992, (row) => BigInt(row)), type: 'INT64', nullable: true },
      ],
      pageSize: 4000,
      rowGroupSize: rows,
    });
    const [group] = await readAll(new Uint8Array(bytes));
    expect(group!.get('group')).toMatchObject({ kind: 'text', rows, nullAt: 990, nulls: 2 });
    expect(group!.get('group')!.values[4991]).toBe('kind 4991');
    expect(group!.get('seat')).toMatchObject({ kind: 'float', rows, nullAt: 991, nulls: 2 });
    expect(group!.get('step')).toMatchObject({ kind: 'float', rows, nullAt: 992, nulls: 2 });
    expect([...group!.get('step')!.values].slice(4991, 4994)).toEqual([4991, Number.NaN, 4993]);
  });
});

describe('the parts of Parquet', () => {
  it('decodes half floats: 1, the largest, the smallest, minus zero, infinity and NaN', () => {
    expect([0x3c00, 0x7bff, 0x0001, 0x7c00, 0xfc00].map(half)).toEqual([1, 65504, 2 ** -24, Infinity, -Infinity]);
    expect(Object.is(half(0x8000), -0)).toBe(true);
    expect(half(0x7e00)).toBeNaN();
  });
});
