/** Where no logits were recorded, which lists the rows have that agree: a pass that takes the first global logits, or sorts every list, is right just where a list is such already. */
import { told } from '../../../language/language.ts';
import { confidence, fewestRows } from '../../check.ts';
import type { Finding } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { limits } from '../../limits.ts';
import { Scores } from '../../pairing/scoring.ts';
import { Order } from '../../transforms/replay/order.ts';
import { Prefix } from '../../transforms/replay/prefix.ts';
import type { ReplayRow, ReplayTransform } from '../../transforms/replay/replay-rows.ts';

interface Shape {
  transform: ReplayTransform;
  has: (scores: Scores, row: number) => boolean;
  /** Rows whose list has the shape, and those whose list has not. */
  in: { looked: number; wrong: number };
  out: { looked: number; wrong: number };
}

const shape = (transform: ReplayTransform, has: Shape['has']): Shape => ({
  transform,
  has,
  in: { looked: 0, wrong: 0 },
  out: { looked: 0, wrong: 0 },
});

const each = (scores: Scores, row: number, holds: (place: number) => boolean): boolean => {
  for (let i = 0; i < scores.count(row); i++) if (!holds(i)) return false;
  return true;
};

export class ByList {
  // Special before general: the first ids in order are sorted too.
  private readonly shapes = [
    shape(new Order('ascending'), (scores, row) =>
      each(scores, row, (i) => i === 0 || scores.id(row, i) > scores.id(row, i - 1)),
    ),
    shape(new Prefix('update'), (scores, row) => each(scores, row, (i) => scores.id(row, i) === i)),
  ];
  private onset = Number.POSITIVE_INFINITY;
  private readonly agents = new Set<number>();

  see({ samples, replays, number }: Iteration, looked: readonly number[], wrong: readonly ReplayRow[]): void {
    const scores = new Scores(samples!);
    if (!scores.subset || scores.logits || replays!.list('logits')) return;
    const agent = samples!.column('agent')!;
    const struck = new Set(wrong.map(({ sample }) => sample));
    for (const row of looked)
      for (const one of this.shapes) {
        const into = one.has(scores, row) ? one.in : one.out;
        into.looked++;
        if (struck.has(row)) into.wrong++;
      }
    for (const row of struck) this.agents.add(agent[row]);
    if (struck.size > 0) this.onset = Math.min(this.onset, number);
  }

  finding(evidence: Finding['evidence']): Finding | null {
    const found = this.shapes.find(
      (one) =>
        one.in.looked >= fewestRows &&
        one.in.wrong <= limits.noticedShare.value * one.in.looked &&
        one.out.wrong >= Math.max(fewestRows, limits.nearlyAll.value * one.out.looked),
    );
    if (!found) return null;
    const [right, wrong] = [found.in.looked, found.out];
    return {
      cause: 'subset-not-replayed',
      confidence: Math.min(limits.circumstantial.value, confidence(1, right)),
      agents: [...this.agents].sort((a, b) => a - b),
      onset: this.onset,
      rows: wrong.wrong,
      transform: found.transform,
      told: true,
      summary: told(
        `Before the first step the ${right} rows whose candidate list is the same under ${found.transform.describe()} agree, and ${wrong.wrong} of the ${wrong.looked} others do not: one of the two passes does not follow the list.`,
        `第一步之前，候选列表经“${found.transform.describe()}”不变的 ${right} 行都一致，其余 ${wrong.looked} 行中有 ${wrong.wrong} 行不一致：两次前向中有一次没有按列表取值。`,
      ),
      evidence,
    };
  }
}
