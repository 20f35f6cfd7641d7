"""What recording costs a small language model with a vocabulary of 150,000: CPU seconds of a step with and without the recorder, and bytes that it leaves.

python3 bench/tokens/overhead.py [RESPONSES] [PLACES]: prints JSON. The one thing to get wrong: most iterations are not kept, so that the cost of a kept one
counts once in `every` of them, and that of the others in all the rest.
"""

import json
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))

import torch
from torch import nn
from trueline_recorder import Recorder

VOCABULARY, SIZE, PROMPT, EVERY = 150_000, 128, 16, 10


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, SIZE)
        layer = nn.TransformerEncoderLayer(SIZE, 4, 4 * SIZE, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(SIZE, VOCABULARY, bias=False)

    def forward(self, ids):
        seen = torch.full((ids.shape[1], ids.shape[1]), float("-inf")).triu(1)
        return self.head(self.layers(self.token(ids), seen))


def step(model, optimizer, ids, recorder, slices=4):
    """One iteration of GRPO without its sampling: what is measured is the smallest step that there can be."""
    count, width = len(ids), ids.shape[1] - PROMPT
    advantage = torch.randn(count)
    if recorder:
        answers, prompts = ids[:, PROMPT:], ids[:, :PROMPT].tolist()
        logp = torch.full((count, width), -11.9)
        groups = [row // 8 for row in range(count)]
        recorder.responses(
            answers, prompts=prompts, sampler_logp=logp, group=groups, reward=advantage, advantage=advantage
        )
    optimizer.zero_grad()
    for rows in torch.arange(count).chunk(slices):
        logits = model(ids[rows])[:, PROMPT - 1 : -1]
        new = logits.log_softmax(-1).gather(2, ids[rows, PROMPT:, None]).squeeze(2)
        if recorder:
            recorder.replays(
                response=rows, new_logp=new, logits=logits, old_logp=new.detach(), advantage=advantage[rows]
            )
        (-(new * advantage[rows, None]).sum() / (count * width)).backward()
    optimizer.step()
    if recorder:
        recorder.step(loss=0.0)


def measure(count, width, times=1):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    ids = torch.randint(0, VOCABULARY, (count, PROMPT + width))
    folder = tempfile.mkdtemp()
    settings = {"temperature": 0.8, "top_p": 0.95}
    keeps = {"every": 1 << 30, "strict": True, "control": model, "settings": settings}
    recorder = Recorder(f"{folder}/kept", first=times + 1, **keeps)
    skipping = Recorder(f"{folder}/skipped", first=1, **keeps)
    spent = {"plain": [], "kept": [], "skipped": []}
    for turn in range(times + 1):
        for name, own in (("plain", None), ("kept", recorder), ("skipped", skipping)):
            begun = time.process_time()
            step(model, optimizer, ids, own)
            if turn > 0:  # the first warms up, and is kept by both
                spent[name].append(time.process_time() - begun)
    recorder.close()
    skipping.close()
    size = sum(file.stat().st_size for file in pathlib.Path(f"{folder}/kept").rglob("*.npz")) / (times + 1)
    shutil.rmtree(folder)
    plain, kept, skipped = (statistics.median(spent[name]) for name in ("plain", "kept", "skipped"))
    usual = (kept + (EVERY - 1) * skipped) / EVERY
    return {
        "responses": count,
        "places": width,
        "step": round(plain, 3),
        "kept step": round(kept, 3),
        "step that is not kept": round(skipped, 3),
        "overhead of a kept step": round(kept / plain - 1, 4),
        "overhead of a step that is not kept": round(skipped / plain - 1, 4),
        "overhead at defaults": round(usual / plain - 1, 4),
        "bytes per kept step": round(size),
        "MB per hour at defaults": round(size * 3600 / usual / EVERY / 1e6, 2),
    }


if __name__ == "__main__":
    print(
        json.dumps(
            measure(*(int(part) for part in sys.argv[1:3])) if len(sys.argv) > 2 else measure(64, 32, 7), indent=2
        )
    )
