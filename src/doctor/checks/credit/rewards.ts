/** Whether the stored reward is what the environment paid for the same action, and to the same agent. Scaled, clipped or shared rewards are healthy; moved ones are not. */

import { told } from '../../../language/language.ts';
import { Pairs } from '../../../math/statistics.ts';
import { type Check, confidence, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { conventionRemark } from '../../conventions.ts';
import { type Finding, figure, leaving, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { cutOf, possibleCuts, sameReward } from '../../evidence/rewards/reward-cuts.ts';
import { gather, type Numbers } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { foundBy, ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Cover, trialOf } from '../../pairing/cover.ts';
import { EpisodeSums } from './episode-sums.ts';
import { formOfMoved, otherAgents, otherEnvironments } from './reward-places.ts';
import { bootstrapped, cutForSome, delayed, moves, ownFactors, rescaled } from './reward-scales.ts';

export const rewards: Check = {
  id: 'rewards',
  group: 'credit',
  question: ['Is a reward stored at the action that earned it?', '奖励是否存在挣得它的动作上？'],
  needs: [['samples.reward'], ['samples.env_reward', 'episodes.return']],
  causes: ['reward-time-shifted', 'reward-bookkeeping', 'credit-formula-differs'],
  start: (run) => new RewardsPass(run),
};

/** Where every action is paid the same, a move shows only at the ends, by zeros with nothing to come in their place: each move is tried a second time with such zeros. */
const hypotheses = [...moves, ...moves].map((transform) => ({ cause: 'reward-time-shifted', transform }));

class RewardsPass implements Pass {
  private looked = 0;
  private wrong = 0;
  private treated: keyof typeof treatments | null = null;
  private readonly cover = new Cover(hypotheses);
  /** Rewards that stand with another agent than was paid, that some agents have a factor of their own on, and that hold a bootstrap where no time limit is. */
  private readonly filed = noted();
  private readonly scaled = { ...noted(), factors: new Map<number, number>() };
  private readonly cut = { ...noted(), bounds: new Map<number, number>() };
  private readonly early = noted();
  /** Rewards that stand with another environment than paid them. */
  private readonly crossed = noted();
  /** Rewards that were paid to another agent, and by agent to whom. */
  private readonly lent = { ...noted(), sources: new Map<number, number>() };
  /** Rewards that were moved were cut or scaled as well. */
  private formed = false;

  private readonly sums: EpisodeSums;

  constructor(private readonly run: Run) {
    this.sums = new EpisodeSums(run);
  }

  iteration(iteration: Iteration): void {
    this.sums.see(iteration);
    const { samples, chains } = iteration;
    const reward = iteration.folded?.reward ?? samples?.column('reward');
    const paid = samples?.column('env_reward');
    if (!samples || !chains || !reward || !paid) return;
    const [slack, relative] = [limits.sameReward.value, limits.sameRewardRelative.value];
    const apart = new Int32Array(samples.rows);
    let count = 0;
    for (let i = 0; i < apart.length; i++) {
      const same = Math.abs(reward[i] - paid[i]) <= slack + relative * Math.abs(paid[i]);
      if (!same && !Number.isNaN(reward[i] + paid[i])) apart[count++] = i;
    }
    const wrong = apart.subarray(0, count);
    if (wrong.length === 0) {
      this.looked += samples.rows;
      return;
    }
    const factors = wrong.length >= fewestRows ? ownFactors(iteration, reward, paid) : null;
    if (factors) {
      this.scaled.factors = factors;
      this.note(iteration, this.scaled, wrong, reward, paid);
      return;
    }
    const bounds = wrong.length >= fewestRows ? cutForSome(iteration, reward, paid, wrong) : null;
    if (bounds) {
      for (const [agent, bound] of bounds) this.cut.bounds.set(agent, bound);
      this.note(iteration, this.cut, wrong, reward, paid);
      return;
    }
    const early = bootstrapped(iteration, reward, paid, wrong);
    if (early.length >= fewestRows && early.length >= limits.nearlyAll.value * wrong.length) {
      this.note(iteration, this.early, wrong, reward, paid);
      return;
    }
    const held = iteration.folded ? samples.column('truncated') : null;
    const treated = cutOf(possibleCuts(reward, held), reward, paid, wrong)
      ? 'clipped'
      : rescaled(iteration, reward, paid, wrong)
        ? 'normalised'
        : delayed(iteration, reward, paid)
          ? 'delayed'
          : null;
    if (treated) {
      this.treated = treated;
      this.looked += samples.rows;
      return;
    }
    if (wrong.length >= fewestRows && misfiled(iteration, reward, paid, wrong)) {
      this.note(iteration, this.filed, wrong, reward, paid);
      return;
    }
    const sources = wrong.length >= fewestRows ? otherAgents(iteration, reward, paid, wrong) : null;
    if (sources) {
      for (const [agent, source] of sources) this.lent.sources.set(agent, source);
      this.note(iteration, this.lent, wrong, reward, paid);
      return;
    }
    const source = wrong.length >= fewestRows ? otherEnvironments(iteration, reward, paid) : null;
    if (source) {
      this.note(iteration, this.crossed, wrong, reward, paid);
      return;
    }
    if (wrong.length > noticedShare * samples.rows) {
      // A common scale, or a clip, is no fault: rows are compared by it where it fits most of them.
      const line = new Pairs();
      for (let i = 0; i < samples.rows; i++)
        if (paid[i] !== 0 && Number.isFinite(paid[i] + reward[i])) line.add(paid[i], reward[i]);
      if (line.count > 2 && line.correlation > limits.rewardScale.value) return;
    }
    this.looked += samples.rows;
    const form = formOfMoved(iteration, reward, paid);
    if (form) this.formed = true;
    this.moved(iteration, reward, form ? Float64Array.from(paid, form) : paid, wrong);
  }

  /** Tries what was paid at other steps on the rows that are wrong. */
  private moved(iteration: Iteration, reward: Numbers, paid: Numbers, apart: Int32Array): void {
    const { samples } = iteration;
    const wrong = apart.filter((row) => !sameReward(reward[row], paid[row]));
    this.wrong += wrong.length;
    const [target, before] = [gather(reward, wrong), gather(paid, wrong)];
    const size = target.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const moved = moves.map((move) => gather(move.apply({ iteration, own: paid })!, wrong));
    const filled = moved.map((column) => column.map((value) => (Number.isNaN(value) ? 0 : value)));
    const trials = [...moved, ...filled].map((after) =>
      trialOf({ target, before, after }, limits.sameReward.value + limits.sameRewardRelative.value * size),
    );
    this.cover.add(iteration.number, gather(samples!.column('agent')!, wrong), trials);
  }

  private note(iteration: Iteration, into: Noted, wrong: Int32Array, reward: Numbers, paid: Numbers): void {
    this.looked += iteration.samples!.rows;
    this.wrong += wrong.length;
    into.rows += wrong.length;
    into.onset = Math.min(into.onset, iteration.number);
    for (const row of wrong) into.agents.add(iteration.samples!.column('agent')![row]);
    into.proof.rows(iteration.number, gather(reward, wrong), gather(paid, wrong));
  }

  private remarks(): Pick<Outcome, 'remarks'> {
    if (!this.treated) return {};
    const id = this.treated === 'delayed' ? 'rewards-delayed' : 'rewards-treated';
    return { remarks: [conventionRemark(id, `Rewards are what the environment paid, ${treatments[this.treated]}.`)] };
  }

  finish(): Outcome {
    const { looked, wrong } = this;
    const measured = { rows: looked, disagreeing: wrong, share: figure(wrong / Math.max(1, looked)) };
    const expected = { disagreeing: 0 };
    const late = looked === 0 ? this.sums.finding('rewards') : null;
    if (late) return { status: 'fail', measured, expected, findings: [late] };
    if (looked === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: this.run.seen.has('samples.env_reward')
          ? told('rewards follow what was paid, and not row by row', '奖励随实付奖励变化，但并非逐行相同')
          : told('needs samples.env_reward', '需要 samples.env_reward'),
        ...this.remarks(),
      };
    const evidence = [{ check: 'rewards', measured, expected }];
    for (const [into, tell] of [
      [this.filed, () => this.misfiled()],
      [this.scaled, () => this.apart()],
      [this.cut, () => this.cutOff()],
      [this.early, () => this.bootstraps()],
      [this.crossed, () => this.otherEnvironments()],
      [this.lent, () => this.otherAgents()],
    ] as const)
      if (into.rows >= limits.most.value * wrong && into.rows >= fewestRows)
        return { status: 'fail', measured, expected, findings: [this.bookkeeping(into, evidence, tell())] };
    const [best] = this.cover.explain().found;
    if (wrong < fewestRows || !best || best.share < limits.clearly.value)
      return {
        ...(wrong >= fewestRows ? { status: 'warn', open: leaving(wrong, looked) } : { status: 'pass' }),
        measured,
        expected,
        findings: [],
        ...this.remarks(),
      };
    const wording = {
      quantity: 'reward',
      target: 'stored reward',
      before: 'paid for this action',
      summary: (fit: string) =>
        `${wrong} stored rewards differ from what the environment paid${this.formed ? ', however it is cut or scaled' : ''}; ${fit} of them are what it paid at`,
      evidence,
    };
    return { status: 'fail', measured, expected, findings: foundBy(best, () => wording) };
  }

  private bookkeeping(
    { rows, agents, onset, proof }: Noted,
    evidence: Finding['evidence'],
    [cause, ...summary]: [cause: string, en: string, zh: string],
  ): Finding {
    return {
      cause,
      confidence: confidence(1, rows),
      agents: [...agents].sort((a, b) => a - b),
      onset,
      rows,
      ...proof.prove('reward', 'stored reward', 'paid to this agent'),
      told: true,
      summary: told(...summary),
      evidence,
    };
  }

  private misfiled(): [string, string, string] {
    const { rows, agents } = this.filed;
    const names = [...agents].sort((a, b) => a - b).map((agent) => this.run.agentName(agent));
    const share = percent(rows / Math.max(1, this.looked));
    return [
      'reward-bookkeeping',
      `${rows} stored rewards (${share}) are not what the environment paid to that agent, while the sum over ${names.join(', ')} is right at every step: they are filed under another agent.`,
      `${rows} 个已存奖励（${share}）不是环境付给该智能体的，而每一步 ${names.join('、')} 的总和都正确：它们记到了别的智能体名下。`,
    ];
  }

  private apart(): [string, string, string] {
    const factors = [...this.scaled.factors].sort(([a], [b]) => a - b);
    const each = factors.map(([agent, factor]) => `${this.run.agentName(agent)} ${figure(factor)}`);
    return [
      'reward-bookkeeping',
      `Stored rewards are what the environment paid times a factor that is not the same for all agents: ${each.join(', ')}.`,
      `已存奖励是环境实付乘以一个因子，而各智能体的因子不同：${each.join('，')}。`,
    ];
  }

  private cutOff(): [string, string, string] {
    const { rows, bounds } = this.cut;
    const each = [...bounds].sort(([a], [b]) => a - b).map(([own, bound]) => [this.run.agentName(own), figure(bound)]);
    return [
      'reward-bookkeeping',
      `${rows} rewards of some agents are cut off from below (${each.map(([own, bound]) => `${own} at ${bound}`).join(', ')}), while the others keep what they were paid.`,
      `部分智能体的 ${rows} 个奖励被从下方截断（${each.map(([own, bound]) => `${own} 在 ${bound}`).join('，')}），而其他智能体保留了所得。`,
    ];
  }

  private otherAgents(): [string, string, string] {
    const { rows, sources } = this.lent;
    const name = (agent: number) => this.run.agentName(agent);
    const each = [...sources].sort(([a], [b]) => a - b).map(([agent, source]) => [name(agent), name(source)]);
    return [
      'reward-bookkeeping',
      `${rows} stored rewards are what the environment paid to another agent at the same step: ${each.map(([own, other]) => `${own} has those of ${other}`).join(', ')}.`,
      `${rows} 个已存奖励是环境在同一步付给另一个智能体的：${each.map(([own, other]) => `${own} 得到了 ${other} 的`).join('，')}。`,
    ];
  }

  private otherEnvironments(): [string, string, string] {
    const { rows } = this.crossed;
    return [
      'reward-bookkeeping',
      `${rows} stored rewards are what another environment paid at the same step: every environment has the rewards of one other.`,
      `${rows} 个已存奖励是另一个环境在同一步支付的：每个环境都得到了另一个环境的奖励。`,
    ];
  }

  private bootstraps(): [string, string, string] {
    const { rows } = this.early;
    return [
      'credit-formula-differs',
      `${rows} stored rewards hold the discounted value of the next state although no time limit cuts their episode off: credit bootstraps there twice.`,
      `${rows} 个已存奖励含有下一状态的折扣价值，而其回合并未被时间上限截断：信用在那里自举了两次。`,
    ];
  }
}

const treatments = {
  clipped: 'clipped',
  normalised: 'divided by a running figure that is the same for all rows of a moment',
  delayed: 'added up and stored at the last row of their episode',
} as const;

interface Noted {
  rows: number;
  agents: Set<number>;
  onset: number;
  proof: ProofStore;
}
const noted = (): Noted => ({ rows: 0, agents: new Set(), onset: Number.POSITIVE_INFINITY, proof: new ProofStore() });

/** Whether what the agents of a step were paid stands with others of them: all of it with one, or each reward with another. Rewards that are shared out are a custom. */
function misfiled(
  iteration: Iteration,
  reward: ArrayLike<number>,
  paid: ArrayLike<number>,
  wrong: Int32Array,
): boolean {
  const { samples } = iteration;
  const rounding = limits.sameRewardRelative.value + samples!.grain('reward') + samples!.grain('env_reward');
  let [told, other] = [0, 0];
  for (const row of wrong) {
    const team = [row, ...iteration.others(row)];
    if (team.length < 2) continue;
    told++;
    const [stored, owed] = [reward, paid].map((column) => team.map((member) => column[member]).sort((a, b) => a - b));
    const sum = (list: readonly number[]) => list.reduce((a, b) => a + b, 0);
    const slack = limits.sameReward.value + rounding * sum(owed.map(Math.abs));
    const alike = (a: number, b: number) => Math.abs(a - b) <= slack;
    const one = stored.filter((value) => value !== 0).length === 1 && alike(sum(stored), sum(owed));
    if (one || stored.every((value, i) => alike(value, owed[i]))) other++;
  }
  return told >= limits.exactly.value * wrong.length && other >= limits.exactly.value * told;
}
