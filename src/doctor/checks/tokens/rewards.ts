/** Do rewards belong to their responses, are cut answers treated as declared, and is the KL in the rewards the declared one? Only with a witness: the grader's own key, the row that a reward was computed for, or the episode's return. */

import { type Finding, figure } from '../../diagnosis.ts';
import { listOf } from '../../evidence/keys.ts';
import { limits } from '../../limits.ts';
import { finish } from '../../tokens/codes.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import { declaredPenalty, klInRewards } from '../../tokens/reward-kl.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';
import { BaselineOver } from '../../transforms/tokens/baseline-over.ts';
import { LossTerm } from '../../transforms/tokens/loss-term.ts';

const check = 'token-rewards';

export const tokenRewards = tokenCheck({
  id: check,
  group: 'credit',
  question: ['Do rewards belong to their responses?', '奖励属于各自的回答吗？'],
  needs: [['responses.reward'], ['responses.graded', 'responses.rewarded_as']],
  causes: ['reward-misordered', 'truncated-response-rewarded', 'kl-term-wrong'],
  look,
});

function look(evidence: TokenEvidence): Looked {
  const { responses, settings } = evidence;
  const [reward, graded, as, own, ended, iteration] = (
    ['reward', 'graded', 'rewarded_as', 'row', 'finish', 'iteration'] as const
  ).map((name) => responses.column(name));
  const rows: number[] = [];
  for (let i = 0; i < responses.rows; i++)
    if (!Number.isNaN(reward[i]) && (!Number.isNaN(graded[i]) || !Number.isNaN(as[i]))) rows.push(i);
  if (rows.length === 0) return { rows: 0 };
  const findings: Finding[] = [];
  const moved = rows.filter((i) => !Number.isNaN(as[i]) && as[i] !== own[i]);
  const expected = (i: number) => (ended[i] === finish.length && settings.truncated === 'zero' ? 0 : graded[i]);
  const penalty = declaredPenalty(evidence);
  const off = (i: number) => {
    if (Number.isNaN(graded[i])) return false;
    const [gap, taken] = [expected(i) - reward[i], penalty(i)];
    const near = (size: number, more: number) =>
      Math.abs(size) <= limits.sameTokenReward.value * (1 + Math.abs(graded[i])) + more;
    return !near(gap, 0) && !(near(gap - taken, limits.sameKl.value * Math.abs(taken)) && taken !== 0);
  };
  const wrong = rows.filter(off);
  const measured = { responses: rows.length, other_rewards: wrong.length, computed_for_another: moved.length };
  const base = { check, measured };
  if (moved.length > limits.noticedShare.value * rows.length && moved.length >= 2)
    findings.push(
      tokenFinding({
        ...base,
        cause: 'reward-misordered',
        rows: moved.length,
        share: 1,
        onset: iteration[moved[0]],
        transform: new BaselineOver('graded'),
        summary: `${moved.length} of ${rows.length} rewards were computed for another response`,
      }),
    );
  if (wrong.length < Math.max(2, limits.noticedShare.value * rows.length))
    return { rows: rows.length, measured, findings };
  const onset = iteration[wrong[0]];
  const cut = wrong.filter((i) => ended[i] === finish.length);
  if (findings.length === 0 && cut.length === wrong.length) {
    const how =
      settings.truncated === 'zero'
        ? 'keep their reward, although the settings set it to 0'
        : 'lose their reward, although the settings leave it as it is';
    findings.push(
      tokenFinding({
        ...base,
        cause: 'truncated-response-rewarded',
        rows: cut.length,
        share: 1,
        onset,
        transform: new BaselineOver(settings.truncated === 'zero' ? 'zeroed' : 'untruncated'),
        summary: `${cut.length} answers cut by the length limit ${how}`,
      }),
    );
  } else if (findings.length === 0) {
    const kl = klInRewards(evidence, rows, expected);
    if (kl) {
      if (!kl.declared)
        findings.push(
          tokenFinding({
            ...base,
            cause: 'kl-term-wrong',
            rows: rows.length,
            share: 1,
            onset,
            transform: new LossTerm('kl', 'a KL penalty in the rewards with coefficient', kl.coefficient),
            summary: `Rewards are the graded ones minus ${figure(kl.coefficient)} times the KL, where ${figure(kl.meant)} is declared`,
          }),
        );
    } else if (permuted(wrong, reward, expected, iteration))
      findings.push(
        tokenFinding({
          ...base,
          cause: 'reward-misordered',
          rows: wrong.length,
          share: 1,
          onset,
          transform: new BaselineOver('graded'),
          summary: `${wrong.length} of ${rows.length} rewards are not what the grader gave for that response; together they are the same rewards, in another order`,
        }),
      );
  }
  return {
    rows: rows.length,
    measured,
    findings,
    ...(findings.length === 0 && !klInRewards(evidence, rows, expected)?.declared
      ? { open: { rows: wrong.length, onset } }
      : {}),
  };
}

/** Whether the rewards that are not the graded ones are theirs in another order, in every iteration. */
function permuted(
  rows: readonly number[],
  reward: Float64Array,
  expected: (i: number) => number,
  iteration: Float64Array,
): boolean {
  const lists = new Map<number, number[]>();
  for (const i of rows) listOf(lists, iteration[i]).push(i);
  let [same, all] = [0, 0];
  for (const list of lists.values()) {
    const [a, b] = [list.map((i) => reward[i]).sort((x, y) => x - y), list.map(expected).sort((x, y) => x - y)];
    for (let i = 0; i < a.length; i++)
      if (Math.abs(a[i] - b[i]) <= limits.sameTokenReward.value * (1 + Math.abs(a[i]))) same++;
    all += a.length;
  }
  return same >= limits.formulaExact.value * all;
}
