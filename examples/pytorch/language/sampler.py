"""The sampler: its own copy of the weights, left padding, a key-value cache, and a cache of prompts that is emptied whenever weights arrive."""

import copy

import torch

from . import tasks


class Sampler:
    """Samples responses and reports log-probabilities: of the kept tokens ("kept"), of all at the temperature ("full"), or at temperature 1 ("plain")."""

    def __init__(self, model, options):
        self.model = copy.deepcopy(model).eval()
        self.options = options
        self.version = 0
        self.prompts = {}  # text -> (version, keys and values)

    def load(self, weights, version):
        self.model.load_state_dict(weights)
        self.version = version
        self.forget()

    def forget(self):
        self.prompts.clear()

    def padded(self, rows):
        width = max(len(row) for row in rows)
        ids = torch.tensor([[tasks.PAD] * (width - len(row)) + row for row in rows])
        real = torch.tensor([[False] * (width - len(row)) + [True] * len(row) for row in rows])
        return ids, real

    def positions(self, real):
        return (real.long().cumsum(1) - 1).clamp(min=0)

    def attended(self, real):
        """Which places may be looked at at all: padding may not."""
        return real

    def visible(self, real):
        """What every place may look at: itself, and real tokens before it."""
        length = real.shape[1]
        real = self.attended(real)
        return (torch.ones(length, length, dtype=torch.bool).tril() & real[:, None]) | torch.eye(
            length, dtype=torch.bool
        )

    def scaled(self, logits):
        return logits.float() / self.options.temperature

    def kept(self, scores):
        """Which tokens top-k and top-p leave; the most probable one always."""
        keep = torch.ones_like(scores, dtype=torch.bool)
        if self.options.top_k:
            keep &= scores >= scores.topk(self.options.top_k, 1).values[:, -1:]
        if self.options.top_p < 1:
            order = scores.masked_fill(~keep, -1e30).softmax(1).sort(1, descending=True)
            inside = order.values.cumsum(1) - order.values < self.options.top_p
            keep &= torch.zeros_like(keep).scatter(1, order.indices, inside)
        return keep

    def reported(self, logits, scores, keep, token):
        """The log-probability that is handed to the trainer."""
        which = {"plain": logits.float(), "full": scores, "kept": scores.masked_fill(~keep, -1e30)}[
            self.options.sampler_logp
        ]
        return which.log_softmax(1).gather(1, token[:, None]).squeeze(1)

    def prefill(self, rows, ids, real, positions, seen):
        """Keys and values of all prompts but for their last token; what the cache of prompts knows is taken from there."""
        _, caches = self.model(ids, positions, seen, [(self.empty(ids), self.empty(ids))] * len(self.model.blocks))
        found = []
        for place, row in enumerate(rows):
            known = self.prompts.get(tuple(row)) if self.options.prefix_cache else None
            found.append((0, self.version) if known is None else (len(row) - 1, known[0]))
            start = ids.shape[1] - len(row) + 1
            for layer, pair in enumerate(caches):
                for which, tensor in enumerate(pair):
                    if known is not None:
                        tensor[place, :, start:] = known[1][layer][which]
            if known is None and self.options.prefix_cache:
                held = [(keys[place, :, start:].clone(), values[place, :, start:].clone()) for keys, values in caches]
                self.prompts[tuple(row)] = (self.version, held)
        return caches, found

    def empty(self, ids):
        heads = self.model.blocks[0].heads
        kind = torch.bfloat16 if torch.is_autocast_cpu_enabled() else torch.float32
        return torch.zeros(len(ids), heads, 0, self.model.head.in_features // heads, dtype=kind)

    @torch.no_grad()
    def sample(self, prompts, dice):
        """One response per prompt text: ids, log-probabilities and what else is known of them."""
        rows = [tasks.encode(text) for text in prompts]
        ids, real = self.padded(rows)
        positions, seen = self.positions(real), self.visible(real)
        caches, cached = self.prefill(rows, ids[:, :-1], real[:, :-1], positions[:, :-1], seen[:, :-1, :-1])
        current, place = ids[:, -1:], positions[:, -1:]
        out = [Response(text, row) for text, row in zip(prompts, rows)]
        for response, pads, (tokens, version) in zip(out, (~real).sum(1).tolist(), cached):
            response.sampler_padding, response.version = pads, self.version
            response.cached_tokens, response.cached_version = tokens, version
        for _ in range(self.options.max_response_length):
            visible = self.attended(real)[:, None].clone()
            visible[:, 0, -1] = True
            logits, caches = self.model(current, place, visible, caches)
            logits = logits[:, -1].float()
            scores = self.scaled(logits)
            keep = self.kept(scores)
            token = torch.multinomial(scores.masked_fill(~keep, -1e30).softmax(1), 1, generator=dice).squeeze(1)
            logp = self.reported(logits, scores, keep, token)
            mass = (scores.softmax(1) * keep).sum(1)
            next_ids = [r.take(i, p, m) for r, i, p, m in zip(out, token.tolist(), logp.tolist(), mass.tolist())]
            if all(response.finish for response in out):
                break
            current = torch.tensor(next_ids)[:, None]
            place = place + 1
            alive = torch.tensor([[not response.finish] for response in out])
            real = torch.cat([real, alive], 1)
        for response in out:
            response.finish = response.finish or "length"
        return out


class Response:
    """One response while it grows. What a tool writes is forced upon the model: it has no log-probability of the sampler's."""

    def __init__(self, prompt, prompt_ids):
        self.prompt, self.prompt_ids = prompt, prompt_ids
        self.ids, self.logp, self.mass, self.source = [], [], [], []
        self.finish, self.turns, self.forced = "", 1, []

    def take(self, token, logp, mass):
        if self.finish:
            return tasks.PAD
        if self.forced:
            token = self.forced.pop(0)
            self.add(token, float("nan"), float("nan"), "environment")
            return token
        self.add(token, logp, mass, "sampled")
        if token == tasks.END:
            self.finish = "stop"
        elif tasks.decode([token]) == "]" and self.prompt.endswith("?") and self.turns == 1:
            self.forced, self.turns = tasks.encode(tasks.tool(self.text())), 2
        return token

    def add(self, token, logp, mass, source):
        self.ids.append(token)
        self.logp.append(logp)
        self.mass.append(mass)
        self.source.append(source)

    def text(self):
        return tasks.decode(self.ids)
