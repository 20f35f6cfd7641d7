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
    expect(short.notes[0]).toMatch(/^The log has 8 updates: what is exactly 0 .* only from 20 on\.$/);
  });

  it('with a KL of 0 and no word of its epochs gets a note, and no cause while returns rise', async () => {
    const { causes, notes } = await reading({ 'train/approx_kl': () => 0, 'train/clip_fraction': () => 0 });
    expect(causes).toEqual([]);
    expect(notes.join()).toMatch(/healthy with one optimiser step per batch/);
  });
});

describe('short logs count', () => {
  it('three updates in which KL is exactly 0 are a symptom', async () => {
    const { symptoms, causes } = await reading(still, {}, 3);
    expect(symptoms).toEqual(['kl-zero']);
    expect(causes[0]).toBe('optimizer-unbound');
  });

  it('a value loss that grows in every one of eight rows is one, and one that merely grows is not', async () => {
    const grows = await reading({ ...flat, 'train/value_loss': (i) => 3 * 10 ** i }, {}, 8);
    expect(grows.symptoms).toEqual(['value-loss-blows-up']);
    expect(grows.diagnosis.scalars!.symptoms[0].summary).toMatch(/train\/value_loss grows from 30 to 3000000/);
    expect((await reading({ ...flat, 'train/value_loss': (i) => 3 * 1.2 ** i }, {}, 8)).symptoms).toEqual([]);
  });
});

describe('a log with columns that were not understood', () => {
  it('says which, what they may be and what would be looked for', async () => {
    const { diagnosis } = await reading({ my_odd_kl: () => 0.01, zzz: () => 1 });
    const { not_understood, not_looked_for } = diagnosis.scalars!;
    expect(not_understood).toEqual([
      { name: 'my_odd_kl', guesses: ['kl'] },
      { name: 'zzz', guesses: [] },
    ]);
    expect(not_looked_for).toContain('a gradient of 0');
    expect(not_looked_for).not.toContain('a KL above 0.3');
  });
});

describe('several agents', () => {
  const four = (values: number[]): Columns =>
    Object.fromEntries(
      values.map((value, i) => [
        `agent_${i}/value_loss`,
        (_: number, noise: () => number) => value * (1 + 0.05 * noise()),
      ]),
    );

  it('whose value losses differ by orders of magnitude are trained on other rows or rewards', async () => {
    const { diagnosis, causes } = await reading(four([0.5, 300, 310, 290]));
    const [symptom] = diagnosis.scalars!.symptoms;
    expect(symptom.id).toBe('losses-differ-between-agents');
    expect(symptom.agents).toEqual(['agent_0']);
    expect(symptom.summary).toMatch(/differ 6\d\d times \(agent_0 0\.\d+, agent_1 3/);
    expect(causes.slice(0, 2)).toEqual(['trained-on-other-agent', 'reward-bookkeeping']);
  });

  it('are not accused of a factor of ten, nor of losses that follow their returns', async () => {
    expect((await reading(four([30, 300, 310, 290]))).symptoms).toEqual([]);
    const scaled = { ...four([0.5, 300]), 'agent_0/return': () => 1, 'agent_1/return': () => 30 };
    expect((await reading(scaled)).symptoms).not.toContain('losses-differ-between-agents');
  });
});

describe('symptoms and the causes that fit', () => {
  it('come with the curve, what they suggest and the columns that would decide', async () => {
    const { diagnosis } = await reading(still);
    const [symptom] = diagnosis.scalars!.symptoms;
    expect(symptom.curve.value).toEqual(Array.from({ length: 60 }, () => 0));
    expect(symptom.suggests.slice(0, 2)).toEqual(['optimizer-unbound', 'policy-detached']);
    expect(symptom.record_next.join()).toMatch(/tensors\.grad_norm/);
  });

  it.each<[string, Columns, LogOptions, string, string[]]>([
    ['KL 0 and nothing moves', still, {}, 'kl-zero', ['optimizer-unbound', 'policy-detached']],
    [
      'learning rate 0',
      { ...still, 'train/learning_rate': () => 0 },
      {},
      'learning-rate-zero',
      ['learning-rate-too-small'],
    ],
    [
      'advantages that were never centred',
      { ...flat, advantages_mean: (_, noise) => 8 + noise(), advantages_std: () => 5 },
      {},
      'advantage-not-centred',
      ['advantage-not-normalised'],
    ],
    [
      'returns that fall after a peak',
      {
        'train/approx_kl': () => 0.08,
        'train/clip_fraction': () => 0.35,
        'rollout/ep_rew_mean': (i, noise) =>
          (i < 25 ? 20 + 8 * i : 220 - 8 * (i - 25) * (i < 45 ? 1 : 0) - (i < 45 ? 0 : 160)) + noise(),
      },
      {},
      'return-falls-after-peak',
      ['learning-rate-too-large'],
    ],
    [
      'epochs that stop at once',
      { ...flat, 'train/stop_iter': () => 1 },
      { settings: { epochs: 10 } },
      'kl-stop-at-once',
      ['kl-guard-too-tight'],
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
    expect(by['learning-rate-too-large']).toMatch(/in 95 % of updates/);
    expect(by['advantage-shuffled']).toBeUndefined();
  });

  it('understands names that only those of the other agents explain', async () => {
    const { diagnosis, symptoms } = await reading({
      kl_IND: () => 0,
      kl_EDU: (_, noise) => 0.01 + 0.001 * Math.abs(noise()),
    });
    expect(diagnosis.scalars!.not_understood).toEqual([]);
    expect(symptoms).toEqual(['kl-below-clip']);
    expect(diagnosis.scalars!.symptoms[0].agents).toEqual(['IND']);
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
