import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectSame, memory, readAll } from '../../../test/support/parquet.ts';
import { BadInput } from '../bad-input.ts';
import type { Column } from '../column.ts';
import { openParquet, writeParquet } from './index.ts';
import { readStruct } from './thrift.ts';

const rows = 300;
const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * 3 - Math.floor(row / 4) * 3);
const count = offsets[rows]!;
const table: { name: string; column: Column }[] = [
  { name: 't', column: { kind: 'int', rows, values: Int32Array.from({ length: rows }, (_, row) => row >> 2) } },
  {
    name: 'seed',
    column: { kind: 'int', rows, values: Int32Array.from({ length: rows }, (_, row) => Math.imul(row, 7919 ** 3)) },
  },
  { name: 'reward', column: { kind: 'float', rows, values: Float32Array.from({ length: rows }, (_, row) => row / 7) } },
  {
    name: 'group',
    column: { kind: 'text', rows, values: Array.from({ length: rows }, (_, row) => `kind ${row % 5}`) },
  },
  {
    name: 'subset',
    column: { kind: 'int', rows, values: Int32Array.from({ length: count }, (_, index) => index % 9), offsets },
  },
  {
    name: 'legal',
    column: { kind: 'bool', rows, values: Uint8Array.from({ length: count }, (_, index) => index & 1), offsets },
  },
  {
    name: 'logits',
    column: {
      kind: 'float',
      rows,
      values: Float64Array.from({ length: count }, (_, index) => Math.cos(index)),
      offsets,
    },
  },
];

/** What a reader may make of damaged bytes: the complaint, or a table that is whole in itself. */
async function outcome(bytes: Uint8Array): Promise<'refused' | 'read' | 'read as written'> {
  try {
    const groups = await readAll(bytes);
    for (const group of groups) {
      for (const column of group.values()) {
        if (column.kind === 'text' || !column.offsets) expect(column.values.length).toBe(column.rows);
        else {
          expect(column.offsets.length).toBe(column.rows + 1);
          for (let row = 0; row < column.rows; row++)
            expect(column.offsets[row + 1]! >= column.offsets[row]!).toBe(true);
          expect(column.offsets[column.rows]).toBe(column.values.length);
        }
      }
    }
    return same(groups) ? 'read as written' : 'read';
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    expect(error.message).toMatch(/^x\.parquet.*: .{15,}$/s);
    return 'refused';
  }
}

function same(groups: Awaited<ReturnType<typeof readAll>>): boolean {
  try {
    expect(groups.length).toBe(1);
    expect(groups[0]!.size).toBe(table.length);
    for (const { name, column } of table) expectSame(groups[0]!.get(name), column);
    return true;
  } catch {
    return false;
  }
}

const files = (['snappy', 'uncompressed'] as const).map((codec) => writeParquet(table, { codec }));

describe('damage to a Parquet file of our own', () => {
  it('is always found when any one byte is changed, or changes nothing that is read', async () => {
    const change = fc.record({ file: fc.nat(files.length - 1), at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(change, async ({ file, at, by }) => {
        const bytes = files[file]!.slice();
        bytes[at % bytes.length]! ^= by;
        expect(await outcome(bytes)).not.toBe('read');
      }),
      { numRuns: 2000 },
    );
  });

  it('is found by the checksum when it lies in the bytes of a page, wherever in them', async () => {
    for (const file of files) {
      let pageBytes = 0;
      let at = 4;
      const end = file.length - 8 - new DataView(file.buffer).getUint32(file.length - 8, true);
      while (at < end) {
        const header = readStruct(file, at);
        const size = header.fields.field_3 as number;
        for (let byte = header.end; byte < header.end + size; byte += 7) {
          const bytes = file.slice();
          bytes[byte]! ^= 1 << (byte % 8);
          await expect(readAll(bytes)).rejects.toThrow('the checksum of a page does not match its bytes');
          pageBytes++;
        }
        at = header.end + size;
      }
      expect(at).toBe(end);
      expect(pageBytes).toBeGreaterThan(500);
    }
  });

  it('is found when the file is cut off anywhere', async () => {
    const cut = fc.record({ file: fc.nat(files.length - 1), at: fc.nat() });
    await fc.assert(
      fc.asyncProperty(cut, async ({ file, at }) => {
        const bytes = files[file]!;
        expect(await outcome(bytes.slice(0, at % bytes.length))).toBe('refused');
      }),
      { numRuns: 300 },
    );
  });

  it('never gives other rows when bytes are put in, taken out or overwritten', async () => {
    const splice = fc.record({
      file: fc.nat(files.length - 1),
      at: fc.nat(),
      removed: fc.nat(40),
      added: fc.uint8Array({ maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(splice, async ({ file, at, removed, added }) => {
        const bytes = files[file]!;
        const place = at % bytes.length;
        const damaged = Uint8Array.from([...bytes.subarray(0, place), ...added, ...bytes.subarray(place + removed)]);
        expect(await outcome(damaged)).not.toBe('read');
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a file that is no Parquet file', () => {
  it.each([
    ['is empty', new Uint8Array(0), 'the file has 0 bytes, too few for a Parquet file'],
    ['is text', new TextEncoder().encode('iteration,episode,t\n0,0,0\n'), 'does not end with PAR1'],
    ['is encrypted', new TextEncoder().encode('PARE0000000000000000PARE'), 'is encrypted'],
    ['claims a footer larger than itself', new TextEncoder().encode('PAR1xxxxzzzzPAR1'), 'the footer claims'],
    [
      'has a footer of noise',
      Uint8Array.from([80, 65, 82, 49, 0x1f, 3, 0, 0, 0, 0, 4, 0, 0, 0, 80, 65, 82, 49]),
      'damaged',
    ],
  ])('gets a sentence when it %s', async (_, bytes, sentence) => {
    await expect(openParquet(memory(bytes))).rejects.toThrow(sentence);
    await expect(openParquet(memory(bytes))).rejects.toBeInstanceOf(BadInput);
  });

  it('may be any bytes at all between the two marks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), async (noise) => {
        const bytes = new Uint8Array(noise.length + 16);
        bytes.set([80, 65, 82, 49]);
        bytes.set(noise, 4);
        new DataView(bytes.buffer).setUint32(bytes.length - 8, noise.length, true);
        bytes.set([80, 65, 82, 49], bytes.length - 4);
        await outcome(bytes);
      }),
      { numRuns: 2000 },
    );
  });

  it('cannot make the reader allocate what a list of the footer claims', async () => {
    // A list of 2^28 structs, and ten bytes to hold them.
    const footer = [0x29, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x01, 0, 0, 0, 0, 0];
    const bytes = Uint8Array.from([80, 65, 82, 49, ...footer, footer.length, 0, 0, 0, 80, 65, 82, 49]);
    await expect(openParquet(memory(bytes))).rejects.toThrow('claims 268435456 values, more than its bytes can hold');
  });
});
