/** Does the buffer hold what the environment gave? Rewards that are clipped, scaled or normalised on purpose are healthy; those of another step are not, and neither is a next observation that belongs to the next episode. */
import { told } from '../../../language/language.ts';
import { midRanks } from '../../../math/ranks/ranks.ts';
import { Pairs } from '../../../math/statistics.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { thinned } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { proved } from '../../found.ts';
import { limits } from '../../limits.ts';
import { RewardLag } from '../../transforms/credit/reward-lag.ts';

const check = 'storage';

export const storage: Check = {
  id: check,
  group: 'credit',
  question: ['Does the buffer hold what the environment gave?', '缓冲区存放的是否是环境给出的内容？'],
  needs: [['targets.sample'], ['targets.env_reward', 'targets.next_hash']],
  causes: ['reward-time-shifted', 'final-observation-lost'],
  of: 'targets',
  start: (run) => new StoragePass(run),
};

/** One stored step. */
interface Step {
  paid: number;
  stored: number;
  seen: number;
  next: number;
  ended: 'no' | 'cut' | 'over';
}

class StoragePass implements Pass {
  private readonly steps = new Map<number, Step>();
  private rows = 0;

  constructor(private readonly run: Run) {}

  iteration({ targets }: Iteration): void {
    const [sample, paid, seen, next] = ['sample', 'env_reward', 'obs_hash', 'next_hash'].map((name) =>
      targets?.column(name),
    );
    const [rewards, terminated, truncated] = ['rewards', 'terminated', 'truncated'].map((name) => targets?.list(name));
    if (!targets || !sample) return;
    for (let i = 0; i < targets.rows; i++) {
      const at = rewards?.offsets[i] ?? 0;
      this.rows++;
      this.steps.set(sample[i], {
        paid: paid?.[i] ?? Number.NaN,
        stored: rewards?.values[at] ?? Number.NaN,
        seen: seen?.[i] ?? Number.NaN,
        next: next?.[i] ?? Number.NaN,
        ended: terminated?.values[at] === 1 ? 'over' : truncated?.values[at] === 1 ? 'cut' : 'no',
      });
    }
  }

  /** From a stored step to the one after it: as its next observation is seen, or as many as the declared environments. */
  private stride(): number {
    const bySeen = new Map([...this.steps].map(([at, { seen }]) => [seen, at]));
    const votes = new Map<number, number>();
    for (const [at, { next, ended }] of this.steps) {
      const found = ended === 'no' && Number.isFinite(next) ? bySeen.get(next) : undefined;
      if (found !== undefined && found > at) votes.set(found - at, (votes.get(found - at) ?? 0) + 1);
    }
    const [best] = [...votes].sort((a, b) => b[1] - a[1]);
    return best && best[1] >= fewestRows ? best[0] : Math.max(1, this.run.number('environments') || 1);
  }

  finish(): Outcome {
    const stride = this.stride();
    const other = [...this.steps].filter(([, { paid, stored }]) => differs(paid, stored));
    const cut = [...this.steps]
      .filter(([, { ended }]) => ended === 'cut')
      .map(([at, step]) => [step, this.steps.get(at + stride)] as const)
      .filter(([step, after]) => after && Number.isFinite(step.next) && Number.isFinite(after.seen));
    const lost = cut.filter(([step, after]) => step.next === after!.seen);
    const measured: Outcome['measured'] = {
      rows: this.rows,
      stored_steps: this.steps.size,
      other_rewards: other.length,
      cut_steps: cut.length,
      lost: lost.length,
    };
    const expected = { lost: 0 };
    const evidence = [{ check, measured, expected }];
    if (this.steps.size === 0) return { status: 'not-checked', measured, expected, findings: [] };
    const findings: Finding[] = [];
    const base = { agents: [], onset: 0, told: true as const, evidence };
    if (lost.length >= limits.cutSteps.value && lost.length >= limits.most.value * cut.length)
      findings.push({
        ...base,
        cause: 'final-observation-lost',
        confidence: confidence(1, lost.length * limits.perStep.value),
        rows: lost.length,
        summary: told(
          `${lost.length} of ${cut.length} steps at a time limit have the first observation of the next episode as the one that follows: targets bootstrap from there.`,
          `时间上限处的 ${cut.length} 步中有 ${lost.length} 步以下一回合的首个观测作为后续观测：目标由那里自举。`,
        ),
      });
    for (const steps of [-1, 1]) {
      const pairs = other
        .map(([at, { stored }]) => [stored, this.steps.get(at + steps * stride)?.paid ?? Number.NaN] as const)
        .filter(([, paid]) => Number.isFinite(paid));
      const same = pairs.filter(([stored, paid]) => !differs(paid, stored));
      if (same.length < fewestRows || same.length < limits.formShare.value * pairs.length) continue;
      const transform = new RewardLag(steps, 'stream');
      const own = other.filter(([at]) => this.steps.has(at + steps * stride));
      findings.push({
        ...base,
        cause: 'reward-time-shifted',
        confidence: confidence(1, same.length),
        rows: same.length,
        transform,
        ...proved({
          quantity: 'reward',
          labels: { target: 'as stored', before: 'as the environment paid it', after: transform.describe() },
          iteration: 0,
          point: 'row',
          target: Float64Array.from(own, ([, { stored }]) => stored),
          before: Float64Array.from(own, ([, { paid }]) => paid),
          after: Float64Array.from(own, ([at]) => this.steps.get(at + steps * stride)!.paid),
        }),
        summary: told(
          `${percent(other.length / this.steps.size)} of the stored rewards are not what the environment paid for their step; ${percent(same.length / pairs.length)} of those are what it paid for the step ${steps < 0 ? 'before' : 'after'}.`,
          `所存奖励中有 ${percent(other.length / this.steps.size)} 不是环境为该步支付的；其中 ${percent(same.length / pairs.length)} 是它为${steps < 0 ? '前' : '后'}一步支付的。`,
        ),
      });
      break;
    }
    if (findings.length > 0) return { status: 'fail', measured, expected, findings };
    // Clipped, scaled or normalised, stored rewards still follow those that were paid.
    const known = [...this.steps.values()].filter(({ paid, stored }) => Number.isFinite(paid + stored));
    const few = thinned(known, budgets.fitRows);
    const [paid, stored] = [midRanks(few.map((step) => step.paid)), midRanks(few.map((step) => step.stored))];
    const line = new Pairs();
    for (let i = 0; i < few.length; i++) line.add(paid[i], stored[i]);
    if (other.length < limits.most.value * known.length || !(line.correlation ** 2 < limits.most.value))
      return { status: 'pass', measured, expected, findings };
    measured.rank_correlation = figure(line.correlation);
    const open = { rows: other.length, share: other.length / known.length, onset: 0, agents: [] };
    return { status: 'fail', measured, expected, findings, open };
  }
}

const differs = (paid: number, stored: number): boolean =>
  Number.isFinite(paid) &&
  Number.isFinite(stored) &&
  Math.abs(paid - stored) > limits.targetExact.value * (1 + Math.abs(paid));
