"""A double of TRL's GRPOTrainer: its methods that the adapter overrides, with its names and shapes, on a bigram model. test_trl.py holds it to the real one."""

from types import SimpleNamespace

import torch
from torch import nn

METHODS = (
    "_calculate_rewards",
    "_generate_and_score_completions",
    "_compute_loss",
    "_get_per_token_logps_and_entropies",
    "training_step",
)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Parameter(torch.randn(6, 6))

    def forward(self, input_ids):
        return SimpleNamespace(logits=self.table[input_ids])


class Trainer:
    """Two prompts of two generations each, two slices a step, a mean over responses."""

    num_generations, num_iterations, max_completion_length, beta = 2, 1, 3, 0.0
    epsilon_low = epsilon_high = 0.2
    loss_type, importance_sampling_level, scale_rewards = "grpo", "token", "none"
    eos_token_ids = [1]

    def __init__(self):
        self.model = Model()
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
        self.args = SimpleNamespace(
            temperature=1.0,
            top_p=1.0,
            top_k=0,
            min_p=None,
            bf16=False,
            fp16=False,
            gradient_accumulation_steps=2,
            steps_per_generation=2,
        )
        self.accelerator = SimpleNamespace(
            num_processes=1, process_index=0, sync_gradients=False, unwrap_model=lambda model: model
        )
        self.state = SimpleNamespace(global_step=0)
        self.reward_weights = torch.ones(1)

    def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
        return torch.tensor([[1.0], [0.0], [0.5], [0.0]])

    def _generate_and_score_completions(self, inputs):
        rewards = self._calculate_rewards(inputs, None, None, None)[:, 0]
        grouped = rewards.view(-1, 2).mean(1).repeat_interleave(2)
        return {
            "prompt_ids": torch.tensor([[0, 2], [0, 2], [3, 4], [3, 4]]),
            "prompt_mask": torch.tensor([[0, 1], [0, 1], [1, 1], [1, 1]]),
            "completion_ids": torch.tensor([[3, 1, 0], [4, 5, 5], [1, 0, 0], [2, 3, 1]]),
            "completion_mask": torch.tensor([[1, 1, 0], [1, 1, 1], [1, 0, 0], [1, 1, 1]]),
            "advantages": rewards - grouped,
        }

    def _get_per_token_logps_and_entropies(self, model, input_ids, attention_mask, logits_to_keep):
        logits = model(input_ids).logits[:, -logits_to_keep - 1 : -1]
        return logits.log_softmax(-1).gather(2, input_ids[:, -logits_to_keep:, None]).squeeze(2), None, None

    def _compute_loss(self, model, inputs):
        ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
        mask = inputs["completion_mask"]
        logps, _, _ = self._get_per_token_logps_and_entropies(model, ids, None, mask.shape[1])
        ratio = (logps - logps.detach()).exp()
        parts = -ratio * inputs["advantages"][:, None] * mask
        return (parts.sum(-1) / mask.sum(-1)).mean() / self.args.gradient_accumulation_steps

    def training_step(self, model, inputs, num_items_in_batch):
        loss = self._compute_loss(model, inputs)
        loss.backward()
        return loss.detach()

    def train(self):
        self.model.train()
        for _ in range(2):
            batch = self._generate_and_score_completions([])
            order = torch.tensor([2, 1, 3, 0])
            batch = {key: value[order] for key, value in batch.items()}
            for place in range(2):
                self.accelerator.sync_gradients = place == 1
                slice_ = {key: value[2 * place : 2 * place + 2] for key, value in batch.items()}
                self.training_step(self.model, slice_, None)
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.state.global_step += 1
