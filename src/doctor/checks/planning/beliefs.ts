/** Do beliefs about the others' goals begin with the prior, follow the others' moves by Bayes' rule, and does the prior learn the goals that were reached? What a search drew goals from is compared with what its own rows give. */
import { told } from '../../../language/language.ts';
import { type Check, confidence, fewestRows, noticedShare, type Pass } from '../../check.ts';
import type { Finding, Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { PlannedWith } from '../../transforms/planning/planned-with.ts';
import { followed, gap, Planned } from './lists.ts';

const check = 'beliefs';

export const beliefs: Check = {
  id: check,
  group: 'replay',
  question: [
    "Do beliefs about the others' goals begin with the prior and follow the others' moves?",
    '关于他人目标的信念是否从先验开始，并跟随他人的动作？',
  ],
  needs: [['samples.belief'], ['samples.prior'], ['samples.likelihood']],
  causes: ['belief-not-reset', 'belief-not-updated', 'belief-misassigned', 'goal-labels-rotated'],
  of: 'planners',
  start: (run) => new BeliefPass(run),
};

type Is = ConstructorParameters<typeof PlannedWith>[0];

/** Another account of entries that disagree: how many it gives exactly, and the rows that show it. */
class Account {
  explained = 0;
  readonly proof = new ProofStore();
  constructor(
    readonly cause: string,
    readonly transform: PlannedWith,
  ) {}
}

class BeliefPass implements Pass {
  /** Beliefs within episodes, those that episodes begin with, and goals that were reached. */
  private readonly looked = { inner: 0, start: 0, goal: 0 };
  private readonly wrong = { inner: 0, start: 0, goal: 0 };
  private readonly accounts = new Map<string, Account>();
  private readonly onset = new Map<string, number>();
  private readonly struck = new Map<string, Set<number>>();

  constructor(private readonly run: Run) {}

  private account(kind: string, cause: string, is: Is, by = 0): Account {
    const key = `${kind} ${is} ${by}`;
    const known = this.accounts.get(key) ?? new Account(cause, new PlannedWith(is, by));
    this.accounts.set(key, known);
    return known;
  }

  private strike(kind: 'inner' | 'start' | 'goal', iteration: Iteration, agent: number): void {
    this.wrong[kind]++;
    if (!this.onset.has(kind)) this.onset.set(kind, iteration.number);
    this.struck.set(kind, (this.struck.get(kind) ?? new Set()).add(agent));
  }

  iteration(iteration: Iteration): void {
    const planned = Planned.of(iteration);
    const { chains } = iteration;
    if (!planned || !chains) return;
    for (let row = 0; row < planned.rows; row++) {
      const next = chains.next[row];
      if (next >= 0 && planned.t[next] === planned.t[row] + 1) this.inner(iteration, planned, row, next);
      if (planned.t[row] === 0 && chains.previous[row] < 0) this.begins(iteration, planned, row);
    }
  }

  private begins(iteration: Iteration, planned: Planned, row: number): void {
    const before = iteration.chains!.streamPrevious[row];
    for (let j = 0; j < planned.others; j++) {
      const [belief, prior] = [planned.at('belief', row, j), planned.at('prior', row, j)];
      if (!belief || !prior) continue;
      this.looked.start++;
      if (gap(belief, prior) <= limits.sameBelief.value) continue;
      this.strike('start', iteration, planned.agent[row]);
      const last = before >= 0 ? planned.at('belief', before, j) : null;
      const goesOn = last && followed(last, planned.at('likelihood', before, j));
      const reset = this.account('start', 'belief-not-reset', 'episode-before');
      if (goesOn && gap(goesOn, belief) <= limits.sameBelief.value) {
        reset.explained++;
        reset.proof.step(belief[0], prior[0], goesOn[0]);
      }
      for (let k = 1; k < planned.others; k++) {
        const other = planned.at('prior', row, (j + k) % planned.others);
        if (!other || gap(other, belief) > limits.sameBelief.value) continue;
        const swapped = this.account('start', 'belief-misassigned', 'other-agent', k);
        swapped.explained++;
        swapped.proof.step(belief[0], prior[0], other[0]);
      }
    }
  }

  private inner(iteration: Iteration, planned: Planned, row: number, next: number): void {
    for (let j = 0; j < planned.others; j++) {
      const [belief, later] = [planned.at('belief', row, j), planned.at('belief', next, j)];
      const [prior, laterPrior] = [planned.at('prior', row, j), planned.at('prior', next, j)];
      if (!belief || !later || !prior || !laterPrior) continue;
      this.labelled(iteration, planned, row, j, prior, laterPrior);
      const likelihood = planned.at('likelihood', row, j);
      // A goal that was reached moves the prior, and the belief begins there again.
      const reached = gap(prior, laterPrior) > 0;
      const expected = reached ? laterPrior : followed(belief, likelihood);
      this.looked.inner++;
      if (gap(expected, later) <= limits.sameBelief.value) continue;
      this.strike('inner', iteration, planned.agent[row]);
      const try_ = (cause: string, is: Is, by: number, other: number[]) => {
        if (gap(other, later) > limits.sameBelief.value) return;
        const account = this.account('inner', cause, is, by);
        account.explained++;
        account.proof.step(later[0], expected[0], other[0]);
      };
      try_('belief-not-updated', 'never-follows', 0, belief);
      for (let k = 1; k < planned.others; k++) {
        const at = (j + k) % planned.others;
        const [own, changed] = [planned.at('prior', row, at), planned.at('prior', next, at)];
        const moved = own && changed && gap(own, changed) > 0;
        try_(
          'belief-misassigned',
          'other-agent',
          k,
          moved ? changed : followed(belief, planned.at('likelihood', row, at)),
        );
      }
      for (let k = 1; k < planned.agents; k++) {
        const observer = (planned.agent[row] + k) % planned.agents;
        const beside = planned.beside(row, observer);
        const about = planned.about(row, j);
        if (observer === about || beside < 0) continue;
        const seen = planned.at('likelihood', beside, planned.entry(beside, about));
        try_('belief-misassigned', 'other-observer', k, reached ? laterPrior : followed(belief, seen));
      }
    }
  }

  /** The goal whose prior rose is the one that was counted. */
  private labelled(
    iteration: Iteration,
    planned: Planned,
    row: number,
    j: number,
    prior: number[],
    later: number[],
  ): void {
    const beside = planned.beside(row, planned.about(row, j));
    const goal = beside >= 0 ? (planned.goal?.[beside] ?? Number.NaN) : Number.NaN;
    if (!(goal >= 0) || goal >= planned.goals || gap(prior, later) <= 0) return;
    const counted = later.reduce((best, chance, g) => (chance - prior[g] > later[best] - prior[best] ? g : best), 0);
    this.looked.goal++;
    if (counted === goal) return;
    this.strike('goal', iteration, planned.agent[row]);
    const by = (counted - goal + planned.goals) % planned.goals;
    const account = this.account('goal', 'goal-labels-rotated', 'goal-shifted', by);
    account.explained++;
    account.proof.step(counted, goal, (goal + by) % planned.goals);
  }

  finish(): Outcome {
    const { looked, wrong } = this;
    const measured = {
      rows: looked.inner,
      beginnings: looked.start,
      goals: looked.goal,
      not_followed: wrong.inner,
      not_reset: wrong.start,
      other_goals: wrong.goal,
      disagreeing: wrong.inner + wrong.start + wrong.goal,
    };
    const expected = { not_followed: 0, not_reset: 0, other_goals: 0 };
    const evidence = [{ check, measured, expected }];
    const findings: Finding[] = [];
    for (const kind of ['inner', 'start', 'goal'] as const) {
      const count = wrong[kind];
      if (count < fewestRows || count < (kind === 'start' ? 0 : noticedShare) * looked[kind]) continue;
      const best = [...this.accounts]
        .filter(([key]) => key.startsWith(`${kind} `))
        .map(([, account]) => account)
        .sort((a, b) => b.explained - a.explained)[0];
      // What the others did after an agent had left is not in its rows, so a beginning may go on from more than it saw.
      const enough = kind === 'start' && best?.cause === 'belief-not-reset' ? fewestRows : limits.most.value * count;
      if (!best || best.explained < Math.max(enough, kind === 'start' ? 1 : fewestRows)) continue;
      if (findings.some(({ cause }) => cause === best.cause)) continue;
      // Beginnings of beliefs that are another's are another's, too.
      if (kind === 'start' && findings.some(({ cause }) => cause === 'belief-misassigned')) continue;
      const { transform } = best;
      findings.push({
        cause: best.cause,
        confidence: confidence(1, count),
        agents: this.struck.get(kind)!.size === this.run.agentCount ? [] : [...this.struck.get(kind)!].sort(),
        onset: this.onset.get(kind)!,
        rows: count,
        transform,
        ...best.proof.prove(...quantities[kind], transform),
        summary: sentence(kind, count, looked[kind], transform),
        told: true,
        evidence,
      });
    }
    const open = measured.disagreeing >= fewestRows;
    return { status: findings.length > 0 || open ? 'fail' : 'pass', measured, expected, findings };
  }
}

const quantities: Record<'inner' | 'start' | 'goal', readonly [string, string, string]> = {
  inner: ["belief in the other's first goal", 'as planned with', 'as the moves give it'],
  start: ["belief in the other's first goal", 'as an episode begins', 'prior'],
  goal: ['goal that was reached', 'as counted', 'as the game says'],
};

function sentence(kind: keyof typeof quantities, wrong: number, looked: number, transform: PlannedWith): string {
  const how = transform.describe();
  if (kind === 'inner')
    return told(
      `Of ${looked} beliefs that the search drew goals from, ${wrong} are not what the other's moves give: ${how}.`,
      `搜索从中抽取目标的 ${looked} 个信念中，有 ${wrong} 个与对方动作得出的不符：${how}。`,
    );
  if (kind === 'start')
    return told(
      `Of ${looked} beliefs at the beginning of an episode, ${wrong} are not the prior: ${how}.`,
      `回合开始时的 ${looked} 个信念中，有 ${wrong} 个不是先验：${how}。`,
    );
  return told(
    `Of ${looked} goals that were reached, ${wrong} are counted as another: ${how}.`,
    `达成的 ${looked} 个目标中，有 ${wrong} 个被记成别的目标：${how}。`,
  );
}
