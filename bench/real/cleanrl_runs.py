"""Runs of CleanRL's PPO scripts, from the folder that the environment variable CLEANRL names: as they are, one line put in that records them, and with bugs.

The one thing to get wrong: the scripts are never changed on disk; a piece that is exchanged and is not there is an error.
"""

import importlib.util
import os
import pathlib
import sys
import types

import gymnasium
from cleanrl_bugs import BUGS
from environments import Pictures
from standins import Nothing, stand_in

USUAL = "    for iteration in range(1, args.num_iterations + 1):\n"
STEPS = "    for global_step in range(args.total_timesteps):\n"
#: By script: the line that the recorder goes before, and what it is given.
LOOP = {
    "rpo_continuous_action.py": ("    for update in range(1, num_updates + 1):\n", "agent, optimizer"),
    "dqn.py": (STEPS, "q_network, optimizer"),
    "sac_continuous_action.py": (STEPS, "actor, q_optimizer"),
    "td3_continuous_action.py": (STEPS, "actor, q_optimizer"),
    "ddpg_continuous_action.py": (STEPS, "actor, q_optimizer"),
}
MAIN = 'if __name__ == "__main__":\n'
OPTIMISER = "optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)"


stand_in("tyro")
stand_in("torch.utils.tensorboard", SummaryWriter=Nothing)
stand_in("cleanrl_utils")
stand_in("cleanrl_utils.atari_wrappers")


def with_buffers():
    """CleanRL's own replay buffer, which computes and is not stood in for."""
    name = "cleanrl_utils.buffers"
    if name not in sys.modules:
        found = importlib.util.spec_from_file_location(name, pathlib.Path(os.environ["CLEANRL"]) / "cleanrl_utils" / "buffers.py")
        sys.modules[name] = importlib.util.module_from_spec(found)
        found.loader.exec_module(sys.modules[name])


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
    loop, learning = LOOP.get(script, (USUAL, "agent, optimizer"))
    recorded = f"    recorder = cleanrl_loop(OUT, envs, {learning}, args, overwrite=True, first=10**6)\n"
    if loop is STEPS:
        with_buffers()
    # Below what counts the episodes, as the limits of registered environments are.
    limited = [("gym.make(env_id", f"gym.make(env_id, max_episode_steps={limit}")] if limit else []
    text = exchanged(source(script), [*pieces, *limited, (loop, recorded + loop)], script)
    head, main = text.split(MAIN)
    iterations = options.pop("iterations", 6)

    def settings(kind):
        args = kind(**{"cuda": False, "seed": seed + 1, **options})
        if hasattr(args, "num_steps"):
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
DQN = dict(script="dqn.py", total_timesteps=1600, learning_starts=100, train_frequency=2, buffer_size=5000, batch_size=64, target_network_frequency=200)
SAC = dict(script="sac_continuous_action.py", env_id="Reach-v0", total_timesteps=500, learning_starts=100, buffer_size=5000, batch_size=64)
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
    "cleanrl dqn": dict(DQN),
    "cleanrl dqn, Acrobot": dict(DQN, env_id="Acrobot-v1", limit=60, target_network_frequency=100, learning_rate=1e-3),
    "cleanrl dqn, copied softly": dict(DQN, tau=0.05, target_network_frequency=10, gamma=0.9),
    "cleanrl sac": dict(SAC),
    "cleanrl sac, fixed temperature": dict(SAC, autotune=False, alpha=0.1, env_id="Pendulum-v1", limit=40),
    "cleanrl td3": dict(SAC, script="td3_continuous_action.py"),
    "cleanrl ddpg": dict(SAC, script="ddpg_continuous_action.py", limit=20),
    "cleanrl atari": dict(script="ppo_atari.py", num_steps=32, iterations=3),
    "cleanrl atari lstm": dict(script="ppo_atari_lstm.py", num_steps=16, iterations=3),
}


def healthy():
    return HEALTHY


def faulty():
    return {f"cleanrl {name}": (dict(bug.settings, bug=name), bug.causes) for name, bug in BUGS.items()}
