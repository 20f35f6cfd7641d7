/** Whether old_logp in the loss follows the current policy. A ratio of 1 is only suspicious where the policy has moved since sampling. */

import { told } from '../../../language/language.ts';
import { type Check, confidence, fewestRows, logpTolerance, type Pass } from '../../check.ts';
import { figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { gather } from '../../evidence/rows.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { NewForOld } from '../../transforms/rows/new-for-old.ts';

export const oldLogpRecomputed: Check = {
  id: 'old-logp-kept',
  group: 'replay',
  question: [
    'Does the loss keep the old log-probability while the policy moves?',
    '策略变化时，损失是否保持旧的对数概率？',
  ],
  needs: [['replays.new_logp'], ['replays.old_logp'], ['samples.old_logp']],
  causes: ['old-logp-recomputed'],
  start: () => new OldLogpPass(),
};

class OldLogpPass implements Pass {
  /** Rows of later steps whose new_logp has left the stored old_logp. */
  private moved = 0;
  private following = 0;
  /** Those of them in the first minibatch of a later pass: the ratio is 1 there where old_logp is taken anew before every pass. */
  private readonly passes = { moved: 0, following: 0 };
  private onset = Number.POSITIVE_INFINITY;
  private readonly proof = new ProofStore();
  private readonly agents = new Map<number, { moved: number; following: number }>();

  iteration(iteration: Iteration): void {
    const { samples, replays, before } = iteration;
    const used = replays?.column('old_logp');
    if (!samples || !replays || !before || !used || iteration.probed) return;
    const fresh = replays.measured('new_logp')!;
    const stored = samples.measured('old_logp')!;
    const sample = replays.column('sample')!;
    const { own: here } = iteration;
    const weight = replays.column('weight');
    const agent = samples.column('agent')!;
    const following: number[] = [];
    const [epoch, minibatch] = [replays.column('epoch')!, replays.column('minibatch')!];
    const [exact, related] = [limits.replayExact.value, limits.replayRelated.value];
    let latest = -1;
    let own = { moved: 0, following: 0 };
    let [moved, begun] = [0, 0];
    for (let i = 0; i < replays.rows; i++) {
      if (before[i] === 1 || here[i] === 0 || (weight && weight[i] === 0) || Number.isNaN(used[i])) continue;
      const gap = Math.abs(fresh[i] - stored[sample[i]]);
      if (!(gap > logpTolerance) || !Number.isFinite(gap)) continue;
      const who = agent[sample[i]];
      if (who !== latest) {
        latest = who;
        own = this.agents.get(who) ?? { moved: 0, following: 0 };
        this.agents.set(who, own);
      }
      const begins = epoch[i] > 0 && minibatch[i] === 0;
      if (begins) begun++;
      own.moved++;
      moved++;
      if (Math.abs(fresh[i] - used[i]) > Math.min(exact, related * gap)) continue;
      if (begins) this.passes.following++;
      own.following++;
      following.push(i);
    }
    this.moved += moved;
    this.passes.moved += begun;
    this.following += following.length;
    if (following.length === 0) return;
    this.onset = Math.min(this.onset, iteration.number);
    const kept = gather(stored, gather(sample, following));
    this.proof.rows(iteration.number, gather(used, following), kept, gather(fresh, following));
  }

  finish(): Outcome {
    const measured = { moved_rows: this.moved, ratio_still_1: this.following };
    const expected = { ratio_still_1: 0 };
    if (this.moved < fewestRows)
      return {
        status: 'pass',
        measured,
        expected,
        findings: [],
        note: told('the policy did not visibly move within an update', '策略在一次更新内没有明显变化'),
      };
    const affected = [...this.agents].filter(
      ([, { moved, following }]) => following >= limits.most.value * moved && following >= fewestRows,
    );
    const { passes } = this;
    const everyPass = passes.moved >= fewestRows && passes.following >= limits.nearlyAll.value * passes.moved;
    const eachStep = affected.length > 0;
    if (!eachStep && everyPass) affected.push(...this.agents);
    if (affected.length === 0) return { status: 'pass', measured, expected, findings: [] };
    const moved = affected.reduce((sum, [, own]) => sum + own.moved, 0);
    const following = affected.reduce((sum, [, own]) => sum + own.following, 0);
    const transform = new NewForOld();
    return {
      status: 'fail',
      measured,
      expected,
      findings: [
        {
          cause: 'old-logp-recomputed',
          confidence: eachStep
            ? confidence(following / moved, following)
            : confidence(passes.following / passes.moved, passes.following),
          agents: affected.map(([agent]) => agent).sort((a, b) => a - b),
          onset: this.onset,
          rows: following,
          transform,
          ...this.proof.prove('log-probability', 'old_logp in the loss', 'old_logp as stored', transform),
          summary: eachStep
            ? `The policy moved on ${moved} rows of later steps, yet on ${following} of them old_logp equals new_logp: the ratio is 1 whatever the update does.`
            : `Where a later pass over the batch begins, old_logp equals new_logp on ${passes.following} of ${passes.moved} rows whose log-probability has moved: it is taken anew before every pass, so that the clip no longer bounds the whole update.`,
          evidence: [
            { check: 'old-logp-kept', measured: { share: figure(following / moved) }, expected: { share: 0 } },
          ],
        },
      ],
    };
  }
}
