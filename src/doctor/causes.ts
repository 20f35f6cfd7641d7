/** Every cause, A to F: one folder of causes/ each. A new folder is listed here; a test says which is not. */

import { entropyTemperatureSign } from './causes/buffers/entropy-temperature-sign/cause.ts';
import { nStepOffByOne } from './causes/buffers/n-step-off-by-one/cause.ts';
import { priorityWeightWrong } from './causes/buffers/priority-weight-wrong/cause.ts';
import { targetCrossesEnd } from './causes/buffers/target-crosses-end/cause.ts';
import { targetNetworkFrozen } from './causes/buffers/target-network-frozen/cause.ts';
import { targetNetworkUnused } from './causes/buffers/target-network-unused/cause.ts';
import type { CauseEntry } from './causes/cause.ts';
import { clippedActionStored } from './causes/continuous/clipped-action-stored/cause.ts';
import { deviationInvalid } from './causes/continuous/deviation-invalid/cause.ts';
import { deviationScaleWrong } from './causes/continuous/deviation-scale-wrong/cause.ts';
import { dimensionsReducedWrong } from './causes/continuous/dimensions-reduced-wrong/cause.ts';
import { entropyOfAnotherDistribution } from './causes/continuous/entropy-of-another-distribution/cause.ts';
import { squashCorrectionWrong } from './causes/continuous/squash-correction-wrong/cause.ts';
import { advantageAgentSwapped } from './causes/credit/advantage-agent-swapped/cause.ts';
import { advantageDegenerate } from './causes/credit/advantage-degenerate/cause.ts';
import { advantageGroupDemeaned } from './causes/credit/advantage-group-demeaned/cause.ts';
import { advantageNotNormalised } from './causes/credit/advantage-not-normalised/cause.ts';
import { advantageShuffled } from './causes/credit/advantage-shuffled/cause.ts';
import { advantageSignFlipped } from './causes/credit/advantage-sign-flipped/cause.ts';
import { advantageTimeShifted } from './causes/credit/advantage-time-shifted/cause.ts';
import { creditCrossesAgents } from './causes/credit/credit-crosses-agents/cause.ts';
import { creditFormulaDiffers } from './causes/credit/credit-formula-differs/cause.ts';
import { criticContextMisaligned } from './causes/credit/critic-context-misaligned/cause.ts';
import { doneTimeShifted } from './causes/credit/done-time-shifted/cause.ts';
import { finalObservationLost } from './causes/credit/final-observation-lost/cause.ts';
import { paddingTrained } from './causes/credit/padding-trained/cause.ts';
import { phantomSteps } from './causes/credit/phantom-steps/cause.ts';
import { returnCrossesEpisodes } from './causes/credit/return-crosses-episodes/cause.ts';
import { returnInconsistent } from './causes/credit/return-inconsistent/cause.ts';
import { rewardTimeShifted } from './causes/credit/reward-time-shifted/cause.ts';
import { rowsNeverDrawn } from './causes/credit/rows-never-drawn/cause.ts';
import { trainedOnOtherAgent } from './causes/credit/trained-on-other-agent/cause.ts';
import { truncationTreatedAsTermination } from './causes/credit/truncation-treated-as-termination/cause.ts';
import { valueScaleMismatch } from './causes/credit/value-scale-mismatch/cause.ts';
import { broadcastMismatch } from './causes/gradient/broadcast-mismatch/cause.ts';
import { entropyBonusDominates } from './causes/gradient/entropy-bonus-dominates/cause.ts';
import { entropySignFlipped } from './causes/gradient/entropy-sign-flipped/cause.ts';
import { gradientNotClipped } from './causes/gradient/gradient-not-clipped/cause.ts';
import { gradientsAccumulate } from './causes/gradient/gradients-accumulate/cause.ts';
import { headUnbound } from './causes/gradient/head-unbound/cause.ts';
import { klGuardTooTight } from './causes/gradient/kl-guard-too-tight/cause.ts';
import { learningRateTooLarge } from './causes/gradient/learning-rate-too-large/cause.ts';
import { learningRateTooSmall } from './causes/gradient/learning-rate-too-small/cause.ts';
import { lossFormulaDiffers } from './causes/gradient/loss-formula-differs/cause.ts';
import { lossSummed } from './causes/gradient/loss-summed/cause.ts';
import { nonFinite } from './causes/gradient/non-finite/cause.ts';
import { optimizerUnbound } from './causes/gradient/optimizer-unbound/cause.ts';
import { parametersOverwritten } from './causes/gradient/parameters-overwritten/cause.ts';
import { policyDetached } from './causes/gradient/policy-detached/cause.ts';
import { valueLossDominates } from './causes/gradient/value-loss-dominates/cause.ts';
import { weightDecayPull } from './causes/gradient/weight-decay-pull/cause.ts';
import { normaliserDrifts } from './causes/memory/normaliser-drifts/cause.ts';
import { recurrentStateNotReset } from './causes/memory/recurrent-state-not-reset/cause.ts';
import { recurrentStateStale } from './causes/memory/recurrent-state-stale/cause.ts';
import { sequencesShuffled } from './causes/memory/sequences-shuffled/cause.ts';
import { inputSaturated } from './causes/network/input-saturated/cause.ts';
import { policyCollapsed } from './causes/network/policy-collapsed/cause.ts';
import { policyHeadFlat } from './causes/network/policy-head-flat/cause.ts';
import { beliefMisassigned } from './causes/planning/belief-misassigned/cause.ts';
import { beliefNotReset } from './causes/planning/belief-not-reset/cause.ts';
import { beliefNotUpdated } from './causes/planning/belief-not-updated/cause.ts';
import { explorationInTest } from './causes/planning/exploration-in-test/cause.ts';
import { goalLabelsRotated } from './causes/planning/goal-labels-rotated/cause.ts';
import { searchModelStale } from './causes/planning/search-model-stale/cause.ts';
import { searchValuesMisassigned } from './causes/planning/search-values-misassigned/cause.ts';
import { klEstimatorCancels } from './causes/reading/kl-estimator-cancels/cause.ts';
import { metricMisreported } from './causes/reading/metric-misreported/cause.ts';
import { inputsDiffer } from './causes/replay/inputs-differ/cause.ts';
import { maskNotReplayed } from './causes/replay/mask-not-replayed/cause.ts';
import { numActionsDefaulted } from './causes/replay/num-actions-defaulted/cause.ts';
import { oldLogpRecomputed } from './causes/replay/old-logp-recomputed/cause.ts';
import { oldLogpWrong } from './causes/replay/old-logp-wrong/cause.ts';
import { recurrentStateNotReplayed } from './causes/replay/recurrent-state-not-replayed/cause.ts';
import { staleSamples } from './causes/replay/stale-samples/cause.ts';
import { stochasticForward } from './causes/replay/stochastic-forward/cause.ts';
import { subsetBorrowed } from './causes/replay/subset-borrowed/cause.ts';
import { subsetNotReplayed } from './causes/replay/subset-not-replayed/cause.ts';
import { temperatureMismatch } from './causes/replay/temperature-mismatch/cause.ts';
import { wrongAxis } from './causes/replay/wrong-axis/cause.ts';
import { dataImbalance } from './causes/symmetry/data-imbalance/cause.ts';
import { environmentNameBias } from './causes/symmetry/environment-name-bias/cause.ts';
import { environmentSeatBias } from './causes/symmetry/environment-seat-bias/cause.ts';
import { imaginedMisattributed } from './causes/symmetry/imagined-misattributed/cause.ts';
import { otherAgentModelBias } from './causes/symmetry/other-agent-model-bias/cause.ts';
import { perspectiveMismatch } from './causes/symmetry/perspective-mismatch/cause.ts';
import { rewardBookkeeping } from './causes/symmetry/reward-bookkeeping/cause.ts';
import { settingsDiffer } from './causes/symmetry/settings-differ/cause.ts';
import { subgoalBias } from './causes/symmetry/subgoal-bias/cause.ts';
import { subgoalLogIncomplete } from './causes/symmetry/subgoal-log-incomplete/cause.ts';
import { trainingOrderMatters } from './causes/symmetry/training-order-matters/cause.ts';
import { updateCountDiffers } from './causes/symmetry/update-count-differs/cause.ts';
import { worldModelBias } from './causes/symmetry/world-model-bias/cause.ts';
import { advantageGroupMixed } from './causes/tokens/advantage-group-mixed/cause.ts';
import { baselineIncludesMasked } from './causes/tokens/baseline-includes-masked/cause.ts';
import { cacheStale } from './causes/tokens/cache-stale/cause.ts';
import { environmentTokensTrained } from './causes/tokens/environment-tokens-trained/cause.ts';
import { groupDegenerate } from './causes/tokens/group-degenerate/cause.ts';
import { importanceWeightMissing } from './causes/tokens/importance-weight-missing/cause.ts';
import { klTermWrong } from './causes/tokens/kl-term-wrong/cause.ts';
import { lossMaskShifted } from './causes/tokens/loss-mask-shifted/cause.ts';
import { lossNormaliserWrong } from './causes/tokens/loss-normaliser-wrong/cause.ts';
import { packingLeak } from './causes/tokens/packing-leak/cause.ts';
import { positionsShifted } from './causes/tokens/positions-shifted/cause.ts';
import { referenceWrong } from './causes/tokens/reference-wrong/cause.ts';
import { retokenised } from './causes/tokens/retokenised/cause.ts';
import { rewardMisordered } from './causes/tokens/reward-misordered/cause.ts';
import { rewardTokenWrong } from './causes/tokens/reward-token-wrong/cause.ts';
import { supportTruncated } from './causes/tokens/support-truncated/cause.ts';
import { truncatedResponseRewarded } from './causes/tokens/truncated-response-rewarded/cause.ts';
import { weightsNotSynced } from './causes/tokens/weights-not-synced/cause.ts';

export type { CauseEntry } from './causes/cause.ts';

export const causes: readonly CauseEntry[] = [
  gradientNotClipped,
  rowsNeverDrawn,
  wrongAxis,
  squashCorrectionWrong,
  clippedActionStored,
  dimensionsReducedWrong,
  deviationScaleWrong,
  deviationInvalid,
  recurrentStateNotReset,
  recurrentStateStale,
  sequencesShuffled,
  normaliserDrifts,
  recurrentStateNotReplayed,
  inputsDiffer,
  gradientsAccumulate,
  lossFormulaDiffers,
  subsetNotReplayed,
  numActionsDefaulted,
  subsetBorrowed,
  maskNotReplayed,
  temperatureMismatch,
  oldLogpWrong,
  oldLogpRecomputed,
  staleSamples,
  stochasticForward,
  goalLabelsRotated,
  beliefNotReset,
  beliefNotUpdated,
  beliefMisassigned,
  searchModelStale,
  searchValuesMisassigned,
  explorationInTest,
  retokenised,
  weightsNotSynced,
  cacheStale,
  positionsShifted,
  packingLeak,
  supportTruncated,
  lossMaskShifted,
  advantageShuffled,
  advantageTimeShifted,
  creditCrossesAgents,
  creditFormulaDiffers,
  advantageAgentSwapped,
  advantageSignFlipped,
  advantageGroupDemeaned,
  advantageDegenerate,
  advantageNotNormalised,
  rewardTimeShifted,
  doneTimeShifted,
  returnCrossesEpisodes,
  truncationTreatedAsTermination,
  returnInconsistent,
  valueScaleMismatch,
  phantomSteps,
  paddingTrained,
  criticContextMisaligned,
  trainedOnOtherAgent,
  finalObservationLost,
  targetCrossesEnd,
  nStepOffByOne,
  environmentTokensTrained,
  rewardMisordered,
  truncatedResponseRewarded,
  rewardTokenWrong,
  baselineIncludesMasked,
  advantageGroupMixed,
  groupDegenerate,
  entropyOfAnotherDistribution,
  targetNetworkFrozen,
  targetNetworkUnused,
  priorityWeightWrong,
  entropyTemperatureSign,
  policyDetached,
  optimizerUnbound,
  headUnbound,
  learningRateTooSmall,
  learningRateTooLarge,
  lossSummed,
  broadcastMismatch,
  parametersOverwritten,
  weightDecayPull,
  nonFinite,
  klGuardTooTight,
  entropyBonusDominates,
  entropySignFlipped,
  valueLossDominates,
  importanceWeightMissing,
  referenceWrong,
  klTermWrong,
  lossNormaliserWrong,
  policyHeadFlat,
  inputSaturated,
  policyCollapsed,
  klEstimatorCancels,
  metricMisreported,
  environmentSeatBias,
  environmentNameBias,
  rewardBookkeeping,
  settingsDiffer,
  updateCountDiffers,
  trainingOrderMatters,
  dataImbalance,
  subgoalLogIncomplete,
  imaginedMisattributed,
  perspectiveMismatch,
  worldModelBias,
  otherAgentModelBias,
  subgoalBias,
];

const byId = new Map(causes.map((cause) => [cause.id, cause]));

export function causeById(id: string): CauseEntry | undefined {
  return byId.get(id);
}
