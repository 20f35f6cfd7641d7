import { readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Batch, ReadonlyBatch } from '../batch/batch.ts';
import type { Flow } from './flow.ts';
import { type TrainHooks, train } from './run.ts';
import type { Stages } from './stages.ts';

describe('the way of a batch', () => {
  it('shows it to everybody with columns that nobody can write', () => {
    expectTypeOf<Flow['batch']>().toEqualTypeOf<ReadonlyBatch>();
    expectTypeOf<Batch>().toExtend<ReadonlyBatch>();
    expectTypeOf<ReadonlyBatch>().not.toExtend<Batch>();
    expectTypeOf<ReadonlyBatch['advantage']>().not.toExtend<{ fill(value: number): unknown }>();
    expectTypeOf<ReadonlyBatch['advantage']>().not.toExtend<{ set(values: ArrayLike<number>): void }>();
    expectTypeOf<ReadonlyBatch['advantage']>().not.toExtend<{ subarray(from: number): unknown }>();
    const write = (batch: ReadonlyBatch) => {
      // @ts-expect-error: an entry of a column is readonly.
      batch.advantage[0] = 1;
      // @ts-expect-error: so is the column itself.
      batch.advantage = new Float32Array(1);
    };
    expect(write).toBeTypeOf('function');
  });

  it('hands the batch itself to stages alone', () => {
    expectTypeOf<Parameters<Stages['collect']>[1]>().toEqualTypeOf<Batch>();
    expectTypeOf<Parameters<Stages['imagine']>[1]>().toEqualTypeOf<Batch>();
    expectTypeOf<Parameters<Stages['calibrate']>[0]>().toEqualTypeOf<Batch>();
    const trainer = readFileSync(new URL('./trainer.ts', import.meta.url), 'utf8');
    expect(trainer).not.toMatch(/\bBatch\b/);
  });

  it('goes through a trainer that knows no algorithm by name', () => {
    const trainer = readFileSync(new URL('./trainer.ts', import.meta.url), 'utf8');
    expect(trainer).not.toMatch(/hop|mappo|centralView|ppoUpdate/i);
  });
});

describe('train', () => {
  it('refuses a hook or a stage that it does not know, by name', async () => {
    const misspelt = { oniteration: () => undefined } as TrainHooks;
    await expect(train({ game: 'echo' }, misspelt)).rejects.toThrow(
      /there is no hook "oniteration"; there are game, stages,/,
    );
    const stages = { colect: () => undefined } as TrainHooks['stages'];
    await expect(train({ game: 'echo' }, { stages })).rejects.toThrow(
      /there is no stage "colect"; there are .*collect/,
    );
  });
});
