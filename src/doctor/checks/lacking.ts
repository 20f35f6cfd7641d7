/** Why a check could not be made: the columns that would serve it, of the kind of actions that the recording holds. Logits are not asked of torques, nor means of choices from a list. */
import { told } from '../../language/language.ts';
import type { Check } from '../check.ts';
import type { Run } from '../evidence/run.ts';

const ofChoices = /\.(action|num_actions|subset|legal|logits)$/;
const ofNumbers = /\.(action_values|env_action|mean|log_std|logp_parts|choices|choice_logits)$/;

export function lackingNote(run: Run, { instead }: Check, missing: readonly (readonly string[])[]): string {
  const numbers = run.seen.has('samples.action_values') || run.seen.has('replays.action_values');
  const choices = run.seen.has('samples.action');
  const other = numbers && !choices ? ofChoices : choices && !numbers ? ofNumbers : null;
  const fitting = missing.map((columns) => columns.filter((column) => !other?.test(column)));
  if (numbers && fitting.some((columns) => columns.length === 0)) {
    const kind = told(
      'asked of choices from a list, and these actions are none',
      '只问从列表中选择的动作，而这些动作不是',
    );
    return instead ? `${kind}${told('; ', '；')}${told(...instead)}` : kind;
  }
  const lacking = fitting.map((columns) => columns.join(told(' or ', ' 或 '))).join(told(' and ', '、'));
  return told(`needs ${lacking}`, `需要 ${lacking}`);
}
