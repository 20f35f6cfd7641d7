/** What a run of the small GRPO program is made of, and what can be broken in it. */

export interface Options {
  seed?: number;
  iterations?: number;
  settings?: Record<string, unknown>;
  /** Rounding of every pass, in nats. */
  noise?: number;
  topP?: number;
  temperature?: number;
  /** How the sampler reports: tempered is right. */
  reports?: 'tempered' | 'plain' | 'kept' | 'ignores-temperature';
  renormalise?: boolean;
  syncs?: 'always' | 'never' | 'late';
  samplerPadding?: boolean;
  trainerPadding?: boolean;
  packLeak?: boolean;
  dropout?: boolean;
  updateTemperature?: boolean;
  staleCache?: boolean;
  retokenise?: boolean;
  logpShift?: number;
  /** Places that the denominators of the ratio are off. */
  oldShift?: number;
  /** What the program reports of a step, and over what. */
  reported?: 'right' | 'padded';
  maskShift?: number;
  trainTools?: boolean;
  trainPadding?: boolean;
  level?: 'token-mean' | 'sequence-mean' | 'micro' | 'sum' | 'unscaled';
  weight?: 'none' | 'declared' | 'missing';
  /** One ratio for each response; with a declared weight. */
  sequenceRatio?: boolean;
  kl?: { estimator: 'k1' | 'k2' | 'k3'; coefficient: number };
  sign?: -1;
  recomputeOld?: boolean;
  repeatResponses?: boolean;
  grouping?: 'own' | 'batch' | 'interleaved' | 'first';
  includeMasked?: boolean;
  shuffleAdvantages?: boolean;
  rewardOrder?: 'own' | 'rolled';
  truncated?: 'as-is' | 'zeroed' | 'kept';
  reference?: 'start' | 'policy' | 'other';
  /** Every answer is paid 1; or those of five prompts in six are. */
  easy?: boolean | 'mostly';
}

export interface Row {
  t: number;
  token: number;
  source: string;
  trained: number;
  sampler: number;
  plain: number;
  tempered: number;
  control: number;
  control2: number;
  reference: number;
  earlier: number;
  mass: number;
  old: number;
  entropy: number;
}

export interface Response {
  episode: number;
  group: number;
  iteration: number;
  rows: Row[];
  ids: number[];
  sampled: number[];
  prompt: number;
  finish: string;
  graded: number;
  reward: number;
  advantage: number;
  padding: number;
  samplerPadding: number;
  cached: number;
  versions: { sampler: number; trainer: number; earlier: number };
  pack: number;
  masked: boolean;
}

export interface Use {
  iteration: number;
  epoch: number;
  minibatch: number;
  micro: number;
  response: Response;
  row: number;
  fresh: number;
  old: number;
  coef: number;
  again: number;
}

export interface StepRow {
  iteration: number;
  epoch: number;
  minibatch: number;
  tokens: number;
  sequences: number;
  approxKl: number;
  clipFraction: number;
}
