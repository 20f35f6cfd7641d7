"""A causal transformer with learned positions, low-rank adapters and a key-value cache. Positions are given, never counted here: padding must not move them."""

import torch
from torch import nn
from torch.nn import functional

from .tasks import CHARACTERS

VOCABULARY = len(CHARACTERS)


class Adapted(nn.Linear):
    """A linear layer with a low-rank adapter beside it, where rank is not 0."""

    def __init__(self, inputs, outputs, rank):
        super().__init__(inputs, outputs)
        self.on = True
        self.down = nn.Parameter(torch.randn(rank, inputs) * inputs**-0.5) if rank else None
        self.up = nn.Parameter(torch.zeros(outputs, rank)) if rank else None

    def forward(self, x):
        y = super().forward(x)
        return y + 2.0 * ((x @ self.down.t()) @ self.up.t()) if self.on and self.down is not None else y


class Block(nn.Module):
    def __init__(self, size, heads, rank, dropout):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(size), nn.LayerNorm(size)
        self.query, self.value = Adapted(size, size, rank), Adapted(size, size, rank)
        self.key, self.out = nn.Linear(size, size), nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, seen, cache):
        y = self.before(x)
        query, key, value = self.split(self.query(y)), self.split(self.key(y)), self.split(self.value(y))
        if cache is not None:
            key, value = torch.cat([cache[0], key], 2), torch.cat([cache[1], value], 2)
        scores = (query @ key.transpose(2, 3)).float() * query.shape[-1] ** -0.5
        scores = scores.masked_fill(~seen[:, None], -1e9)
        mixed = (scores.softmax(-1).to(value.dtype) @ value).transpose(1, 2).reshape(x.shape)
        x = x + self.dropout(self.out(mixed))
        x = x + self.dropout(self.narrow(functional.gelu(self.wide(self.between(x)))))
        return x, (key, value)


class Model(nn.Module):
    """Logits, or one value per place with outputs=1. `seen` (rows, places, places that may be looked at) is the whole attention mask."""

    def __init__(self, size=64, heads=4, layers=2, places=96, rank=0, dropout=0.0, outputs=VOCABULARY):
        super().__init__()
        self.token, self.place = nn.Embedding(VOCABULARY, size), nn.Embedding(places, size)
        self.blocks = nn.ModuleList(Block(size, heads, rank, dropout) for _ in range(layers))
        self.last, self.head = nn.LayerNorm(size), nn.Linear(size, outputs)

    def forward(self, ids, positions, seen, caches=None):
        x = self.token(ids) + self.place(positions)
        grown = []
        for layer, block in enumerate(self.blocks):
            x, cache = block(x, seen, None if caches is None else caches[layer])
            grown.append(cache)
        logits = self.head(self.last(x))
        return logits if caches is None else (logits, grown)

    def adapters(self):
        return [parameter for name, parameter in self.named_parameters() if name.endswith((".down", ".up"))]

    def switch(self, on):
        for module in self.modules():
            if isinstance(module, Adapted):
                module.on = on


def plain(model, ids):
    """Rows without padding, positions from 0: how a response is scored when nothing can go wrong."""
    length = ids.shape[1]
    seen = torch.ones(length, length, dtype=torch.bool).tril().expand(len(ids), -1, -1)
    return model(ids, torch.arange(length).expand_as(ids), seen)
