/** Group B: the credit is not the sample's own. */
import type { CauseEntry } from './cause.ts';

const onePermutation = `perm = torch.randperm(n)                       # one permutation for every column
batch = {name: column[perm] for name, column in batch.items()}`;
const wholeBatch = 'a Batch is re-ordered and sliced only whole; no column has an order of its own';
const gae = `mask = 1 - terminated[t]                        # a truncation is not a termination
delta = reward[t] + gamma * next_value[t] * mask - value[t]
last = delta + gamma * lam * (1 - ended[t]) * last`;
const assign = 'assignCredit(batch, gamma, lambda)   // rows sorted by (episode, t, agent)';
const identity =
  'The advantages that the loss used are recomputed from rewards, values and ends, and agree only after the transform named.';

export const creditCauses: readonly CauseEntry[] = [
  {
    id: 'advantage-shuffled',
    group: 'B',
    meaning: 'Advantages follow another permutation than the log-probabilities.',
    toldApart:
      'The used advantages are all drawn from the recomputed ones, the pairing does not agree, and no lag or swap restores it.',
    symptoms: ['the policy hardly improves though everything moves', 'KL and gradients look normal'],
    proof: 'Sorted, both columns are the same; row by row they are not.',
    remedy: 'Draw one permutation per epoch and index every column with it.',
    pytorch: onePermutation,
    trueline: wholeBatch,
  },
  {
    id: 'advantage-time-shifted',
    group: 'B',
    meaning: 'Each row uses the advantage of a row some steps before or after.',
    toldApart: 'Agreement at one lag within (episode, agent), or within the (env, agent) stream.',
    symptoms: ['slow or no learning where credit changes quickly from step to step'],
    proof: identity,
    remedy: 'Align advantages and actions on the same t, and keep (episode, t, agent) in the buffer to check it.',
    pytorch: 'batch.sort(key=lambda row: (row.episode, row.t, row.agent))   # then compute advantages in place',
    trueline: assign,
  },
  {
    id: 'advantage-agent-swapped',
    group: 'B',
    meaning: "Each agent uses another agent's advantage.",
    toldApart: 'Agreement at the same (episode, t) with another agent.',
    symptoms: ['one agent learns what is good for the other', 'agents that should be alike drift apart'],
    proof: identity,
    remedy: 'Index advantages by agent as well as by step, and check (episode, t, agent) before the update.',
    pytorch: 'advantage = advantages[:, agent]               # (T, agents), the same axis as log_probs',
    trueline: wholeBatch,
  },
  {
    id: 'advantage-sign-flipped',
    group: 'B',
    meaning: 'The loss pushes against the advantage.',
    toldApart:
      'Log-ratio and the advantages that the loss used correlate negatively, or the reported loss is minus the recomputed one.',
    symptoms: ['returns fall steadily', 'the policy becomes certain of bad actions'],
    proof: 'The sign alone makes loss or advantages agree; probability flows away from rows with a positive advantage.',
    remedy: 'Minimise minus the surrogate: the loss is -min(ratio * advantage, clipped * advantage).',
    pytorch: 'loss = -torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv).mean()',
    trueline: 'engine.update(jobs)   // the surrogate is built in',
  },
  {
    id: 'advantage-group-demeaned',
    group: 'B',
    meaning: 'A mean was subtracted per group of rows, which cancels the signal.',
    toldApart: 'Used minus recomputed is constant within action or type groups; per agent or per minibatch is healthy.',
    symptoms: ['choices between groups are never learnt', 'entropy stays high'],
    proof: 'One offset per group makes all advantages agree.',
    remedy: 'Normalise over the whole batch (or over one agent), never per action or type.',
    pytorch: 'adv = (adv - adv.mean()) / (adv.std() + 1e-8)  # over the batch',
    trueline: 'ppo: { advantageNormalisation: batch }',
  },
  {
    id: 'advantage-degenerate',
    group: 'B',
    meaning: 'Advantages are constant, or zero, or all of one sign by a wide margin.',
    toldApart: 'Their spread, and whether they are the advantages at all.',
    symptoms: ['no policy gradient, or the same push on every action', 'entropy drifts without direction'],
    proof:
      'The advantages in the loss do not vary, or agree with the absolute value or the return in place of the advantage.',
    remedy:
      'Feed the loss the advantage itself, computed before anything overwrites rewards or values, and look at its mean and spread.',
    pytorch: 'assert adv.std() > 1e-6 and adv.mean().abs() < adv.std()',
    trueline: assign,
  },
  {
    id: 'advantage-not-normalised',
    group: 'B',
    meaning: 'Declared or expected normalisation is missing; the step size follows the scale of the rewards.',
    toldApart: 'Mean and spread of the advantages in the loss.',
    symptoms: ['the same settings learn in one game and explode in another', 'entropy bonus too weak or too strong'],
    proof: 'Where mean 0 and spread 1 are declared, the rows show others.',
    remedy: 'Normalise advantages over the batch or the minibatch, or scale rewards to unit spread.',
    pytorch: 'adv = (adv - adv.mean()) / (adv.std() + 1e-8)',
    trueline: 'ppo: { advantageNormalisation: batch }',
  },
  {
    id: 'reward-time-shifted',
    group: 'B',
    meaning: 'A reward is stored at the action before or after the one that earned it.',
    toldApart: 'Lagged agreement of the stored reward with what the environment paid.',
    symptoms: [
      'the agent learns to do what comes before or after the right action',
      'the first or last row of every episode has an odd reward',
    ],
    proof: 'The stored rewards equal the paid ones at a lag.',
    remedy: 'Append the reward that step() returns to the transition whose action was passed to step().',
    pytorch: 'obs2, reward, *_ = env.step(action)\nbuffer.add(obs, action, reward)                # the same action',
    trueline: 'Collector stores reward and env_reward beside the action that was played',
  },
  {
    id: 'done-time-shifted',
    group: 'B',
    meaning: 'The episode end is read one step early or late in the credit pass.',
    toldApart: 'Recomputed advantages agree with the end moved by one.',
    symptoms: ['values near episode ends are wrong', 'credit leaks from the first step of the next episode'],
    proof: identity,
    remedy: 'Use done[t] of the transition t, the one whose next state is terminal, in delta and in the trace.',
    pytorch: gae,
    trueline: assign,
  },
  {
    id: 'return-crosses-episodes',
    group: 'B',
    meaning: 'Credit flows across an episode end.',
    toldApart: 'Recomputed advantages agree when ends are ignored.',
    symptoms: ['values do not settle', 'the last actions of an episode are praised or blamed at random'],
    proof: identity,
    remedy: 'Multiply both the bootstrap and the trace by 1 - done, and compute per episode or per environment.',
    pytorch: gae,
    trueline: assign,
  },
  {
    id: 'truncation-treated-as-termination',
    group: 'B',
    meaning: 'A time limit bootstraps 0.',
    toldApart: 'Agreement when truncation is read as termination.',
    symptoms: ['values fall towards the time limit', 'agents hurry or give up near the end'],
    proof: identity,
    remedy: 'Bootstrap the value of the state that followed at a truncation; only a termination is worth 0.',
    pytorch: gae,
    trueline: assign,
  },
  {
    id: 'return-inconsistent',
    group: 'B',
    meaning: 'The return is not advantage plus value, or advantages are stale.',
    toldApart: 'The identity, row by row.',
    symptoms: ['explained variance stays low or negative', 'value loss does not fall'],
    proof:
      'return - advantage - value is not 0, and no other lambda makes it so; or the advantages are those of an earlier iteration.',
    remedy:
      'Set returns = advantages + values right after computing both, from the same values, before any normalisation.',
    pytorch: 'returns = advantages + values                  # before advantages are normalised',
    trueline: assign,
  },
  {
    id: 'value-scale-mismatch',
    group: 'B',
    meaning: 'Normalised values are mixed with raw returns.',
    toldApart: 'One affine map between values and returns in all rows, update after update.',
    symptoms: ['value loss that is huge or does not fall', 'advantages dominated by the mean return'],
    proof: 'Values in other units, one slope and one offset for all rows, make credit or targets agree.',
    remedy: 'Denormalise the critic before computing advantages, and normalise its targets with the same statistics.',
    pytorch:
      'value = critic(obs) * stats.std + stats.mean   # units of the rewards\ntarget = (returns - stats.mean) / stats.std',
    trueline: 'normaliser.toRewards(...) after the critic, normaliser.toCritic(...) before its loss',
  },
  {
    id: 'phantom-steps',
    group: 'B',
    meaning: 'Rows that no decision made (reset steps, dummy actions after leaving) are trained on.',
    toldApart: 'Rows after an end, or repeated steps, that enter the loss.',
    symptoms: ['one action is learnt for no reason', 'agents that leave early behave oddly'],
    proof: "The rows lie after their episode's end or repeat a step, and have weight in the loss.",
    remedy: 'Store a row only when the agent is present and chose an action, and give others weight 0.',
    pytorch: 'mask = alive[t] & ~ended_before[t]\nloss = (loss * mask).sum() / mask.sum()',
    trueline: 'a seat whose player has left makes no row',
  },
  {
    id: 'padding-trained',
    group: 'B',
    meaning: 'Padded or dead-agent rows enter the loss.',
    toldApart: 'As phantom steps, and the rows are empty or fill every episode to one length.',
    symptoms: ['losses shrink with the padding', 'short episodes count less'],
    proof: 'Empty rows, or rows that fill episodes to one length, have weight in the loss.',
    remedy: 'Multiply every term by the padding mask and divide by its sum, not by the padded length.',
    pytorch: 'loss = (loss * mask).sum() / mask.sum()        # not .mean()',
    trueline: 'rows.weight is 0 for a row that must not count',
  },
  {
    id: 'critic-context-misaligned',
    group: 'B',
    meaning: "The critic's input or target belongs to another agent or step.",
    toldApart:
      'Before the first step the value of the update disagrees with the stored one on the same row and agrees at a lag or at another agent.',
    symptoms: ['explained variance near 0 for some agents', 'value loss does not fall'],
    proof: "The critic's values (or targets) of the update equal the stored ones of other rows.",
    remedy:
      "Build the central critic's input from the row's own (episode, t) and agent, and sort by the triple before the update.",
    pytorch: 'context = states[episode, t]                   # the same keys as obs and action',
    trueline: 'batch.criticState is a column of the row',
  },
  {
    id: 'trained-on-other-agent',
    group: 'B',
    meaning: "A policy is updated with another agent's rows.",
    toldApart: 'The policy of the replay against the agent of the sample.',
    symptoms: ['ratios far from 1 for one policy', 'value loss sane for one agent only'],
    proof: 'The rows of the update belong to agents that another policy plays for.',
    remedy: "Select rows by agent before the update, and assert that every row's agent is the policy's own.",
    pytorch: "own = batch['agent'] == agent\nupdate(policy[agent], {k: v[own] for k, v in batch.items()})",
    trueline: 'selectRows(batch, learner, rows)',
  },
];
