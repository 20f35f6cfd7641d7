/**
 * The uses of tokens whose derivative of the loss is known, with all that a loss of this field is made of:
 * coef = N(level) x (- advantage x ratio x [not clipped] x weight + beta x dKL).
 */
import { source } from './codes.ts';
import type { TokenEvidence } from './evidence.ts';
import { type Step, sliceKey } from './steps.ts';

export interface Model {
  level: string;
  sign: 1 | -1;
  weight: boolean;
  ratio: 'declared' | 'one';
  clip: boolean;
  kl: { estimator: 'k1' | 'k2' | 'k3' | 'none'; coefficient: number };
}

/** Derivative of each estimator by new_logp, from ref - new. */
export const klSlope = {
  k1: () => 1,
  k2: (gap: number) => -gap,
  k3: (gap: number) => 1 - Math.exp(gap),
  none: () => 0,
} as const;

export class LossRows {
  /** Indices into the uses. */
  readonly rows: Int32Array;
  readonly coef: Float64Array;
  readonly advantage: Float64Array;
  readonly logRatio: Float64Array;
  readonly ratio: Float64Array;
  readonly importance: Float64Array;
  readonly gap: Float64Array;
  readonly lengths: Float64Array;
  readonly step: readonly Step[];
  private readonly micro: Float64Array;
  private readonly rank: Float64Array;

  /** With `derived` only rows whose derivative, advantage and reference are known; without, all that have a ratio. */
  constructor(
    readonly evidence: TokenEvidence,
    derived = true,
  ) {
    const { uses, tokens, responses, settings, steps } = evidence;
    const [token, coef, fresh, used, used2, credit] = [
      uses.column('token'),
      uses.column('coef'),
      uses.column('new_logp'),
      uses.column('old_logp'),
      tokens.column('old_logp'),
      uses.column('advantage'),
    ];
    const [origin, flag, owner, own] = [
      tokens.column('source'),
      tokens.column('trained'),
      tokens.column('response'),
      tokens.column('advantage'),
    ];
    const [ofResponse, said, reference] = [
      responses.column('advantage'),
      tokens.column('sampler_logp'),
      tokens.column('reference_logp'),
    ];
    const [at, before] = [uses.column('step'), uses.column('before')];
    const needsReference =
      (settings.kl?.coefficient ?? 0) !== 0 && settings.kl?.place !== 'reward' && tokens.has('reference_logp');
    const chosen: number[] = [];
    const oldOf = (use: number) => {
      const row = token[use];
      if (settings.old_logp === 'step') return fresh[use];
      if (!Number.isNaN(used[use])) return used[use];
      if (!Number.isNaN(used2[row])) return used2[row];
      // A trainer that holds none has ratio 1 before the first step.
      return settings.old_logp === 'sampler' ? said[row] : before[use] === 1 ? fresh[use] : Number.NaN;
    };
    const creditOf = (use: number) => {
      const row = token[use];
      return !Number.isNaN(credit[use]) ? credit[use] : !Number.isNaN(own[row]) ? own[row] : ofResponse[owner[row]];
    };
    for (let use = 0; use < uses.rows; use++) {
      const row = token[use];
      if (origin[row] !== source.sampled || flag[row] === 0 || Number.isNaN(oldOf(use))) continue;
      const unknown =
        Number.isNaN(coef[use]) || Number.isNaN(creditOf(use)) || (needsReference && Number.isNaN(reference[row]));
      if (derived && unknown) continue;
      chosen.push(use);
    }
    this.rows = Int32Array.from(chosen);
    const pick = (value: (use: number) => number) => Float64Array.from(this.rows, value);
    this.coef = pick((use) => coef[use] * steps.list[at[use]].gradScale);
    this.advantage = pick(creditOf);
    this.logRatio = pick((use) => fresh[use] - oldOf(use));
    this.gap = pick((use) => reference[token[use]] - fresh[use]);
    this.lengths = pick((use) => {
      const response = owner[token[use]];
      const declared = responses.column('length')[response];
      const counted = responses.column('trained')[response];
      return counted > 0 ? counted : declared > 0 ? declared : responses.column('tokens')[response];
    });
    this.step = chosen.map((use) => steps.list[at[use]]);
    this.micro = pick((use) => uses.column('micro_batch')[use]);
    this.rank = pick((use) => uses.column('rank')[use]);
    const { ratio = 'token' } = settings;
    const whole = ratio === 'token' ? this.logRatio : this.overSequences(this.logRatio, ratio === 'sequence');
    this.ratio = whole.map(Math.exp);
    const declared = settings.importance_weight;
    const raw = pick((use) => oldOf(use) - said[token[use]]);
    const level = declared?.level === 'sequence' ? this.overSequences(raw, false) : raw;
    const weights = level.map((log) => {
      if (!declared || Number.isNaN(log)) return 1;
      const weight = Math.exp(log);
      const [cap, floor] = [declared.cap ?? Number.POSITIVE_INFINITY, declared.floor ?? 0];
      if (declared.kind === 'mask') return weight > cap || weight < floor ? 0 : weight;
      return Math.min(cap, Math.max(floor, weight));
    });
    // One ratio stands in the loss of every token of its response: each token's derivative holds the weights of all of them.
    this.importance = ratio === 'sequence' ? this.overSequences(weights) : weights;
  }

  responseOf(i: number): number {
    const { uses, tokens } = this.evidence;
    return tokens.at('response', uses.at('token', this.rows[i]));
  }

  /** The micro-batch of its step that a row was in. */
  sliceOf(i: number): number {
    return sliceKey(this.micro[i] || 0, this.rank[i] || 0);
  }

  /** Per row, the mean (or sum) over its response's tokens in the same step. */
  private overSequences(values: Float64Array, average = true): Float64Array {
    const at = this.evidence.uses.column('step');
    const keys = Float64Array.from(this.rows, (use, i) => at[use] * 2 ** 32 + this.responseOf(i));
    const sums = new Map<number, { sum: number; count: number }>();
    keys.forEach((key, i) => {
      const own = sums.get(key) ?? { sum: 0, count: 0 };
      sums.set(key, own);
      own.sum += values[i];
      own.count++;
    });
    return values.map((_, i) => {
      const { sum, count } = sums.get(keys[i])!;
      return average ? sum / count : sum;
    });
  }

  /** 1 over what each level divides by; NaN where the recording does not tell. */
  normaliser(level: string, i: number): number {
    const step = this.step[i];
    const whole = step.tokens > 0 ? step : { tokens: step.counted.tokens, sequences: step.counted.sequences };
    const sequences = step.sequences > 0 ? step.sequences : step.counted.sequences;
    const { settings } = this.evidence;
    const rank = this.rank[i] || 0;
    const micro = step.micro.get(this.sliceOf(i));
    const slices = step.micro.size;
    const part = step.ranks.get(rank);
    const length = this.lengths[i];
    const constant = settings.aggregation_constant ?? settings.max_response_length ?? Number.NaN;
    switch (level) {
      case 'token-mean':
        return 1 / whole.tokens;
      case 'sequence-mean':
        return 1 / (length * sequences);
      case 'sequence-sum':
        return 1 / sequences;
      case batchLevel:
        return 1 / this.evidence.steps.usual(step);
      case 'constant':
        return 1 / (constant * sequences);
      case 'constant of the whole':
        return 1 / constant;
      case 'sum over tokens':
        return 1;
      case 'mean over the tokens of each micro-batch':
        return micro ? 1 / (micro.tokens * slices) : Number.NaN;
      case 'mean over the tokens of each micro-batch, accumulation left out':
        return micro ? 1 / micro.tokens : Number.NaN;
      case 'mean over the sequences of each micro-batch, accumulation left out':
        return micro ? 1 / (length * micro.sequences) : Number.NaN;
      case 'mean over the sequences of each micro-batch':
        return micro ? 1 / (length * micro.sequences * slices) : Number.NaN;
      case 'sum over sequences, mean over each micro-batch, accumulation left out':
        return micro ? 1 / micro.sequences : Number.NaN;
      case 'constant over each micro-batch, accumulation left out':
        return micro ? 1 / (constant * micro.sequences) : Number.NaN;
      case 'mean over the tokens of each rank':
        return part ? 1 / (part.tokens * step.ranks.size) : Number.NaN;
      case 'mean over the tokens of each rank, summed over ranks':
        return part ? 1 / part.tokens : Number.NaN;
      case 'mean over the padded batch':
        return 1 / (sequences * step.counted.widest);
      case 'mean over the padded batch with its prompts':
        return 1 / (sequences * step.counted.whole);
      case 'mean over the padded batch with its prompts, but for the first place':
        return 1 / (sequences * (step.counted.whole - 1));
      case 'mean over each padded micro-batch':
        return micro ? 1 / (micro.sequences * micro.widest * slices) : Number.NaN;
      case 'mean over the longest response':
        return 1 / (sequences * (settings.max_response_length ?? Number.NaN));
      default:
        return Number.NaN;
    }
  }

  /** What a model of the loss gives for a row, before its normaliser: the policy term and the KL term. */
  terms(model: Model, i: number): number {
    const { settings } = this.evidence;
    const ratio = model.ratio === 'one' ? 1 : this.ratio[i];
    const advantage = model.sign * this.advantage[i];
    const low = settings.clip_low ?? settings.clip;
    const high = settings.clip_high ?? settings.clip;
    const clipped =
      model.clip &&
      ((advantage > 0 && high !== undefined && ratio > 1 + high) ||
        (advantage < 0 && low !== undefined && ratio < 1 - low));
    const policy = clipped ? 0 : -advantage * ratio * (model.weight ? this.importance[i] : 1);
    const slope =
      model.kl.estimator === 'none' || model.kl.coefficient === 0
        ? 0
        : model.kl.coefficient * klSlope[model.kl.estimator](this.gap[i]);
    return policy + slope;
  }
}

/** As TRL counts: the tokens of all steps of an iteration, divided by the number of steps. */
export const batchLevel = 'mean over the tokens of the whole batch';

export const declaredLevels = [
  'token-mean',
  'sequence-mean',
  'sequence-sum',
  'constant',
  'constant of the whole',
] as const;

/** In the order in which they are tried: what is usual first. */
export const levels = [
  ...declaredLevels,
  batchLevel,
  'mean over the tokens of each micro-batch',
  'mean over the tokens of each micro-batch, accumulation left out',
  'mean over the sequences of each micro-batch',
  'mean over the sequences of each micro-batch, accumulation left out',
  'sum over sequences, mean over each micro-batch, accumulation left out',
  'constant over each micro-batch, accumulation left out',
  'mean over the tokens of each rank',
  'mean over the tokens of each rank, summed over ranks',
  'mean over the padded batch',
  'mean over the padded batch with its prompts',
  'mean over the padded batch with its prompts, but for the first place',
  'mean over each padded micro-batch',
  'mean over the longest response',
  'sum over tokens',
] as const;
