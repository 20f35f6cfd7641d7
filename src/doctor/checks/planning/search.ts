/** Does the search go by the models, the critic and the choice that its own rows declare? The chances that it gave to the others' moves are compared with those of the beliefs, its value of a state with the row's, and its choice with the values it found. */
import { told } from '../../../language/language.ts';
import { type Check, confidence, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { PlannedWith } from '../../transforms/planning/planned-with.ts';
import { Planned } from './lists.ts';

const check = 'search';

export const search: Check = {
  id: check,
  group: 'replay',
  question: [
    'Does the search use the present models, its own critic, and no random moves where it is judged?',
    '搜索是否使用当前的模型和自己的评论家，且在评判时没有随机动作？',
  ],
  needs: [['samples.search_values', 'samples.search_root', 'samples.foreseen']],
  causes: ['search-model-stale', 'search-values-misassigned', 'exploration-in-test'],
  of: 'planners',
  start: (run) => new SearchPass(run),
};

class Tally {
  looked = 0;
  wrong = 0;
  onset = -1;
  readonly agents = new Set<number>();
  readonly proof = new ProofStore();

  note(wrong: boolean, iteration: number, agent: number): boolean {
    this.looked++;
    if (!wrong) return false;
    this.wrong++;
    if (this.onset < 0) this.onset = iteration;
    this.agents.add(agent);
    return true;
  }

  /** Too many to be rounding. */
  get off(): boolean {
    return this.wrong >= Math.max(fewestRows, noticedShare * this.looked);
  }
}

class SearchPass implements Pass {
  private readonly chances = new Tally();
  /** The first iteration that was looked at, and what disagreed in it: models have not learnt yet. */
  private first = -1;
  private readonly untaught = new Tally();
  private readonly roots = new Tally();
  private readonly judged = new Tally();
  private shares = 0;
  /** By how many agents further on: rows whose value is that agent's. */
  private readonly shifted = new Map<number, number>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const planned = Planned.of(iteration);
    if (!planned) return;
    if (this.first < 0) this.first = iteration.number;
    this.foreseen(iteration, planned);
    this.values(iteration, planned);
    this.choices(iteration, planned);
  }

  private foreseen({ number }: Iteration, planned: Planned): void {
    for (let row = 0; row < planned.rows; row++)
      for (let j = 0; j < planned.others; j++) {
        const likelihood = planned.at('likelihood', row, j);
        const [goal] = planned.at('drawn_goal', row, j, 1) ?? [Number.NaN];
        const [foreseen] = planned.at('foreseen', row, j, 1) ?? [Number.NaN];
        if (!likelihood || !(goal >= 0 && goal < planned.goals) || Number.isNaN(foreseen)) continue;
        const wrong = Math.abs(foreseen - likelihood[goal]) > limits.sameChance.value;
        if (number === this.first) this.untaught.note(wrong, number, planned.agent[row]);
        if (this.chances.note(wrong, number, planned.agent[row]))
          this.chances.proof.step(foreseen, likelihood[goal], Number.NaN);
      }
  }

  private values({ number, samples }: Iteration, planned: Planned): void {
    const [root, value] = [samples!.column('search_root'), samples!.column('value')];
    // The units of a run's first values are found only after they were used, so the row's are not the search's.
    if (!root || !value || number === 0) return;
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let row = 0; row < planned.rows; row++) [low, high] = [Math.min(low, value[row]), Math.max(high, value[row])];
    const same = limits.sameRoot.value * (high - low);
    for (let row = 0; row < planned.rows; row++) {
      if (Number.isNaN(root[row]) || Number.isNaN(value[row])) continue;
      if (!this.roots.note(Math.abs(root[row] - value[row]) > same, number, planned.agent[row])) continue;
      for (let k = 1; k < planned.agents; k++) {
        const beside = planned.beside(row, (planned.agent[row] + k) % planned.agents);
        if (beside < 0 || Math.abs(root[row] - value[beside]) > same) continue;
        this.shifted.set(k, (this.shifted.get(k) ?? 0) + 1);
        this.roots.proof.step(root[row], value[row], value[beside]);
      }
    }
  }

  private choices({ number, samples }: Iteration, planned: Planned): void {
    const [judged, rationality] = [samples!.column('judged'), samples!.column('rationality')];
    if (!judged || !rationality) return;
    for (let row = 0; row < planned.rows; row++) {
      if (judged[row] !== 1) continue;
      const share = randomShare(planned.all('search_values', row), planned.all('logits', row), rationality[row]);
      if (share === null) continue;
      if (!this.judged.note(Math.abs(share) > limits.randomShare.value, number, planned.agent[row])) continue;
      this.shares += share;
      this.judged.proof.step(share, 0, Number.NaN);
    }
  }

  finish(): Outcome {
    const { chances, roots, judged, untaught } = this;
    const measured = {
      rows: roots.looked,
      chances: chances.looked,
      other_chances: chances.wrong,
      other_values: roots.wrong,
      judged: judged.looked,
      judged_random: judged.wrong,
      disagreeing: chances.wrong + roots.wrong + judged.wrong,
    };
    const expected = { other_chances: 0, other_values: 0, judged_random: 0 };
    const findings: Finding[] = [];
    const find = (
      cause: string,
      tally: Tally,
      transform: PlannedWith | undefined,
      quantity: readonly [string, string, string],
      summary: string,
    ) =>
      findings.push({
        cause,
        confidence: confidence(1, tally.wrong),
        agents: tally.agents.size === this.run.agentCount ? [] : [...tally.agents].sort(),
        onset: tally.onset,
        rows: tally.wrong,
        ...(transform ? { transform } : {}),
        ...tally.proof.prove(...quantity, transform),
        summary,
        told: true,
        evidence: [{ check, measured, expected }],
      });
    // A model that is another's differs from the first iteration on; one that is late differs once there was something to learn.
    if (chances.off && !untaught.off && untaught.looked >= fewestRows)
      find(
        'search-model-stale',
        chances,
        // What the earlier model would have given is not recorded.
        undefined,
        ["chance of the other's move", 'in the search', 'by the present model'],
        told(
          `The search foresees ${chances.wrong} of ${chances.looked} moves of others with other chances than the present model gives, and agreed with it before the model had learnt anything.`,
          `在对方的 ${chances.looked} 个动作中，有 ${chances.wrong} 个搜索所预见的概率与当前模型不同，而在模型尚未学习时两者一致。`,
        ),
      );
    const [by, rows] = [...this.shifted].sort((a, b) => b[1] - a[1])[0] ?? [0, 0];
    if (roots.off && rows >= Math.max(fewestRows, limits.most.value * this.besides()))
      find(
        'search-values-misassigned',
        roots,
        new PlannedWith('other-critic', by),
        ['value of the state', 'in the search', "the row's own"],
        told(
          `The search values ${roots.wrong} of ${roots.looked} states otherwise than the agent's critic does: ${new PlannedWith('other-critic', by).describe()}.`,
          `在 ${roots.looked} 个状态中，有 ${roots.wrong} 个搜索的估值与该智能体的评论家不同：${new PlannedWith('other-critic', by).describe()}。`,
        ),
      );
    if (judged.wrong >= Math.max(fewestRows, limits.most.value * judged.looked)) {
      const share = Number(figure(this.shares / judged.wrong));
      find(
        'exploration-in-test',
        judged,
        undefined,
        ['share of random moves', 'as the choice shows', 'as declared'],
        told(
          `In ${judged.wrong} of ${judged.looked} choices of episodes that are played to be judged, moves are drawn at random, in a share of ${share}.`,
          `在用于评判的局中，${judged.looked} 次选择有 ${judged.wrong} 次随机抽取了动作，比例为 ${share}。`,
        ),
      );
    }
    const open = chances.off || roots.off || judged.off;
    return { status: findings.length > 0 || open ? 'fail' : 'pass', measured, expected, findings };
  }

  /** Disagreeing rows cannot all be matched: the other agent may have left. */
  private besides(): number {
    let most = 0;
    for (const rows of this.shifted.values()) most += rows;
    return most;
  }
}

/** The share of moves that a choice draws at random, by least squares: choice = (1 - share) exp(rationality x value) / Z + share / legal moves. */
function randomShare(values: readonly number[], logits: readonly number[], rationality: number): number | null {
  const legal = values.map((value, a) => [value, logits[a]] as const).filter(([value]) => Number.isFinite(value));
  if (legal.length < 2 || legal.some(([, logit]) => !Number.isFinite(logit))) return null;
  const softmax = (numbers: readonly number[]) => {
    const most = Math.max(...numbers);
    const weights = numbers.map((number) => Math.exp(number - most));
    const sum = weights.reduce((a, b) => a + b, 0);
    return weights.map((weight) => weight / sum);
  };
  const chosen = softmax(legal.map(([, logit]) => logit));
  const best = softmax(legal.map(([value]) => rationality * value));
  let [top, bottom] = [0, 0];
  for (const [a, chance] of best.entries()) {
    const toward = 1 / legal.length - chance;
    top += (chosen[a] - chance) * toward;
    bottom += toward * toward;
  }
  // A choice that is uniform anyway shows nothing.
  return bottom > limits.randomShare.value ? top / bottom : null;
}
