/** Credit that was computed with the ends of episodes misread in one way. */

import { told } from '../../../language/language.ts';
import type { EndRule } from '../../../math/advantages.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

const texts: Readonly<Record<EndRule, readonly [en: string, zh: string]>> = {
  asRecorded: ['ends as recorded', '按记录的结束标志'],
  truncationTerminates: ['truncations read as terminations', '把截断当作终止'],
  cutTerminates: ["the rollout's end read as a termination", '把采样段的末尾当作终止'],
  allTerminate: ['truncations and the rollout end read as terminations', '把截断和采样段的末尾都当作终止'],
  ignored: ['ends ignored', '忽略结束标志'],
  carryIgnored: ['credit carried across ends', '回报跨过回合结束继续传递'],
  valueIgnored: ["the next episode's value bootstrapped at ends", '在结束处用下一回合的价值自举'],
  lastIgnored: ["ends at a rollout's last step ignored", '忽略采样段最后一步的结束标志'],
  terminationBootstraps: ['terminations bootstrapped like truncations', '终止像截断一样自举'],
  lateWithin: ['ends one step late within (episode, agent)', '结束标志在同一回合和智能体内晚一步'],
  earlyWithin: ['ends one step early within (episode, agent)', '结束标志在同一回合和智能体内早一步'],
  late: ['ends one step late', '结束标志晚一步'],
  early: ['ends one step early', '结束标志早一步'],
  lateAlike: ['ends one step late, and time limits read like terminations', '结束标志晚一步，且时间上限当作终止'],
  earlyAlike: ['ends one step early, and time limits read like terminations', '结束标志早一步，且时间上限当作终止'],
  lateBeside: [
    'ends one step late, beside the value that follows a time limit',
    '结束标志晚一步，同时仍加上时间上限之后的价值',
  ],
  earlyBeside: [
    'ends one step early, beside the value that follows a time limit',
    '结束标志早一步，同时仍加上时间上限之后的价值',
  ],
  ignoredBeside: [
    'ends ignored, beside the value that follows a time limit',
    '忽略结束标志，同时仍加上时间上限之后的价值',
  ],
  valueIgnoredBeside: [
    "the next episode's value bootstrapped at ends, beside the value that follows a time limit",
    '在结束处用下一回合的价值自举，同时仍加上时间上限之后的价值',
  ],
  ignoredAfterOwn: [
    'credit carried across ends, and the value of the state that followed bootstrapped at terminations too',
    '回报跨过回合结束继续传递，终止处也用随后状态的价值自举',
  ],
  carryEarly: ['the trace cut one step before the end, and not at it', '资格迹在结束前一步被切断，而不是在结束处'],
  carryLate: ['the trace cut one step after the end, and not at it', '资格迹在结束后一步被切断，而不是在结束处'],
};

/** All ways to misread an end. Ends that are ignored come before ends that are moved: at an end whose value nobody recorded, a moved one explains whatever is there. */
export const misreadings = (Object.keys(texts) as EndRule[]).filter((rule) => rule !== 'asRecorded');

export class Ends implements CreditTransform {
  readonly id = 'ends';

  constructor(readonly rule: EndRule) {}

  apply(rows: CreditRows): Float64Array | null {
    const { iteration, rule } = rows;
    if (!rule || !iteration.credit) return null;
    const credit = iteration.advantages(this.rule, rule);
    // A bootstrap that was not recorded is taken from the credit itself, which then proves nothing.
    const { boot } = iteration.flow(this.rule)!;
    if (!this.credible(rows, rule.gamma) || (this.rule === 'lateWithin' && !this.known(rows))) return null;
    if (credit && rule.gamma !== 0)
      for (let i = 0; i < boot.length; i++) if (Number.isNaN(boot[i])) credit[i] = Number.NaN;
    return credit;
  }

  /** Whether what follows ends was recorded: read late within its own episode an end is not read at all, and without that value it would explain whatever stands there. */
  private known({ iteration }: CreditRows): boolean {
    const { terminated } = iteration.credit!;
    const { boot } = iteration.flow(this.rule)!;
    let [known, all] = [0, 0];
    for (let i = 0; i < boot.length; i++) {
      if (terminated[i] !== 1) continue;
      all++;
      if (!Number.isNaN(boot[i])) known++;
    }
    return known >= limits.most.value * all;
  }

  /** Whether what moved ends must have bootstrapped looks like a value, and not like the recorded end; else anything that is wrong at some ends would look like a moved one. */
  private credible({ iteration, slack }: CreditRows, gamma: number): boolean {
    const { reward, value, terminated, truncated, chains } = iteration.credit!;
    const { boot } = iteration.flow(this.rule)!;
    const recorded = iteration.samples?.column('advantage');
    const usual = iteration.flow('asRecorded')!.boot;
    if (!recorded) return true;
    const { least, greatest } = range(value);
    const beyond = limits.credibleValue.value * (greatest - least);
    let [odd, all] = [0, 0];
    for (let i = 0; i < boot.length; i++) {
      if (!Number.isNaN(boot[i]) || Number.isNaN(usual[i])) continue;
      const implied = (recorded[i] - reward[i] + value[i]) / gamma;
      all++;
      const asRecorded = gamma * Math.abs(implied - usual[i]) <= slack;
      // An inner row that is taken for an end bootstraps nothing, or the value of the row after it.
      const inner = terminated[i] !== 1 && truncated?.[i] !== 1;
      const atEnd = gamma * Math.min(Math.abs(implied), Math.abs(implied - value[chains.next[i]])) <= slack;
      if (inner ? !atEnd : asRecorded || implied < least - beyond || implied > greatest + beyond) odd++;
    }
    return odd <= limits.most.value * all;
  }

  describe(): string {
    return told(...texts[this.rule]);
  }
}

function range(values: ArrayLike<number>): { least: number; greatest: number } {
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < values.length; i++) {
    if (values[i] < least) least = values[i];
    if (values[i] > greatest) greatest = values[i];
  }
  return { least, greatest };
}
