"""TRL's real trainers on a random model and a tokenizer made on the spot; needs the packages of requirements/trl.txt. `python trl_runs.py NAME FOLDER`."""

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
    "grpo masked": {"mask_truncated_completions": True, "loss_type": "grpo", "temperature": 0.7},
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


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2])
