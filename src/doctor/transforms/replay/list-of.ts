/** The candidate list of another row. */
import { type Language, type Transform, told } from '../transform.ts';

export type ListOwner = 'other-agent' | 'stored-before' | 'stored-after' | 'neighbouring-step' | 'any-row';

const texts: Readonly<Record<ListOwner, readonly [en: string, zh: string]>> = {
  'other-agent': ['list of another agent at the same (episode, t)', '同一 (episode, t) 上另一个智能体的列表'],
  'stored-before': ['list of the row stored before', '前一行的列表'],
  'stored-after': ['list of the row stored after', '后一行的列表'],
  'neighbouring-step': ['list of a neighbouring step within (episode, agent)', '同一回合和智能体内相邻步的列表'],
  'any-row': ['list of another row of the batch', '批次中另一行的列表'],
};

export class ListOf implements Transform {
  readonly id = 'list-of';

  constructor(readonly row: ListOwner) {}

  describe(language: Language): string {
    return told(language, ...texts[this.row]);
  }
}
