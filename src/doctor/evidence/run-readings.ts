/** What the run itself shows while the checks look at it: symptoms measured in this run, and worries that its rows excuse. Nothing here accuses. */
import { told } from '../../language/language.ts';
import type { Cleared } from '../diagnosis.ts';
import { figure, percent } from '../diagnosis.ts';
import { limits } from '../limits.ts';
import type { Iteration } from './iteration.ts';
import type { Run } from './run.ts';

/** Means over the rows of one iteration's update. */
interface Update {
  iteration: number;
  /** Steps, and those before which the policy had already moved. */
  steps: number;
  later: number;
  k1: number;
  k2: number;
  /** Before the first step, where every ratio should be 1. */
  k2Before: number;
  clip: number;
  entropyShare: number;
}

export class RunReadings {
  private readonly updates: Update[] = [];
  private reported = { steps: 0, negative: 0 };

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    this.countUpdates(iteration);
    if (iteration.probed) return;
    const sums = { weight: 0, before: 0, k1: 0, k2: 0, k2Before: 0, clip: 0, entropy: 0, logCount: 0 };
    let [steps, later] = [0, 0];
    for (const stat of iteration.stats.values()) {
      if (!(stat.weight > 0)) continue;
      steps++;
      if (!stat.before) later++;
      sums.weight += stat.weight;
      if (stat.before) {
        sums.before += stat.weight;
        sums.k2Before += stat.weight * stat.k2;
      }
      sums.k1 += stat.weight * stat.k1;
      sums.k2 += stat.weight * stat.k2;
      sums.clip += stat.weight * stat.clipFraction;
      sums.entropy += stat.weight * stat.entropy;
      sums.logCount += stat.weight * stat.logCount;
    }
    const reported = iteration.steps?.column('approx_kl');
    for (let i = 0; reported && i < reported.length; i++) {
      if (!Number.isFinite(reported[i])) continue;
      this.reported.steps++;
      if (reported[i] < -limits.logp.value) this.reported.negative++;
    }
    if (steps === 0) return;
    this.updates.push({
      iteration: iteration.number,
      steps,
      later,
      k1: sums.k1 / sums.weight,
      k2: sums.k2 / sums.weight,
      k2Before: sums.k2Before / sums.before,
      clip: sums.clip / sums.weight,
      entropyShare: sums.entropy / sums.logCount,
    });
  }

  private countUpdates({ samples, replays, own }: Iteration): void {
    const agent = samples?.column('agent');
    const sample = replays?.column('sample');
    if (!agent || !sample || own.length === 0) return;
    const used = new Uint8Array(agent.length);
    for (let i = 0; i < sample.length; i++) if (own[i] === 1) used[sample[i]] = 1;
    let [latest, counts] = [Number.NaN, { sampled: 0, used: 0 }];
    for (let i = 0; i < agent.length; i++) {
      if (agent[i] !== latest) {
        latest = agent[i];
        counts = this.run.updates.get(latest) ?? { sampled: 0, used: 0 };
        this.run.updates.set(latest, counts);
      }
      counts.sampled++;
      counts.used += used[i];
    }
  }

  /** Sentences about what strikes the eye in this run; a reading within its usual band says nothing. */
  symptoms(): string[] {
    const found: string[] = [];
    const { updates } = this;
    const all = (pick: (update: Update) => number, fits: (value: number) => boolean) => {
      const values = updates.map(pick).filter((value) => Number.isFinite(value));
      return values.length > 0 && values.every(fits) ? values : null;
    };
    const flat = all(
      ({ entropyShare }) => entropyShare,
      (share) => share > limits.entropyFull.value,
    );
    if (flat)
      found.push(
        told(
          `entropy stayed within ${percent(1 - Math.min(...flat))} of log K ${during(flat.length)} that were recorded`,
          `熵${during(flat.length)}都与 log K 相差不到 ${percent(1 - Math.min(...flat))}`,
        ),
      );
    const certain = updates.find(({ entropyShare }) => entropyShare < limits.certain.value);
    if (certain)
      found.push(
        told(
          `entropy was ${figure(certain.entropyShare)} of log K in iteration ${certain.iteration}`,
          `第 ${certain.iteration} 次迭代的熵是 log K 的 ${figure(certain.entropyShare)}`,
        ),
      );
    const off = updates.filter(({ k2Before }) => k2Before > limits.guardBand.value);
    if (off.length > 0)
      found.push(
        told(
          `before the first step k2 was already ${figure(middle(off.map(({ k2Before }) => k2Before)))} (median of ${off.length} of ${updates.length} updates), where it should be 0`,
          `第一步之前 k2 已是 ${figure(middle(off.map(({ k2Before }) => k2Before)))}（${updates.length} 次更新中 ${off.length} 次的中位数），而应为 0`,
        ),
      );
    const clipped = middle(updates.map(({ clip }) => clip));
    if (clipped > limits.most.value)
      found.push(
        told(
          `${percent(clipped)} of the ratios lay beyond the clip (median update)`,
          `${percent(clipped)} 的比率超出裁剪范围（更新的中位数）`,
        ),
      );
    const still = all(
      ({ k2, later }) => (later > 0 ? k2 : Number.NaN),
      (k2) => k2 < limits.logp.value ** 2,
    );
    if (still)
      found.push(
        told(`the ratio stayed at 1 ${during(still.length)} that were recorded`, `比率${during(still.length)}都停在 1`),
      );
    const far = middle(updates.map(({ k2 }) => k2));
    if (far > limits.tooFar.value)
      found.push(told(`k2 of the median update was ${figure(far)}`, `更新的 k2 中位数为 ${figure(far)}`));
    return found;
  }

  cleared(): Cleared[] {
    const found: Cleared[] = [];
    const { updates, reported } = this;
    if (updates.length === 0) return found;
    const single = updates.every(({ later, k2 }) => later === 0 && k2 < limits.guardBand.value);
    if (single)
      found.push({
        symptom: told(
          'the ratio is 1, and KL and clip fraction are 0, in every update',
          '每次更新的比率都是 1，KL 与裁剪比例都是 0',
        ),
        why: told(
          'each policy takes one optimiser step per batch, before which the ratio is 1 by definition',
          '每个策略每批只走一步优化器，而在那之前比率按定义为 1',
        ),
      });
    else if (updates.every(({ clip }) => clip === 0))
      found.push({
        symptom: told('the clip fraction is 0', '裁剪比例为 0'),
        why: told(
          `the steps are small: k2 of the median update is ${figure(middle(updates.map(({ k2 }) => k2)))}, and no ratio reaches the clip`,
          `步子小：更新的 k2 中位数为 ${figure(middle(updates.map(({ k2 }) => k2)))}，没有比率达到裁剪界限`,
        ),
      });
    if (reported.negative > 0 && updates.some(({ k1 }) => k1 < 0))
      found.push({
        symptom: told(
          `the reported KL is below 0 in ${reported.negative} of ${reported.steps} steps`,
          `所报告的 KL 在 ${reported.steps} 步中有 ${reported.negative} 步低于 0`,
        ),
        why: told(
          'the mean of old - new is an unbiased estimate, and may be negative',
          'old - new 的均值是无偏估计，可以为负',
        ),
      });
    return found;
  }
}

const during = (count: number) =>
  told(`in ${count === 1 ? 'the one update' : `all ${count} updates`}`, `在录下的全部 ${count} 次更新中`);

function middle(values: readonly number[]): number {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  return sorted.length > 0 ? sorted[sorted.length >> 1] : Number.NaN;
}
