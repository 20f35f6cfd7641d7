"""Records a training run for `trueline diagnose`: five lines in a PyTorch loop, one argument in Stable-Baselines3, one call in TRL.

    from trueline_recorder import Recorder

    recorder = Recorder("runs/mine", gamma=0.99, lam=0.95, agents=["IND", "EDU"])
    recorder.watch(policy="IND", actor=actor, critic=critic, optimizer=optimizer, head="4")
    for iteration in range(iterations):
        ...                                                              # collect, then:
        recorder.samples(agent="IND", old_logp=logp, reward=reward, value=value, terminated=terminated, ...)
        for ...:                                                         # every minibatch:
            recorder.replays(policy="IND", sample=index, new_logp=new_logp, advantage=advantage, ...)
            loss.backward()
            optimizer.step()                                             # measured by itself
            recorder.step(policy="IND", loss=loss, policy_loss=policy_loss, ...)
    recorder.close()

Columns are those of the recording format (docs/columns.md); all but a few are optional, and every one more lets the doctor
check one thing more. Where a Python keyword is in the way, write `return_=`.

The one thing to get wrong: `sample` counts rows of this iteration's samples in the order in which they were given, and it must be
the index that the minibatch really used. The recorder only reads: it draws no random number, keeps no graph alive and changes
no parameter. A mistake in a call, or a full disk, never ends the training run: the recorder warns, says so in the manifest, and stops.

Python 3.9 or later, and numpy; torch is used where the caller uses it.
"""

from .adapters.cleanrl import cleanrl_loop
from .adapters.onpolicy import onpolicy_runner
from .adapters.rlhf import openrlhf_experience, openrlhf_slice, verl_actor, verl_responses
from .adapters.sb3 import sb3_callback
from .adapters.trl import trl_trainer
from .core import __version__
from .recorder import Recorder
from .tables import TABLES
from .trouble import RecorderWarning

__all__ = [
    "TABLES",
    "Recorder",
    "RecorderWarning",
    "__version__",
    "cleanrl_loop",
    "onpolicy_runner",
    "openrlhf_experience",
    "openrlhf_slice",
    "sb3_callback",
    "trl_trainer",
    "verl_actor",
    "verl_responses",
]
