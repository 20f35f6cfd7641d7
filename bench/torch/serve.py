"""Times PPO tasks in PyTorch. Reads one JSON request a line and answers each with the seconds that it took, one JSON line each."""
import json
import sys
import time

import torch

import ppo

learners = {}
rows_of = {}


def learner(request):
    key = (tuple(request["hidden"]), request.get("graph", "eager"), request.get("adam", "flat"))
    if key not in learners:
        learners[key] = ppo.Learner(request["inputs"], *key)
    return learners[key]


def rows(count, inputs):
    if (count, inputs) not in rows_of:
        rows_of[count, inputs] = ppo.Rows(count, inputs)
    return rows_of[count, inputs]


def update(request):
    """Seconds per optimiser step on a minibatch gathered out of four times as many rows."""
    who, size = learner(request), request["rows"]
    pool = rows(4 * size, request["inputs"])
    order = torch.randperm(4 * size, generator=torch.Generator().manual_seed(3))
    begun = time.perf_counter()
    for i in range(request["repeat"]):
        who.update(*pool.minibatch(order[(i % 4) * size : (i % 4 + 1) * size]))
    return (time.perf_counter() - begun) / request["repeat"]


def forward(request):
    """Seconds for the decisions of a few rows: action, log-probability and value."""
    who, count = learner(request), request["rows"]
    some = rows(count, request["inputs"])
    uniform = torch.rand(count, 1)
    act = acts(request)
    arguments = (some.obs, some.illegal, uniform, *(p.detach() for p in who.parameters))
    with torch.inference_mode():
        for _ in range(20):
            act(*arguments)
        begun = time.perf_counter()
        for _ in range(request["repeat"]):
            act(*arguments)
        return (time.perf_counter() - begun) / request["repeat"]


def acts(request):
    return (ppo.scripted_acts if request.get("script") else ppo.ACTS)[request.get("sample", "cdf")]


def loop(request):
    """Seconds for one whole iteration of a game that costs nothing: play, credit, and all epochs."""
    who = learner(request)
    places, steps, inputs = request["worlds"] * request["seats"], request["steps"], request["inputs"]
    seats, minibatches = request["seats"], request["minibatches"]
    total = places * steps
    made = rows(total, inputs)
    shown, masks = made.obs.view(steps, places, inputs), made.illegal.view(steps, places, ppo.ACTIONS)
    paid = made.advantage.view(steps, places)
    obs, illegal = torch.empty_like(shown), torch.empty_like(masks)
    action = torch.empty(steps, places, 1, dtype=torch.int64)
    logp, value, reward = (torch.empty(steps, places) for _ in range(3))
    advantage = torch.empty(steps, places)
    act = acts(request)
    begun = time.perf_counter()
    with torch.inference_mode():
        uniform = torch.rand(steps, places, 1)
        parameters = [p.detach() for p in who.parameters]
        for t in range(steps):
            # What a program does with the observations that its game hands over.
            obs[t].copy_(shown[t])
            illegal[t].copy_(masks[t])
            chosen, its_logp, its_value = act(obs[t], illegal[t], uniform[t], *parameters)
            action[t].copy_(chosen)
            logp[t].copy_(its_logp.view(places))
            value[t].copy_(its_value.view(places))
            reward[t].copy_(paid[t])
        last = ppo.forward(obs[-1], *parameters[6:]).view(places)
        following = torch.cat([value[1:], last[None]])
        delta = reward.add(following, alpha=0.99).sub_(value)
        running = torch.zeros(places)
        for t in range(steps - 1, -1, -1):
            torch.add(delta[t], running, alpha=0.99 * 0.95, out=running)
            advantage[t].copy_(running)
        returns = advantage + value
        by_seat = advantage.view(-1, seats)
        normal = (by_seat - by_seat.mean(0)) / (by_seat.std(0, unbiased=False) + 1e-8)
    size = total // minibatches
    flat = (obs.view(total, inputs), illegal.view(total, -1), action.view(total, 1), logp.view(total))
    columns = [*flat, normal.reshape(total), returns.view(total)]
    columns = [column.clone() if column.is_inference() else column for column in columns]
    figures, values, norms = [], [], []
    for _ in range(request["epochs"]):
        for chosen in torch.randperm(total).view(minibatches, size):
            figure, value_loss, norm = who.update(*(column.index_select(0, chosen) for column in columns))
            figures.append(figure)
            values.append(value_loss)
            norms.append(norm)
    # What a program prints of an iteration.
    for kept in (figures, values, norms):
        torch.stack(kept).mean(0).tolist()
    (1 - advantage.var() / returns.var()).item()
    return time.perf_counter() - begun


def peak(request):
    """Seconds of one sgemm of size 1024, the fastest that was seen."""
    a, b, c = (torch.randn(1024, 1024) for _ in range(3))
    best = float("inf")
    for _ in range(request["repeat"]):
        begun = time.perf_counter()
        torch.mm(a, b, out=c)
        best = min(best, time.perf_counter() - begun)
    return best


def same(request):
    """The largest distance of any parameter from the caller's, after the caller's steps on the caller's rows from the caller's start."""
    who, count = ppo.Learner(request["inputs"], request["hidden"], request["graph"], request["adam"]), request["rows"]
    with torch.no_grad():
        for parameter, start in zip(who.parameters, request["before"]):
            parameter.copy_(torch.tensor(start).view_as(parameter))
    obs = torch.tensor(request["obs"]).view(count, -1)
    illegal = torch.tensor(request["legal"]).view(count, -1) == 0
    action = torch.tensor(request["action"]).view(count, 1)
    for _ in range(request["steps"]):
        who.update(obs, illegal, action, *(torch.tensor(request[name]) for name in ("oldLogp", "advantage", "returns")))
    pairs = zip(who.parameters, request["after"])
    return max((mine.detach().flatten() - torch.tensor(theirs)).abs().max().item() for mine, theirs in pairs)


def about(_request):
    """Which BLAS is really loaded; the name of the file says it."""
    with open("/proc/self/maps") as maps:
        found = sorted({line.split()[-1] for line in maps if "blas" in line.rsplit("/", 1)[-1]})
    return {"torch": torch.__version__, "blas": found}


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    torch.set_num_interop_threads(1)
    tasks = {"update": update, "forward": forward, "loop": loop, "peak": peak, "same": same, "about": about}
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(tasks[request["task"]](request)), flush=True)
