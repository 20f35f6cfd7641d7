/** What the gradient of a head may be of: kinds that stand for one cause each, whatever the formula of the policy loss. */
import { EntropyAlone } from '../../../transforms/loss/entropy-alone.ts';
import { Gathered } from '../../../transforms/loss/gathered.ts';
import type { LossFormName } from '../../../transforms/loss/loss-formula.ts';
import { LossIs } from '../../../transforms/loss/loss-is.ts';
import type { Transform } from '../../../transforms/transform.ts';

type Plain = 'scaled' | 'entropyOnly' | 'summed' | 'undivided';
export type Kind = Plain | 'whole' | 'entropyFlipped' | 'allPairs' | 'accumulated' | LossFormName | 'other';

/** Their causes, what undoes them, and what is said of the head of that name, whose steps come in so many parts. */
export function plainKinds(name: string, parts: number): [Plain, string, Transform | undefined, string][] {
  const of = `The gradient of ${name}'s head is`;
  const gathered = new Gathered('undivided', parts);
  return [
    [
      'scaled',
      'learning-rate-too-small',
      undefined,
      `${of} a vanishing share of what the loss gives: it was scaled away before the step.`,
    ],
    [
      'entropyOnly',
      'policy-detached',
      new EntropyAlone(),
      `${of} that of the entropy bonus alone: the policy loss does not reach it.`,
    ],
    ['summed', 'loss-summed', new LossIs('sum', 'policy'), `${of} that of the sum over the minibatch.`],
    ['undivided', 'loss-normaliser-wrong', gathered, `${of} that of: ${gathered.describe()}.`],
  ];
}
