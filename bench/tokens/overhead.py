"""What recording costs a small language model with a vocabulary of 150,000: CPU seconds of a step with and without the recorder, and bytes that it leaves.

python3 bench/tokens/overhead.py [RESPONSES] [PLACES]: prints JSON. The one thing to get wrong: most iterations are not kept, so that the cost of a kept one
counts once in `every` of them.
"""

import json
import pathlib
import shutil
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
    recorder = Recorder(f"{folder}/run", strict=True, control=model, settings=settings, first=times + 1, every=EVERY)
    step(model, optimizer, ids, None)  # warm
    step(model, optimizer, ids, recorder)
    spent = {"plain": [], "recorded": []}
    for _ in range(times):
        for name, own in (("plain", None), ("recorded", recorder)):
            begun = time.process_time()
            step(model, optimizer, ids, own)
            spent[name].append(time.process_time() - begun)
    skipped = time.process_time()
    step(model, optimizer, ids, recorder)  # an iteration that is not kept
    skipped = time.process_time() - skipped
    recorder.close()
    size = sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*.npz")) / (times + 1)
    shutil.rmtree(folder)
    plain, recorded = min(spent["plain"]), min(spent["recorded"])
    return {
        "responses": count,
        "places": width,
        "step": round(plain, 3),
        "kept step": round(recorded, 3),
        "step that is not kept": round(skipped, 3),
        "overhead of a kept step": round(recorded / plain - 1, 4),
        "overhead at defaults": round((recorded / plain - 1) / EVERY, 4),
        "bytes per kept step": round(size),
        "MB per hour at defaults": round(size * 3600 / plain / EVERY / 1e6, 2),
    }


if __name__ == "__main__":
    print(
        json.dumps(
            measure(*(int(part) for part in sys.argv[1:3])) if len(sys.argv) > 2 else measure(64, 32, 3), indent=2
        )
    )
