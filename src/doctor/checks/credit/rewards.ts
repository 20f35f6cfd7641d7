/** Whether the stored reward is what the environment paid for the same action. Scaled or clipped rewards are healthy; moved ones are not. */

import { Pairs } from '../../../math/statistics.ts';
import { type Check, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { gather, rowsWhere } from '../../evidence/rows.ts';
import { foundBy } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Cover, trialOf } from '../../pairing/cover.ts';
import { Lag, lags } from '../../transforms/credit/lag.ts';

export const rewards: Check = {
  id: 'rewards',
  group: 'credit',
  question: 'Is a reward stored at the action that earned it?',
  needs: [['samples.reward'], ['samples.env_reward']],
  causes: ['reward-time-shifted'],
  start: () => new RewardsPass(),
};

const moves = [...lags.map((lag) => new Lag(lag, 'episode')), ...lags.map((lag) => new Lag(lag, 'stream'))];
/** Where every action is paid the same, a move shows only at the ends, by zeros with nothing to come in their place: each move is tried a second time with such zeros. */
const hypotheses = [...moves, ...moves].map((transform) => ({ cause: 'reward-time-shifted', transform }));

class RewardsPass implements Pass {
  private looked = 0;
  private wrong = 0;
  private readonly cover = new Cover(hypotheses);

  iteration(iteration: Iteration): void {
    const { samples, chains } = iteration;
    const reward = samples?.column('reward');
    const paid = samples?.column('env_reward');
    if (!samples || !chains || !reward || !paid) return;
    const alike = (a: number, b: number) =>
      Math.abs(a - b) <= limits.sameReward.value + limits.sameRewardRelative.value * Math.abs(b);
    const wrong = rowsWhere(samples.rows, (i) => !alike(reward[i], paid[i]) && !Number.isNaN(reward[i] + paid[i]));
    if (wrong.length > noticedShare * samples.rows) {
      // A common scale, or a clip, is no fault: rows are compared by it where it fits most of them.
      const line = new Pairs();
      for (let i = 0; i < samples.rows; i++)
        if (paid[i] !== 0 && Number.isFinite(paid[i] + reward[i])) line.add(paid[i], reward[i]);
      if (line.count > 2 && line.correlation > limits.rewardScale.value) return;
    }
    this.looked += samples.rows;
    this.wrong += wrong.length;
    if (wrong.length === 0) return;
    const [target, before] = [gather(reward, wrong), gather(paid, wrong)];
    const size = Math.max(...target.map(Math.abs));
    const moved = moves.map((move) => gather(move.apply({ iteration, own: paid })!, wrong));
    const filled = moved.map((column) => column.map((value) => (Number.isNaN(value) ? 0 : value)));
    const trials = [...moved, ...filled].map((after) =>
      trialOf({ target, before, after }, limits.sameReward.value + limits.sameRewardRelative.value * size),
    );
    this.cover.add(iteration.number, gather(samples.column('agent')!, wrong), trials);
  }

  finish(): Outcome {
    const { looked, wrong } = this;
    const measured = { rows: looked, disagreeing: wrong, share: figure(wrong / Math.max(1, looked)) };
    const expected = { disagreeing: 0 };
    if (looked === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: 'rewards are a scaled form of what was paid',
      };
    const [best] = this.cover.explain().found;
    if (wrong < fewestRows || !best || best.share < limits.clearly.value)
      return { status: wrong >= fewestRows ? 'warn' : 'pass', measured, expected, findings: [] };
    const wording = {
      quantity: 'reward',
      target: 'stored reward',
      before: 'paid for this action',
      summary: (fit: string) =>
        `${wrong} stored rewards differ from what the environment paid; ${fit} of them are what it paid at`,
      evidence: [{ check: 'rewards', measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: foundBy(best, () => wording) };
  }
}
