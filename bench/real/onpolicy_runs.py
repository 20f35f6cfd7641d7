"""Runs of on-policy's MAPPO, from the folder that the environment variable ONPOLICY names: its own runners, shared and separated, on its own particle worlds and on a
skirmish with deaths and actions that are not allowed, as they are and with bugs.

The one thing to get wrong: nothing on disk changes, and what is stood in for computes nothing.
"""

import inspect
import os
import pathlib
import sys
import tempfile
import textwrap
import types

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from onpolicy_bugs import BUGS
from standins import Nothing, stand_in

sys.path.insert(0, os.environ.get("ONPOLICY", ""))
for _name in ("wandb", "imageio", "setproctitle", "seaborn", "absl"):
    stand_in(_name)
stand_in("tensorboardX", SummaryWriter=Nothing)
stand_in("absl.flags", FLAGS=Nothing())
# The same package under its old name.
sys.modules.setdefault("gym", gymnasium)
sys.modules.setdefault("gym.spaces", spaces)
sys.modules.setdefault("gym.envs", gymnasium.envs)
sys.modules.setdefault("gym.envs.registration", gymnasium.envs.registration)


class Skirmish:
    """Battles as StarCraft's environment gives them: agents that die, actions that are not allowed, and a time limit. Several at once."""

    def __init__(self, count, agents, length, seed):
        self.count, self.agents, self.length = count, agents, length
        self.random = np.random.default_rng(seed)
        self.observation_space = [spaces.Box(-np.inf, np.inf, (5,), np.float32)] * agents
        self.share_observation_space = [spaces.Box(-np.inf, np.inf, (5 * agents,), np.float32)] * agents
        self.action_space = [spaces.Discrete(5)] * agents
        self.state = np.zeros((count, agents, 3))
        self.t = np.zeros(count, int)

    def begin(self, place):
        self.state[place] = self.random.uniform(-1, 1, (self.agents, 3))
        self.state[place, :, 2] = 1.0
        self.t[place] = 0

    def seen(self):
        name = np.broadcast_to(np.arange(self.agents)[None, :, None] / self.agents, (self.count, self.agents, 1))
        age = np.broadcast_to(self.t[:, None, None] / self.length, (self.count, self.agents, 1))
        obs = np.concatenate([self.state, name, age], 2).astype(np.float32)
        share = np.repeat(obs.reshape(self.count, 1, -1), self.agents, 1)
        return obs, share, self.allowed()

    def allowed(self):
        """The dead can only do nothing; the living can do that never, and not walk out of the field."""
        x, y, health = np.moveaxis(self.state, 2, 0)
        living = health > 0
        moves = [~living, living & (x < 0.8), living & (x > -0.8), living & (y < 0.8), living]
        return np.stack(moves, 2).astype(np.float32)

    def reset(self):
        for place in range(self.count):
            self.begin(place)
        return self.seen()

    def step(self, actions):
        actions = np.asarray(actions).reshape(self.count, self.agents)
        living = self.state[..., 2] > 0
        for action, (dx, dy) in enumerate([(0, 0), (0.2, 0), (-0.2, 0), (0, 0.2), (0, -0.2)]):
            self.state[..., 0] += dx * (actions == action)
            self.state[..., 1] += dy * (actions == action)
        near = np.hypot(self.state[..., 0], self.state[..., 1]) < 0.6
        self.state[..., 2] -= 0.25 * (near & living & (self.random.random(living.shape) < 0.5))
        rewards = (living * (near * 1.0 - 0.1)) + 0.2 * living.mean(1, keepdims=True)
        dones = self.state[..., 2] <= 0
        self.t += 1
        late = (self.t >= self.length) & ~dones.all(1)
        dones = dones | late[:, None]
        infos = [[{"bad_transition": bool(late[place])} for _ in range(self.agents)] for place in range(self.count)]
        for place in np.flatnonzero(dones.all(1)):
            self.begin(place)
        obs, share, allowed = self.seen()
        return obs, share, rewards[..., None], dones, infos, allowed

    def close(self):
        pass


def arguments(options, seed):
    from onpolicy.config import get_config
    from onpolicy.scripts.train.train_mpe import parse_args

    args = parse_args([], get_config())
    kind = options.pop("algorithm", "mappo")
    given = {
        "algorithm_name": kind, "use_recurrent_policy": kind == "rmappo", "use_naive_recurrent_policy": False, "use_centralized_V": kind != "ippo",
        "env_name": "MPE", "experiment_name": "check", "use_wandb": False, "cuda": False, "seed": seed + 1, "n_rollout_threads": 6, "episode_length": 25,
        "data_chunk_length": 5, "ppo_epoch": 5, "num_mini_batch": 2, "log_interval": 10**6, "num_agents": 3, "lr": 7e-4, "critic_lr": 7e-4,
    }
    args.__dict__.update({**given, **options})
    args.num_env_steps = options.get("iterations", 5) * args.episode_length * args.n_rollout_threads
    return args


def make(options, seed, folder):
    """A runner of on-policy, ready to run."""
    options = dict(options)
    skirmish, separated, length = options.pop("skirmish", False), options.pop("separated", False), options.pop("length", 0)
    args = arguments(options, seed)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    if skirmish:
        args.env_name, args.map_name = "StarCraft2", "skirmish"
        envs = Skirmish(args.n_rollout_threads, args.num_agents, length or 12, args.seed)
        from onpolicy.runner.shared.smac_runner import SMACRunner as Runner
    else:
        from onpolicy.envs.env_wrappers import DummyVecEnv
        from onpolicy.envs.mpe.MPE_env import MPEEnv

        envs = DummyVecEnv([lambda: MPEEnv(args)] * args.n_rollout_threads)
        if length:
            for env in envs.envs:
                env.world_length = length
        if separated:
            from onpolicy.runner.separated.mpe_runner import MPERunner as Runner
        else:
            from onpolicy.runner.shared.mpe_runner import MPERunner as Runner
    config = {"all_args": args, "envs": envs, "eval_envs": None, "num_agents": args.num_agents, "device": torch.device("cpu"), "run_dir": pathlib.Path(folder)}
    return Runner(config)


def mend(runner):
    """The separated buffer as it was meant: steps along the first axis, chunks along the second."""
    for buffer in runner.buffer:
        kind = type(buffer)
        text = textwrap.dedent(inspect.getsource(kind.recurrent_generator))
        for name in ("share_obs_batch", "obs_batch", "actions_batch", "value_preds_batch", "return_batch", "masks_batch", "active_masks_batch", "old_action_log_probs_batch", "adv_targ"):
            text = text.replace(f" {name} = np.stack({name})", f" {name} = np.stack({name}, 1)")
        scope = dict(kind.recurrent_generator.__globals__)
        exec(compile(text, "<recurrent_generator, mended>", "exec"), scope)
        buffer.recurrent_generator = types.MethodType(scope["recurrent_generator"], buffer)


def execute(options, seed, out):
    from trueline_recorder import onpolicy_runner

    options = dict(options)
    bug, mended = BUGS.get(options.pop("bug", None)), options.pop("mended", False)
    with tempfile.TemporaryDirectory() as folder:
        runner = make(options, seed, folder)
        if bug:
            bug.put(runner)
        if mended:
            mend(runner)
        recorder = onpolicy_runner(runner, out, overwrite=True, first=10**6)
        try:
            runner.run()
        except ValueError:
            # torch refuses to draw from scores that are not finite; what was recorded until then counts.
            if not bug or "non-finite" not in bug.causes:
                raise
        finally:
            recorder.close()


#: What its scripts and its users set. Chunks divide the rollout: on-policy's own defaults (25 steps in chunks of 10) let a chunk run from one agent's steps into
#: the next one's, whose first hidden state is then wrong, and the doctor says so. PopArt is left out: on-policy's own fails with torch 1.13.
HEALTHY = {
    "onpolicy mappo": {},
    "onpolicy rmappo": dict(algorithm="rmappo"),
    "onpolicy ippo": dict(algorithm="ippo", use_recurrent_policy=False),
    "onpolicy ippo with memory": dict(algorithm="ippo", use_recurrent_policy=True),
    "onpolicy memory over whole rollouts": dict(algorithm="rmappo", use_recurrent_policy=False, use_naive_recurrent_policy=True),
    "onpolicy rmappo, short chunks": dict(algorithm="rmappo", data_chunk_length=1, length=11),
    "onpolicy as its script": dict(algorithm="rmappo", ppo_epoch=10, num_mini_batch=1, gain=0.01),
    "onpolicy episodes within rollouts": dict(length=7),
    "onpolicy values as they are": dict(use_valuenorm=False),
    "onpolicy no gae": dict(use_gae=False),
    "onpolicy no gae, values as they are": dict(use_gae=False, use_valuenorm=False, length=9),
    "onpolicy squared value loss": dict(use_huber_loss=False, use_clipped_value_loss=False),
    "onpolicy no gradient limit": dict(use_max_grad_norm=False),
    "onpolicy rate that falls": dict(use_linear_lr_decay=True, lr=1e-3),
    "onpolicy decay": dict(weight_decay=1e-4),
    "onpolicy deeper and tanh": dict(layer_N=2, use_ReLU=False, use_orthogonal=False, gain=1.0),
    "onpolicy inputs as they are": dict(use_feature_normalization=False),
    "onpolicy strong entropy": dict(entropy_coef=0.1),
    "onpolicy one step per batch": dict(ppo_epoch=1, num_mini_batch=1),
    "onpolicy many steps": dict(ppo_epoch=15, num_mini_batch=4, lr=3e-4),
    "onpolicy short sight": dict(gamma=0.9, gae_lambda=0.8),
    "onpolicy no masks in the loss": dict(use_policy_active_masks=False, use_value_active_masks=False),
    "onpolicy proper time limits": dict(use_proper_time_limits=True, length=8),
    "onpolicy two choices at once": dict(scenario_name="simple_reference", num_agents=2),
    "onpolicy skirmish": dict(skirmish=True),
    "onpolicy skirmish with memory": dict(skirmish=True, algorithm="rmappo"),
    "onpolicy separated": dict(separated=True),
    "onpolicy separated with memory, mended": dict(separated=True, algorithm="rmappo", mended=True),
    "onpolicy separated, ippo": dict(separated=True, algorithm="ippo", use_recurrent_policy=False, length=9),
}


def healthy():
    return HEALTHY


def faulty():
    return {f"onpolicy {name}": (dict(bug.settings, bug=name), bug.causes) for name, bug in BUGS.items()}
