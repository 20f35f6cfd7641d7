/** Columns for continuous actions, for policies with a memory, and for replay buffers. All of them are optional; lists have one entry per dimension of the action. The one thing to get wrong: `action_values` is what the distribution drew, before it is squashed, clipped or scaled. */

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
    ['float[] state_in', 'the hidden state that acting entered the row with'],
    ['int state_hash', 'a number that is equal for equal states, where the state itself is too wide to keep'],
    ['float state_norm', 'L2 norm of that state'],
    ['bool starts', 'the episode starts at this row'],
    ['int sequence', 'the sequence that the row lies in, where the rollout is cut into sequences'],
  ],
  replays: [
    ['float[] action_values', "the action that this step's forward pass scored"],
    ['float[] mean', "of this step's forward pass"],
    ['float[] log_std', "of this step's forward pass"],
    ['float[] logp_parts', "per dimension, in this step's forward pass"],
    ['float[] obs', 'the vector that the update gave the policy, where it could differ from the one that acting saw'],
    ['float[] state_in', 'the hidden state that the update entered the row with'],
    ['int state_hash', 'a number that is equal for equal states, counted as in samples'],
    ['float state_norm', 'L2 norm of that state'],
    [
      'int sequence',
      'rows of one minibatch with one number went through the memory one after the other, as they lie here',
    ],
  ],
  targets: [
    ['int! iteration', 'the cycle of the optimiser step'],
    ['int! epoch', 'as in steps'],
    ['int! minibatch', 'as in steps'],
    ['int sample', 'a number of the stored step, the same whenever it is drawn'],
    ['int? policy', 'index into manifest.policies; required where there is more than one'],
    ['float[] rewards', 'of the stored steps from this one on, at least n where there are as many'],
    ['bool[] terminated', 'of the same steps: the episode ended there by the rules of the environment'],
    ['bool[] truncated', 'of the same steps: the episode was cut off there'],
    ['int n', 'steps of the target; absent = 1'],
    ['float discount', 'of one step, where it is not the declared gamma'],
    ['float bootstrap', 'value of the state after the window, as the target network gave it, before discount and mask'],
    ['float next_logp', 'log-probability of the action that the bootstrap is of, where targets are soft'],
    ['float temperature', 'what next_logp is multiplied with'],
    ['float* target', 'the number that the prediction was compared with'],
    ['float prediction', "the online network's value of the stored action"],
    ['float priority', 'of the stored step when it was drawn'],
    ['float probability', 'with which it was drawn'],
    ['float weight', "the row's weight in the loss"],
  ],
  copies: [
    ['int! iteration', 'the cycle of the optimiser step'],
    ['int! epoch', 'as in steps'],
    ['int! minibatch', 'as in steps'],
    ['text* name', 'of the tensor'],
    ['int hash', 'of its bytes: equal for equal tensors'],
    ['float gap', 'L2 distance from the tensor that it follows'],
    ['float norm', 'L2 norm'],
  ],
} as const satisfies Record<string, Columns>;
