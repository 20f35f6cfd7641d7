/** The one table of tables and columns. The reader, the writer, `inspect`, `validate` and docs/recording.md are made from it; a column that is not here is kept, and reported as unknown. */

import { controlColumns } from './tables/control-columns.ts';
import { plannerSamples } from './tables/planner-columns.ts';
import { tokenColumns } from './tables/token-columns.ts';

export type Kind = 'int' | 'float' | 'bool' | 'text';

export interface ColumnSpec {
  readonly name: string;
  readonly kind: Kind;
  readonly ragged: boolean;
  readonly required: boolean;
  /** Where a chunk has this column, the required one may be missing. */
  readonly unless?: string;
  /** A key says which row this is: it may not be negative or unknown. */
  readonly key: boolean;
  readonly meaning: string;
}

export interface TableSpec {
  readonly name: string;
  readonly row: string;
  readonly columns: readonly ColumnSpec[];
}

/** `int! iteration` is a required key, `int? policy` an optional key, `float* new_logp` required, `float* old_logp unless token` required where there is no token, `int[] subset` ragged. */
function table(
  name: string,
  row: string,
  columns: readonly (readonly [definition: string, meaning: string])[],
): TableSpec {
  return {
    name,
    row,
    columns: columns.map(([definition, meaning]) => {
      const match = /^(int|float|bool|text)(\[\])?([!?*])? (\w+)(?: unless (\w+))?$/.exec(definition);
      if (!match) throw new Error(`column definition not understood: ${definition}`);
      const [, kind, ragged, mark, column, unless] = match;
      return {
        name: column,
        kind: kind as Kind,
        ragged: ragged !== undefined,
        required: mark === '!' || mark === '*',
        ...(unless ? { unless } : {}),
        key: mark === '!' || mark === '?',
        meaning,
      };
    }),
  };
}

export const tables: readonly TableSpec[] = [
  table('samples', 'one decision: one agent, one step', [
    ['int! iteration', 'the collect-then-update cycle that collected the row, from 0'],
    ['int! episode', 'unique within the recording'],
    ['int! t', 'step within the episode, from 0, rising within (episode, agent); gaps are allowed'],
    ['int! agent', 'index into manifest.agents'],
    [
      'float* old_logp unless token',
      'log-probability stored when the action was sampled; of a token, the denominator of the ratio as the trainer holds it, and unknown where it holds none',
    ],
    [
      'int action',
      "index into this row's own candidate list, 0 to num_actions - 1; -1 where no valid action was found",
    ],
    ['int num_actions', "K, the length of this row's candidate list"],
    ['int[] subset', 'global action ids of the candidates, in the order in which they were scored'],
    ['bool[] legal', 'which candidates were legal; absent = all'],
    ['float[] logits', 'the K local logits that the action was sampled from, before temperature and mask'],
    ['float temperature', 'what the logits were divided by when sampling; absent = 1 as declared, not as known'],
    ['float[] obs', 'the very vector that the policy saw'],
    [
      'float[] candidate_features',
      'K x F values, candidate by candidate, where a policy scores candidates by features',
    ],
    ['float reward', 'the reward that the trainer stores for this action'],
    ['float env_reward', 'what the environment itself paid after this action, where known apart'],
    ['bool terminated', 'the episode ended here by the rules of the environment'],
    ['bool truncated', 'the episode was cut off here, by a time limit for example'],
    ['float value', "the critic's estimate when the action was sampled, in units of the rewards"],
    [
      'float next_value',
      "the critic's estimate of the state that followed; needed at a truncation and at a rollout's last row",
    ],
    ['float advantage', 'as the trainer computed it for this row, before any normalisation'],
    ['float return', 'as the trainer computed it for this row, before any normalisation'],
    ['int group', 'a label of the row where the trainer treats rows by kind'],
    ['int env', 'which of the parallel environments'],
    ['int seat', 'the physical place in the game, where names are dealt to seats'],
    ['bool imagined', 'the row comes from a model, not from the game'],
    ...controlColumns.samples,
    ...plannerSamples,
    ...tokenColumns.samples,
  ]),
  table('responses', 'one response of a language model', [...tokenColumns.responses]),
  table('replays', "one sample's use in one optimiser step", [
    ['int! iteration', 'the cycle of the optimiser step'],
    ['int! epoch', 'pass over the batch, from 0'],
    ['int! minibatch', 'within the epoch, from 0'],
    ['int! sample', "row index within the iteration's samples, in storage order, from 0"],
    ['int? source_iteration', 'the iteration whose samples `sample` counts in, where it is not this one'],
    ['int? policy', 'index into manifest.policies; required where there is more than one'],
    ['float* new_logp', "log-probability of the row's action in this step's forward pass, before the step"],
    ['float old_logp', 'the value that really entered the loss beside this new_logp'],
    ['float advantage', 'the value that really entered the loss, after normalisation'],
    ['float entropy', "the row's entropy in this step's forward pass"],
    ['float value', "the critic's estimate in this step's forward pass"],
    ['float return', 'the value target that really entered the loss'],
    ['float weight', "the row's weight in the loss, 0 = masked out; absent = 1"],
    ['float[] logits', "the local logits of this step's forward pass, before temperature and mask"],
    ['int[] subset', "the candidate list of this step's forward pass"],
    ['bool[] legal', "the mask of this step's forward pass"],
    ['float temperature', "what the logits were divided by in this step's forward pass"],
    ['float after_logp', 'the same log-probability after the step'],
    ['float again_logp', 'the same log-probability from a second forward pass with nothing changed between'],
    ...controlColumns.replays,
    ...tokenColumns.replays,
  ]),
  table('targets', "one stored step's use in one optimiser step, where there is a replay buffer", [
    ...controlColumns.targets,
  ]),
  table('copies', 'one tensor of a target network before one optimiser step', [...controlColumns.copies]),
  table('steps', 'one optimiser step of one policy', [
    ['int! iteration', 'the cycle of the step'],
    ['int! epoch', 'pass over the batch, from 0'],
    ['int! minibatch', 'within the epoch, from 0'],
    ['int? policy', 'index into manifest.policies; required where there is more than one'],
    ['float loss', 'the whole loss, as reported by the trainer'],
    ['float policy_loss', 'as reported by the trainer'],
    ['float value_loss', 'as reported by the trainer'],
    ['float entropy', 'as reported by the trainer'],
    ['float approx_kl', 'as reported by the trainer'],
    ['float clip_fraction', 'as reported by the trainer'],
    ['float clip', 'the clip range of the step, where it follows a schedule'],
    [
      'float push',
      "derivative of the actor's loss by the values of its own actions, added up, where an actor follows critics; -1 where it raises their mean",
    ],
    ['float grad_norm', 'of all parameters together, before clipping'],
    ['float policy_grad_norm', 'of the policy term alone, where measured'],
    ['float value_grad_norm', 'of the value term alone, where measured'],
    ['float learning_rate', 'of the step'],
    ['float valid_ratio', 'share of rows whose replayed log-probability agreed with the stored one'],
    ['bool skipped', 'this minibatch was not used'],
    ['bool stopped', 'the epoch loop ended here'],
    ['float delta_logits', "root mean square change of the same minibatch's logits across the step"],
    ['float kl_after', 'mean of half the squared log-ratio on the same minibatch, after the step'],
    ['float embed_std', "spread of the policy's input as the first layer sees it"],
    ['float logits_std', 'spread of the logits within a row, averaged over rows'],
    ['text probe', 'name of a deliberate diagnostic change in force'],
    ...tokenColumns.steps,
  ]),
  table('tensors', 'one parameter tensor in one optimiser step', [
    ['int! iteration', 'the cycle of the step'],
    ['int! epoch', 'pass over the batch, from 0'],
    ['int! minibatch', 'within the epoch, from 0'],
    ['int! tensor', 'index into manifest.tensors'],
    ['float grad_norm', 'as the optimiser saw it, after clipping'],
    ['int grad_nonzero', 'how many entries of the gradient are not 0'],
    ['float delta', 'sum of the absolute change across the step'],
    ['float delta_norm', 'L2 norm of the change across the step'],
    ['float norm', 'L2 norm of the tensor'],
    ['float learning_rate', 'of the optimiser group that holds the tensor'],
    ['float weight_decay', 'of the optimiser group that holds the tensor'],
    ['int bound', 'how many optimiser groups hold the tensor'],
  ]),
  table('episodes', "one agent's result in one episode", [
    ['int! episode', 'as in samples'],
    ['int! agent', 'index into manifest.agents'],
    ['float* return', 'sum of the rewards, undiscounted'],
    ['int length', 'decisions of this agent'],
    ['int iteration', 'the cycle in which the episode ended'],
    ['int seat', 'the physical place in the game'],
    ['int seed', 'the seed of the episode, where it has its own'],
  ]),
  table('counters', 'one named count for one agent at one iteration', [
    ['int! iteration', 'the cycle at whose end the count was taken'],
    ['int! agent', 'index into manifest.agents'],
    ['text* name', 'updates.policy, buffer.real, push.<buffer>, early_return.<where>, subgoal.length, order ...'],
    ['float* value', 'the count'],
  ]),
  table('scalars', 'one named number at one time, from a log or a module', [
    ['text* name', 'as the log calls it'],
    ['float* value', 'the number'],
    ['int iteration', 'the cycle, where known'],
    ['float step', "the log's own step, where it has one"],
    ['float time', 'seconds since 1970, where known'],
    ['int policy', 'index into manifest.policies, where it is about one'],
    ['int agent', 'index into manifest.agents, where it is about one'],
  ]),
];

const byName = new Map(tables.map((spec) => [spec.name, spec]));
const columnsByName = new Map(
  tables.flatMap((spec) => spec.columns.map((column) => [`${spec.name}.${column.name}`, column] as const)),
);

export function tableSpec(name: string): TableSpec | undefined {
  return byName.get(name);
}

export function columnSpec(table: string, column: string): ColumnSpec | undefined {
  return columnsByName.get(`${table}.${column}`);
}
