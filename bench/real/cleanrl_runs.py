"""Runs of CleanRL's PPO scripts, from the folder that the environment variable CLEANRL names: as they are, one line put in that records them, and with bugs.

The one thing to get wrong: the scripts are never changed on disk; a piece that is exchanged and is not there is an error.
"""

import os
import pathlib
import types

import gymnasium
import numpy as np
from cleanrl_bugs import BUGS
from gymnasium import spaces
from standins import Nothing, stand_in

LOOP = {"rpo_continuous_action.py": "    for update in range(1, num_updates + 1):\n"}
USUAL = "    for iteration in range(1, args.num_iterations + 1):\n"
MAIN = 'if __name__ == "__main__":\n'
OPTIMISER = "optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)"


class Reach(gymnasium.Env):
    """Three joints to a place, for actions of several numbers."""

    observation_space = spaces.Box(-np.inf, np.inf, (6,), np.float32)
    action_space = spaces.Box(-1, 1, (3,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.goal = self.np_random.uniform(-1, 1, (2, 3))
        return np.concatenate([self.place, self.goal]).astype(np.float32), {}

    def step(self, action):
        self.place = self.place + 0.1 * np.clip(action, -1, 1)
        far = float(np.linalg.norm(self.place - self.goal))
        return np.concatenate([self.place, self.goal]).astype(np.float32), -far, far < 0.3, False, {}


class Pictures(gymnasium.Env):
    """A dot to follow on pictures of Atari's size."""

    action_space = spaces.Discrete(4)

    def __init__(self, frames):
        self.observation_space = spaces.Box(0, 255, (frames, 84, 84), np.uint8)

    def picture(self):
        out = np.zeros(self.observation_space.shape, np.uint8)
        x, y = self.place
        out[:, 12 * y : 12 * y + 12, 12 * x : 12 * x + 12] = 255
        return out

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = self.np_random.integers(0, 7, 2)
        return self.picture(), {}

    def step(self, action):
        self.place = np.clip(self.place + [(1, 0), (-1, 0), (0, 1), (0, -1)][int(action)], 0, 6)
        return self.picture(), float(self.place.sum()) / 12, bool(self.np_random.random() < 0.1), False, {}


gymnasium.register("Reach-v0", Reach, max_episode_steps=30)
stand_in("tyro")
stand_in("torch.utils.tensorboard", SummaryWriter=Nothing)
stand_in("cleanrl_utils")
stand_in("cleanrl_utils.atari_wrappers")


def source(script):
    return (pathlib.Path(os.environ["CLEANRL"]) / "cleanrl" / script).read_text()


def exchanged(text, pieces, script):
    for old, new in pieces:
        if old not in text:
            raise LookupError(f"{script} has no {old!r}")
        text = text.replace(old, new)
    return text


def execute(options, seed, out):
    options = dict(options)
    bug = BUGS.get(options.pop("bug", None))
    script, pieces = options.pop("script", "ppo.py"), list(options.pop("pieces", ())) + list(bug.pieces if bug else ())
    limit = options.pop("limit", 0)
    loop = LOOP.get(script, USUAL)
    recorded = "    recorder = cleanrl_loop(OUT, envs, agent, optimizer, args, overwrite=True, first=10**6)\n"
    text = exchanged(source(script), [*pieces, (loop, recorded + loop)], script)
    head, main = text.split(MAIN)
    iterations = options.pop("iterations", 6)

    def settings(kind):
        args = kind(**{"cuda": False, "seed": seed + 1, **options})
        args.total_timesteps = iterations * args.num_envs * args.num_steps
        return args

    from trueline_recorder import cleanrl_loop

    module = types.ModuleType("__main__")
    space = module.__dict__
    space.update(OUT=out, cleanrl_loop=cleanrl_loop, __file__=script)
    exec(compile(head, f"<{script}>", "exec"), space)
    space["tyro"] = types.SimpleNamespace(cli=settings)
    if "atari" in script:
        frames = 1 if "lstm" in script else 4
        space["make_env"] = lambda *args: lambda: gymnasium.wrappers.TimeLimit(Pictures(frames), 40)
    elif limit:
        make = space["make_env"]
        space["make_env"] = lambda *args: lambda: gymnasium.wrappers.TimeLimit(make(*args)(), limit)
    try:
        exec(compile(MAIN + main, f"<{script}, running>", "exec"), space)
    except ValueError:
        # torch refuses to draw from scores that are not finite; what was recorded until then counts.
        if not bug or "non-finite" not in bug.causes:
            raise
    finally:
        if "recorder" in space:
            space["recorder"].close()


def optimiser(name, **more):
    given = "".join(f", {key}={value}" for key, value in more.items())
    return [(OPTIMISER, f"optimizer = optim.{name}(agent.parameters(), lr=args.learning_rate{given})")]


CONTINUOUS = dict(script="ppo_continuous_action.py", num_envs=2, num_steps=256, num_minibatches=8)
#: As CleanRL's scripts have them, and what its users vary.
HEALTHY = {
    "cleanrl ppo": {},
    "cleanrl ppo, Acrobot": dict(env_id="Acrobot-v1", limit=60),
    "cleanrl ppo, MountainCar": dict(env_id="MountainCar-v0", limit=70),
    "cleanrl ppo, one environment": dict(num_envs=1, num_steps=256),
    "cleanrl ppo, rate kept": dict(anneal_lr=False, learning_rate=1e-3),
    "cleanrl ppo, no normalisation": dict(norm_adv=False),
    "cleanrl ppo, value not clipped": dict(clip_vloss=False),
    "cleanrl ppo, target kl": dict(target_kl=0.01, learning_rate=2e-3),
    "cleanrl ppo, one step per batch": dict(num_minibatches=1, update_epochs=1),
    "cleanrl ppo, many steps": dict(num_minibatches=16, update_epochs=10),
    "cleanrl ppo, lambda 1": dict(gae_lambda=1.0, gamma=1.0),
    "cleanrl ppo, lambda 0": dict(gae_lambda=0.0),
    "cleanrl ppo, strong entropy": dict(ent_coef=0.1),
    "cleanrl ppo, no entropy": dict(ent_coef=0.0),
    "cleanrl ppo, small gradients": dict(max_grad_norm=0.05),
    "cleanrl ppo, short episodes": dict(limit=9, num_steps=64, num_envs=8),
    "cleanrl ppo, adamw": dict(pieces=optimiser("AdamW", weight_decay=0.01)),
    "cleanrl ppo, rmsprop": dict(pieces=optimiser("RMSprop", alpha=0.99, eps=1e-5)),
    "cleanrl ppo, sgd": dict(pieces=optimiser("SGD", momentum=0.9), learning_rate=0.01),
    "cleanrl ppo, rewards by 1000": dict(pieces=[("torch.tensor(reward)", "torch.tensor(1000 * reward)")]),
    "cleanrl ppo, rewards clipped": dict(env_id="MountainCar-v0", limit=50, pieces=[("torch.tensor(reward)", "torch.tensor(np.clip(reward, -0.5, 0.5))")]),
    "cleanrl ppo, relu and no orthogonal start": dict(pieces=[("nn.Tanh()", "nn.ReLU()"), ("torch.nn.init.orthogonal_(layer.weight, std)", "pass")]),
    "cleanrl continuous, Pendulum": dict(CONTINUOUS, env_id="Pendulum-v1"),
    "cleanrl continuous, MountainCarContinuous": dict(CONTINUOUS, env_id="MountainCarContinuous-v0", limit=60),
    "cleanrl continuous, Reach": dict(CONTINUOUS, env_id="Reach-v0"),
    "cleanrl continuous, target kl": dict(CONTINUOUS, env_id="Reach-v0", target_kl=0.02, ent_coef=0.01),
    "cleanrl continuous, no normalisation": dict(CONTINUOUS, env_id="Pendulum-v1", norm_adv=False, clip_vloss=False),
    "cleanrl atari": dict(script="ppo_atari.py", num_steps=32, iterations=3),
    "cleanrl atari lstm": dict(script="ppo_atari_lstm.py", num_steps=16, iterations=3),
}


def healthy():
    return HEALTHY


def faulty():
    return {f"cleanrl {name}": (dict(bug.settings, bug=name), bug.causes) for name, bug in BUGS.items()}
