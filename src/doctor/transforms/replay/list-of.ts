/** The candidate list of another row. */

import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRows, ReplayTransform } from './replay-rows.ts';
import { listUnknown, sharesLogits } from './shared-logits.ts';

export type ListOwner = 'other-agent' | 'stored-before' | 'stored-after' | 'neighbouring-step' | 'any-row';

const texts: Readonly<Record<ListOwner, readonly [en: string, zh: string]>> = {
  'other-agent': ['list of another agent at the same (episode, t)', '同一 (episode, t) 上另一个智能体的列表'],
  'stored-before': ['list of the row stored before', '前一行的列表'],
  'stored-after': ['list of the row stored after', '后一行的列表'],
  'neighbouring-step': ['list of a neighbouring step within (episode, agent)', '同一回合和智能体内相邻步的列表'],
  'any-row': ['list of another row of the batch', '批次中另一行的列表'],
};

export class ListOf implements ReplayTransform {
  readonly id = 'list-of';

  constructor(readonly row: ListOwner) {}

  match(rows: ReplayRows): Match {
    const { sampled, replayed, row, hasLists, sameList } = rows;
    if (hasLists ? sameList : !listUnknown(rows)) return 0;
    if (this.row === 'any-row') {
      const found = hasLists ? rows.rowWithList : undefined;
      return found !== undefined && found !== row.sample ? 2 : 0;
    }
    const fits = (other: number) =>
      hasLists
        ? cutTo(rows, other)
        : sampled.count(other) === replayed.count(row.replay) &&
          sharesLogits(rows, (candidate) => sampled.id(other, candidate));
    return this.candidates(rows).some(fits) ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    return rows.recordedScore;
  }

  private candidates({ iteration, row: { sample } }: ReplayRows): number[] {
    const { chains } = iteration;
    if (this.row === 'other-agent') return iteration.others(sample);
    if (this.row === 'stored-before') return sample > 0 ? [sample - 1] : [];
    if (this.row === 'stored-after') return sample + 1 < iteration.samples!.rows ? [sample + 1] : [];
    const found: number[] = [];
    for (const link of chains ? [chains.next, chains.previous] : [])
      for (let row = link[sample], steps = 0; row >= 0 && steps < budgets.listReach; row = link[row], steps++)
        found.push(row);
    return found;
  }

  describe(): string {
    return told(...texts[this.row]);
  }
}

/** Whether the update's list is that of another row, be it cut or filled to the own length; a single candidate is no list. */
function cutTo({ sampled, replayed, row }: ReplayRows, other: number): boolean {
  const [count, theirs] = [replayed.count(row.replay), sampled.count(other)];
  const shared = Math.min(count, theirs);
  if (count !== theirs && (shared < 2 || count !== sampled.count(row.sample))) return false;
  for (let i = 0; i < shared; i++) if (replayed.id(row.replay, i) !== sampled.id(other, i)) return false;
  return true;
}
