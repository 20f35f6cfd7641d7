"""Responses as the trainer's rows: padded on the right, prompts padded on the left, or packed. Every entry knows whose token it is and where it stands."""

from typing import NamedTuple

import torch

from . import tasks


class Rows(NamedTuple):
    """ids, positions and what may be seen (rows, places); for the targets, one place later: response (-1 where there is none), t, and the loss mask."""

    ids: torch.Tensor
    positions: torch.Tensor
    seen: torch.Tensor
    response: torch.Tensor
    t: torch.Tensor
    mask: torch.Tensor
    pack: torch.Tensor


def cells(response):
    """Ids of one response with its prompt, and which of them are trained."""
    trained = [False] * len(response.prompt_ids) + [
        source == "sampled" and not response.masked for source in response.source
    ]
    return response.prompt_ids + response.ids, trained


def margins(responses, padding):
    """How much padding stands before each response, and how wide rows are: the same in all of an iteration's batches."""
    longest = max(len(response.prompt_ids) for response in responses)
    before = [longest - len(response.prompt_ids) if padding == "left" else 0 for response in responses]
    return before, max(left + len(cells(response)[0]) for left, response in zip(before, responses))


def lay_out(responses, which, padding):
    """A row per response. `padding` is "right", or "left": then prompts end, and answers begin, in one column."""
    before, width = margins(responses, padding)
    return fill([[(before[index], (index, *cells(responses[index])))] for index in which], width)


def pack(responses, which, width):
    """Several responses in one row, as many as it holds; each has its own positions and sees only itself."""
    rows, end = [[]], 0
    for index in which:
        ids, trained = cells(responses[index])
        if rows[-1] and end + len(ids) > width:
            rows.append([])
            end = 0
        rows[-1].append((end, (index, ids, trained)))
        end += len(ids)
    return fill(rows, max(left + len(part[1]) for row in rows for left, part in row))


def fill(rows, width):
    shape = (len(rows), width)
    ids, positions = torch.full(shape, tasks.PAD), torch.zeros(shape, dtype=torch.long)
    owner, t = torch.full(shape, -1), torch.zeros(shape, dtype=torch.long)
    mask = torch.zeros(shape)
    for place, parts in enumerate(rows):
        alone = len(parts) == 1
        for left, (index, own, trained) in parts:
            inside = slice(left, left + len(own))
            ids[place, inside] = torch.tensor(own)
            positions[place, inside] = torch.arange(len(own))
            mask[place, inside] = torch.tensor(trained, dtype=torch.float)
            owner[place, inside] = index
            t[place, inside] = torch.arange(len(own))
            if alone:  # padding belongs to the only response of a row
                owner[place] = index
                t[place] = torch.arange(width) - left
    return Rows(ids, positions, visible(rows, width), owner[:, 1:], t[:, 1:], mask[:, 1:], torch.arange(len(rows)))


def visible(rows, width):
    """Every place sees itself and what stands before it in its own response."""
    seen = torch.eye(width, dtype=torch.bool).repeat(len(rows), 1, 1)
    for place, parts in enumerate(rows):
        for left, (_, own, _) in parts:
            inside = slice(left, left + len(own))
            seen[place, inside, inside] = torch.ones(len(own), len(own), dtype=torch.bool).tril()
    return seen


def places_of(rows, responses):
    """For every entry: its response, its place after the prompt, and whether that is a token of the response."""
    starts = torch.tensor([len(response.prompt_ids) for response in responses])
    lengths = torch.tensor([len(response.ids) for response in responses])
    owner = rows.response.clamp(min=0)
    at = rows.t - starts[owner]
    return owner, at, (rows.response >= 0) & (at >= 0) & (at < lengths[owner])


def gather(rows, grid, responses):
    """Entries of a grid as lists, one per response; the prompt's and the padding's are left out."""
    owner, at, inside = places_of(rows, responses)
    table = torch.full((len(responses), max(len(response.ids) for response in responses)), float("nan"))
    table[owner[inside], at[inside]] = grid[inside].float()
    return [row[: len(response.ids)] for row, response in zip(table.tolist(), responses)]


def spread(rows, lists, responses):
    """The other way round; 0 where there is nothing to know."""
    owner, at, inside = places_of(rows, responses)
    width = max(len(row) for row in lists)
    table = torch.tensor([row + [0.0] * (width - len(row)) for row in lists])
    return torch.where(inside, table[owner, at.clamp(0, width - 1)], torch.zeros(()))
