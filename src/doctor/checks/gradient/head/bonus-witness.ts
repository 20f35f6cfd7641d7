/** Whether the entropy bonus reaches the actor, and whether it outweighs the credit. The declared coefficient counts only on steps whose gradient shows that it is in use; that it is missing there, only where the loss itself holds it. */

import { told } from '../../../../language/language.ts';
import { spread } from '../../../../math/statistics.ts';
import { confidence } from '../../../check.ts';
import { type Finding, figure } from '../../../diagnosis.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import type { Run } from '../../../evidence/run.ts';
import { stepKey } from '../../../evidence/steps/step-key.ts';
import { limits } from '../../../limits.ts';
import type { HeadStep } from './head-sums.ts';

interface Seen {
  told: number;
  heavy: number;
  /** Steps whose loss holds the bonus and whose gradient does not. */
  lost: number;
  lostOnset: number;
  onset: number;
  credit: number;
  /** Entropy as a share of log K, update by update: the mean surprise of the actions that were drawn. */
  shares: Map<number, number>;
}

export class BonusWitness {
  private readonly policies = new Map<number, Seen>();
  private readonly coefficient: number;
  private credit = Number.NaN;
  private latest = -1;
  /** Rows of the latest iteration's steps. */
  private rows = new Map<number, number>();

  constructor(private readonly run: Run) {
    this.coefficient = run.number('entropy_coefficient');
  }

  /** A step whose gradient tells whether the bonus is in it: does it hold it, or is it that of the rest? */
  step(iteration: Iteration, { key, policy }: HeadStep, holds: boolean, rest: boolean): void {
    if (iteration.number !== this.latest) {
      this.latest = iteration.number;
      this.credit = spread(iteration.replays!.column('advantage')!).std;
      this.rows = rowsByStep(iteration);
    }
    const own = this.policies.get(policy) ?? {
      told: 0,
      heavy: 0,
      lost: 0,
      lostOnset: Number.POSITIVE_INFINITY,
      onset: iteration.number,
      credit: this.credit,
      shares: new Map(),
    };
    this.policies.set(policy, own);
    own.told++;
    if (!own.shares.has(iteration.number)) own.shares.set(iteration.number, shareOf(iteration, policy));
    if (rest && !holds && this.inLoss(iteration, key)) {
      own.lost++;
      own.lostOnset = Math.min(own.lostOnset, iteration.number);
    }
    if (holds && this.coefficient >= limits.entropyDominates.value * this.credit) own.heavy++;
  }

  /** Whether the whole loss of a step is its parts with the bonus taken off. */
  private inLoss({ steps, stats }: Iteration, key: number): boolean {
    const [whole, policyLoss, valueLoss] = ['loss', 'policy_loss', 'value_loss'].map((name) => steps?.column(name));
    if (!steps || !whole || !policyLoss || !valueLoss) return false;
    const row = this.rows.get(key);
    if (row === undefined) return false;
    const value = this.run.number('value_coefficient') * valueLoss[row];
    const bonus = this.coefficient * (steps.column('entropy')?.[row] ?? stats.get(key)?.entropy ?? Number.NaN);
    const noise = limits.lossNoise.value * (Math.abs(policyLoss[row]) + Math.abs(value) + Math.abs(whole[row]));
    const off = Math.abs(policyLoss[row] + value - whole[row] - bonus);
    return off <= limits.partsExact.value * Math.abs(bonus) + noise && Math.abs(bonus) > 2 * noise;
  }

  finding(policy: number, evidence: Finding['evidence']): Finding[] {
    const own = this.policies.get(policy);
    if (own && own.lost >= limits.fewestSteps.value && own.lost >= limits.formulaExact.value * own.told)
      return [
        {
          cause: 'loss-formula-differs',
          confidence: confidence(1, own.lost * limits.perStep.value),
          agents: this.run.agentsOf(policy),
          onset: own.lostOnset,
          rows: own.lost,
          summary: told(
            `The loss holds the entropy times ${figure(this.coefficient)}, and on ${own.lost} of the ${own.told} steps that tell the gradient of the head is that of the loss without it: the bonus has no gradient.`,
            `损失中含有系数为 ${figure(this.coefficient)} 的熵，而在可判断的 ${own.told} 步中有 ${own.lost} 步，输出层的梯度是不含该项的损失的梯度：熵奖励没有梯度。`,
          ),
          told: true,
          evidence,
        },
      ];
    if (!own || own.heavy < limits.fewestSteps.value || own.heavy < limits.heldShare.value * own.told) return [];
    const shares = [...own.shares.values()].filter(Number.isFinite);
    if (shares.length === 0 || !staysSpread(shares)) return [];
    return [
      {
        cause: 'entropy-bonus-dominates',
        confidence: Math.min(limits.byFit.value, confidence(1, own.heavy)),
        agents: this.run.agentsOf(policy),
        onset: own.onset,
        rows: own.heavy,
        summary: `Entropy is multiplied by ${figure(this.coefficient)} in the loss, which outweighs advantages of spread ${figure(own.credit)}; choices stay spread out.`,
        evidence,
      },
    ];
  }
}

/** Whether choices stay spread out, by the entropy's share of log K from update to update: near its largest in the later half, or no lower in the end than at first. */
export function staysSpread(shares: readonly number[]): boolean {
  const late = shares.slice(-Math.max(1, shares.length >> 1));
  return (
    late.every((share) => share > limits.entropyHeld.value) || !(shares.at(-1)! < shares[0] - limits.entropyFell.value)
  );
}

/** The row of every reported step, the first where one is there twice. */
function rowsByStep({ steps }: Iteration): Map<number, number> {
  const rows = new Map<number, number>();
  if (!steps) return rows;
  const [epoch, minibatch, policy] = ['epoch', 'minibatch', 'policy'].map((name) => steps.column(name));
  for (let row = steps.rows - 1; row >= 0; row--)
    rows.set(stepKey(epoch![row], minibatch![row], policy ? policy[row] : 0), row);
  return rows;
}

function shareOf({ samples, replays, stats }: Iteration, policy: number): number {
  const logp = samples!.measured('old_logp')!;
  const sample = replays!.column('sample')!;
  const whose = replays!.column('policy');
  const counts = [...stats.values()].filter((stat) => stat.policy === policy && stat.logCount > 0);
  let [sum, rows] = [0, 0];
  for (let i = 0; i < replays!.rows; i++) {
    if ((whose ? whose[i] : 0) !== policy || !Number.isFinite(logp[sample[i]])) continue;
    sum -= logp[sample[i]];
    rows++;
  }
  return counts.length === 0 ? Number.NaN : sum / rows / counts[0].logCount;
}
