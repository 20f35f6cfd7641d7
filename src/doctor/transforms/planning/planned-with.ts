/** A search went by something else than the row's own: another belief, goal or critic. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

const texts = {
  'episode-before': ['the belief of the episode before goes on', '沿用上一回合的信念'],
  'never-follows': ['the belief stays as it is, whatever the other does', '无论对方做什么，信念都不变'],
  'other-agent': ['the belief about the agent {by} further on', '关于往后第 {by} 个智能体的信念'],
  'other-observer': ['the belief of the agent {by} further on', '往后第 {by} 个智能体的信念'],
  'goal-shifted': ['every goal counted as the one {by} further on', '每个目标都记成往后第 {by} 个'],
  'other-critic': ['the value of the agent {by} further on', '往后第 {by} 个智能体的价值'],
} as const;

export class PlannedWith implements Transform {
  readonly id = 'planned-with';

  constructor(
    readonly is: keyof typeof texts,
    readonly by = 0,
  ) {}

  describe(): string {
    const [en, zh] = texts[this.is];
    const put = (text: string) => text.replace('{by}', String(this.by));
    return told(put(en), put(zh));
  }
}
