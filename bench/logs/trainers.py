"""Logs of programs that train, each by that program's own logger."""

import contextlib
import io
import os
import types

from figure_names import PLAIN, named, part_of, stands_for


def pfrl(agents, rows, out):
    """PFRL's scores.txt, with the statistics of its PPO."""
    from pfrl.experiments import evaluator

    statistics = (
        "average_value",
        "average_entropy",
        "average_value_loss",
        "average_policy_loss",
        "n_updates",
        "explained_variance",
    )
    ours = (None, "entropy", "value_loss", "policy_loss", None, "explained_variance")
    agent = types.SimpleNamespace(get_statistics=lambda: [(name, 0.0) for name in statistics])
    env = types.SimpleNamespace(get_statistics=list)
    evaluator.write_header(out, agent, env)
    for row in rows[0]:
        paid = row["return"] if row["return"] is not None else float("nan")
        evaluation = (row["step"], row["update"], 1.5 * row["update"], paid, paid, 0.0, paid, paid)
        figures = [row.get(name) if name else float(row["update"]) for name in ours]
        evaluator.record_stats(out, (*evaluation, *figures))


def rsl_rl(agents, rows, out):
    """What rsl_rl's runner prints."""
    from collections import deque

    import torch
    from rsl_rl.runners import OnPolicyRunner

    with open(os.path.join(out, "train.log"), "w") as file, contextlib.redirect_stdout(file):
        for row in rows[0]:
            paid = deque([] if row["return"] is None else [row["return"]], maxlen=100)
            policy = types.SimpleNamespace(action_std=torch.ones(2))
            algorithm = types.SimpleNamespace(policy=policy, learning_rate=row["learning_rate"], rnd=None)
            silent = types.SimpleNamespace(add_scalar=lambda *_: None)
            runner = types.SimpleNamespace(
                num_steps_per_env=32,
                env=types.SimpleNamespace(num_envs=16),
                gpu_world_size=1,
                tot_timesteps=row["step"],
                tot_time=float(row["update"]),
                writer=silent,
                alg=algorithm,
                logger_type="tensorboard",
                device="cpu",
            )
            names = {"value_loss": "value_function", "policy_loss": "surrogate", "entropy": "entropy"}
            local = {
                "collection_time": 0.5,
                "learn_time": 0.5,
                "ep_infos": [],
                "it": row["update"],
                "tot_iter": len(rows[0]),
                "start_iter": 0,
                "num_learning_iterations": len(rows[0]),
                "rewbuffer": paid,
                "lenbuffer": deque([30.0] * len(paid)),
                "loss_dict": named(row, names),
                "mean_std": policy.action_std.mean(),
            }
            OnPolicyRunner.log(runner, local)


def verl(agents, rows, out):
    """What verl's console logger prints."""
    logger = part_of("verl", "utils/logger/aggregate_logger.py").LocalLogger()
    names = {
        "approx_kl": "actor/ppo_kl",
        "clip_fraction": "actor/pg_clipfrac",
        "entropy": "actor/entropy",
        "policy_loss": "actor/pg_loss",
    }
    names |= {
        "value_loss": "critic/vf_loss",
        "grad_norm": "actor/grad_norm",
        "learning_rate": "actor/lr",
        "return": "critic/score/mean",
    }
    names |= {"advantage_mean": "critic/advantages/mean"}
    with open(os.path.join(out, "train.log"), "w") as file, contextlib.redirect_stdout(file):
        for row in rows[0]:
            logger.log(named(row, names), row["step"])


def ray(agents, rows, out):
    """Ray Tune's JSON logger, with the results of RLlib's PPO."""
    from ray.tune.logger import JsonLogger

    names = {"approx_kl": "kl", "entropy": "entropy", "policy_loss": "policy_loss", "value_loss": "vf_loss"}
    names |= {"explained_variance": "vf_explained_var", "learning_rate": "cur_lr", "grad_norm": "grad_gnorm"}
    logger = JsonLogger({"gamma": 0.99, "num_sgd_iter": 4}, out)
    for i, row in enumerate(rows[0]):
        learner = {
            (agents[k] if len(rows) > 1 else "default_policy"): {"learner_stats": named(own[i], names)}
            for k, own in enumerate(rows)
        }
        paid = (
            {f"policy_reward_mean/{agents[k]}": own[i]["return"] for k, own in enumerate(rows)} if len(rows) > 1 else {}
        )
        result = {
            "info": {"learner": learner},
            "timesteps_total": row["step"],
            "training_iteration": i + 1,
            "config": {"gamma": 0.99},
        }
        result["episode_reward_mean"] = row["return"] if row["return"] is not None else float("nan")
        result["policy_reward_mean"] = {name.split("/")[1]: value for name, value in paid.items() if value is not None}
        logger.on_result(result)
    logger.close()


SB3 = {
    "return": "rollout/ep_rew_mean",
    "approx_kl": "train/approx_kl",
    "clip_fraction": "train/clip_fraction",
    "entropy": "-train/entropy_loss",
    "explained_variance": "train/explained_variance",
    "learning_rate": "train/learning_rate",
    "policy_loss": "train/policy_gradient_loss",
    "value_loss": "train/value_loss",
}


def sb3(rows, out, kind):
    """Stable-Baselines3's logger, with what its PPO records."""
    from stable_baselines3.common.logger import configure

    with contextlib.redirect_stdout(io.StringIO()):
        logger = configure(out, [kind])
    for row in rows[0]:
        logger.record("time/iterations", row["update"] + 1, exclude="tensorboard")
        logger.record("time/total_timesteps", row["step"], exclude="tensorboard")
        for name, value in named(row, SB3).items():
            logger.record(name, value)
        logger.record("train/n_updates", 4 * (row["update"] + 1), exclude="tensorboard")
        logger.record("train/clip_range", 0.2)
        logger.dump(step=row["step"])
    logger.close()


def sb3_csv(agents, rows, out):
    sb3(rows, out, "csv")


def sb3_json(agents, rows, out):
    sb3(rows, out, "json")


def sb3_log(agents, rows, out):
    sb3(rows, out, "log")


def sb3_tensorboard(agents, rows, out):
    sb3(rows, out, "tensorboard")


def sb3_monitor(agents, rows, out):
    """Stable-Baselines3's monitor.csv: episodes alone."""
    from stable_baselines3.common.monitor import ResultsWriter

    writer = ResultsWriter(os.path.join(out, "monitor.csv"), header={"t_start": 0.0, "env_id": "CartPole-v1"})
    for row in rows[0]:
        if row["return"] is not None:
            writer.write_row({"r": round(row["return"], 6), "l": 30, "t": round(1.5 * row["update"], 6)})
    writer.close()


def tianshou(agents, rows, out):
    """Tianshou's TensorBoard logger."""
    from torch.utils.tensorboard import SummaryWriter

    for path in ("utils/warning.py", "utils/logger/base.py"):
        stands_for("tianshou", path)
    logger = part_of("tianshou", "utils/logger/tensorboard.py").TensorboardLogger(
        SummaryWriter(out), train_interval=1, update_interval=1
    )
    for row in rows[0]:
        logger.log_update_data(
            named(row, {"policy_loss": "loss/clip", "value_loss": "loss/vf", "entropy": "loss/ent"}), row["step"]
        )
        if row["return"] is not None:
            logger.log_train_data(
                {"n/ep": 8, "rew": row["return"], "rew_std": 0.1, "len": 30.0, "len_std": 0.0}, row["step"]
            )
    logger.writer.close()


def acme(agents, rows, out):
    """What Acme's terminal logger prints."""
    stands_for("acme", "utils/loggers/base.py")
    terminal = part_of("acme", "utils/loggers/terminal.py")
    names = {"return": "episode_return", "approx_kl": "approx_kl", "entropy": "entropy", "policy_loss": "policy_loss"}
    names |= {"value_loss": "critic_loss", "learning_rate": "learning_rate", "step": "steps"}
    with open(os.path.join(out, "train.log"), "w") as file:
        logger = terminal.TerminalLogger("learner", print_fn=lambda line: print(line, file=file))
        for row in rows[0]:
            logger.write(named(row, names))


def aim(agents, rows, out):
    """Aim's repository, exported as the tables that its SDK gives."""
    import pandas
    from aim import Run

    run = Run(repo=out, log_system_params=False, system_tracking_interval=None, capture_terminal_logs=False)
    for row in rows[0]:
        for name, value in named(row, PLAIN).items():
            run.track(value, name=name, step=row["step"], context={"subset": "train"})
    tables = [metric.dataframe(include_name=True, include_context=True) for metric in run.metrics()]
    run.close()
    pandas.concat(tables).to_csv(os.path.join(out, "metrics.csv"), index=False)


def spinning_up(agents, rows, out):
    """By hand, to the format that Spinning Up documents (progress.txt): the program itself is not on PyPI."""
    names = {
        "return": "AverageEpRet",
        "value_loss": "LossV",
        "policy_loss": "LossPi",
        "approx_kl": "KL",
        "entropy": "Entropy",
    }
    names |= {"clip_fraction": "ClipFrac", "epochs_run": "StopIter", "step": "TotalEnvInteracts"}
    with open(os.path.join(out, "progress.txt"), "w") as file:
        print("Epoch", *names.values(), sep="\t", file=file)
        for row in rows[0]:
            print(row["update"], *(named(row, names).get(name, "") for name in names.values()), sep="\t", file=file)
