"""Every algorithm of Stable-Baselines3 and sb3-contrib, trained for a few hundred steps with the recorder and without: one line of JSON for each.

The one thing to get wrong: that nothing crashed is not enough; both must end with the same parameters, to the bit.
"""

import json
import os
import pathlib
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

import sb3_contrib
import stable_baselines3
import torch
from stable_baselines3 import HerReplayBuffer
from stable_baselines3.common.envs import BitFlippingEnv
from trueline_recorder import RecorderWarning, sb3_callback

from sb3_runs import environment

SMALL = {"learning_starts": 60, "buffer_size": 500, "batch_size": 32}
ROLLOUT = {"n_steps": 64}
#: By name: the environment, and what is set. All that both packages have.
ALGORITHMS = {
    "A2C": ("CartPole-v1", ROLLOUT),
    "DDPG": ("Pendulum-v1", SMALL),
    "DQN": ("CartPole-v1", SMALL),
    "PPO": ("CartPole-v1", {**ROLLOUT, "batch_size": 32}),
    "SAC": ("Pendulum-v1", SMALL),
    "TD3": ("Pendulum-v1", SMALL),
    "ARS": ("CartPole-v1", {"n_delta": 2}),
    "CrossQ": ("Pendulum-v1", SMALL),
    "MaskablePPO": ("grid-masked", {**ROLLOUT, "batch_size": 32}),
    "QRDQN": ("CartPole-v1", SMALL),
    "RecurrentPPO": ("CartPole-v1", {**ROLLOUT, "batch_size": 32}),
    "TQC": ("Pendulum-v1", SMALL),
    "TRPO": ("CartPole-v1", {**ROLLOUT, "batch_size": 32}),
    "DQN with HER": (None, {**SMALL, "replay_buffer_class": HerReplayBuffer}),
}


def train(name, path):
    """The parameters after 300 steps, and what the recorder said."""
    game, settings = ALGORITHMS[name]
    kind = getattr(stable_baselines3, name.split()[0], None) or getattr(sb3_contrib, name.split()[0])
    env = BitFlippingEnv(n_bits=4, continuous=False, max_steps=4) if game is None else environment(game, 1, 50)()
    policy = "MultiInputPolicy" if game is None else "MlpLstmPolicy" if name == "RecurrentPPO" else "MlpPolicy"
    model = kind(policy, env, seed=0, device="cpu", **settings)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.learn(300, callback=None if path is None else sb3_callback(path))
    sentences = [str(warning.message) for warning in said if issubclass(warning.category, RecorderWarning)]
    return [value.clone() for value in model.policy.state_dict().values()], sentences


def main(names):
    torch.set_num_threads(1)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run")
            outcome = {"name": name}
            try:
                plain, (recorded, sentences) = train(name, None)[0], train(name, path)
                with open(os.path.join(path, "manifest.json")) as file:
                    told = json.load(file).get("recorder", {})
                tables = sorted(part for part in os.listdir(path) if os.path.isdir(os.path.join(path, part)))
                same = len(plain) == len(recorded) and all(torch.equal(a, b) for a, b in zip(plain, recorded))
                outcome.update(same=same, sentences=sentences, tables=tables, stopped="stopped" in told)
            except Exception as error:
                outcome["error"] = f"{type(error).__name__}: {error}"
            print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(ALGORITHMS))
