/** Columns recorded by another convention than they are read by, in a sound program's recording. */
import { expect, it } from 'vitest';
import { numbers, record, stored } from '../../../test/support/tables.ts';
import { diagnose } from '../diagnose.ts';

type Made = Awaited<ReturnType<typeof stored>>;
type Samples = Made['tables']['samples'];

/** Rows of each agent in each environment and iteration, in their order. */
function streams(samples: Samples): number[][] {
  const found = new Map<string, number[]>();
  const [iteration, env, agent] = ['iteration', 'env', 'agent'].map((name) => numbers(samples, name));
  iteration.forEach((number, row) => {
    const key = `${number} ${env[row]} ${agent[row]}`;
    found.set(key, [...(found.get(key) ?? []), row]);
  });
  return [...found.values()];
}

const shifted = (samples: Samples, name: string) => {
  const column = numbers(samples, name);
  const out = [...column];
  for (const rows of streams(samples))
    for (const [at, row] of rows.entries()) out[row] = at === 0 ? 0 : column[rows[at - 1]];
  return out;
};

/** A healthy run whose every second end is a time limit, with the value of the state that followed every row. */
async function sound(): Promise<Made> {
  const made = await stored('healthy/echo-2');
  const { samples, replays } = made.tables;
  const { gamma, lambda } = made.manifest.settings as { gamma: number; lambda: number };
  const [terminated, value, reward, episode] = ['terminated', 'value', 'reward', 'episode'].map((name) =>
    numbers(samples, name),
  );
  samples.truncated = terminated.map((flag, row) => (flag === 1 && episode[row] % 2 === 0 ? 1 : 0));
  samples.terminated = terminated.map((flag, row) => flag - numbers(samples, 'truncated')[row]);
  const [next, advantage] = [[...value], [...value]];
  for (const rows of streams(samples))
    for (let at = rows.length - 1; at >= 0; at--) {
      const [row, after] = [rows[at], rows[at + 1]];
      const ended = terminated[row] === 1;
      next[row] = ended || after === undefined ? value[row] + 0.3 : value[after];
      advantage[row] = reward[row] - value[row] + (numbers(samples, 'terminated')[row] === 1 ? 0 : gamma * next[row]);
      if (!ended && after !== undefined) advantage[row] += gamma * lambda * advantage[after];
    }
  Object.assign(samples, { next_value: next, advantage });
  delete samples.return;
  for (const name of ['advantage', 'return']) delete replays[name];
  return made;
}

const slips: [string, (samples: Samples) => void, RegExp][] = [
  [
    'the two kinds of end exchanged',
    (samples) => {
      [samples.terminated, samples.truncated] = [samples.truncated, samples.terminated];
    },
    /`terminated` and `truncated` are exchanged/,
  ],
  [
    'values of the row before',
    (samples) => {
      samples.value = shifted(samples, 'value');
    },
    /`value` stands one row late/,
  ],
  [
    'flags that came before the row',
    (samples) => {
      for (const name of ['terminated', 'truncated']) samples[name] = shifted(samples, name);
      let episodes = 0;
      for (const rows of streams(samples)) {
        let [episode, t] = [episodes++, 0];
        for (const row of rows) {
          numbers(samples, 'episode')[row] = episode;
          numbers(samples, 't')[row] = t++;
          if (numbers(samples, 'terminated')[row] + numbers(samples, 'truncated')[row] > 0)
            [episode, t] = [episodes++, 0];
        }
      }
    },
    /every end stands one row late/,
  ],
];

it.each(slips)('the recording call is blamed for %s', async (_, slip, text) => {
  const made = await sound();
  slip(made.tables.samples);
  const { coverage, causes, unexplained } = await diagnose(await record(made));
  expect(coverage.gaps[0]).toMatch(text);
  expect(coverage.gaps[0]).toMatch(/The recording call is the likely mistake, not the program/);
  expect([causes, unexplained]).toEqual([[], []]);
});

it('nobody is blamed where the columns are as they are meant', async () => {
  const { coverage, causes } = await diagnose(await record(await sound()));
  expect(coverage.gaps.join()).not.toMatch(/recording call/);
  expect(causes).toEqual([]);
});

it('the recording call is not blamed for time limits read as ends where next_value is 0 at every end of the game', async () => {
  const made = await sound();
  const { samples } = made.tables;
  const { gamma, lambda } = made.manifest.settings as { gamma: number; lambda: number };
  const of = (name: string) => numbers(samples, name);
  samples.next_value = of('next_value').map((next, row) => (of('terminated')[row] === 1 ? 0 : next));
  for (const rows of streams(samples))
    for (let at = rows.length - 1; at >= 0; at--) {
      const [row, after] = [rows[at], rows[at + 1]];
      const ended = of('terminated')[row] + of('truncated')[row] > 0;
      const carried = ended || after === undefined ? 0 : gamma * lambda * of('advantage')[after];
      of('advantage')[row] =
        of('reward')[row] - of('value')[row] + (ended ? 0 : gamma * of('next_value')[row]) + carried;
    }
  const { causes } = await diagnose(await record(made));
  expect(causes[0].id).toBe('truncation-treated-as-termination');
});
