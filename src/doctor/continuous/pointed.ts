/** Where nothing accounts for continuous actions that the two passes score differently: which causes what was measured speaks for, and which columns would decide. */
import { limits } from '../limits.ts';
import type { Form, Given } from './density.ts';
import type { Scoring } from './forms.ts';

export interface Pointed {
  causes: readonly string[];
  columns: readonly string[];
}

/** `rows` are those that disagree, `first` is the first iteration that was looked at. */
export function pointed(
  rows: readonly Scoring[],
  [old, fresh]: readonly [Form | null, Form | null],
  how: Given | null,
  first: number,
): Pointed | null {
  if (rows.length < limits.fewestRows.value) return null;
  // What strikes only after an update has something to do with updates.
  const later = rows[0].iteration > first;
  if (old && fresh)
    return {
      causes: later ? ['stale-samples', 'inputs-differ'] : ['inputs-differ', 'stale-samples'],
      columns: ['samples.obs', 'replays.source_iteration', 'replays.again_logp'],
    };
  if (!rows[0].own?.sampled || !rows[0].own.updated)
    return {
      causes: later ? ['stale-samples', 'inputs-differ'] : ['inputs-differ'],
      columns: ['samples.mean', 'samples.log_std', 'replays.mean', 'replays.log_std', 'replays.action_values'],
    };
  const action = how?.how === 'same' ? [] : ['clipped-action-stored'];
  const formula = ['deviation-scale-wrong', ...action, 'dimensions-reduced-wrong', 'squash-correction-wrong'];
  const parts = ['samples.env_action', 'replays.action_values', 'samples.logp_parts', 'replays.logp_parts'];
  // The pass that its own distribution does not give is the one to look at.
  if (fresh) return { causes: ['old-logp-wrong', ...action, ...formula], columns: parts };
  return { causes: how && action.length > 0 ? [...action, ...formula] : formula, columns: parts };
}
