/** What could make an update replay other log-probabilities than were sampled: each cause with the transform that would undo it. */
import type { Hypothesis } from '../../pairing/cover.ts';
import { Composed } from '../../transforms/composed.ts';
import { Clamped } from '../../transforms/replay/clamped.ts';
import { FirstK } from '../../transforms/replay/first-k.ts';
import { InputOf } from '../../transforms/replay/input-of.ts';
import { ListOf } from '../../transforms/replay/list-of.ts';
import { Mask } from '../../transforms/replay/mask.ts';
import { OldLogp } from '../../transforms/replay/old-logp.ts';
import { Order } from '../../transforms/replay/order.ts';
import { OtherAction } from '../../transforms/replay/other-action.ts';
import { OverRows } from '../../transforms/replay/over-rows.ts';
import { OwnList } from '../../transforms/replay/own-list.ts';
import { Prefix } from '../../transforms/replay/prefix.ts';
import type { ReplayTransform } from '../../transforms/replay/replay-rows.ts';
import { SecondPass } from '../../transforms/replay/second-pass.ts';
import { Temperature } from '../../transforms/replay/temperature.ts';
import { OwnAgents } from '../../transforms/rows/own-agents.ts';

export interface ReplayHypothesis extends Hypothesis {
  transform: ReplayTransform;
}

/** A temperature or a length that the rows have yet to give. */
const unfitted = Number.NaN;

/** Specific before general: an earlier one wins where two explain the same rows. */
export const singles: readonly ReplayHypothesis[] = [
  { cause: 'trained-on-other-agent', transform: new OwnAgents() },
  { cause: 'wrong-axis', transform: new OverRows('softmax') },
  { cause: 'wrong-axis', transform: new OverRows('gather') },
  { cause: 'stochastic-forward', transform: new SecondPass() },
  { cause: 'mask-not-replayed', transform: new Mask('update') },
  { cause: 'mask-not-replayed', transform: new Mask('none') },
  { cause: 'mask-not-replayed', transform: new Mask('next') },
  { cause: 'mask-not-replayed', transform: new Mask('previous') },
  { cause: 'mask-not-replayed', transform: new Mask('multiplied') },
  { cause: 'mask-not-replayed', transform: new Mask('inverted') },
  { cause: 'mask-not-replayed', transform: new Mask('sampling') },
  { cause: 'temperature-mismatch', transform: new Temperature('update', unfitted) },
  { cause: 'temperature-mismatch', transform: new Temperature('sampling', unfitted) },
  ...([-1, 1] as const).flatMap((steps) =>
    (['episode', 'stream', 'storage'] as const).map((within) => ({
      cause: 'inputs-differ',
      transform: new InputOf(steps, within),
    })),
  ),
  { cause: 'inputs-differ', transform: new InputOf('any') },
  { cause: 'num-actions-defaulted', transform: new FirstK(unfitted) },
  { cause: 'num-actions-defaulted', transform: new Clamped(unfitted) },
  { cause: 'inputs-differ', transform: new OtherAction() },
  { cause: 'subset-not-replayed', transform: new Order('ascending') },
  { cause: 'subset-not-replayed', transform: new Order('descending') },
  { cause: 'subset-not-replayed', transform: new Order('reversed') },
  { cause: 'subset-not-replayed', transform: new Prefix('update') },
  { cause: 'subset-not-replayed', transform: new Prefix('sampling') },
  { cause: 'subset-borrowed', transform: new ListOf('other-agent') },
  { cause: 'subset-borrowed', transform: new ListOf('stored-before') },
  { cause: 'subset-borrowed', transform: new ListOf('stored-after') },
  { cause: 'subset-borrowed', transform: new ListOf('neighbouring-step') },
  { cause: 'subset-borrowed', transform: new ListOf('any-row') },
  { cause: 'subset-not-replayed', transform: new Order('any') },
  { cause: 'old-logp-wrong', transform: new OldLogp('zero') },
  { cause: 'old-logp-wrong', transform: new OldLogp('uniform') },
  { cause: 'old-logp-wrong', transform: new OldLogp('unmasked') },
  { cause: 'old-logp-wrong', transform: new OldLogp('other-action') },
  { cause: 'old-logp-wrong', transform: new OldLogp('other-row') },
  { cause: 'old-logp-wrong', transform: new OldLogp('other-number') },
  { cause: 'subset-not-replayed', transform: new OwnList() },
];

/** Two faults at once, tried where no single one explains the rows: each of these with a temperature. */
export const besideTemperature: readonly ReplayHypothesis[] = [
  { cause: 'mask-not-replayed', transform: new Mask('update') },
  { cause: 'mask-not-replayed', transform: new Mask('none') },
  { cause: 'subset-not-replayed', transform: new Order('ascending') },
  { cause: 'subset-not-replayed', transform: new Order('descending') },
  { cause: 'subset-not-replayed', transform: new Order('reversed') },
];

export const hypotheses: readonly ReplayHypothesis[] = [
  ...singles,
  ...besideTemperature.map(({ cause, transform }) => ({
    cause,
    beside: 'temperature-mismatch',
    transform: new Composed([transform, new Temperature('update', unfitted)]),
  })),
];
