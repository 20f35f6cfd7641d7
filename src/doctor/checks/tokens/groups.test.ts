import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../../math/random.ts';
import { sureOf } from './groups.ts';

/** Groups of six answers to prompts of which each has one answer with this probability and many rare ones; with one seed for all, every member repeats the first. */
function drawn(probability: number, oneSeed: boolean) {
  const random = RandomStream.of(7, 'groups');
  return Array.from({ length: 200 }, () => {
    const draw = () => (random.uniform() < probability ? 0 : 1 + random.below(1000));
    const first = draw();
    const answers = Array.from({ length: 6 }, (_, i) => (i === 0 || oneSeed ? first : draw()));
    const logp = (answer: number) => Math.log(answer === 0 ? probability : (1 - probability) / 1000);
    return { known: 6, same: new Set(answers).size === 1, chances: answers.map(logp) };
  });
}

describe('groups of one answer', () => {
  it.each([0.99, 0.9, 0.7])('are those of a model that is sure, at a probability of %f', (probability) => {
    const groups = drawn(probability, false);
    expect(sureOf(groups, groups)).toBe(groups.filter(({ same }) => same).length);
  });

  it('are not where all members repeat the first, whatever its probability', () => {
    const groups = drawn(0.5, true);
    expect(sureOf(groups, groups)).toBeLessThan(20);
  });
});
