import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import { fileStore, importLog, type LogOptions, logRecording } from '../../recording/importers/open.ts';
import { bytesSource } from '../../recording/source.ts';
import { causeById } from '../causes.ts';
import { diagnose } from '../diagnose.ts';

type Columns = Record<string, (update: number, noise: () => number) => number | string>;

/** A log of 60 updates; a column that is not given is that of a healthy run. */
const healthy: Columns = {
  'time/total_timesteps': (i) => 2048 * (i + 1),
  'rollout/ep_rew_mean': (i, noise) => 20 + 3 * i + 2 * noise(),
  'train/approx_kl': (_, noise) => 0.008 + 0.002 * Math.abs(noise()),
  'train/clip_fraction': (_, noise) => 0.08 + 0.02 * Math.abs(noise()),
  'train/entropy_loss': (i, noise) => -(1.38 - 0.01 * i + 0.005 * noise()),
  'train/explained_variance': (i, noise) => Math.min(0.9, 0.02 * i) + 0.02 * noise(),
  'train/value_loss': (i, noise) => 40 + i + 3 * Math.abs(noise()),
  'train/policy_gradient_loss': (_, noise) => -0.01 + 0.003 * noise(),
  'train/learning_rate': () => 3e-4,
};

async function reading(columns: Columns, options: LogOptions = {}, updates = 60) {
  const stream = RandomStream.of(5, 'log');
  const all = { ...healthy, ...columns };
  const names = Object.keys(all).filter((name) => all[name] !== undefined);
  const lines = Array.from({ length: updates }, (_, i) =>
    names.map((name) => all[name](i, () => stream.normal())).join(','),
  );
  const text = new TextEncoder().encode([names.join(','), ...lines].join('\n'));
  const recording = await logRecording(await importLog(fileStore(bytesSource('progress.csv', text)), options));
  const diagnosis = await diagnose(recording);
  expect(diagnosis.verdict).toBe('not-enough-evidence');
  for (const cause of diagnosis.causes) expect(cause.confidence).toBeLessThanOrEqual(0.5);
  const { symptoms, ruled_out, record_next, notes } = diagnosis.scalars!;
  return {
    symptoms: symptoms.map(({ id }) => id),
    causes: diagnosis.causes.map(({ id }) => id),
    out: ruled_out.map(({ id }) => id),
    next: record_next,
    notes,
    diagnosis,
  };
}

const flat = { 'rollout/ep_rew_mean': (_: number, noise: () => number) => 20 + 2 * noise() };
const still: Columns = {
  ...flat,
  'train/approx_kl': () => 0,
  'train/clip_fraction': () => 0,
  'train/entropy_loss': (_, noise) => -(1.38 + 0.004 * noise()),
};

describe('a healthy log', () => {
  it('shows no symptom and names no cause', async () => {
    expect(await reading({})).toMatchObject({ symptoms: [], causes: [], next: [] });
  });

  it.each<[string, Columns, LogOptions]>([
    [
      'one step per batch, as declared',
      { 'train/approx_kl': () => 0, 'train/clip_fraction': () => 0 },
      { settings: { epochs: 1, minibatches: 1 } },
    ],
    [
      'one step per batch, float noise',
      { 'train/approx_kl': (_, noise) => 1e-9 * noise(), 'train/clip_fraction': () => 0 },
      { settings: { epochs: 1, minibatches: 1 } },
    ],
    ['annealed to 0 at the end', { 'train/learning_rate': (i) => 3e-4 * (1 - i / 59) }, {}],
    [
      'solved early, entropy gone',
      {
        'rollout/ep_rew_mean': (i) => Math.min(500, 20 + 100 * i),
        'train/entropy_loss': (i) => -1.38 * Math.exp(-i / 3),
      },
      {},
    ],
    [
      'returns that do not vary, so that nothing is explained',
      { 'train/explained_variance': () => 'nan', 'rollout/ep_rew_mean': () => 1 },
      {},
    ],
    [
      'value loss that grows with the returns',
      { 'rollout/ep_rew_mean': (i) => 10 * 1.1 ** i, 'train/value_loss': (i) => 1.1 ** (2 * i) },
      {},
    ],
    ['no episode has ended yet', { 'rollout/ep_rew_mean': (i) => (i < 5 ? 'nan' : 20 + i) }, {}],
    ['one choice only', { ...still, 'train/entropy_loss': () => 0 }, {}],
  ])('%s: silent', async (_, columns, options) => {
    expect(await reading(columns, options)).toMatchObject({ symptoms: [], causes: [] });
  });

  it('is not called stuck when it is short', async () => {
    const short = await reading({ ...flat, 'train/entropy_loss': () => -Math.log(4) }, {}, 8);
    expect(short).toMatchObject({ symptoms: [], causes: [] });
    expect(short.notes[0]).toBe('The log has 8 updates; trends are read from 20 on.');
  });

  it('with a KL of 0 and no word of its epochs gets a note, and no cause while returns rise', async () => {
    const { causes, notes } = await reading({ 'train/approx_kl': () => 0, 'train/clip_fraction': () => 0 });
    expect(causes).toEqual([]);
    expect(notes.join()).toMatch(/healthy with one optimiser step per batch/);
  });
});

describe('symptoms and the causes that fit', () => {
  it.each<[string, Columns, LogOptions, string, string[]]>([
    ['KL 0 and nothing moves', still, {}, 'kl-zero', ['optimizer-unbound', 'policy-detached']],
    [
      'learning rate 0',
      { ...still, 'train/learning_rate': () => 0 },
      {},
      'learning-rate-zero',
      ['learning-rate-too-small'],
    ],
    ['gradient 0', { ...still, 'train/grad_norm': () => 0 }, {}, 'gradient-zero', ['policy-detached']],
    [
      'KL 0 and entropy falls, many epochs',
      { ...flat, 'train/approx_kl': () => 0, 'train/clip_fraction': () => 0 },
      { settings: { epochs: 4, minibatches: 4 } },
      'kl-zero',
      ['old-logp-recomputed', 'metric-misreported'],
    ],
    ['KL tiny', { ...still, 'train/approx_kl': () => 2e-6 }, {}, 'kl-tiny', ['learning-rate-too-small']],
    [
      'clip fraction 1 from the start',
      { ...flat, 'train/clip_fraction': () => 0.97, 'train/approx_kl': () => 2 },
      {},
      'clip-high',
      ['subset-not-replayed', 'old-logp-wrong'],
    ],
    [
      'KL that grows',
      { ...flat, 'train/approx_kl': (i) => 0.02 * (i + 1), 'train/clip_fraction': () => 0.4 },
      {},
      'kl-high',
      ['learning-rate-too-large'],
    ],
    [
      'KL below what the clip fraction makes it',
      { 'train/approx_kl': (_, noise) => 1e-5 * noise(), 'train/clip_fraction': () => 0.2 },
      {},
      'kl-below-clip',
      ['kl-estimator-cancels', 'metric-misreported'],
    ],
    [
      'entropy at log K',
      { ...flat, 'train/entropy_loss': (_, noise) => -(Math.log(4) - 1e-4 * Math.abs(noise())) },
      {},
      'entropy-at-log-k',
      ['entropy-bonus-dominates', 'policy-head-flat'],
    ],
    [
      'entropy rising',
      { ...flat, 'train/entropy_loss': (i) => -(0.7 + 0.01 * i) },
      {},
      'entropy-rising',
      ['entropy-bonus-dominates'],
    ],
    [
      'entropy gone',
      { ...flat, 'train/entropy_loss': (i) => -1.38 * Math.exp(-i) },
      {},
      'entropy-collapsed',
      ['policy-collapsed'],
    ],
    [
      'critic worse than a constant',
      { ...flat, 'train/explained_variance': () => -0.6 },
      {},
      'value-worse-than-constant',
      ['critic-context-misaligned'],
    ],
    [
      'value loss blows up',
      { ...flat, 'train/value_loss': (i) => 1.3 ** i, 'train/explained_variance': () => 0.1 },
      {},
      'value-loss-blows-up',
      ['value-scale-mismatch'],
    ],
    ['NaN from update 20 on', { 'train/value_loss': (i) => (i < 20 ? 1 : 'nan') }, {}, 'non-finite', ['non-finite']],
    [
      'advantages without spread',
      { ...still, advantages_std: () => 0 },
      {},
      'advantage-flat',
      ['advantage-degenerate'],
    ],
    [
      'returns that fall',
      { 'rollout/ep_rew_mean': (i, noise) => 100 - i + noise() },
      {},
      'return-falling',
      ['advantage-sign-flipped'],
    ],
  ])('%s', async (_, columns, options, symptom, causes) => {
    const got = await reading(columns, options);
    expect(got.symptoms).toContain(symptom);
    for (const cause of causes) expect(got.causes).toContain(cause);
    for (const cause of got.causes) {
      expect(causeById(cause)).toBeDefined();
      expect(got.out).not.toContain(cause);
    }
    expect(got.next.flatMap(({ decides }) => decides)).toEqual(expect.arrayContaining(causes));
  });

  it('rules out what the numbers contradict, and says by what', async () => {
    const { diagnosis } = await reading({});
    const by = Object.fromEntries(diagnosis.scalars!.ruled_out.map(({ id, by: reason }) => [id, reason]));
    expect(by['optimizer-unbound']).toMatch(/train\/approx_kl is not 0/);
    expect(by['learning-rate-too-large']).toMatch(/95 % of updates keep/);
    expect(by['advantage-shuffled']).toBeUndefined();
  });

  it('speaks of the agent that shows it', async () => {
    const columns: Columns = {};
    for (const name of Object.keys(healthy)) columns[name] = undefined as never;
    for (const agent of ['agent_0', 'agent_1'])
      Object.assign(columns, {
        [`${agent}/return`]: (_: number, noise: () => number) => 5 + noise(),
        [`${agent}/approx_kl`]: () => (agent === 'agent_1' ? 0 : 0.01),
        [`${agent}/entropy`]: (i: number) => (agent === 'agent_1' ? 1 : 1 - 0.01 * i),
      });
    const { diagnosis } = await reading(columns);
    expect(diagnosis.scalars!.symptoms).toMatchObject([{ id: 'kl-zero', agents: ['agent_1'] }]);
    expect(diagnosis.causes[0].agents).toEqual(['agent_1']);
  });

  it('notes a ranking by number and accuses nobody of it', async () => {
    const columns: Columns = {};
    for (const agent of [0, 1, 2, 3]) columns[`agent_${agent}/return`] = (i, noise) => i + 10 * agent + noise();
    const { causes, notes } = await reading(columns);
    expect(causes).toEqual([]);
    expect(notes.join()).toMatch(/in the order of the agents' numbers/);
  });
});
