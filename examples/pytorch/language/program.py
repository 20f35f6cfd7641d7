"""The training program: sample, grade, compare, update. Every stage is a small method, so that one can be read, or replaced, by itself."""

import contextlib
import copy
import math
import random

import torch
from torch import nn

from . import batching, credit, tasks
from .model import Model, plain
from .options import declared
from .recording import earlier_scorer, record
from .sampler import Sampler
from .update import Update

BASES = {}  # warmed-up weights by what made them: many short runs in one process share them


class Program:
    def __init__(self, options, recorder_class=None):
        self.options = options
        torch.manual_seed(options.seed)
        self.random = random.Random(options.seed)
        self.dice = torch.Generator().manual_seed(options.seed)
        self.model = Model(size=options.size, rank=options.lora, dropout=options.dropout)
        self.warm_up()
        self.reference = copy.deepcopy(self.model).eval()
        self.critic = Model(size=options.size, outputs=1) if options.baseline == "critic" else None
        self.optimizer = torch.optim.Adam(self.trainable(), lr=options.learning_rate)
        self.sampler = Sampler(self.model, options)
        self.pool = tasks.pool(options.task, options.pool, options.seed) if options.pool else None
        self.version, self.groups, self.history = 0, 0, {0: copy.deepcopy(self.model.state_dict())}
        self.update = Update(self)
        self.recorder = None
        if options.out and recorder_class:
            self.recorder = recorder_class(
                options.out,
                algorithm=options.algorithm,
                seed=options.seed,
                settings=declared(options),
                control=self.clean,
                control_kept=options.responses_kept,
                responses_kept=options.responses_kept,
                overwrite=True,
            )

    # - the model -

    def warm_up(self):
        """A little teaching, so that rewards are not all 0: what a base model is to a large one."""
        options = self.options
        key = (options.task, options.size, options.warm_up, options.seed, options.lora)
        if key not in BASES:
            optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)
            for _ in range(options.warm_up):
                lessons = [Lesson(*tasks.draw(options.task, self.random)) for _ in range(64)]
                rows = batching.lay_out(lessons, range(len(lessons)), "right")
                logits = self.model(rows.ids, rows.positions, rows.seen)[:, :-1]
                loss = (
                    nn.functional.cross_entropy(logits.transpose(1, 2), rows.ids[:, 1:], reduction="none") * rows.mask
                ).sum()
                optimizer.zero_grad()
                (loss / rows.mask.sum()).backward()
                optimizer.step()
            BASES[key] = (copy.deepcopy(self.model.state_dict()), self.random.getstate())
        weights, state = BASES[key]
        self.model.load_state_dict(weights)
        self.random.setstate(state)

    def trainable(self):
        policy = self.model.adapters() if self.options.lora else list(self.model.parameters())
        return policy + (list(self.critic.parameters()) if self.critic is not None else [])

    def precision(self):
        half = self.options.precision == "bf16"
        return torch.autocast("cpu", dtype=torch.bfloat16) if half else contextlib.nullcontext()

    def forward(self, model, rows):
        with self.precision():
            return model(rows.ids, rows.positions, rows.seen)

    def tempered(self, logits):
        return logits.float() / self.options.temperature

    def logp(self, logits, rows):
        """The log-probability of every token but the first of a row."""
        return self.tempered(logits[:, :-1]).log_softmax(-1).gather(2, rows.ids[:, 1:, None]).squeeze(2)

    @torch.no_grad()
    def clean(self, ids, model=None):
        """A pass in which nothing can go wrong, for the recorder."""
        with self.precision(), evaluating(model or self.model) as own:
            return plain(own, ids).float()

    # - collect -

    def draw_prompts(self):
        draw = (
            (lambda: self.random.choice(self.pool))
            if self.pool
            else (lambda: tasks.draw(self.options.task, self.random))
        )
        return [draw() for _ in range(self.options.prompts)]

    def collect(self):
        """Groups of responses with their grades."""
        asked = [pair for pair in self.draw_prompts() for _ in range(self.options.group_size)]
        with self.precision():
            responses = self.sampler.sample([prompt for prompt, _ in asked], self.dice)
        for place, (response, (_, answer)) in enumerate(zip(responses, asked)):
            response.group = self.groups + place // self.options.group_size
            response.answer, response.sampled_ids, response.sampled_logp = (
                answer,
                list(response.ids),
                list(response.logp),
            )
            response.masked = response.finish == "length" and self.options.truncated == "mask"
        self.groups += self.options.prompts
        return responses

    def grade(self, responses):
        for place, response in enumerate(responses):
            response.graded = tasks.grade(response.prompt, response.text(), response.answer)
            response.rewarded_as = place
        return [response.graded for response in responses]

    # - what is known before the update -

    def rows(self, responses, which):
        if self.options.packing:
            return batching.pack(responses, which, self.options.packing)
        return batching.lay_out(responses, which, self.options.padding)

    @torch.no_grad()
    def passes(self, responses):
        """What the update needs from passes made before its first step: old log-probabilities, the reference's, values, positions."""
        rows = self.rows(responses, range(len(responses)))
        found = {"position": batching.gather(rows, rows.positions[:, 1:].float(), responses)}
        if self.options.old_logp == "trainer":
            found["old_logp"] = batching.gather(rows, self.logp(self.forward(self.model, rows), rows), responses)
        elif self.options.old_logp == "sampler":
            found["old_logp"] = [[0.0 if math.isnan(p) else p for p in response.logp] for response in responses]
        found["reference"] = batching.gather(rows, self.reference_logp(rows), responses)
        if self.critic is not None:
            values = self.forward(self.critic, rows)[:, :-1, 0].float()
            found["value"] = batching.gather(rows, values, responses)
        return found

    def reference_logp(self, rows):
        return self.logp(self.forward(self.reference, rows), rows)

    def credit(self, responses, rewards, found):
        """Advantages, per response or per token, with the KL penalty where it belongs to the reward."""
        options = self.options
        graded = [
            0.0 if options.truncated == "zero" and r.finish == "length" else own for r, own in zip(responses, rewards)
        ]
        behaviour = found.get("old_logp") or [response.logp for response in responses]
        penalty = self.penalty(responses, behaviour, found["reference"])
        if options.credit == "token":
            values = found.get("value") or [None] * len(responses)
            parts = [
                credit.per_token(response, reward, own, value, options)
                for response, reward, own, value in zip(responses, graded, penalty, values)
            ]
            found["reward"], found["raw"], found["return"] = (list(column) for column in zip(*parts))
            found["advantage"] = credit.whitened(
                found["raw"], [batching.cells(r)[1][len(r.prompt_ids) :] for r in responses]
            )
            found["paid"] = graded
            return
        found["paid"] = [reward - sum(own) for reward, own in zip(graded, penalty)]
        paid, groups = torch.tensor(found["paid"]), torch.tensor([response.group for response in responses])
        members = torch.tensor([options.baseline_members == "all" or not response.masked for response in responses])
        found["each"] = self.advantages(paid, groups, members).tolist()
        found["advantage"] = [[own] * len(response.ids) for own, response in zip(found["each"], responses)]

    def advantages(self, paid, groups, members):
        return credit.per_response(paid, groups, members, self.options)

    def penalty(self, responses, behaviour, reference):
        """The KL term of each token's reward; nothing where it belongs to the loss."""
        options = self.options
        if options.kl == "none" or options.kl_place != "reward":
            return [[0.0] * len(response.ids) for response in responses]
        out = []
        for response, own, other in zip(responses, behaviour, reference):
            gaps = credit.kl_estimate(options.kl, torch.tensor(own), torch.tensor(other)) * options.kl_coefficient
            out.append([g if s == "sampled" else 0.0 for g, s in zip(gaps.tolist(), response.source)])
        return out

    # - publish -

    def publish(self):
        """Hands the weights to the sampler, as late as it was agreed."""
        self.version += 1
        self.history[self.version] = copy.deepcopy(self.model.state_dict())
        late = max(0, self.version - self.options.sampler_lag)
        self.sampler.load(self.history[late], late)
        for old in [old for old in self.history if old < self.version - 2]:
            del self.history[old]

    def earlier(self):
        """A scorer with the weights before the last publication, and their version."""
        before = self.version - 1
        return (earlier_scorer(self, before), before) if before in self.history else (None, None)

    def iterate(self):
        """One cycle: sample, grade, compare, update, publish. Returns the mean grade."""
        responses = self.collect()
        rewards = self.grade(responses)
        found = self.passes(responses)
        self.credit(responses, rewards, found)
        if self.recorder:
            record(self, responses, found)
        self.update.run(responses, found)
        self.publish()
        return sum(response.graded for response in responses) / len(responses)


class Lesson:
    """A response of the teacher's, in the shape of one of the sampler's."""

    masked = False

    def __init__(self, prompt, answer):
        pieces = tasks.worked(prompt, answer)
        self.prompt_ids = tasks.encode(prompt)
        self.ids = [i for text, _ in pieces for i in tasks.encode(text)]
        self.source = ["sampled" if own else "environment" for text, own in pieces for _ in text]


@contextlib.contextmanager
def evaluating(model):
    mode = model.training
    model.eval()
    yield model
    model.train(mode)
