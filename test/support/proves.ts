/** For tests: a cause, the rows that prove it and its picture tell one story. Every number is computed here once more, from the arrays alone. */
import { expect } from 'vitest';
import { type Cause, figure } from '../../doctor/diagnosis.ts';
import type { Proof } from '../../doctor/proof.ts';
import { number } from '../number.ts';
import type { Picture, Pictures } from './picture.ts';

/** What is undone by leaving rows out, or by nothing, has no number that could be drawn. */
const withoutNumbers = new Set(['own-agents', 'left-out', 'rows-of-iteration', 'second-pass']);

/** Lists are recognised by their ids; without the logits of the update they cannot be scored again. */
const byList = new Set(['list-of', 'own-list', 'prefix', 'old-logp']);

function middle(proof: Proof, side: 'before' | 'after'): number {
  const gaps = [...proof.target]
    .map((value, i) => Math.abs(value - proof[side][i]))
    .filter((gap) => !Number.isNaN(gap));
  gaps.sort((a, b) => a - b);
  return (gaps[(gaps.length - 1) >> 1] + gaps[gaps.length >> 1]) / 2;
}

const texts = (picture: Picture) =>
  picture.kind === 'scatter' ? picture.panels.map(({ note }) => note) : picture.lines.map(({ name }) => name);

export function provesWhatItSays(cause: Cause, proof: Proof | undefined, pictures: Pictures): void {
  if (!cause.transform || withoutNumbers.has(cause.transform.id)) return;
  expect(proof, `${cause.id}: ${cause.transform.id} has a proof`).toBeDefined();
  const before = middle(proof!, 'before');
  const after = middle(proof!, 'after');
  if (Number.isNaN(after) && byList.has(cause.transform.id)) {
    expect(before).toBeGreaterThan(0);
    expect(cause.residual_after).toBeUndefined();
    return;
  }
  expect(after).toBeLessThan(before);
  expect(cause.residual_before).toBeCloseTo(Number(figure(before)), 9);
  expect(cause.residual_after).toBeCloseTo(Number(figure(after)), 9);
  const [picture, ...more] = pictures.proofs.find((shown) => shown.cause === cause.id)!.pictures;
  expect(more).toEqual([]);
  const [left, right] = texts(picture);
  expect(left).toContain(`median distance ${number(before)} over`);
  expect(right).toContain(`median distance ${number(after)} over`);
}
