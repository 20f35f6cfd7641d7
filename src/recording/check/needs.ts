/** Which questions a recording can answer: for each, the columns that it needs. `inspect` tells from this what is missing before anybody asks. */

export interface Need {
  readonly question: string;
  /** Every group must be met; within a group any one of the columns (or a policy snapshot) will do. */
  readonly needs: readonly (readonly string[])[];
}

export const snapshots = 'policies/*.onnx';

export const needs: readonly Need[] = [
  {
    question: 'Is the sampled log-probability that of the action and its candidates?',
    needs: [['samples.action'], ['samples.logits', snapshots]],
  },
  {
    question: 'Does the update replay the distribution that was sampled from?',
    needs: [['replays.new_logp'], ['samples.old_logp']],
  },
  {
    question: 'Which candidate list, mask or temperature did the update use?',
    needs: [['replays.new_logp'], ['samples.action'], ['samples.logits', 'replays.logits', snapshots]],
  },
  {
    question: 'Is the credit right (rewards, values, ends)?',
    needs: [['samples.reward'], ['samples.value'], ['samples.terminated'], ['samples.advantage', 'replays.advantage']],
  },
  {
    question: "Is the credit the sample's own?",
    needs: [['replays.advantage'], ['samples.advantage', 'samples.reward']],
  },
  { question: 'Is the target of the critic right?', needs: [['samples.value'], ['samples.return', 'replays.return']] },
  { question: 'Does the critic see the right row?', needs: [['replays.value'], ['samples.value']] },
  { question: "Is a policy trained on its own agent's rows?", needs: [['replays.policy'], ['samples.agent']] },
  { question: 'Does the gradient reach and move the policy?', needs: [['tensors.grad_norm'], ['tensors.delta']] },
  { question: 'Does every parameter have exactly one optimiser?', needs: [['tensors.bound']] },
  {
    question: 'Is the loss what its rows give?',
    needs: [['steps.policy_loss'], ['replays.new_logp'], ['replays.advantage']],
  },
  {
    question: 'Are KL, clip fraction and entropy reported as they are?',
    needs: [['steps.approx_kl', 'steps.clip_fraction', 'steps.entropy'], ['replays.new_logp']],
  },
  { question: 'Can the network express a policy?', needs: [['steps.logits_std', 'samples.logits', 'replays.logits']] },
  { question: 'Do equal agents come out equal?', needs: [['episodes.return']] },
  { question: 'Are agents updated and fed equally?', needs: [['counters.value']] },
];
