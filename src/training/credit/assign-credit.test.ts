import { describe, expect, it } from 'vitest';
import { assignCredit } from './assign-credit.ts';
import golden from './fixtures/gae.json' with { type: 'json' };

function columns(rows: number) {
  return {
    rows,
    episode: new Int32Array(rows),
    agent: new Int32Array(rows),
    reward: new Float64Array(rows),
    value: new Float64Array(rows),
    nextValue: new Float64Array(rows),
    terminated: new Uint8Array(rows),
    truncated: new Uint8Array(rows),
    advantage: new Float64Array(rows),
    return: new Float64Array(rows),
  };
}

/** The golden figures are one agent's rows in time order; an end begins a new episode. */
function fromCase(index: number) {
  const one = golden.cases[index];
  const made = columns(one.reward.length);
  let episode = 0;
  one.reward.forEach((reward, i) => {
    made.reward[i] = reward;
    made.value[i] = one.value[i];
    made.nextValue[i] = one.next_value[i];
    made.terminated[i] = one.terminated[i] ? 1 : 0;
    made.truncated[i] = one.truncated[i] ? 1 : 0;
    made.episode[i] = episode;
    if (one.terminated[i] || one.truncated[i]) episode++;
  });
  return { one, made };
}

describe('generalised advantage estimation', () => {
  it.each(golden.cases.map((_, i) => i))('agrees with golden case %i to 1e-10', (index) => {
    const { one, made } = fromCase(index);
    assignCredit(made, one.gamma, one.lambda);
    one.advantage.forEach((advantage, i) => {
      expect(Math.abs(made.advantage[i] - advantage)).toBeLessThan(1e-10);
      expect(Math.abs(made.return[i] - one.return[i])).toBeLessThan(1e-10);
    });
  });

  it('gives each of two interleaved agents what it would get alone', () => {
    const { one, made } = fromCase(0);
    const both = columns(made.rows * 2);
    for (let i = 0; i < made.rows; i++) {
      for (const agent of [0, 1]) {
        const row = 2 * i + agent;
        both.agent[row] = agent;
        both.episode[row] = made.episode[i];
        both.reward[row] = made.reward[i] * (agent === 0 ? 1 : -2);
        both.value[row] = made.value[i] * (agent === 0 ? 1 : -2);
        both.nextValue[row] = made.nextValue[i] * (agent === 0 ? 1 : -2);
        both.terminated[row] = made.terminated[i];
        both.truncated[row] = made.truncated[i];
      }
    }
    assignCredit(both, one.gamma, one.lambda);
    one.advantage.forEach((advantage, i) => {
      expect(both.advantage[2 * i]).toBeCloseTo(advantage, 10);
      expect(both.advantage[2 * i + 1]).toBeCloseTo(-2 * advantage, 10);
    });
  });

  it('bootstraps a truncated row with its own next value and a terminated row with 0', () => {
    const made = columns(2);
    made.reward.fill(1);
    made.nextValue.fill(10);
    made.episode.set([0, 1]);
    made.terminated[0] = 1;
    made.truncated[1] = 1;
    assignCredit(made, 0.5, 0.9);
    expect(Array.from(made.advantage)).toEqual([1, 6]);
  });

  it('never takes a row of another episode for the successor', () => {
    const made = columns(2);
    made.episode.set([0, 1]);
    made.value.set([0, 100]);
    made.nextValue.set([2, 0]);
    assignCredit(made, 1, 1);
    expect(made.advantage[0]).toBe(2);
  });
});
