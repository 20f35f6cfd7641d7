/** Every check of language models, in the order in which a report shows them. */
import type { Check } from '../../check.ts';
import { batch } from './batch.ts';
import { credit } from './credit.ts';
import { groups } from './groups.ts';
import { loss } from './loss.ts';
import { mask } from './mask.ts';
import { tokenMetrics } from './metrics.ts';
import { reference } from './reference.ts';
import { tokenReturns } from './returns.ts';
import { reuse } from './reuse.ts';
import { tokenRewards } from './rewards.ts';
import { sampler } from './sampler.ts';

export const tokenChecks: readonly Check[] = [
  sampler,
  batch,
  reuse,
  mask,
  tokenRewards,
  credit,
  tokenReturns,
  groups,
  loss,
  reference,
  tokenMetrics,
];
