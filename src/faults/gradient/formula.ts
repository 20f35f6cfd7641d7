/** Faults of the policy loss in its formula: another term than the smaller one, a clip at another place, a ratio that is none. */
import type { TrainJob } from '../../algorithms/ppo/update.ts';
import type { Fault } from '../fault.ts';
import { Scope } from '../scope.ts';
import { type MinibatchFigures, type OtherLoss, replaceSurrogate } from '../surrogate.ts';

/** What a row adds to the objective, and its slope in the row's log-probability. */
interface Term {
  value: number;
  slope: number;
}

type Formula = (ratio: number, advantage: number, clip: number) => Term;

const within = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);

/** The smaller of x A and its clipped form, where x grows by `slope` with the log-probability. */
function smaller(x: number, slope: number, low: number, high: number, advantage: number): Term {
  const clipped = within(x, low, high) * advantage;
  return x * advantage <= clipped ? { value: x * advantage, slope: slope * advantage } : { value: clipped, slope: 0 };
}

function lossOf({ ratios, advantages, clip }: MinibatchFigures, formula: Formula): OtherLoss {
  const terms = Array.from(ratios, (ratio, i) => formula(ratio, advantages[i], clip));
  const sum = terms.reduce((total, { value }) => total + value, 0);
  return { push: (i) => terms[i].slope / ratios[i], loss: -sum / ratios.length };
}

function formulaFault(id: string, sentence: string, formula: Formula): Fault {
  return {
    id,
    cause: 'loss-formula-differs',
    stage: 'step',
    sentence,
    shows: ['steps.policy_loss', 'tensors.grad_norm'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const strikes = (job: TrainJob) => scope.begun(job.iteration) && scope.learner(job.learner);
      return {
        strength: scope.strength,
        stages: (clean) => ({ step: replaceSurrogate(clean, strikes, (figures) => lossOf(figures, formula)) }),
      };
    },
  };
}

export const lossFormulaFaults: readonly Fault[] = [
  formulaFault(
    'ratio-without-exp',
    'The difference of the log-probabilities stands where its exponential, the ratio, is meant.',
    (ratio, advantage, clip) => smaller(Math.log(ratio), 1, 1 - clip, 1 + clip, advantage),
  ),
  formulaFault(
    'clip-around-zero',
    'The ratio is clipped between -clip and clip, which no ratio near 1 is inside of.',
    (ratio, advantage, clip) => smaller(ratio, ratio, -clip, clip, advantage),
  ),
  formulaFault('loss-squared', "The loss is the mean square of the rows' terms.", (ratio, advantage, clip) => {
    const { value, slope } = smaller(ratio, ratio, 1 - clip, 1 + clip, advantage);
    return { value: value ** 2, slope: 2 * value * slope };
  }),
];
