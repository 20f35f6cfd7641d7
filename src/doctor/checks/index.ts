/** Every check, in the order in which a report shows them. */
import type { Check } from '../check.ts';
import { credit } from './credit.ts';
import { critic } from './critic.ts';
import { direction } from './direction.ts';
import { finite } from './finite.ts';
import { headGradient } from './head-gradient.ts';
import { inputs } from './inputs.ts';
import { klGuard } from './kl-guard.ts';
import { loss } from './loss.ts';
import { metrics } from './metrics.ts';
import { movement } from './movement.ts';
import { network } from './network.ts';
import { normalisation } from './normalisation.ts';
import { oldLogpRecomputed } from './old-logp-recomputed.ts';
import { ownership } from './ownership.ts';
import { pairing } from './pairing.ts';
import { parameters } from './parameters.ts';
import { policyReplay } from './policy-replay.ts';
import { replay } from './replay.ts';
import { returns } from './returns.ts';
import { rewards } from './rewards.ts';
import { phantomRows } from './rows.ts';
import { stale } from './stale.ts';
import { valueShare } from './value-share.ts';
import { wholeLoss } from './whole-loss.ts';
import { wiring } from './wiring.ts';

export const checks: readonly Check[] = [
  finite,
  replay,
  policyReplay,
  stale,
  oldLogpRecomputed,
  ownership,
  phantomRows,
  rewards,
  credit,
  returns,
  pairing,
  normalisation,
  critic,
  wiring,
  headGradient,
  direction,
  parameters,
  movement,
  klGuard,
  loss,
  wholeLoss,
  valueShare,
  inputs,
  network,
  metrics,
];
