/** Every check, in the order in which a report shows them. */
import type { Check } from '../check.ts';
import { bufferChecks } from './buffers/index.ts';
import { continuousChecks } from './continuous/index.ts';
import { credit } from './credit/credit.ts';
import { critic } from './credit/critic.ts';
import { finalObservation } from './credit/final-observation.ts';
import { normalisation } from './credit/normalisation.ts';
import { pairing } from './credit/pairing.ts';
import { returns } from './credit/returns.ts';
import { rewards } from './credit/rewards.ts';
import { finite } from './finite.ts';
import { criticGradient } from './gradient/critic-gradient.ts';
import { direction } from './gradient/direction.ts';
import { headGradient } from './gradient/head/head-gradient.ts';
import { klGuard } from './gradient/kl-guard.ts';
import { logpGradient } from './gradient/logp-gradient.ts';
import { loss } from './gradient/losses/loss.ts';
import { valueLoss } from './gradient/losses/value-loss.ts';
import { wholeLoss } from './gradient/losses/whole-loss.ts';
import { movement } from './gradient/movement.ts';
import { network } from './gradient/network.ts';
import { parameters } from './gradient/parameters.ts';
import { valueShare } from './gradient/value-share.ts';
import { wiring } from './gradient/wiring.ts';
import { memoryChecks } from './memory/index.ts';
import { metrics } from './metrics.ts';
import { planningChecks } from './planning/index.ts';
import { drawn } from './replay/drawn.ts';
import { inputs } from './replay/inputs.ts';
import { neverDrawn } from './replay/never-drawn.ts';
import { oldLogpRecomputed } from './replay/old-logp-recomputed.ts';
import { ownership } from './replay/ownership.ts';
import { policyReplay } from './replay/policy-replay.ts';
import { replay } from './replay/replay.ts';
import { phantomRows } from './replay/rows.ts';
import { stale } from './replay/stale.ts';
import { tokenChecks } from './tokens/index.ts';

export const checks: readonly Check[] = [
  finite,
  replay,
  drawn,
  ...continuousChecks,
  ...memoryChecks,
  ...planningChecks,
  policyReplay,
  stale,
  oldLogpRecomputed,
  ownership,
  neverDrawn,
  phantomRows,
  rewards,
  credit,
  finalObservation,
  returns,
  pairing,
  normalisation,
  critic,
  wiring,
  headGradient,
  logpGradient,
  criticGradient,
  direction,
  parameters,
  movement,
  klGuard,
  loss,
  valueLoss,
  wholeLoss,
  valueShare,
  inputs,
  network,
  metrics,
  ...bufferChecks,
  ...tokenChecks,
];
