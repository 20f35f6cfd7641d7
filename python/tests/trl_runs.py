"""TRL's real trainers on a random model and a tokenizer made on the spot; needs the packages of requirements/trl.txt.

`trl_runs.py NAME FOLDER` makes one recording, `trl_runs.py list` says which there are; without arguments it reads a list of {"name", "out"} and prints a line
for each that is done.
"""

import contextlib
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer
from trueline_recorder import trl_trainer

#: Options of each run beside the common ones.
RUNS = {
    "grpo": {},
    "grpo kl": {"beta": 0.04, "loss_type": "grpo"},
    "grpo dapo": {"loss_type": "dapo", "steps_per_generation": 2, "num_iterations": 1},
    "grpo dr": {"loss_type": "dr_grpo", "scale_rewards": "none"},
    "grpo sequence": {"importance_sampling_level": "sequence", "loss_type": "grpo", "epsilon": 0.05},
    "grpo masked": {
        "mask_truncated_completions": True,
        "loss_type": "grpo",
        "temperature": 0.7,
        "max_completion_length": 24,
    },
    "rloo": {},
    "rloo kl": {"beta": 0.04},
}


def save_model(folder):
    """A small Llama with random weights, and characters for tokens."""
    torch.manual_seed(0)
    vocabulary = {c: i for i, c in enumerate(["<pad>", "<eos>", *"0123456789+="])}
    characters = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    characters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokens = PreTrainedTokenizerFast(tokenizer_object=characters, pad_token="<pad>", eos_token="<eos>")
    tokens.save_pretrained(folder)
    return tokens


def reward(completions, **_):
    """Long answers of small digits are liked."""
    return [sum(9 - int(c) for c in text if c.isdigit()) / 40 for text in completions]


def run(name, out, change=None, **more):
    """One training; `change` gets the trainer before it starts."""
    torch.set_num_threads(1)
    config, base = (RLOOConfig, RLOOTrainer) if name.startswith("rloo") else (GRPOConfig, GRPOTrainer)
    with tempfile.TemporaryDirectory() as folder:
        tokens = save_model(folder)
        common = {
            "output_dir": folder,
            "per_device_train_batch_size": 8,
            "num_generations": 4,
            "max_completion_length": 8,
            "max_steps": 8,
            "gradient_accumulation_steps": 2,
            "steps_per_generation": 4,
            "num_iterations": 2,
            "learning_rate": 1e-3,
            "report_to": [],
            "save_strategy": "no",
            "use_cpu": True,
            "bf16": False,
            "seed": 1,
        }
        options = config(**{**common, **RUNS[name], **more})
        data = Dataset.from_dict({"prompt": [f"{a}+{b * 37}=" for a in range(10) for b in range(4)]})
        trainer = trl_trainer(base, out, strict=True, overwrite=True, control_kept=32)(
            model=folder, reward_funcs=reward, args=options, train_dataset=data, processing_class=tokens
        )
        if change is not None:
            change(trainer)
        trainer.train()
        return trainer


def trainer_forgets_the_temperature(trainer):
    """The model is patched with TRL's own loss head, whose temperature is taken away."""

    def untempered(self, model, input_ids, attention_mask, logits_to_keep, **_):
        logits = model(input_ids=input_ids, attention_mask=attention_mask).logits[:, -logits_to_keep - 1 : -1]
        scores = logits.log_softmax(-1)
        entropy = -(scores.exp() * scores).sum(-1)
        return scores.gather(2, input_ids[:, -logits_to_keep:, None]).squeeze(2), entropy, None

    base = type(trainer).__mro__[1]
    base_own = base._get_per_token_logps_and_entropies
    base._get_per_token_logps_and_entropies = untempered
    return lambda: setattr(base, "_get_per_token_logps_and_entropies", base_own)


def mixed_groups(trainer):
    """TRL's own mean over another number of generations."""
    base = type(trainer).__mro__[1]
    own = base._generate_and_score_completions

    def scored(self, inputs):
        right, self.num_generations = self.num_generations, 8
        try:
            return own(self, inputs)
        finally:
            self.num_generations = right

    base._generate_and_score_completions = scored
    return lambda: setattr(base, "_generate_and_score_completions", own)


#: Bugs put in while TRL runs: the run, what is changed, and the causes that are right.
BUGS = {
    "grpo, temperature forgotten": (
        "grpo",
        trainer_forgets_the_temperature,
        {"temperature": 0.7},
        ["temperature-mismatch"],
    ),
    "grpo, groups of two prompts": ("grpo", mixed_groups, {"loss_type": "grpo"}, ["advantage-group-mixed"]),
}


def make_one(name, out):
    if name not in BUGS:
        run(name, out)
        return
    base, change, more, _ = BUGS[name]
    undo = []
    try:
        run(base, out, lambda trainer: undo.append(change(trainer)), **more)
    finally:
        for back in filter(None, undo):
            back()


def main(arguments):
    if arguments[:1] == ["list"]:
        names = [{"name": name, "causes": []} for name in RUNS] + [
            {"name": name, "causes": bug[3]} for name, bug in BUGS.items()
        ]
        print(json.dumps(names))
    elif arguments:
        make_one(*arguments)
    else:
        for wanted in json.load(sys.stdin):
            with contextlib.redirect_stdout(sys.stderr):
                make_one(wanted["name"], wanted["out"])
            print(json.dumps({"out": wanted["out"]}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
