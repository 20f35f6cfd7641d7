/** Columns for language models, where a decision is a token and an episode is a response. All of them are optional; unknown is NaN, or empty text. */

type Columns = readonly (readonly [definition: string, meaning: string])[];

export const sources = ['sampled', 'environment', 'template', 'prompt', 'padding'] as const;
export const finishes = ['stop', 'length', 'other'] as const;

export const tokenColumns = {
  samples: [
    ['int token', 'id of the token that was trained on'],
    ['text source', `where the token comes from: ${sources.join(', ')}`],
    ['bool trained', 'the loss mask'],
    ['int position', 'position id of the token itself, as the trainer used it'],
    ['float sampler_logp', 'as the sampler reported it'],
    ['float sampler_again_logp', 'the same ids scored once more by the sampler'],
    ['int sampler_version', 'the weights that made this token, where they change within a response'],
    [
      'float reference_logp',
      'under the reference policy, at the configured temperature, over the same support as new_logp',
    ],
    [
      'float logp_plain',
      "the trainer's own at temperature 1, full support, on its usual batch path, with the weights before the iteration's first step",
    ],
    ['float logp_tempered', 'likewise, at the configured temperature'],
    ['float kept_mass', 'probability that top-p, top-k and min-p kept at this place'],
    ['text kept_by', "whose distribution kept_mass is of: sampler, trainer; the sampler's own is better"],
    [
      'float control_logp',
      'a clean pass of the trainer: same weights as logp_tempered, configured temperature, full support, unpadded, unpacked, positions from 0, evaluation mode',
    ],
    ['float control2_logp', 'a second clean pass in another batch shape'],
    ['float control_plain_logp', 'control_logp at temperature 1, where that is not the configured one'],
    ['float earlier_logp', 'as control_logp, with the weights of responses.earlier_version'],
  ],
  responses: [
    ['int! iteration', 'the cycle that trained on the response'],
    ['int! episode', 'as in samples'],
    ['int group', 'one prompt instance; unique in the recording'],
    ['int length', 'trained tokens'],
    ['int prompt_length', 'tokens of the prompt: the response starts at this t'],
    ['int turns', "the model's turns in it"],
    ['text finish', `how it ended: ${finishes.join(', ')}`],
    ['float reward', 'what enters the advantage'],
    ['float graded', "what the grader gave, by the grader's own key"],
    ['int rewarded_as', "row within the iteration's responses that the reward was computed for"],
    ['float advantage', 'after baseline and scale, where there is one per response'],
    ['int sampler_version', 'publication of weights, from 0, that made the last token'],
    ['int trainer_version', 'the one that first trained on it'],
    ['int earlier_version', 'the one of earlier_logp'],
    ['int cached_version', 'the one of the cache entry that was reused'],
    ['int cached_tokens', 'tokens that came from the cache'],
    ['float temperature', 'of sampling'],
    ['float top_p', 'of sampling'],
    ['int top_k', 'of sampling'],
    ['float min_p', 'of sampling'],
    ['int rank', 'the process that trained on it'],
    ['int prompt', "identity of the prompt's text"],
    ['int padding', "padding tokens in the trainer's row"],
    ['int sampler_padding', "padding tokens in the sampler's row"],
    ['int[] sampled', 'ids as sampled, where they could differ from the trained ones'],
    ['float[] sampled_logp', 'their log-probabilities'],
  ],
  replays: [
    [
      'float coef',
      "derivative, by this row's new_logp, of what the optimiser minimises in this step, before clipping; with steps.grad_scale, the raw value of the hook",
    ],
    ['int micro_batch', 'slice of the step'],
    ['int pack', 'the packed sequence that the row lay in'],
    ['int rank', 'the process'],
    ['float kl', "the row's KL estimate, before coefficient and normaliser"],
    ['float logp_plain', 'at temperature 1, as taken inside the update'],
    ['float logp_tempered', 'at the configured temperature, as taken inside the update'],
    ['float kept_mass', 'as taken inside the update'],
    [
      'float fitted_logp',
      'at `temperature`, where the recorder found by itself which temperature gives new_logp: neither 1 nor the configured one',
    ],
  ],
  steps: [
    ['int tokens', 'trained tokens of the step, over all ranks and rows, recorded or not'],
    ['int sequences', 'responses of the step, over all ranks and rows, recorded or not'],
    ['float grad_scale', 'what replays.coef is still to be multiplied with'],
    ['int groups_dropped', 'groups left out of the step, over all ranks'],
  ],
} as const satisfies Record<string, Columns>;
