/** Whether the stored reward is what the environment paid for the same action. Scaled or clipped rewards are healthy; moved ones are not. */
import { lagged } from '../../math/chains.ts';
import { Pairs } from '../../math/statistics.ts';
import { type Check, confidence, fewestRows, type Pass } from '../check.ts';
import { type Finding, figure, type Outcome } from '../diagnosis.ts';
import type { Iteration } from '../iteration.ts';
import { Lag, lags } from '../transforms/credit/lag.ts';

export const rewards: Check = {
  id: 'rewards',
  group: 'credit',
  question: 'Is a reward stored at the action that earned it?',
  needs: [['samples.reward'], ['samples.env_reward']],
  causes: ['reward-time-shifted'],
  start: () => new RewardsPass(),
};

interface Tally {
  looked: number;
  wrong: number;
  /** Rows that each lag explains, first within the episode and then within the stream. */
  explained: Float64Array;
  silent: Float64Array;
  /** Rows at an end of their chain, where each lag has nothing to move there and 0 was stored. */
  filled: Float64Array;
  onset: number;
}

class RewardsPass implements Pass {
  private readonly agents = new Map<number, Tally>();

  iteration(iteration: Iteration): void {
    const { samples, chains } = iteration;
    const reward = samples?.column('reward');
    const paid = samples?.column('env_reward');
    if (!samples || !chains || !reward || !paid) return;
    const agent = samples.column('agent')!;
    const alike = (a: number, b: number) => Math.abs(a - b) <= 1e-5 + 1e-4 * Math.abs(b);
    let same = 0;
    for (let i = 0; i < samples.rows; i++) if (alike(reward[i], paid[i])) same++;
    if (same < 0.98 * samples.rows) {
      // A common scale, or a clip, is no fault: rows are compared by it where it fits most of them.
      const line = new Pairs();
      for (let i = 0; i < samples.rows; i++)
        if (paid[i] !== 0 && Number.isFinite(paid[i] + reward[i])) line.add(paid[i], reward[i]);
      if (line.count > 2 && line.correlation > 0.9) return;
    }
    // Lags are worked out only where something is to be explained.
    const vectors =
      same === samples.rows
        ? []
        : [
            ...lags.map((lag) => lagged(paid, chains.next, chains.previous, lag)),
            ...lags.map((lag) => lagged(paid, chains.streamNext, chains.streamPrevious, lag)),
          ];
    const tallies: (Tally | undefined)[] = [];
    for (let i = 0; i < samples.rows; i++) {
      const own = tallies[agent[i]] ?? this.of(agent[i]);
      tallies[agent[i]] = own;
      own.looked++;
      if (alike(reward[i], paid[i]) || Number.isNaN(reward[i] + paid[i])) continue;
      own.wrong++;
      own.onset = Math.min(own.onset, iteration.number);
      vectors.forEach((vector, v) => {
        if (Number.isNaN(vector[i])) {
          own.silent[v]++;
          if (reward[i] === 0) own.filled[v]++;
        } else if (alike(reward[i], vector[i])) own.explained[v]++;
      });
    }
  }

  private of(agent: number): Tally {
    const own = this.agents.get(agent) ?? {
      looked: 0,
      wrong: 0,
      explained: new Float64Array(16),
      silent: new Float64Array(16),
      filled: new Float64Array(16),
      onset: Number.POSITIVE_INFINITY,
    };
    this.agents.set(agent, own);
    return own;
  }

  finish(): Outcome {
    const tallies = [...this.agents];
    const looked = tallies.reduce((sum, [, own]) => sum + own.looked, 0);
    const wrong = tallies.reduce((sum, [, own]) => sum + own.wrong, 0);
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
    const affected = tallies.filter(([, own]) => own.wrong > 0);
    const sum = (pick: (own: Tally) => number) => affected.reduce((total, [, own]) => total + pick(own), 0);
    let best = -1;
    let most = 0;
    for (let v = 0; v < 16; v++) {
      const share = sum((own) => own.explained[v]) / Math.max(1, wrong - sum((own) => own.silent[v]));
      if (share > most + 0.02) [best, most] = [v, share];
    }
    // Where every action is paid the same, a move shows only at the ends, by zeros with nothing to come in their place.
    if (most < 0.8) {
      for (let v = 0; v < 16; v++) {
        const share = sum((own) => own.explained[v] + own.filled[v]) / Math.max(1, wrong);
        if (share > most + 0.02) [best, most] = [v, share];
      }
    }
    if (wrong < fewestRows || most < 0.8)
      return { status: wrong >= fewestRows ? 'warn' : 'pass', measured, expected, findings: [] };
    const transform = new Lag(lags[best % 8], best < 8 ? 'episode' : 'stream');
    const finding: Finding = {
      cause: 'reward-time-shifted',
      confidence: confidence(most, wrong),
      agents: affected.map(([agent]) => agent).sort((a, b) => a - b),
      onset: Math.min(...affected.map(([, own]) => own.onset)),
      rows: wrong,
      transform,
      before: wrong / looked,
      after: (wrong / looked) * (1 - most),
      summary: `${wrong} stored rewards differ from what the environment paid; ${figure(100 * most)} % of them are what it paid at ${transform.describe('en')}.`,
      evidence: [{ check: 'rewards', measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}
