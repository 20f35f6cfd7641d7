import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesField,
  doubles,
  event,
  eventFile,
  fileVersion,
  floats,
  frame,
  simpleValue,
  tensorValue,
  textField,
  varint,
  varintField,
} from '../../../../bench/import/events.ts';
import { bytesSource } from '../../source.ts';
import { Log } from '../log.ts';
import { crc32c } from './crc32c.ts';
import { readEvents } from './tensorboard.ts';

async function read(bytes: Uint8Array, prefix = ''): Promise<Log> {
  const log = new Log();
  await readEvents(bytesSource('events', bytes), log, prefix);
  return log;
}

const fixture = (name: string) => new Uint8Array(readFileSync(join(import.meta.dirname, '../fixtures', name)));

describe('the checksum of event files', () => {
  it('gives the values published for it (RFC 3720)', () => {
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(255))).toBe(0x62a8ab43);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
    expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
  });
});

describe('event files of the writers that people use', () => {
  const kl = [0.01, 0.011, 0.012, 0.013, 0.014].map(Math.fround);
  const steps = [1000, 2000, 3000, 4000, 5000];

  it.each(['tensorboardx.tfevents', 'tensorboard.tfevents'])('%s is read', async (name) => {
    const log = await read(fixture(name));
    expect(log.names).toEqual(['train/approx_kl']);
    expect([...log.value]).toEqual(kl);
    expect([...log.step]).toEqual(steps);
    expect([...log.time]).toEqual([0, 1, 2, 3, 4].map((i) => 1.7e9 + i));
    expect(log.notices).toEqual([]);
  });

  it('torch.utils.tensorboard: simple values, single and double tensors, and the table of settings', async () => {
    const log = await read(fixture('torch.tfevents'));
    expect(log.names).toEqual(['losses/approx_kl', 'losses/entropy', 'losses/value_loss']);
    expect(log.valuesOf('losses/approx_kl')).toEqual(kl);
    expect(log.valuesOf('losses/entropy')).toEqual([1.25, 1, 0.75, 0.5, 0.25]);
    expect(log.valuesOf('losses/value_loss')).toEqual(Array.from({ length: 5 }, () => 1 / 3));
    expect(Object.fromEntries(log.declared)).toEqual({
      update_epochs: '1',
      num_minibatches: '1',
      clip_coef: '0.2',
      norm_adv: 'True',
    });
  });
});

describe('byte-exact event files', () => {
  const scalarShape = bytesField(2, []);
  const oneByOne = bytesField(2, [...bytesField(2, varintField(1, 1)), ...bytesField(2, varintField(1, 1))]);
  const pair = bytesField(2, bytesField(2, varintField(1, 2)));

  it.each<[string, number[], number]>([
    ['simple value', simpleValue(0.25), 0.25],
    ['simple NaN', simpleValue(Number.NaN), Number.NaN],
    ['float_val, packed', tensorValue(varintField(1, 1), scalarShape, bytesField(5, floats(1.5))), 1.5],
    ['float_val, one by one', tensorValue(varintField(1, 1), [...varint(5 * 8 + 5), ...floats(-2)]), -2],
    ['float content', tensorValue(varintField(1, 1), scalarShape, bytesField(4, floats(3.5))), 3.5],
    ['double_val', tensorValue(varintField(1, 2), bytesField(6, doubles(1 / 3))), 1 / 3],
    ['double content', tensorValue(varintField(1, 2), oneByOne, bytesField(4, doubles(-1e300))), -1e300],
    ['half_val', tensorValue(varintField(1, 19), bytesField(13, varint(0x3555))), 0.333251953125],
    ['half content, negative', tensorValue(varintField(1, 19), bytesField(4, [0x00, 0xc1])), -2.5],
    ['half content, smallest', tensorValue(varintField(1, 19), bytesField(4, [0x01, 0x00])), 2 ** -24],
    ['bfloat16', tensorValue(varintField(1, 14), bytesField(13, varint(0x4049))), 3.140625],
    ['int_val', tensorValue(varintField(1, 3), varintField(7, -7)), -7],
    ['int64_val', tensorValue(varintField(1, 9), bytesField(10, varint(2 ** 40))), 2 ** 40],
    ['int64 content', tensorValue(varintField(1, 9), bytesField(4, [255, 255, 255, 255, 255, 255, 255, 255])), -1],
    ['zero that is left out', tensorValue(varintField(1, 1), scalarShape), 0],
  ])('%s', async (_, value, expected) => {
    const log = await read(eventFile(event(7, 12.5, [['a/b', value]])));
    expect([log.names, [...log.value], [...log.step], [...log.time]]).toEqual([['a/b'], [expected], [7], [12.5]]);
  });

  it('several values of one event, steps beyond 32 bits and negative ones, tags that are not English', async () => {
    const log = await read(
      eventFile(
        event(2 ** 40, 1, [
          ['值/kl', simpleValue(1)],
          ['b', simpleValue(2)],
        ]),
        event(-1n, 2, [['b', simpleValue(3)]]),
      ),
      'agent_0/',
    );
    expect(log.names).toEqual(['agent_0/值/kl', 'agent_0/b']);
    expect([...log.step]).toEqual([2 ** 40, 2 ** 40, -1]);
  });

  it('leaves pictures, texts, lists and what it does not know alone', async () => {
    const log = await read(
      eventFile(
        event(1, 1, [
          ['picture', bytesField(4, textField(4, 'png'))],
          ['pair', tensorValue(varintField(1, 1), pair, bytesField(5, floats(1, 2)))],
          ['words', tensorValue(varintField(1, 7), textField(8, 'hello'))],
          ['later', bytesField(99, [1, 2, 3])],
          ['kept', simpleValue(1)],
        ]),
      ),
    );
    expect(log.names).toEqual(['kept']);
    expect(log.notices).toEqual([]);
  });

  const events = Array.from({ length: 6 }, (_, i) => event(i, i, [['x', simpleValue(i)]]));

  it('cut off anywhere: a sentence, and every whole record before it is kept', async () => {
    const whole = eventFile(...events);
    let end = 0;
    const ends = [fileVersion, ...events].map((data) => {
      end += frame(data).length;
      return end;
    });
    for (let length = 1; length < whole.length; length++) {
      const log = await read(whole.subarray(0, length));
      const records = ends.filter((stop) => stop <= length).length;
      expect([...log.value]).toEqual(Array.from({ length: Math.max(0, records - 1) }, (_, i) => i));
      if (ends.includes(length)) expect(log.notices).toEqual([]);
      else
        expect(log.notices.join()).toMatch(
          /^events: the file is cut off inside a record at byte \d+; the \d+ records before are kept$/,
        );
    }
  });

  it('one flipped bit anywhere: never a wrong number, always a sentence', async () => {
    const whole = eventFile(...events);
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), async (at, bit) => {
        const damaged = Uint8Array.from(whole);
        damaged[at] ^= 1 << bit;
        const log = await read(damaged);
        expect(log.notices).toHaveLength(1);
        expect(log.notices[0]).toMatch(/damaged|cut off|no event file/);
        expect(log.value.every((value, i) => i === 0 || value > log.value[i - 1])).toBe(true);
        expect(log.value.every((value) => events[value] !== undefined)).toBe(true);
      }),
      { seed: 6, numRuns: 300 },
    );
  });

  it('a record whose data is damaged is left out and the others are kept', async () => {
    const whole = eventFile(...events);
    whole[frame(fileVersion).length + 14] ^= 1;
    const log = await read(whole);
    expect([...log.value]).toEqual([1, 2, 3, 4, 5]);
    expect(log.notices).toEqual([
      'events: 1 of 7 records are damaged (their checksum does not match) and left out; the others are kept',
    ]);
  });

  it('absurd lengths with a good checksum are a cut-off file, and allocate nothing', async () => {
    const length = [0, 0, 0, 0, 0, 0, 0, 0x7f];
    const framed = frame(length);
    expect(framed.length).toBe(24);
    // The frame of eight bytes ends with their checksum: exactly what a header of that length would carry.
    const header = [...length, ...framed.slice(20)];
    const log = await read(Uint8Array.from([...eventFile(events[0]), ...header, 1, 2, 3]));
    expect([...log.value]).toEqual([0]);
    expect(log.notices[0]).toMatch(/cut off inside a record/);
  });

  it('random bytes never crash it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const framed = await read(Uint8Array.from(frame([...bytes])));
        const raw = await read(bytes);
        expect(framed.value.length + raw.value.length).toBeGreaterThanOrEqual(0);
        expect(raw.notices.length).toBe(bytes.length === 0 ? 0 : 1);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});
