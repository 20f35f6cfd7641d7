/** How much an investigation trains and plays. The numbers follow from what the tests need to reach their level, and every one is stated in the report. */
import { told } from '../language/language.ts';
import { fewestBlocks } from '../math/ranks/rank-tests.ts';
import { shares } from './levels.ts';
import type { Plan } from './stage.ts';

export interface PlanOptions {
  quick?: boolean;
  all?: boolean;
  seeds?: number;
  steps?: number;
  seed?: number;
}

export function makePlan(
  seats: number,
  { quick = false, all = false, seeds, steps, seed = 1 }: PlanOptions = {},
): Plan {
  const fewest = fewestBlocks(seats, Math.min(shares.phenomenonPage, shares.phenomenonFriedman));
  return {
    firstSeed: (seed - 1) * 1000,
    seeds: seeds ?? Math.max(fewest, quick ? 6 : 10),
    // Some seeds of the stag hunt cooperate by then; the report says what was earned.
    steps: steps ?? (quick ? 240_000 : 400_000),
    auditSteps: 24_000,
    episodes: quick ? 600_000 : 1_000_000,
    dealtEpisodes: quick ? 150_000 : 300_000,
    learntEpisodes: quick ? 1000 : 2000,
    quick,
    all,
  };
}

export interface Projection {
  /** Seconds, if every experiment runs, and if there is nothing to trace. */
  most: number;
  least: number;
}

/** How fast the machine is, as tried. */
export interface Speed {
  /** Of one thread, with all of them at work. */
  secondsPerStep: number;
  /** Of all threads together. */
  secondsPerEpisode: number;
  threads: number;
  /** Of the ablation ladder. */
  rungs: number;
}

/** Seconds for every seed trained so many times over. */
export function trainingTime(plan: Plan, { secondsPerStep, threads }: Speed, times: number): number {
  return (times * plan.seeds * plan.steps * secondsPerStep) / threads;
}

/** How many times every seed is trained for an experiment: with the order reversed and shuffled, on each rung below the full one and as one learner in every seat, and shared. */
export const experimentTimes = { order: 2, ladder: (rungs: number) => rungs, sharing: 1 };

export function projectTime(plan: Plan, speed: Speed): Projection {
  const played = (plan.episodes + plan.dealtEpisodes) * speed.secondsPerEpisode;
  // One run, or two, each on one thread; keeping and following every row takes about twice as long as making them.
  const audited = 3 * 2 * plan.auditSteps * speed.secondsPerStep;
  const least = played + audited + trainingTime(plan, speed, 1);
  const { order, ladder, sharing } = experimentTimes;
  return { least, most: least + trainingTime(plan, speed, order + ladder(speed.rungs) + sharing) };
}

/** Three iterations of four agents in 32 worlds: a module has learnt, and acted on it. */
const fewestAudited = 3 * 32 * 32 * 4;

/** Keeps to a budget by fewer seeds, down to the fewest that can reach the level, then by fewer steps, and at last by following fewer rows. Says what it cost. */
export function keepBudget(
  plan: Plan,
  seats: number,
  speed: Speed,
  seconds: number,
): { plan: Plan; cost: string | null } {
  const fewest = fewestBlocks(seats, Math.min(shares.phenomenonPage, shares.phenomenonFriedman));
  const kept = { ...plan };
  const over = () => projectTime(kept, speed)[kept.all ? 'most' : 'least'] > seconds;
  while (over() && kept.seeds > fewest) kept.seeds--;
  const least = 20_000;
  while (over() && kept.steps > least) kept.steps = Math.max(least, Math.floor(kept.steps * 0.9));
  if (over()) kept.auditSteps = Math.min(plan.auditSteps, fewestAudited);
  const many = (count: number) => count.toLocaleString('en-US');
  const times = Math.sqrt(plan.seeds / kept.seeds).toFixed(2);
  const cost = [
    kept.seeds < plan.seeds
      ? told(
          `${kept.seeds} seeds in place of ${plan.seeds}: a trend must be about ${times} times as large to be seen as surely`,
          `随机种子由 ${plan.seeds} 个减为 ${kept.seeds} 个：趋势要大到约 ${times} 倍才能同样可靠地被看出`,
        )
      : '',
    kept.steps < plan.steps
      ? told(
          `${many(kept.steps)} steps in place of ${many(plan.steps)}: what appears only later in training is not seen`,
          `步数由 ${many(plan.steps)} 减为 ${many(kept.steps)}：训练后期才出现的现象看不到`,
        )
      : '',
    kept.auditSteps < plan.auditSteps
      ? told(
          `${many(kept.auditSteps)} steps in place of ${many(plan.auditSteps)} are followed row by row: what happens rarely may be missed`,
          `逐行跟踪的步数由 ${many(plan.auditSteps)} 减为 ${many(kept.auditSteps)}：少见的情况可能被漏掉`,
        )
      : '',
    over()
      ? told(
          'it will still take longer than the budget, because fewer seeds could not reach the level',
          '仍会超出预算，因为种子再少就达不到显著性水平',
        )
      : '',
  ].filter(Boolean);
  if (cost.length === 0) return { plan, cost: null };
  kept.cost = `${cost.join(told('; ', '；'))}${told('.', '。')}`;
  return { plan: kept, cost: kept.cost };
}
