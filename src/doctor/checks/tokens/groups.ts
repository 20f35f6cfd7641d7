/** Do groups carry a signal? Where all rewards of a group are equal its advantages are 0, whatever the program does. */

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

function look({ responses, steps, settings }: TokenEvidence): Looked {
  const [group, reward, iteration] = [
    responses.column('group'),
    responses.column('reward'),
    responses.column('iteration'),
  ];
  const ranges = new Map<number, { low: number; high: number; size: number; iteration: number }>();
  for (let i = 0; i < responses.rows; i++) {
    if (Number.isNaN(group[i]) || Number.isNaN(reward[i])) continue;
    const own = ranges.get(group[i]) ?? { low: reward[i], high: reward[i], size: 0, iteration: iteration[i] };
    ranges.set(group[i], own);
    own.low = Math.min(own.low, reward[i]);
    own.high = Math.max(own.high, reward[i]);
    own.size++;
  }
  const several = [...ranges.values()].filter(({ size }) => size > 1);
  const equal = several.filter(({ low, high }) => high - low < limits.sameTokenReward.value);
  const flat = equal.length;
  const dropped = droppedUnseen(steps.list, equal);
  const all = several.length + dropped;
  if (several.length < limits.fewestRows.value || settings.baseline === 'critic' || settings.baseline === 'none')
    return { rows: 0, note: told('too few groups of more than one response', '多于一个回答的组太少') };
  const share = (flat + dropped) / all;
  const measured = { groups: several.length, groups_without_spread: flat, groups_dropped: dropped };
  const summary = `${flat + dropped} of ${all} groups (${percent(share)}) carry no signal: all of their rewards are equal${dropped > 0 ? ', or they were dropped' : ''}`;
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
          onset: iteration[0],
          summary,
          measured,
        }),
      ],
    };
  return {
    rows: responses.rows,
    measured,
    remarks:
      share > limits.leftOver.value
        ? [
            {
              id: 'group-degenerate',
              summary: `${summary}.`,
              remedy:
                'Choose prompts of middling difficulty, larger groups, or a finer reward; below half it costs samples and no more.',
            },
          ]
        : [],
  };
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
