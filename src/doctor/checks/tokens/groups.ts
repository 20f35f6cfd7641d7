/**
 * Do groups carry a signal? Where all rewards of a group are equal its advantages are 0, whatever the program does. A group in which every answer has the best
 * reward is what success looks like: it costs samples, is said in a remark, and accuses nobody.
 */

import { told } from '../../../language/language.ts';
import { percent } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import type { TokenEvidence } from '../../tokens/evidence.ts';
import type { Step } from '../../tokens/steps.ts';
import { type Looked, tokenCheck, tokenFinding } from '../../tokens/token-check.ts';

const check = 'token-groups';

export const groups = tokenCheck({
  id: check,
  group: 'credit',
  question: ['Do groups of responses differ in their rewards?', '各组回答的奖励是否有差别？'],
  needs: [['responses.reward'], ['responses.group']],
  causes: ['group-degenerate'],
  look,
});

/** Of the members whose tokens are known: how many, whether they are one answer, and the log-probability of each by the model itself. */
interface Members {
  known: number;
  same: boolean;
  chances: number[];
}

interface Group extends Members {
  iteration: number;
  low: number;
  high: number;
  size: number;
  answer: number;
}

/** Baselines that take nothing from the group: there equal rewards of a group still differ from the baseline. */
const elsewhere: readonly unknown[] = ['critic', 'none', 'batch-mean'];

function look({ responses, steps, settings }: TokenEvidence): Looked {
  const found = groupsOf(responses);
  const several = found.filter(({ size }) => size > 1);
  if (several.length < limits.fewestRows.value || elsewhere.includes(settings.baseline))
    return { rows: 0, note: told('too few groups of more than one response', '多于一个回答的组太少') };
  const equal = several.filter(({ low, high }) => high - low < limits.sameTokenReward.value);
  const dropped = droppedUnseen(steps.list, equal);
  const all = several.length + dropped;
  const solved = solvedOf(responses.column('reward'), several, equal);
  const flat = equal.length + dropped;
  const blamed = flat - solved;
  const measured = {
    groups: several.length,
    groups_without_spread: equal.length,
    groups_dropped: dropped,
    groups_solved: solved,
  };
  const summary = `${flat} of ${all} groups (${percent(flat / all)}) carry no signal: all of their rewards are equal${dropped > 0 ? ', or they were dropped' : ''}${solved > 0 ? `; in ${solved} of them every answer has the best reward that there is` : ''}`;
  const share = blamed / all;
  const error = Math.sqrt((share * (1 - share)) / all);
  if (share - limits.flatSigmas.value * error > limits.flatGroups.value)
    return {
      rows: responses.rows,
      measured,
      findings: [
        tokenFinding({
          cause: 'group-degenerate',
          check,
          rows: Math.round(share * responses.rows),
          share: 1,
          onset: responses.at('iteration', 0),
          summary,
          measured,
        }),
      ],
    };
  return {
    rows: responses.rows,
    measured,
    remarks:
      flat / all > limits.leftOver.value
        ? [
            {
              id: 'group-degenerate',
              summary: `${summary}.`,
              remedy:
                'It costs samples and no more. Prompts of middling difficulty, larger groups or a finer reward leave fewer of them.',
            },
          ]
        : [],
  };
}

function groupsOf(responses: TokenEvidence['responses']): Group[] {
  const [group, reward, iteration, answer, logp] = (
    ['group', 'reward', 'iteration', 'answer', 'answer_logp'] as const
  ).map((name) => responses.column(name));
  const found = new Map<number, Group>();
  for (let i = 0; i < responses.rows; i++) {
    if (Number.isNaN(group[i]) || Number.isNaN(reward[i])) continue;
    let own = found.get(group[i]);
    if (!own) {
      own = {
        iteration: iteration[i],
        low: reward[i],
        high: reward[i],
        size: 0,
        known: 0,
        answer: Number.NaN,
        same: true,
        chances: [],
      };
      found.set(group[i], own);
    }
    own.low = Math.min(own.low, reward[i]);
    own.high = Math.max(own.high, reward[i]);
    own.size++;
    if (Number.isNaN(answer[i]) || Number.isNaN(logp[i])) continue;
    if (own.known++ === 0) own.answer = answer[i];
    own.same &&= answer[i] === own.answer;
    own.chances.push(logp[i]);
  }
  return [...found.values()];
}

/**
 * In how many groups every answer has the best reward of the recording. That is success where other answers were given less; where none was, the grader may tell
 * nothing apart, and only groups count in which there is nothing to tell: one answer that the model is sure of, and a reward above 0.
 */
function solvedOf(reward: Float64Array, several: readonly Group[], equal: readonly Group[]): number {
  let best = Number.NEGATIVE_INFINITY;
  for (const value of reward) if (value > best) best = value;
  const less = best - limits.sameTokenReward.value;
  const below = reward.reduce((count, value) => count + (value < less ? 1 : 0), 0);
  const top = equal.filter(({ low }) => low >= less);
  if (below >= limits.fewestRows.value) return top.length;
  return best > 0 ? sureOf(several, top) : 0;
}

/**
 * How many of these groups are one answer because the model is sure of it. An answer with probability p is repeated by all k others with p^k, whose mean over a
 * group's members estimates without bias how likely such a group is; more of them than chance allows are repeated for another reason, such as one seed for all.
 */
export function sureOf(several: readonly Members[], equal: readonly Members[]): number {
  const alike = (group: Members) => group.known > 1 && group.same;
  let [expected, spread, seen] = [0, 0, 0];
  for (const group of several) {
    if (group.known < 2) continue;
    const chance = Math.min(
      1,
      group.chances.reduce((sum, logp) => sum + Math.exp((group.known - 1) * logp), 0) / group.known,
    );
    expected += chance;
    spread += chance * (1 - chance);
    if (alike(group)) seen++;
  }
  const most = expected + limits.sigmas.value * Math.sqrt(spread);
  return Math.min(equal.filter(alike).length, seen <= most ? seen : Math.floor(expected));
}

/** Groups that were left out and have no responses here: every step of an iteration tells of the same ones, and those that were recorded are seen to be equal. */
function droppedUnseen(steps: readonly Step[], equal: readonly { iteration: number }[]): number {
  const most = new Map<number, number>();
  for (const { iteration, dropped } of steps)
    if (dropped > 0) most.set(iteration, Math.max(dropped, most.get(iteration) ?? 0));
  let unseen = 0;
  for (const [number, dropped] of most)
    unseen += Math.max(0, dropped - equal.filter(({ iteration }) => iteration === number).length);
  return unseen;
}
