/** The settings that language-model training declares, in one schema. A value outside it is told by `validate`, and the doctor reads it as not declared. */
import { z } from 'zod';
import type { Manifest } from './manifest.ts';

const positive = z.number().positive();
const share = z.number().min(0).max(1);

export const tokenSettingsSchema = z
  .looseObject({
    temperature: z.number().min(0).describe('of sampling, and of the log-probabilities in the loss'),
    top_p: share.describe('of sampling'),
    top_k: z.int().describe('of sampling; 0 or -1 keeps all tokens'),
    min_p: share.describe('of sampling'),
    precision: z
      .looseObject({ trainer: z.string().optional(), sampler: z.string().optional() })
      .describe('{trainer, sampler}, such as float32 and bf16; half precision widens what counts as equal'),
    ratio: z
      .enum(['token', 'sequence', 'product'])
      .describe(
        'level of the importance ratio; GSPO takes the mean over the sequence, RLOO of some frameworks the product over it',
      ),
    clip: positive.describe('distance from 1 at which the ratio is clipped, on both sides'),
    clip_low: z.number().min(0).describe('likewise, below 1'),
    clip_high: z.number().min(0).describe('likewise, above 1'),
    aggregation: z
      .enum(['token-mean', 'sequence-mean', 'sequence-sum', 'constant'])
      .describe('mean of the loss, over the whole optimiser step'),
    aggregation_constant: positive.describe('what sums over tokens are divided by'),
    gradient_accumulation: z.int().min(1).describe('micro-batches per optimiser step'),
    ranks: z.int().min(1).describe('processes that train'),
    recorded_ranks: z.int().min(1).describe('processes that are in the recording'),
    baseline: z
      .enum(['group-mean', 'leave-one-out', 'batch-mean', 'critic', 'none'])
      .describe('what a reward is compared with'),
    baseline_members: z
      .enum(['all', 'trained'])
      .describe('whether answers that are not trained enter mean and deviation'),
    scale: z
      .enum(['group-deviation', 'batch-deviation', 'none'])
      .describe('what advantages are divided by; n and n - 1 are both accepted'),
    scale_epsilon: z.number().min(0).describe('added to the deviation'),
    kl: z
      .looseObject({
        estimator: z.enum(['k1', 'k2', 'k3']).optional(),
        coefficient: z.number().optional(),
        place: z.enum(['loss', 'reward']).optional(),
      })
      .describe('{estimator: k1, k2 or k3; coefficient; place: loss or reward}'),
    importance_weight: z
      .looseObject({
        level: z.enum(['token', 'sequence']).optional(),
        cap: positive.nullish(),
        floor: z.number().min(0).nullish(),
        kind: z.enum(['truncate', 'mask']).optional(),
      })
      .describe(
        'correction of sampler against trainer: {level: token or sequence; cap; floor; kind: truncate or mask}',
      ),
    truncated: z.enum(['as-is', 'mask', 'zero']).describe('what happens to answers that the length limit cut'),
    old_logp: z.enum(['sampler', 'trainer', 'step']).describe('where the denominator of the ratio comes from'),
    sampler_logp: z
      .enum(['kept', 'full', 'plain'])
      .describe('over which tokens, and at which temperature, the sampler reports'),
    sampler_lag: z.int().min(0).describe('publications of weights by which the sampler may lag'),
    max_response_length: z.int().min(1).describe('tokens at which an answer is cut'),
    lora: z.union([z.boolean(), z.int(), z.looseObject({})]).describe('adapters: whether, or of which rank'),
  })
  .partial();

export type TokenSettings = z.infer<typeof tokenSettingsSchema>;

/** Every setting with its values, where there are few, and its meaning. */
export function describeTokenSettings(): { name: string; values: string; meaning: string }[] {
  return Object.entries(tokenSettingsSchema.shape).map(([name, optional]) => {
    const own = optional.unwrap();
    return { name, values: own instanceof z.ZodEnum ? own.options.join(', ') : '', meaning: own.description ?? '' };
  });
}

/** Whether the recording is one of a language model, by what it declares. */
const declaresTokens = ({ settings }: Manifest) =>
  settings !== undefined &&
  ['aggregation', 'baseline', 'max_response_length', 'importance_weight'].some((name) => name in settings);

/** One sentence for every declared value that is none of those that are known. */
export function settingProblems(manifest: Manifest): string[] {
  if (!declaresTokens(manifest)) return [];
  return Object.entries(tokenSettingsSchema.shape).flatMap(([name, schema]) => {
    const value = manifest.settings?.[name];
    if (value === undefined || value === null) return [];
    const parsed = schema.safeParse(value);
    return parsed.success ? [] : [`settings.${name} is ${JSON.stringify(value)}: ${parsed.error.issues[0].message}`];
  });
}

/** What is declared and understood; the rest counts as not declared. */
export function tokenSettings(manifest: Manifest): TokenSettings {
  const known: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(tokenSettingsSchema.shape)) {
    const parsed = schema.safeParse(manifest.settings?.[name] ?? undefined);
    if (parsed.success && parsed.data !== undefined) known[name] = parsed.data;
  }
  return known as TokenSettings;
}
