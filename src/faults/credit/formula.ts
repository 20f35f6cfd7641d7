/** Faults of the credit pass in its formula: a term that is another one, or missing, and one pass over the rows of all agents. Ends are read rightly in all of them. */
import type { PpoSettings } from '../../algorithms/ppo/settings.ts';
import type { Batch } from '../../batch/batch.ts';
import type { Fault } from '../fault.ts';
import { iterationOf, nextRows, writeCredit } from '../row-order.ts';
import { Scope } from '../scope.ts';
import type { Need } from '../traits.ts';

/** What one row's advantage is made of; `following` and `carried` are 0 after a termination. */
interface Terms {
  reward: number;
  value: number;
  following: number;
  carried: number;
  /** Whether another row follows; then `following` is that row's value. */
  inner: boolean;
}

type Formula = (terms: Terms, ppo: PpoSettings) => number;

const usual: Formula = ({ reward, value, following, carried }, { gamma, lambda }) =>
  reward + gamma * following - value + gamma * lambda * carried;

/** As they lie, whosever they are; an agent's own next row otherwise. */
type Order = 'own' | 'stored';

function credit(batch: Batch, ppo: PpoSettings, formula: Formula, order: Order, scope: Scope): void {
  const { rows, reward, value, nextValue, terminated, truncated } = batch;
  const own = nextRows(batch, 'episode');
  const advantage = new Float64Array(rows);
  for (let row = rows - 1; row >= 0; row--) {
    const after = order === 'own' ? own[row] : row + 1 < rows ? row + 1 : -1;
    const ended = terminated[row] === 1;
    const inner = !ended && truncated[row] !== 1 && after >= 0;
    const following = ended ? 0 : inner ? value[after] : nextValue[row];
    const carried = inner ? advantage[after] : 0;
    advantage[row] = formula({ reward: reward[row], value: value[row], following, carried, inner }, ppo);
  }
  writeCredit(batch, advantage, scope);
}

function formulaFault(
  id: string,
  cause: string,
  sentence: string,
  formula: Formula,
  order: Order = 'own',
  needs: readonly Need[] = ['several-steps'],
): Fault {
  return {
    id,
    cause,
    stage: 'credit',
    sentence,
    shows: ['samples.advantage', 'samples.return'],
    needs,
    make(stream, context) {
      const scope = Scope.draw(stream, context, order === 'stored' ? { agents: 'all' } : {});
      return {
        strength: scope.strength,
        stages: (clean) => ({
          credit(batch, ppo) {
            clean.credit(batch, ppo);
            if (scope.begun(iterationOf(batch))) credit(batch, ppo, formula, order, scope);
          },
        }),
      };
    },
  };
}

export const formulaFaults: readonly Fault[] = [
  formulaFault(
    'bootstrap-from-own-value',
    'credit-formula-differs',
    "The credit pass bootstraps from the row's own value, V(t) in place of V(t+1).",
    (terms, ppo) => usual({ ...terms, following: terms.inner ? terms.value : terms.following }, ppo),
  ),
  formulaFault(
    'reward-halved-in-credit',
    'credit-formula-differs',
    'The credit pass counts half of each reward.',
    (terms, ppo) => usual({ ...terms, reward: 0.5 * terms.reward }, ppo),
  ),
  formulaFault(
    'credit-over-all-agents',
    'credit-crosses-agents',
    'One credit pass runs over the rows of all agents as they lie.',
    usual,
    'stored',
    ['together', 'several-steps'],
  ),
];
