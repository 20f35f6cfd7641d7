/** Rewards against what episodes are said to have returned, where nobody recorded what each action was paid: rewards that came a step late or early leave an episode with one of its neighbour's. Says nothing where returns are in other units than rewards. */
import { told } from '../../../language/language.ts';
import { confidence, fewestRows } from '../../check.ts';
import type { Finding } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { withAgent } from '../../evidence/keys.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Lag } from '../../transforms/credit/lag.ts';

/** An agent's episode in one environment, as far as its rows have been seen. */
interface Sum {
  episode: number;
  /** Whether its first row was seen. */
  whole: boolean;
  sum: number;
  size: number;
  first: number;
  last: number;
}

const ways = ['own', 'late', 'early'] as const;
type Way = (typeof ways)[number];

export class EpisodeSums {
  private readonly open = new Map<number, Sum>();
  private readonly before = new Map<number, Sum>();
  private readonly agree: Record<Way, number> = { own: 0, late: 0, early: 0 };
  private told = 0;
  private readonly agents = new Set<number>();
  private readonly columns: Record<Way | 'returned', number[]> = { own: [], late: [], early: [], returned: [] };

  constructor(private readonly run: Run) {}

  see({ samples, chains }: Iteration): void {
    const { returns } = this.run;
    const reward = samples?.column('reward');
    const env = samples?.column('env');
    if (!samples || !chains || !reward || !env || returns.size === 0) return;
    const [episode, t, agent] = [samples.column('episode')!, samples.column('t')!, samples.column('agent')!];
    // The rows of a stream lie one after the other in this order.
    let [latest, own]: [number, Sum | undefined] = [Number.NaN, undefined];
    for (const row of chains.order) {
      const stream = withAgent(env[row], agent[row]);
      if (stream !== latest) own = this.open.get(stream);
      latest = stream;
      if (!own || own.episode !== episode[row]) {
        if (own) this.close(stream, own, reward[row], agent[row]);
        own = { episode: episode[row], whole: t[row] === 0, sum: 0, size: 0, first: reward[row], last: 0 };
        this.open.set(stream, own);
      }
      own.sum += reward[row];
      own.size += Math.abs(reward[row]);
      own.last = reward[row];
    }
  }

  /** An episode after which the next began with the reward `next`. */
  private close(stream: number, own: Sum, next: number, agent: number): void {
    const earlier = this.before.get(stream);
    this.before.set(stream, own);
    const returned = this.run.returns.get(withAgent(own.episode, agent));
    if (!own.whole || !earlier || returned === undefined || !Number.isFinite(returned)) return;
    const sums: Record<Way, number> = {
      own: own.sum,
      late: own.sum - own.first + next,
      early: own.sum - own.last + earlier.last,
    };
    const slack = limits.sameReward.value + limits.sameRewardRelative.value * (own.size + Math.abs(returned));
    // Where a neighbour's reward is the same, the three are one.
    if (ways.some((way) => way !== 'own' && Math.abs(sums[way] - sums.own) <= slack)) return;
    this.told++;
    this.agents.add(agent);
    for (const way of ways) {
      if (Math.abs(sums[way] - returned) <= slack) this.agree[way]++;
      this.columns[way].push(sums[way]);
    }
    this.columns.returned.push(returned);
  }

  finding(check: string): Finding | null {
    const { told: episodes, agree, columns } = this;
    const way = (['late', 'early'] as const).find((one) => agree[one] >= limits.exactly.value * episodes);
    if (!way || episodes < fewestRows || agree.own > (1 - limits.exactly.value) * episodes) return null;
    const transform = new Lag(way === 'late' ? -1 : 1, 'stream');
    const column = (name: Way | 'returned') => Float64Array.from(columns[name]);
    const proof = new ProofStore();
    proof.rows(0, column('returned'), column('own'), column(way));
    const measured = { episodes, sums_that_agree: agree.own, with_rewards_moved: agree[way] };
    return {
      cause: 'reward-time-shifted',
      confidence: confidence(agree[way] / episodes, episodes),
      agents: [...this.agents].sort((a, b) => a - b),
      onset: 0,
      rows: episodes,
      transform,
      ...proof.prove('return of an episode', 'as the environment tells it', 'sum of its rewards', transform),
      told: true,
      summary: told(
        `The stored rewards of ${episodes - agree.own} of ${episodes} episodes do not add up to what they returned; ${agree[way]} do once every reward is taken one step ${way === 'late' ? 'earlier' : 'later'}.`,
        `${episodes} 个回合中有 ${episodes - agree.own} 个的已存奖励加起来不等于其回报；把每个奖励移${way === 'late' ? '前' : '后'}一步，则有 ${agree[way]} 个相等。`,
      ),
      evidence: [{ check, measured, expected: { sums_that_agree: episodes } }],
    };
  }
}
