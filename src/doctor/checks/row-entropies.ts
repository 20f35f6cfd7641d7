/** The entropy that each row's loss was given, against that of the distribution its action was scored by: where a mask is in force, an entropy without it pays for choices that nobody can take; and a mean over the choices in place of their sum makes the bonus smaller by as many. */
import { told } from '../../language/language.ts';
import { Pairs } from '../../math/statistics.ts';
import { budgets } from '../budgets.ts';
import { confidence, fewestRows } from '../check.ts';
import { type Finding, figure } from '../diagnosis.ts';
import type { Iteration } from '../evidence/iteration.ts';
import { ProofStore } from '../found.ts';
import { limits } from '../limits.ts';
import { Distribution, type Scores } from '../pairing/scoring.ts';
import { updateScores } from '../pairing/update-scores.ts';
import { ScoredAs } from '../transforms/continuous/scored-as.ts';
import { Mask } from '../transforms/replay/mask.ts';
import { Temperature } from '../transforms/replay/temperature.ts';

/** What the entropy may be of in place of the masked distribution: the same without its mask, the mean over its choices, or its logits at a multiple of their temperature or at a fixed one. */
const kinds = ['unmasked', 'averaged', 'tempered', 'fixed'] as const;

class Count {
  /** Rows that tell, and those that have this entropy. */
  told = 0;
  rows = 0;
  onset = Number.POSITIVE_INFINITY;
  readonly agents = new Set<number>();
  readonly proof = new ProofStore();
}

function note(count: Count, iteration: number, agent: number): void {
  count.rows++;
  count.onset = Math.min(count.onset, iteration);
  count.agents.add(agent);
}

export class RowEntropies {
  private readonly counts = {
    unmasked: new Count(),
    averaged: new Count(),
    tempered: new Count(),
    fixed: new Count(),
  };
  /** Rows whose entropy is of no kind that is known; and the line through all that tell, as a factor on the entropy is the coefficient's. */
  private readonly unknown = new Count();
  private readonly line = new Pairs();
  /** What logits are divided by for the entropy, beside their own temperature; NaN where no one number serves, and nothing is told of it. */
  private divisor = Number.NaN;
  /** Rows that were looked at, and those whose action was scored by the distribution that the entropy is compared with. */
  private seen = 0;
  private scored = 0;

  see(iteration: Iteration): void {
    const { replays, samples, own } = iteration;
    const entropy = replays?.column('entropy');
    const scores = replays && entropy ? updateScores(iteration) : null;
    if (!replays || !samples || !entropy || !scores?.logits) return;
    const [sample, fresh, weight] = [
      replays.column('sample')!,
      replays.measured('new_logp')!,
      replays.column('weight'),
    ];
    const [action, agent] = [samples.column('action'), samples.column('agent')!];
    const [masked, other] = [new Distribution(), new Distribution()];
    const stride = Math.max(1, Math.floor(replays.rows / budgets.networkRows));
    const same = (a: number, b: number) => Math.abs(a - b) <= limits.sameEntropy.value;
    const found = kinds.map((kind) => ({
      kind,
      target: [] as number[],
      before: [] as number[],
      after: [] as number[],
    }));
    const strange = { target: [] as number[], before: [] as number[] };
    if (Number.isNaN(this.divisor)) this.divisor = divisorOf(scores, entropy, stride);
    for (let i = 0; i < replays.rows; i += stride) {
      if (own[i] === 0 || weight?.[i] === 0 || !action || !Number.isFinite(entropy[i])) continue;
      masked.of(scores, i, scores.temperatureOf(i), true);
      this.seen++;
      // The mask is in force where the score of the action shows it.
      if (!(Math.abs(masked.logp(action[sample[i]]) - fresh[i]) < limits.logp.value)) continue;
      this.scored++;
      // Without a mask in force, or without a divisor, they are the same.
      const unmasked = masked.forbids ? other.of(scores, i, scores.temperatureOf(i), false).entropy : masked.entropy;
      const divided = (by: number) =>
        Number.isNaN(this.divisor) ? masked.entropy : other.of(scores, i, by, true).entropy;
      const others = {
        unmasked,
        averaged: masked.entropy / Math.max(1, scores.count(i)),
        tempered: divided(scores.temperatureOf(i) * this.divisor),
        fixed: divided(this.divisor),
      };
      this.unknown.told++;
      this.line.add(masked.entropy, entropy[i]);
      // A mean over the minibatch may stand with each of its rows, minus the log-probability is an estimate of the entropy, and some take it as a share of the largest there is.
      const shared = entropy[i] === entropy[i - 1] || entropy[i] === entropy[i + 1];
      const share = masked.entropy / (iteration.logCount?.[sample[i]] ?? Number.NaN);
      const known = [masked.entropy, -fresh[i], share, ...Object.values(others)];
      if (!shared && !known.some((one) => same(entropy[i], one))) {
        note(this.unknown, iteration.number, agent[sample[i]]);
        strange.target.push(entropy[i]);
        strange.before.push(masked.entropy);
      }
      for (const { kind, target, before, after } of found) {
        // Two that are the same to four digits tell nothing.
        if (!(Math.abs(masked.entropy - others[kind]) > 2 * limits.sameEntropy.value)) continue;
        const count = this.counts[kind];
        count.told++;
        if (!same(entropy[i], others[kind]) || same(entropy[i], masked.entropy)) continue;
        note(count, iteration.number, agent[sample[i]]);
        target.push(entropy[i]);
        before.push(masked.entropy);
        after.push(others[kind]);
      }
    }
    if (strange.target.length > 0)
      this.unknown.proof.rows(iteration.number, Float64Array.from(strange.target), Float64Array.from(strange.before));
    for (const { kind, target, before, after } of found)
      if (target.length > 0)
        this.counts[kind].proof.rows(
          iteration.number,
          Float64Array.from(target),
          Float64Array.from(before),
          Float64Array.from(after),
        );
  }

  findings(): Finding[] {
    // A score that agrees by chance on a few rows does not show what the others were drawn from.
    if (this.scored < limits.most.value * this.seen) return [];
    const found = kinds.flatMap((kind): Finding[] => {
      const { told: all, rows, onset, agents, proof } = this.counts[kind];
      if (rows < fewestRows || rows < limits.nearlyAll.value * all) return [];
      const at = told(
        `The entropy in the loss is that of the logits divided by ${figure(this.divisor)} on ${rows} of ${all} rows that tell, while log-probabilities are not.`,
        `在能说明的 ${all} 行中有 ${rows} 行，损失中的熵来自除以 ${figure(this.divisor)} 的 logits，而对数概率不是。`,
      );
      const transform = {
        unmasked: () => new Mask('none'),
        averaged: () => new ScoredAs('entropy', { reduce: 'mean' }),
        tempered: () => new Temperature('update', this.divisor),
        fixed: () => new Temperature('update', this.divisor),
      }[kind]();
      return [
        {
          cause: 'entropy-of-another-distribution',
          confidence: confidence(rows / all, rows),
          agents: [...agents].sort((a, b) => a - b),
          onset,
          rows,
          transform,
          ...proof.prove('entropy', 'in the loss', 'of the distribution that scored the action', transform),
          told: true,
          summary: {
            unmasked: told(
              `The entropy in the loss is that of the logits without the mask on ${rows} of ${all} rows that tell, while log-probabilities have it.`,
              `在能说明的 ${all} 行中有 ${rows} 行，损失中的熵来自未加掩码的 logits，而对数概率用了掩码。`,
            ),
            averaged: told(
              `The entropy in the loss is the mean over the choices of what should be added up, on ${rows} of ${all} rows that tell: the bonus is smaller by as many as there are choices.`,
              `在能说明的 ${all} 行中有 ${rows} 行，损失中的熵对各选项取了均值而不是求和：熵奖励因此缩小为选项数分之一。`,
            ),
            tempered: at,
            fixed: at,
          }[kind],
          evidence: [{ check: 'metrics', measured: { rows: all, [kind]: rows }, expected: { [kind]: 0 } }],
        },
      ];
    });
    // Where the temperature never changes, a multiple of it is a fixed one as well.
    return found.length > 0 ? found.slice(0, 1) : this.strange();
  }

  /** Entropies that nothing which is known gives: a candidate and no cause. */
  private strange(): Finding[] {
    const { told: all, rows, onset, agents, proof } = this.unknown;
    if (rows < limits.decidingRows.value || rows < limits.nearlyAll.value * all) return [];
    if (this.line.correlation ** 2 > 1 - limits.rounding.value) return [];
    return [
      {
        cause: 'entropy-of-another-distribution',
        confidence: limits.candidate.value,
        agents: [...agents].sort((a, b) => a - b),
        onset,
        rows,
        ...proof.prove('entropy', 'in the loss', 'of the distribution that scored the action'),
        told: true,
        summary: told(
          `The entropy in the loss is not that of the distribution which scored the action on ${rows} of ${all} rows, nor any other that is known.`,
          `在 ${all} 行中有 ${rows} 行，损失中的熵不是给动作打分的分布的熵，也不是任何已知的熵。`,
        ),
        evidence: [{ check: 'metrics', measured: { rows: all, disagreeing: rows }, expected: { disagreeing: 0 } }],
      },
    ];
  }
}

/** The one number by which the logits of some rows must be divided to have the entropies that they were given; NaN where rows ask for different ones, or for none. */
function divisorOf(scores: Scores, entropy: ArrayLike<number>, stride: number): number {
  const [own, tried] = [new Distribution(), new Distribution()];
  const asked: number[] = [];
  for (let i = 0; i < entropy.length && asked.length < budgets.fitRows; i += stride) {
    if (!Number.isFinite(entropy[i])) continue;
    own.of(scores, i, scores.temperatureOf(i), true);
    if (Math.abs(own.entropy - entropy[i]) <= limits.sameEntropy.value) continue;
    // Entropy grows with the temperature, from 0 to that of an even choice.
    let [low, high]: [number, number] = [-budgets.divisorRange, budgets.divisorRange];
    for (let step = 0; step < budgets.divisorSteps; step++) {
      const middle = (low + high) / 2;
      tried.of(scores, i, scores.temperatureOf(i) * Math.exp(middle), true);
      if (tried.entropy < entropy[i]) low = middle;
      else high = middle;
    }
    asked.push(Math.exp((low + high) / 2));
  }
  if (asked.length < fewestRows) return Number.NaN;
  const median = asked.sort((a, b) => a - b)[asked.length >> 1];
  const alike = asked.filter((one) => Math.abs(one - median) <= limits.sameDivisor.value * median).length;
  return alike >= limits.nearlyAll.value * asked.length ? median : Number.NaN;
}
