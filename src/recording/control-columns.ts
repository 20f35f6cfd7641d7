/** Columns for continuous actions. All of them are optional; lists have one entry per dimension of the action. The one thing to get wrong: `action_values` is what the distribution drew, before it is squashed, clipped or scaled. */

type Columns = readonly (readonly [definition: string, meaning: string])[];

export const distributions = ['gaussian', 'squashed-gaussian', 'beta', 'categorical', 'categoricals'] as const;

export const controlColumns = {
  samples: [
    [
      'float[] action_values',
      'the action as it was drawn, one number per dimension, before it is squashed, clipped or scaled',
    ],
    ['float[] env_action', 'what the environment was given'],
    ['text distribution', `what the action was drawn from: ${distributions.join(', ')}`],
    ['float[] mean', 'of the distribution that the action was drawn from, per dimension'],
    ['float[] log_std', 'logarithm of its standard deviation, per dimension'],
    ['float[] logp_parts', 'the log-probability of each dimension, before they are added up'],
  ],
  replays: [
    ['float[] action_values', "the action that this step's forward pass scored"],
    ['float[] mean', "of this step's forward pass"],
    ['float[] log_std', "of this step's forward pass"],
    ['float[] logp_parts', "per dimension, in this step's forward pass"],
  ],
} as const satisfies Record<string, Columns>;
