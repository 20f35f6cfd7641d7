/** All transforms by id, so that one read from JSON can be told again. */

import { inLanguage, type Language } from '../../language/language.ts';
import { TargetWith } from './buffers/target-with.ts';
import { Composed } from './composed.ts';
import { ScoredAs } from './continuous/scored-as.ts';
import { ScoredWith } from './continuous/scored-with.ts';
import { Absolute } from './credit/absolute.ts';
import { AffineValues } from './credit/affine-values.ts';
import { Constant } from './credit/constant.ts';
import { CutFormula } from './credit/cut-formula.ts';
import { EarlierIteration } from './credit/earlier-iteration.ts';
import { Ends } from './credit/ends.ts';
import { EndsByKind } from './credit/ends-by-kind.ts';
import { EndsFound } from './credit/ends-found.ts';
import { Formula } from './credit/formula.ts';
import { GroupMean } from './credit/group-mean.ts';
import { Lag } from './credit/lag.ts';
import { OtherAgent } from './credit/other-agent.ts';
import { Permutation } from './credit/permutation.ts';
import { PositivePart } from './credit/positive-part.ts';
import { RewardLag } from './credit/reward-lag.ts';
import { Sign } from './credit/sign.ts';
import { TeamMean } from './credit/team-mean.ts';
import { ValueBeside } from './credit/value-beside.ts';
import { Accumulated } from './loss/accumulated.ts';
import { EntropyAlone } from './loss/entropy-alone.ts';
import { Gathered } from './loss/gathered.ts';
import { LossClip } from './loss/loss-clip.ts';
import { LossFormula } from './loss/loss-formula.ts';
import { LossIs } from './loss/loss-is.ts';
import { MetricForm } from './loss/metric-form.ts';
import { Smoothed } from './loss/smoothed.ts';
import { ValueFormula } from './loss/value-formula.ts';
import { StateOf } from './memory/state-of.ts';
import { PlannedWith } from './planning/planned-with.ts';
import { Clamped } from './replay/clamped.ts';
import { FirstK } from './replay/first-k.ts';
import { InputOf } from './replay/input-of.ts';
import { ListOf } from './replay/list-of.ts';
import { Mask } from './replay/mask.ts';
import { OldLogp } from './replay/old-logp.ts';
import { Order } from './replay/order.ts';
import { OtherAction } from './replay/other-action.ts';
import { OverRows } from './replay/over-rows.ts';
import { OwnList } from './replay/own-list.ts';
import { Prefix } from './replay/prefix.ts';
import { SecondPass } from './replay/second-pass.ts';
import { Snapshot } from './replay/snapshot.ts';
import { Temperature } from './replay/temperature.ts';
import { Affine } from './rows/affine.ts';
import { InPlaceOf } from './rows/in-place-of.ts';
import { LeftOut } from './rows/left-out.ts';
import { NewForOld } from './rows/new-for-old.ts';
import { OwnAgents } from './rows/own-agents.ts';
import { PolicyOfIteration } from './rows/policy-of-iteration.ts';
import { Raw } from './rows/raw.ts';
import { RowsOfIteration } from './rows/rows-of-iteration.ts';
import { BaselineOver } from './tokens/baseline-over.ts';
import { ColumnFor } from './tokens/column-for.ts';
import { GrowsWith } from './tokens/grows-with.ts';
import { LossTerm } from './tokens/loss-term.ts';
import { Normaliser } from './tokens/normaliser.ts';
import { TokenShift } from './tokens/token-shift.ts';
import type { Transform, TransformValue } from './transform.ts';

/** By id; a class each, whose fields are the parameters. */
export const transforms: Readonly<Record<string, { readonly prototype: Transform }>> = {
  absolute: Absolute,
  accumulated: Accumulated,
  gathered: Gathered,
  affine: Affine,
  'affine-values': AffineValues,
  'baseline-over': BaselineOver,
  clamped: Clamped,
  'column-for': ColumnFor,
  composed: Composed,
  constant: Constant,
  'cut-formula': CutFormula,
  'earlier-iteration': EarlierIteration,
  ends: Ends,
  'ends-by-kind': EndsByKind,
  'ends-found': EndsFound,
  'entropy-alone': EntropyAlone,
  'first-k': FirstK,
  formula: Formula,
  'group-mean': GroupMean,
  'grows-with': GrowsWith,
  'in-place-of': InPlaceOf,
  'input-of': InputOf,
  lag: Lag,
  'left-out': LeftOut,
  'list-of': ListOf,
  'loss-clip': LossClip,
  'loss-formula': LossFormula,
  'loss-is': LossIs,
  'loss-term': LossTerm,
  mask: Mask,
  'metric-form': MetricForm,
  smoothed: Smoothed,
  'new-for-old': NewForOld,
  normaliser: Normaliser,
  'old-logp': OldLogp,
  order: Order,
  'other-action': OtherAction,
  'other-agent': OtherAgent,
  'over-rows': OverRows,
  'own-agents': OwnAgents,
  'own-list': OwnList,
  permutation: Permutation,
  'positive-part': PositivePart,
  'policy-of-iteration': PolicyOfIteration,
  prefix: Prefix,
  raw: Raw,
  'reward-lag': RewardLag,
  'rows-of-iteration': RowsOfIteration,
  'scored-as': ScoredAs,
  'scored-with': ScoredWith,
  'second-pass': SecondPass,
  sign: Sign,
  snapshot: Snapshot,
  'planned-with': PlannedWith,
  'state-of': StateOf,
  'target-with': TargetWith,
  'team-mean': TeamMean,
  temperature: Temperature,
  'token-shift': TokenShift,
  'value-beside': ValueBeside,
  'value-formula': ValueFormula,
};

/** The transform that a value is; null where this version does not know its id. */
export function transformOf(value: TransformValue & { readonly of?: unknown }): Transform | null {
  const kind = Object.hasOwn(transforms, value.id) ? transforms[value.id] : null;
  if (!kind) return null;
  const parts = Array.isArray(value.of) ? { of: value.of.map(transformOf) } : {};
  return Object.assign(Object.create(kind.prototype as object), value, parts) as Transform;
}

/** A transform in words; one of a newer version is told by its id. */
export function describeTransform(value: TransformValue, language?: Language): string {
  const described = () => transformOf(value)?.describe() ?? value.id;
  return language ? inLanguage(language, described) : described();
}
