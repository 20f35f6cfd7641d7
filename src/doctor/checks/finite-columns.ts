/** The columns whose numbers must be finite, and what NaN may mean in each. */

/**
 * In the order of the flow, so that the first of an iteration is where it began. A column marked * must be known in every row, one marked ! is
 * left out by whoever does not know it, one marked ~ is often known of some rows only (there infinity alone counts), and one marked [] holds lists.
 */
export const watchedColumns = [
  'samples.obs[]',
  'samples.candidate_features[]',
  'samples.logits[]',
  'samples.temperature',
  'samples.old_logp*',
  'samples.env_reward~',
  'samples.reward',
  'samples.value',
  'samples.next_value~',
  'samples.advantage',
  'samples.return',
  'replays.logits[]',
  'replays.temperature',
  'replays.new_logp*',
  'replays.old_logp',
  'replays.advantage',
  'replays.entropy',
  'replays.value',
  'replays.return',
  'replays.weight!',
  'replays.after_logp~',
  'replays.again_logp~',
  'steps.loss!',
  'steps.policy_loss!',
  'steps.value_loss',
  'steps.entropy',
  'steps.approx_kl',
  'steps.clip_fraction',
  'steps.grad_norm!',
  'steps.policy_grad_norm~',
  'steps.value_grad_norm~',
  'steps.learning_rate~',
  'steps.valid_ratio~',
  'steps.delta_logits~',
  'steps.kl_after~',
  'steps.embed_std~',
  'steps.logits_std~',
  'tensors.grad_norm!',
  'tensors.delta!',
  'tensors.delta_norm',
  'tensors.norm!',
  'tensors.learning_rate~',
  'tensors.weight_decay~',
].map((text) => {
  const [, table, column, mark] = /^(\w+)\.(\w+)(.*)$/.exec(text)!;
  return { table: table as 'samples' | 'replays' | 'steps' | 'tensors', column, mark, name: `${table}.${column}` };
});

export type Watched = (typeof watchedColumns)[number];

/** Of tokens that the model did not sample little is known, so that there infinity alone counts. */
export const tokenColumns: readonly Watched[] = watchedColumns.map((watched) =>
  watched.table === 'samples' || (watched.table === 'replays' && watched.column !== 'new_logp')
    ? { ...watched, mark: watched.mark === '[]' ? '[]' : '~' }
    : watched,
);
