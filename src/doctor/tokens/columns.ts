/** Which columns of a recording the evidence of language models keeps, and what it adds of its own. */

export const taken = [
  't',
  'token',
  'position',
  'sampler_logp',
  'sampler_again_logp',
  'sampler_version',
  'old_logp',
  'reference_logp',
  'logp_plain',
  'logp_tempered',
  'kept_mass',
  'control_logp',
  'control2_logp',
  'control_plain_logp',
  'earlier_logp',
  'reward',
  'value',
  'advantage',
  'return',
] as const;
export const ofResponse = [
  'group',
  'length',
  'prompt_length',
  'turns',
  'reward',
  'graded',
  'rewarded_as',
  'advantage',
  'sampler_version',
  'trainer_version',
  'earlier_version',
  'cached_version',
  'cached_tokens',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'rank',
  'prompt',
  'padding',
  'sampler_padding',
] as const;
export const ofReplay = [
  'micro_batch',
  'pack',
  'rank',
  'new_logp',
  'old_logp',
  'advantage',
  'coef',
  'kl',
  'weight',
  'entropy',
  'again_logp',
  'kept_mass',
] as const;

const aboutTokens = [
  'iteration',
  'response',
  'source',
  'trained',
  'first_logp',
  'first_again',
  'leads_pack',
  'first_entropy',
  'first_fitted',
  'first_temperature',
] as const;
const aboutResponses = [
  'iteration',
  'episode',
  'finish',
  'row',
  'tokens',
  'trained',
  'coefs',
  'parted',
  'repeats',
  'answer',
  'answer_logp',
  'from',
  'to',
] as const;
const aboutUses = ['token', 'step', 'before', 'epoch'] as const;

export const tokenNames = [...taken, ...aboutTokens] as const;
export const responseNames = [...ofResponse, ...aboutResponses] as const;
export const useNames = [...ofReplay, ...aboutUses] as const;

export type TokenColumn = (typeof tokenNames)[number];
export type ResponseColumn = (typeof responseNames)[number];
export type ReplayColumn = (typeof useNames)[number];
