"""Bugs for CleanRL's scripts: pieces of their text exchanged before they run.

The one thing to get wrong: the causes listed are those that are *right*, decided before the first run, not those that the doctor happens to say.
"""

from typing import Any, Dict, NamedTuple, Sequence, Tuple


class Bug(NamedTuple):
    causes: Tuple[str, ...]
    pieces: Sequence[Tuple[str, str]]
    settings: Dict[str, Any]


BUGS: Dict[str, Bug] = {}


def bug(name, causes, *pieces, **settings):
    BUGS[name] = Bug(causes, pieces, settings)


SHORT = dict(limit=15, num_steps=64, num_envs=8)
ACROBOT = dict(env_id="Acrobot-v1", limit=40, num_steps=64, num_envs=8)
REACH = dict(script="ppo_continuous_action.py", env_id="Reach-v0", num_envs=2, num_steps=256, num_minibatches=8)
PICTURES = dict(script="ppo_atari_lstm.py", num_steps=32, iterations=3)

# - the rollout -
ENDED = "next_obs, next_done = torch.Tensor(next_obs).to(device), torch.Tensor(next_done).to(device)"
HEAD = "layer_init(nn.Linear(64, envs.single_action_space.n), std=0.01)"
bug("ends filed with the row that ended", ("done-time-shifted",), (ENDED, ENDED + "; dones[step] = next_done"), **SHORT)
bug("action of the step before", ("old-logp-wrong",), ("actions[step] = action", "actions[(step + 1) % args.num_steps] = action"), (HEAD, HEAD.replace("0.01", "1.0")), **ACROBOT)
bug("some actions at random", ("old-logp-wrong",), ("actions[step] = action", "action = torch.where(torch.rand(args.num_envs) < 0.3, torch.randint(0, envs.single_action_space.n, (args.num_envs,)), action); actions[step] = action"), (HEAD, HEAD.replace("0.01", "1.0")), **ACROBOT)
bug("log-probabilities of the first iteration for ever", ("old-logp-wrong",), ("logprobs[step] = logprob", "logprobs[step] = logprob if iteration == 1 else logprobs[step]"), learning_rate=3e-3)
bug("reward of the step before", ("reward-time-shifted",), ("rewards[step] =", "rewards[(step + 1) % args.num_steps] ="), **REACH)
bug("value of the step before", ("critic-context-misaligned",), ("values[step] = value.flatten()", "values[(step + 1) % args.num_steps] = value.flatten()"))
bug("clipped actions stored", ("clipped-action-stored", "old-logp-wrong"), ("actions[step] = action\n", "actions[step] = action.clamp(-0.5, 0.5)\n"), **REACH)

# - the credit pass -
TRACE = "delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam"
DELTA = "delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]"
bug("rollout's last end forgotten", ("return-crosses-episodes",), ("nextnonterminal = 1.0 - next_done", "nextnonterminal = 1.0"), num_steps=16, num_envs=32)
bug("ends of the row itself", ("done-time-shifted",), ("nextnonterminal = 1.0 - dones[t + 1]", "nextnonterminal = 1.0 - dones[t]"), **SHORT)
bug("credit pass forwards", ("credit-formula-differs",), ("for t in reversed(range(args.num_steps)):", "for t in range(args.num_steps):"))
bug("one minus lambda", ("credit-formula-differs",), (TRACE, TRACE.replace("args.gae_lambda", "(1 - args.gae_lambda)")))
bug("bootstrap over ends", ("return-crosses-episodes", "credit-formula-differs"), (DELTA, DELTA.replace(" * nextnonterminal", "")), **SHORT)
bug("trace over ends", ("return-crosses-episodes", "credit-formula-differs"), (TRACE, TRACE.replace(" * nextnonterminal", "")), **SHORT)
bug("returns from mean values", ("return-inconsistent",), ("returns = advantages + values", "returns = advantages + values.mean()"))

# - the batch -
bug("advantages environment by environment", ("advantage-shuffled",), ("b_advantages = advantages.reshape(-1)", "b_advantages = advantages.T.reshape(-1)"))
bug("returns environment by environment", ("critic-context-misaligned", "return-inconsistent"), ("b_returns = returns.reshape(-1)", "b_returns = returns.T.reshape(-1)"))
bug("index drawn again for advantages", ("advantage-shuffled",), ("mb_advantages = b_advantages[mb_inds]", "mb_advantages = b_advantages[np.random.permutation(args.batch_size)[: len(mb_inds)]]"))
bug("actions beyond the second cut", ("num-actions-defaulted",), ("b_actions.long()[mb_inds])", "b_actions.long()[mb_inds].clamp(max=1))"), (HEAD, HEAD.replace("0.01", "1.0")), **ACROBOT)
bug("dropout on the observations of the update", ("stochastic-forward", "inputs-differ"), ("get_action_and_value(b_obs[mb_inds]", "get_action_and_value(nn.functional.dropout(b_obs[mb_inds], 0.2)"), (HEAD, HEAD.replace("0.01", "1.0")))
bug("sampled at twice the temperature", ("temperature-mismatch",), ("probs = Categorical(logits=logits)", "probs = Categorical(logits=logits / 2 if action is None else logits)"), (HEAD, HEAD.replace("0.01", "1.0")))
bug("memory not cut at ends", ("recurrent-state-not-reset",), ("b_dones[mb_inds],", "torch.zeros_like(b_dones[mb_inds]),"), **PICTURES)

# - the loss -
FIRST, SECOND = "pg_loss1 = -mb_advantages * ratio", "pg_loss2 = -mb_advantages * torch.clamp"
POLICY = "pg_loss = torch.max(pg_loss1, pg_loss2).mean()"
RATIO = "ratio = logratio.exp()"
NORMAL = "mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)"
WHOLE = "loss = pg_loss - args.ent_coef * entropy_loss + v_loss * args.vf_coef"
bug("absolute advantages", ("advantage-degenerate",), (NORMAL, "mb_advantages = mb_advantages.abs() + 1"))
bug("quotient of log-probabilities", ("loss-formula-differs",), (RATIO, "ratio = newlogprob / b_logprobs[mb_inds]"), learning_rate=2e-3)
bug("gradients never cleared", ("gradients-accumulate",), ("optimizer.zero_grad()", "pass"))
bug("gradients never cleared, continuous", ("gradients-accumulate",), ("optimizer.zero_grad()", "pass"), **REACH)
bug("old log-probabilities of the epoch", ("old-logp-recomputed",), ("logratio = newlogprob - b_logprobs[mb_inds]", "b_logprobs[mb_inds] = newlogprob.detach(); logratio = newlogprob - b_logprobs[mb_inds]"))
bug("ratio without gradient", ("policy-detached",), (RATIO, "ratio = logratio.exp().detach()"))
bug("minimum of the negated terms", ("loss-formula-differs",), (POLICY, POLICY.replace("torch.max", "torch.min")), learning_rate=2e-3)
bug("clipped to one side", ("loss-formula-differs",), ("torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)", "torch.clamp(ratio, max=1 + args.clip_coef)"), learning_rate=2e-3)
bug("loss added up", ("loss-summed",), (POLICY, POLICY.replace(".mean()", ".sum()")))
bug("minus forgotten twice", ("advantage-sign-flipped", "loss-formula-differs"), (FIRST, FIRST.replace("-mb", "mb")), (SECOND, SECOND.replace("-mb", "mb")))
bug("entropy minimised", ("entropy-sign-flipped",), (WHOLE, WHOLE.replace("- args.ent_coef", "+ args.ent_coef")), ent_coef=0.05)
bug("entropy above all", ("entropy-bonus-dominates",), ent_coef=5.0)
bug("values in a column", ("broadcast-mismatch",), ("newvalue = newvalue.view(-1)", "newvalue = newvalue"), clip_vloss=False)
bug("minibatches of one row", ("non-finite",), num_envs=1, num_steps=32, num_minibatches=32, update_epochs=1)
bug("kl limit of nothing", ("kl-guard-too-tight",), target_kl=1e-7)

# - optimiser and network -
OPTIMISER = "optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)"
CLIP = "nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)"
bug("last layer after the optimiser", ("head-unbound",), (OPTIMISER, OPTIMISER + "; agent.actor[-1] = layer_init(nn.Linear(64, envs.single_action_space.n), std=0.01)"))
bug("optimiser of the critic alone", ("optimizer-unbound",), (OPTIMISER, OPTIMISER.replace("agent.parameters()", "agent.critic.parameters()")))
bug("actor frozen", ("policy-detached", "optimizer-unbound"), (OPTIMISER, OPTIMISER + "; agent.actor.requires_grad_(False)"))
bug("rate divided by a hundred million", ("learning-rate-too-small",), ("lrnow = frac * args.learning_rate", "lrnow = 1e-8 * frac * args.learning_rate"))
bug("rate times a thousand", ("learning-rate-too-large",), ("lrnow = frac * args.learning_rate", "lrnow = 1000 * frac * args.learning_rate"))
bug("gradients clipped to nothing", ("learning-rate-too-small",), (CLIP, CLIP.replace("args.max_grad_norm", "1e-12")))
bug("decay inside the gradient", ("weight-decay-pull",), (OPTIMISER, OPTIMISER.replace("eps=1e-5", "eps=1e-5, weight_decay=30.0")))
bug("last layer drawn again every iteration", ("parameters-overwritten",), ("frac = 1.0 -", "agent.actor[-1].reset_parameters(); frac = 1.0 -"))
bug("scores squeezed", ("policy-head-flat",), ("logits = self.actor(x)", "logits = 1e-4 * torch.tanh(self.actor(x))"))

# - replay buffers, and what only continuous actions have -
DQN = dict(script="dqn.py", total_timesteps=1600, learning_starts=100, train_frequency=2, buffer_size=5000, batch_size=64, target_network_frequency=200)
SAC = dict(script="sac_continuous_action.py", env_id="Reach-v0", total_timesteps=500, learning_starts=100, buffer_size=5000, batch_size=64)
ALIVE = "(1 - data.dones.flatten())"
bug("bootstrap from the network that learns", ("target-network-unused",), ("target_network(data.next_observations).max(dim=1)", "q_network(data.next_observations).max(dim=1)"), **DQN)
bug("bootstrap where episodes end, and only there", ("target-crosses-end", "credit-formula-differs"), (ALIVE, "data.dones.flatten()"), **DQN)
bug("predictions as a column", ("broadcast-mismatch",), ("gather(1, data.actions).squeeze()", "gather(1, data.actions)"), **DQN)
bug("copy that is never due", ("target-network-frozen",), ("if global_step % args.target_network_frequency == 0:", "if global_step % args.target_network_frequency == 1 and global_step % 2 == 0:"), **DQN)
bug("time limits as ends in the buffer", ("truncation-treated-as-termination",), ("rb.add(obs, real_next_obs, actions, rewards, terminations, infos)", "rb.add(obs, real_next_obs, actions, rewards, np.logical_or(terminations, truncations), infos)"), **DQN, limit=20)
bug("entropy with the wrong sign in targets", ("entropy-temperature-sign",), ("qf2_next_target) - alpha", "qf2_next_target) + alpha"), **SAC)
bug("bootstraps over ends, soft", ("target-crosses-end",), ("(1 - data.dones.flatten()) * args.gamma", "args.gamma"), ("gym.make(env_id", "gym.make(env_id, near=1.0"), **SAC)
bug("second target critic forgotten", ("target-network-frozen",), ("for param, target_param in zip(qf2.parameters(), qf2_target.parameters()):", "for param, target_param in []:"), **SAC)
bug("first states of the next episode stored", ("final-observation-lost",), ('real_next_obs[idx] = infos["final_observation"][idx]', "pass"), **dict(SAC, limit=15))
bug("actor goes down the critic", ("advantage-sign-flipped",), ("((alpha * log_pi) - min_qf_pi)", "((alpha * log_pi) + min_qf_pi)"), **SAC)
bug("log-probabilities averaged while learning", ("dimensions-reduced-wrong",), ("        if action is None:\n            action = probs.sample()", "        drawn = action is None\n        action = probs.sample() if drawn else action"), ("return action, probs.log_prob(action).sum(1)", "return action, (probs.log_prob(action).sum(1) if drawn else probs.log_prob(action).mean(1))"), **REACH)
bug("logarithm of the deviation for the deviation while learning", ("deviation-scale-wrong",), ("action_std = torch.exp(action_logstd)", "action_std = torch.exp(action_logstd) if action is None else torch.exp(2 * action_logstd)"), ("self.actor_logstd = nn.Parameter(torch.zeros(", "self.actor_logstd = nn.Parameter(-0.5 + torch.zeros("), **REACH)
LATE = "(initial_lstm_state[0][:, mbenvinds], initial_lstm_state[1][:, mbenvinds])"
bug("memory taken after the rollout", ("recurrent-state-stale", "recurrent-state-not-replayed"), (LATE, LATE.replace("initial", "next")), **PICTURES)
bug("observations after the step", ("inputs-differ",), (ENDED, ENDED + "; obs[step] = next_obs"), (HEAD, HEAD.replace("0.01", "1.0")), **ACROBOT)
COPY = "zip(target_network.parameters(), q_network.parameters())"
bug("learner set back to its target", ("parameters-overwritten", "target-network-frozen"), (COPY, "zip(q_network.parameters(), target_network.parameters())"), **DQN)
