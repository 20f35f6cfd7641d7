/** Group A: the distribution is not replayed. Before the first step new_logp must equal old_logp. */
import type { CauseEntry } from './cause.ts';

const oneGather = `logits = actor(obs)[rows, subset_ids]          # the same gather in sampling and in the update
dist = Categorical(logits=logits.masked_fill(~legal, -1e9) / temperature)`;
const localPolicy = 'localPolicy(logits, candidates, legal, temperature, out)   // the one function for both paths';

export const replayCauses: readonly CauseEntry[] = [
  {
    id: 'subset-not-replayed',
    group: 'A',
    meaning: 'The update scores another candidate list, or the same in another order, than sampling did.',
    toldApart:
      'old_logp agrees with the sampling logits; new_logp before the first step agrees only after re-ordering, sorting or taking a prefix of the list.',
    symptoms: [
      'clip fraction near 1 from the first minibatch',
      'KL far above 0.1 before any step',
      'entropy near log K that does not fall',
    ],
    proof:
      "new_logp equals the row's own distribution once the candidate list is re-ordered, sorted or cut as the update did.",
    remedy:
      'Store the candidate ids of every row in the order in which they were scored, and gather by them in the update too.',
    pytorch: oneGather,
    trueline: localPolicy,
  },
  {
    id: 'num-actions-defaulted',
    group: 'A',
    meaning: 'The update assumes a fixed number of candidates, whatever the row had.',
    toldApart:
      'The update has K candidates for one K in all rows while num_actions varies; indices beyond K are clamped or dropped.',
    symptoms: ['entropy sits at log K for one K', 'few valid samples', 'clip fraction near 1'],
    proof: 'new_logp equals the distribution over exactly K candidates in every row.',
    remedy:
      'Store num_actions (better: the whole candidate list) with every row, and let a missing one be an error and not a default.',
    pytorch: "k = exp['num_actions']                      # no .get(..., 5)\nlocal = logits[0, exp['subset_ids'][:k]]",
    trueline: localPolicy,
  },
  {
    id: 'subset-borrowed',
    group: 'A',
    meaning: "Another agent's or another row's candidate list was used.",
    toldApart: 'new_logp agrees when the list of the paired row is used.',
    symptoms: [
      'ratios far from 1 before the first step, for some agents only',
      'errors grow with how much the lists differ',
    ],
    proof:
      "The list of the update is that of another agent at the same step, of a neighbouring row, or of another row of the batch, and not the row's own.",
    remedy: 'Keep the candidate list in the row itself, and never broadcast or cache it across agents or steps.',
    pytorch: oneGather,
    trueline: 'batch.candidates stays in its row; re-order a Batch only whole',
  },
  {
    id: 'mask-not-replayed',
    group: 'A',
    meaning: 'Illegal candidates have probability in the update, or legal ones have none.',
    toldApart:
      'new_logp agrees with the unmasked distribution; the error grows with the number of illegal candidates and is 0 where all are legal.',
    symptoms: [
      'ratio below 1 for nearly every row before the first step',
      'entropy in the update above that of sampling',
    ],
    proof: 'new_logp equals the distribution without the mask, or with the mask that the update recorded.',
    remedy: 'Store the legal mask with every row and apply it to the logits in the update exactly as in sampling.',
    pytorch: oneGather,
    trueline: localPolicy,
  },
  {
    id: 'temperature-mismatch',
    group: 'A',
    meaning: 'Sampling and update divide the logits by different temperatures.',
    toldApart:
      'One scale of the logits, the same for all rows, makes new_logp and old_logp agree; named before old-logp-wrong where both fit.',
    symptoms: ['ratios leave 1 before the first step', 'clip fraction that grows as the policy becomes decided'],
    proof: 'One temperature, fitted once for all rows, removes the disagreement.',
    remedy: 'Use one temperature on both paths, and store it with the row if it changes.',
    pytorch: oneGather,
    trueline: localPolicy,
  },
  {
    id: 'old-logp-wrong',
    group: 'A',
    meaning: 'The stored old_logp is not the log-probability of that action under the sampling logits.',
    toldApart: 'old_logp disagrees with the sampling logits while the update agrees with them.',
    symptoms: [
      'the ratio is a constant or noise before any step',
      'clip fraction near 1',
      'KL of several nats at epoch 0',
    ],
    proof:
      "Recomputed from the row's own logits, mask and action, the log-probability equals new_logp and not the stored old_logp.",
    remedy:
      'Store dist.log_prob(action) of the very distribution and action that were executed, at the moment of sampling.',
    pytorch:
      'action = dist.sample()\nold_logp = dist.log_prob(action).detach()    # before any clipping or mapping of the action',
    trueline: 'learner.policy.act(rows, uniforms, 1, out)   // fills action and logp together',
  },
  {
    id: 'old-logp-recomputed',
    group: 'A',
    meaning: 'old_logp in the loss is taken from the current policy, so the ratio is always 1.',
    toldApart:
      'The ratio is 1 in every epoch and minibatch although the parameters move; one update per batch is healthy.',
    symptoms: [
      'KL and clip fraction exactly 0 for ever',
      'PPO behaves like an unclipped policy gradient, or does not learn at all',
    ],
    proof: 'new_logp leaves the stored old_logp after the first step, and the old_logp in the loss moves with it.',
    remedy: 'Compute old_logp once, when the action is sampled, and keep it for all epochs.',
    pytorch: "ratio = (new_logp - batch['old_logp'].detach()).exp()   # stored, not recomputed inside the epoch loop",
    trueline: 'rows.oldLogp comes from the batch; no stage may rewrite it',
  },
  {
    id: 'stale-samples',
    group: 'A',
    meaning: "The update uses rows of an earlier iteration's policy.",
    toldApart: 'old_logp in the update matches rows of an earlier iteration; rows repeat across iterations.',
    symptoms: [
      'ratios far from 1 before the first step of later iterations',
      'clip fraction that grows with the learning rate',
    ],
    proof: 'The rows of the update are found, number by number, among the samples of an earlier iteration.',
    remedy: 'Empty the buffer after every update, and check that every row carries the current iteration.',
    pytorch:
      "buffer.clear()                                # after every update\nassert (batch['iteration'] == iteration).all()",
    trueline: 'guard: strict',
  },
  {
    id: 'stochastic-forward',
    group: 'A',
    meaning: 'Dropout or noise is on in one of the passes.',
    toldApart:
      'The log-ratio before the first step is noise, with mean about minus half its variance, that no transform removes; a second pass gives other numbers.',
    symptoms: ['ratios scatter around 1 before any step', 'KL does not go to 0 with the learning rate'],
    proof:
      'Two forward passes with nothing changed between them differ; or no transform explains noise of the right mean.',
    remedy: 'Call eval() for both sampling and update (or keep no dropout and no noise in the policy at all).',
    pytorch:
      'actor.eval()                                  # in sampling and in the update\nassert torch.equal(actor(obs), actor(obs))',
    trueline: 'a policy has no random layer; two evaluations are equal bit for bit',
  },
];
