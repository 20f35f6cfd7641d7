/** What healthy programs differ in: every convention with its levels, and the pairs that no healthy program holds. program.py says what each level does. */
import type { Factors, Forbidden } from './covering.ts';

export const conventions = {
  agents: ['1', '2', '4'],
  networks: ['separate', 'trunk', 'one'],
  critic: ['local', 'central'],
  actions: ['categorical', 'gaussian'],
  choices: ['all', 'mask', 'mask-inf', 'lists', 'lists-mask'],
  deaths: ['none', 'weight', 'dropped'],
  episodes: ['short', 'long'],
  limits: ['bootstrap', 'done', 'folded'],
  flag: ['after', 'before'],
  scale: ['0.001', '1', '1000'],
  rewards: ['raw', 'clipped', 'normalised'],
  observations: ['raw', 'normalised'],
  credit: ['gae', 'monte-carlo', 'one-step', 'n-step'],
  values: ['plain', 'normalised', 'popart'],
  'value loss': ['squared', 'half', 'huber', 'clipped', 'clipped half'],
  objective: ['clip', 'plain'],
  normalisation: ['batch', 'minibatch', 'agent', 'centred', 'none'],
  deviation: ['n', 'n-1'],
  advantages: ['once', 'recomputed'],
  epochs: ['1x1', '1x4', '3x2', '4x4', '6x1'],
  minibatches: ['permuted', 'sequential', 'drawn'],
  clip: ['constant', 'scheduled'],
  entropy: ['constant', 'none', 'scheduled'],
  optimiser: [
    'adam',
    'adam-amsgrad',
    'adamw',
    'adam-decay',
    'rmsprop',
    'rmsprop-momentum',
    'sgd',
    'momentum',
    'nesterov',
    'adagrad',
    'adamax',
    'nadam',
    'radam',
  ],
  optimisers: ['one', 'two'],
  rate: ['constant', 'scheduled'],
  gradients: ['norm', 'value', 'none'],
  accumulation: ['none', 'halves'],
  reduction: ['mean', 'sum'],
  kl: ['k1', 'k2', 'k3', 'none'],
  target: ['none', 'stop', 'adaptive'],
  temperature: ['1', '0.7'],
  logp: ['plain', 'negated'],
  layout: ['steps', 'flat', 'environments', 'agents'],
  width: ['float32', 'float16', 'float64'],
  declared: ['all', 'few'],
  columns: ['all', 'docs', 'lean', 'unwatched'],
} as const satisfies Factors;

export type Conventions = Record<keyof typeof conventions, string>;

/** What most programs do; the ground on which a single convention or fault is tried. */
export const usual = Object.fromEntries(
  Object.entries({
    ...Object.fromEntries(Object.entries(conventions).map(([name, levels]) => [name, levels[0]])),
    agents: '2',
    scale: '1',
    epochs: '3x2',
    kl: 'k3',
  }),
) as Conventions;

const plainSteps = ['sgd', 'momentum', 'nesterov'];
const each = (a: string, xs: readonly string[], b: string, ys: readonly string[]): Forbidden[] =>
  xs.flatMap((x) => ys.map((y): Forbidden => [a, x, b, y]));

export const forbidden: readonly Forbidden[] = [
  // What cannot be said at all.
  ...each('networks', ['trunk'], 'critic', ['central']),
  ...each('agents', ['1'], 'deaths', ['weight', 'dropped']),
  ...each('deaths', ['dropped'], 'layout', ['steps']),
  ...each('actions', ['gaussian'], 'choices', conventions.choices.slice(1)),
  ...each('actions', ['gaussian'], 'temperature', ['0.7']),
  ...each('rate', ['scheduled'], 'target', ['adaptive']),
  // Only the ratio corrects for steps that were made since the rows were sampled.
  ...each('objective', ['plain'], 'epochs', ['3x2', '4x4', '6x1']),
  // A stop or a step size that follows k1 follows noise: a fault. One that follows nothing is none.
  ...each('target', ['stop', 'adaptive'], 'kl', ['k1', 'none']),
  // Returns of 1000 and one clip or trunk for both networks leave the policy nothing: a fault. So do plain steps, by their size.
  ...each('scale', ['1000'], 'networks', ['trunk']),
  ...each('scale', ['1000'], 'gradients', ['norm']),
  ...each('optimiser', plainSteps, 'scale', ['0.001', '1000']),
  ...each('optimiser', plainSteps, 'reduction', ['sum']),
  // Credit of 0.001 beside an entropy bonus of 0.01: a fault.
  ...each('scale', ['0.001'], 'normalisation', ['none', 'centred']),
  // Half precision holds neither.
  ...each('scale', ['0.001', '1000'], 'width', ['float16']),
];

const lists = ['subset', 'legal', 'num_actions'];
const samples = [
  'old_logp',
  'action',
  'reward',
  'terminated',
  'truncated',
  'value',
  'next_value',
  'advantage',
  ...lists,
];
const replays = ['sample', 'new_logp', 'advantage', 'weight'];
const kept: Record<string, { samples: string[]; replays: string[]; steps: string[]; others: string[] }> = {
  docs: {
    samples: [...samples, 'logits'],
    replays: [...replays, 'old_logp', 'logits', 'subset', 'legal'],
    steps: ['loss', 'policy_loss', 'value_loss', 'approx_kl'],
    others: ['tensors'],
  },
  lean: { samples, replays, steps: [], others: [] },
};

/** Every column that a program can leave out; `tensors` is the call of `watch`, `again` the second forward pass. */
export const optional = {
  samples: [
    'obs',
    'action',
    'logits',
    'reward',
    'env_reward',
    'truncated',
    'value',
    'next_value',
    'advantage',
    'return',
  ],
  replays: ['old_logp', 'advantage', 'entropy', 'value', 'return', 'logits', 'subset', 'legal'],
  steps: ['loss', 'policy_loss', 'value_loss', 'entropy', 'approx_kl', 'clip_fraction', 'grad_norm', 'stopped'],
};

/** Columns that a program of these conventions has not got, whatever it would like to record. */
export function absent(row: Record<string, string>): string[] {
  const lists = row.choices.startsWith('lists');
  const masks = row.choices !== 'all' && row.choices !== 'lists';
  const choices = row.actions === 'categorical' ? [] : ['samples.action', 'samples.logits', 'replays.logits'];
  return [
    ...choices,
    ...(lists ? [] : ['samples.subset', 'replays.subset']),
    ...(masks ? [] : ['samples.legal', 'replays.legal']),
    ...(row.optimisers === 'two' ? ['steps.loss'] : []),
    ...(row.objective === 'plain' ? ['steps.clip_fraction'] : []),
    ...(row.kl === 'none' ? ['steps.approx_kl'] : []),
    ...(row.target === 'stop' ? [] : ['steps.stopped']),
    ...(row.limits === 'done' ? ['samples.truncated'] : []),
  ];
}

export function dropped(columns: string): string[] {
  if (columns === 'all') return [];
  if (columns === 'unwatched') return ['tensors'];
  const keep = kept[columns];
  const left = (['samples', 'replays', 'steps'] as const).flatMap((table) =>
    optional[table].filter((name) => !keep[table].includes(name)).map((name) => `${table}.${name}`),
  );
  return [...left, ...['again', 'tensors'].filter((name) => !keep.others.includes(name))];
}
