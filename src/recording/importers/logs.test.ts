import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { event, eventFile, simpleValue } from '../../../bench/import/events.ts';
import { plain } from '../../../test/support/arbitraries.ts';
import { folder, imported, read, series } from '../../../test/support/logs.ts';
import { BadInput } from '../bad-input.ts';
import { everyLog } from './every.ts';
import { importLog, logRecording } from './open.ts';

describe('tables of text', () => {
  it('Stable-Baselines3 progress.csv: empty cells are not logged, entropy_loss is negated', async () => {
    const log = await imported(
      'progress.csv',
      'time/iterations,rollout/ep_rew_mean,train/entropy_loss,train/approx_kl,time/total_timesteps\n1,20.5,,,2048\n2,31,-0.68,0.0081,4096\n',
    );
    expect(series(log)).toEqual({
      'time/iterations': [1, 2],
      'rollout/ep_rew_mean': [20.5, 31],
      'train/entropy_loss': [-0.68],
      'train/approx_kl': [0.0081],
    });
    expect(read(log)).toEqual({
      'rollout/ep_rew_mean': 'return',
      'train/entropy_loss': '-entropy',
      'train/approx_kl': 'kl',
    });
    expect([...log.log.step]).toEqual([2048, 2048, 4096, 4096, 4096, 4096]);
  });

  it('byte order mark, CRLF, quotes, commas and line ends in quotes, ragged rows, words, NaN and infinity', async () => {
    const log = await imported(
      'x.csv',
      '\uFEFFstep,"approx_kl","a ""b"", c",note\r\n1,0.5,nan,"two\r\nlines, one cell"\r\n\r\n2,-inf,1e-3\r\n3,.5,Infinity,x,9\r\n',
    );
    expect(series(log)).toEqual({
      approx_kl: [0.5, Number.NEGATIVE_INFINITY, 0.5],
      'a "b", c': [Number.NaN, 0.001, Number.POSITIVE_INFINITY],
    });
    expect(log.notices).toEqual([
      'x.csv: 1 of 3 rows are shorter than the header; their missing cells count as not logged',
      'x.csv: 1 of 3 rows are longer than the header; their extra cells are left out',
      'x.csv: 2 cells hold words instead of numbers and are left out',
    ]);
  });

  it.each([
    ['tabs', 'Epoch\tKL\tClipFrac\tLossPi\n0\t0.01\t0.1\t-0.2\n'],
    ['semicolons', 'Epoch;KL;ClipFrac;LossPi\n0;0.01;0.1;-0.2\n'],
  ])('with %s', async (_, text) => {
    expect(read(await imported('progress.txt', text))).toEqual({
      KL: 'kl',
      ClipFrac: 'clip_fraction',
      LossPi: 'policy_loss',
    });
  });

  it('a W&B export: the run before the name, its least and greatest columns left aside', async () => {
    const text =
      '"Step","lucky-sun-3 - train/approx_kl","lucky-sun-3 - train/approx_kl__MIN","lucky-sun-3 - train/approx_kl__MAX"\n"1","0.01","0.01","0.01"\n';
    const log = await imported('wandb_export.csv', text);
    expect(read(log)).toEqual({ 'train/approx_kl': 'kl' });
    expect([...log.log.step]).toEqual([1, 1, 1]);
  });

  it('a W&B export of two runs asks which, and --run chooses', async () => {
    const text = 'Step,a - kl,b - kl\n1,0.5,0.25\n';
    await expect(imported('w.csv', text)).rejects.toThrow('w.csv: holds 2 runs (a, b); choose one with --run');
    expect(series(await imported('w.csv', text, { run: 'b' }))).toEqual({ kl: [0.25] });
    await expect(imported('w.csv', text, { run: 'c' })).rejects.toThrow('there is no run "c"; it holds a, b');
  });

  it("TensorBoard's own downloads: the tag is in the file's name", async () => {
    const log = await importLog(
      await folder({
        'run-PPO_1-tag-train_approx_kl.csv': 'Wall time,Step,Value\n1700000000.5,10,0.5\n',
        'run-PPO_1-tag-train_clip_fraction.csv': 'Wall time,Step,Value\n1700000000.5,10,0.25\n',
      }),
    );
    expect(series(log)).toEqual({ train_approx_kl: [0.5], train_clip_fraction: [0.25] });
    expect([...log.log.time]).toEqual([1700000000.5, 1700000000.5]);
  });

  it.each([
    ['empty', '', 'the file is empty'],
    ['names only', 'a,b\n', 'has a line of column names and no rows'],
    [
      'no header',
      '1,2,3\n4,5,6\n',
      'line 1 holds numbers where column names were expected; put a line of names at the top',
    ],
    ['one column', 'loss\n1\n', 'has one column only'],
    ['a name twice', 'kl,kl\n1,2\n', 'two columns are called "kl"; rename one of them'],
    ['an open quote', 'a,b\n1,"2\n3,4\n', 'a quote that opens in line 2 is never closed'],
    ['not UTF-8', Uint8Array.from([97, 44, 98, 10, 0xff, 0xfe, 44, 10]), 'is not UTF-8 text'],
    ['no numbers', 'a,b\nx,y\n', 'holds no scalars'],
  ])('that cannot be read get a sentence: %s', async (_, text, sentence) => {
    await expect(imported('x.csv', text)).rejects.toThrow(sentence);
    await expect(imported('x.csv', text)).rejects.toHaveProperty('name', 'BadInput');
  });
});

describe('tables in other dialects', () => {
  it.each([
    ['semicolons and decimal commas', 'update_id;avg_kl;avg_entropy\n1;0,5;1,25\n2;0,25;1e0\n'],
    ['bars', 'update_id|avg_kl|avg_entropy\n1|0.5|1.25\n2|0.25|1\n'],
    ['blanks', 'update_id avg_kl   avg_entropy\n1 0.5   1.25\n2  0.25 1\n'],
    [
      'comments, a byte order mark and CRLF',
      '\ufeff# a remark\r\nupdate_id,avg_kl,avg_entropy\r\n1,0.5,1.25\r\n# more\r\n2,0.25,1\r\n',
    ],
  ])('%s', async (_, text) => {
    const log = await imported('x.csv', text);
    expect(series(log)).toEqual({ avg_kl: [0.5, 0.25], avg_entropy: [1.25, 1] });
    expect([...log.log.step]).toEqual([1, 1, 2, 2]);
    expect(read(log)).toEqual({ avg_kl: 'kl', avg_entropy: 'entropy' });
  });

  it('dots between thousands, where the decimals follow a comma', async () => {
    const log = await imported('x.csv', 'step;value_loss\n1;1.234.567,5\n2;12 345,25\n3;-1.000,0\n4;2,5\n');
    expect(series(log)).toEqual({ value_loss: [1234567.5, 12345.25, -1000, 2.5] });
  });

  it('a row for each number: the figure is named in a cell', async () => {
    const log = await imported('x.csv', 'step,metric,value\n1,approx_kl,0.5\n1,entropy,1.25\n2,approx_kl,0.25\n');
    expect(series(log)).toEqual({ approx_kl: [0.5, 0.25], entropy: [1.25] });
  });

  it('a row for each agent: the agent is named in a cell, in words or by number', async () => {
    const named = await imported('x.csv', 'step,agent,avg_value_loss\n1,IND,3\n1,EDU,4\n2,IND,5\n2,EDU,6\n');
    expect(named.columns.map(({ metric, agent }) => [metric, agent])).toEqual([
      ['value_loss', 'IND'],
      ['value_loss', 'EDU'],
    ]);
    const numbered = await imported('x.csv', 'step,agent_id,return\n1,0,3\n1,1,4\n');
    expect(numbered.columns.map(({ agent }) => agent)).toEqual(['agent_0', 'agent_1']);
  });

  it('several seeds in one table are several runs', async () => {
    const text = 'seed,step,kl\n1,1,0.5\n2,1,0.25\n';
    await expect(imported('x.csv', text)).rejects.toThrow('x.csv: holds 2 runs (1, 2); choose one with --run');
    expect(series(await imported('x.csv', text, { run: '2' }))).toEqual({ kl: [0.25] });
  });

  it("Stable-Baselines3's monitor.csv", async () => {
    const log = await imported(
      '0.monitor.csv',
      '#{"t_start": 1.5, "env_id": "CartPole-v1"}\nr,l,t\n20.0,20,0.5\n31.0,31,0.9\n',
    );
    expect(read(log)).toEqual({ episode_return: 'return', episode_length: 'episode_length' });
  });

  it('a quote that is never closed, and more columns than a table has, end soon with a sentence', async () => {
    await expect(imported('x.csv', `a,b\n1,"${'2\n'.repeat(1 << 20)}`)).rejects.toThrow(
      'a quote that opens in line 2 is never closed',
    );
    const wide = Array.from({ length: 100_001 }, (_, i) => `c${i}`).join(',');
    await expect(imported('x.csv', `${wide}\n1\n`)).rejects.toThrow('has 100001 columns; at most 100000 are read');
  });
});

describe("runs of MLflow and of Weights & Biases, in those programs' own files", () => {
  it('mlruns: a run for each of its folders, with its settings', async () => {
    const id = '0123456789abcdef0123456789abcdef';
    const store = await folder({
      'mlruns/1/meta.yaml': 'name: x',
      [`mlruns/1/${id}/metrics/train/approx_kl`]: '1700000000000 0.5 10\n1700000001000 0.25 20\n',
      [`mlruns/1/${id}/params/gamma`]: '0.9',
      [`mlruns/1/${id}/tags/mlflow.runName`]: 'seed0',
    });
    const log = await importLog(store);
    expect(series(log)).toEqual({ 'train/approx_kl': [0.5, 0.25] });
    expect([[...log.log.step], [...log.log.time]]).toEqual([
      [10, 20],
      [1700000000, 1700000001],
    ]);
    expect(log.manifest.settings).toEqual({ gamma: 0.9 });
  });

  it('a .wandb file that wandb itself wrote, whole and cut off anywhere', async () => {
    const bytes = new Uint8Array(readFileSync(new URL('./fixtures/run.wandb', import.meta.url)));
    const log = await imported('run-abc.wandb', bytes);
    expect(log.log.valuesOf('losses/approx_kl')).toEqual([0.5, 0.25, 0.125, Number.NaN]);
    expect(log.log.valuesOf('nest/value_loss')).toEqual([3, 4, 5]);
    expect(log.manifest.settings).toEqual({ gamma: 0.99, epochs: 4, clip: 0.2 });
    const steps = [...log.log.step].filter((_, i) => log.log.names[log.log.name[i]] === 'losses/approx_kl');
    expect(steps).toEqual([0, 100, 200, 300]);
    for (let size = 7; size < bytes.length; size += 97) {
      const part = await imported('run-abc.wandb', bytes.slice(0, size)).catch((error: unknown) => error as Error);
      if (part instanceof Error) expect(part).toBeInstanceOf(BadInput);
      else
        expect([0.5, 0.25, 0.125, Number.NaN].slice(0, part.log.valuesOf('losses/approx_kl').length)).toEqual(
          part.log.valuesOf('losses/approx_kl'),
        );
    }
  });
});

describe('folders', () => {
  const events = (tag: string, ...values: number[]) =>
    eventFile(...values.map((value, i) => event(i, i, [[tag, simpleValue(value)]])));

  it('several event files are one run; progress.csv beside them is not read twice', async () => {
    const log = await importLog(
      await folder({
        'events.out.tfevents.1': events('kl', 1, 2),
        'events.out.tfevents.2': events('kl', 3),
        'progress.csv': 'a,b\n1,2\n',
      }),
    );
    expect(series(log)).toEqual({ kl: [1, 2, 3] });
    expect(log.notices).toEqual(['run: progress.csv beside it is not read']);
  });

  it('folders of agents are agents; folders of runs must be named', async () => {
    const agents = await importLog(
      await folder({
        'agent_0/events.out.tfevents.1': events('kl', 1),
        'agent_1/events.out.tfevents.1': events('kl', 2),
      }),
    );
    expect(agents.columns.map(({ metric, agent }) => [metric, agent])).toEqual([
      ['kl', 'agent_0'],
      ['kl', 'agent_1'],
    ]);
    const runs = await folder({
      'PPO_1/events.out.tfevents.1': events('kl', 1),
      'PPO_2/events.out.tfevents.1': events('kl', 2),
    });
    await expect(importLog(runs)).rejects.toThrow('run: holds 2 runs (PPO_1, PPO_2); choose one with --run');
    expect(series(await importLog(runs, { run: 'PPO_2' }))).toEqual({ kl: [2] });
  });

  it('without any log get a sentence', async () => {
    await expect(importLog(await folder({ 'a.png': 'x', 'b.txt': 'y' }))).rejects.toThrow(
      /neither a recording \(manifest.json\) nor a log/,
    );
  });
});

describe('an imported log as a recording', () => {
  it('keeps names, values, steps, times and agents exactly', async () => {
    const log = await imported(
      'x.csv',
      'step,wall_time,agent_0/return,agent_1/return,loss\n5,1.5,1,2,\n6,2.5,3,,0.1\n',
    );
    const recording = await logRecording(log);
    const table = plain(await recording.read('scalars'));
    expect(table).toEqual({
      name: ['agent_0/return', 'agent_1/return', 'agent_0/return', 'loss'],
      value: [1, 2, 3, 0.1],
      step: [5, 5, 6, 6],
      time: [1.5, 1.5, 2.5, 2.5],
      agent: [0, 1, 0, Number.NaN],
    });
    expect(recording.manifest.agents).toEqual([{ name: 'agent_0' }, { name: 'agent_1' }]);
  });
});

describe("Sacred's metrics.json", () => {
  it('has an object for each figure, with its numbers and their steps', async () => {
    const log = await importLog(
      await folder({
        '1/metrics.json':
          '{"approx_kl": {"steps": [512, 1024], "timestamps": ["2026-01-01T00:00:00", "2026-01-01T00:01:00"], "values": [0.01, NaN]}}',
        '1/run.json': '{"command": "main", "heartbeat": 12, "result": null}',
      }),
    );
    expect([log.log.valuesOf('approx_kl'), [...log.log.step]]).toEqual([
      [0.01, Number.NaN],
      [512, 1024],
    ]);
  });
});

describe('Weights & Biases', () => {
  it('what a run printed beside its file is no run of its own', async () => {
    const bytes = readFileSync(new URL('fixtures/run.wandb', import.meta.url));
    const store = await folder({
      'w/run-1.wandb': bytes,
      'w/files/output.log': 'kl: 0.1\nkl: 0.2\n',
      'w/logs/debug.log': 'x: 1\n',
    });
    expect((await importLog(store)).files).toEqual(['w/run-1.wandb']);
  });
});

describe("MLflow's runs", () => {
  it('are called what their user called them', async () => {
    const run = 'mlruns/1/0beea540c49a489fa615abf86cfa4913';
    const store = await folder({
      [`${run}/metrics/kl`]: '1700000000000 0.01 1\n1700000001000 0.02 2\n',
      [`${run}/tags/mlflow.runName`]: 'seed-1',
    });
    const log = await importLog(store);
    expect([log.manifest.name, log.log.valuesOf('kl')]).toEqual(['seed-1', [0.01, 0.02]]);
    const names: string[] = [];
    for await (const { name } of everyLog(store)) names.push(name);
    expect(names).toEqual([`${run} (seed-1)`]);
  });
});
