"""Faults: the network or its inputs are wrong."""

import torch

from .fault import TENSORS, FAULTS, CHOICES, fault, stage


@stage("scores squashed", "sampling_scores", "policy-head-flat", tells=("samples.logits",), **CHOICES)
def _(program, own, policy, obs):
    return 1e-4 * torch.tanh(own(policy, obs))


@fault("inputs of thousands", "input-saturated", tells=TENSORS + ("samples.obs",), observations=("raw",))
def _(program):
    own = program.inputs
    program.inputs = lambda raw: own(raw) * 1e4


_flat = FAULTS["scores squashed"].put


def _both(program):
    _flat(program)
    own = program.scores
    program.scores = lambda policy, obs: 1e-4 * torch.tanh(own(policy, obs))


FAULTS["scores squashed"] = FAULTS["scores squashed"]._replace(put=_both)


@stage("dead rows trained", "flatten", "padding-trained", tells=("samples.reward",), deaths=("weight",))
def _(program, own, rollout):
    batch = own(rollout)
    return {**batch, "weight": torch.ones_like(batch["weight"])}
