"""Writes figures of runs as logs, each by the logger of the program that it is named after: those programs' own code, from PyPI.

Reads a list of {"writer", "figures", "out"} as JSON from its standard input. A writer gets the updates of each agent as dictionaries and a folder to
write to, and names the figures as users of that program do. The one that is written by hand says so.
"""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import sys
import types
import warnings

warnings.filterwarnings("ignore")
os.environ.update(KERAS_BACKEND="torch", WANDB_SILENT="true", WANDB_MODE="offline", GIT_PYTHON_REFRESH="quiet")
os.environ.update(RAY_AIR_NEW_OUTPUT="0", MLFLOW_DISABLE_ENV_CREATION="true", TOKENIZERS_PARALLELISM="false")

SETTINGS = {"gamma": 0.99, "gae_lambda": 0.95, "update_epochs": 4, "num_minibatches": 4, "clip_coef": 0.2}


def number(value):
    """What JSON had no number for is spelt out; what was not measured stays None."""
    return float(value) if isinstance(value, str) else value


def named(row, names):
    """The figures of one update under another program's names; a minus negates. What was not measured is left out."""
    out = {}
    for ours, theirs in names.items():
        value = row.get(ours)
        if value is not None:
            out[theirs.lstrip("-")] = -value if theirs.startswith("-") else value
    return out


CLEANRL = {
    "learning_rate": "charts/learning_rate",
    "return": "charts/episodic_return",
    "value_loss": "losses/value_loss",
    "policy_loss": "losses/policy_loss",
    "entropy": "losses/entropy",
    "approx_kl": "losses/approx_kl",
    "clip_fraction": "losses/clipfrac",
    "explained_variance": "losses/explained_variance",
}


def torch_tensorboard(agents, rows, out):
    """torch.utils.tensorboard, used as CleanRL uses it."""
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(out)
    table = "\n".join(f"|{key}|{value}|" for key, value in SETTINGS.items())
    writer.add_text("hyperparameters", "|param|value|\n|-|-|\n" + table)
    for row in rows[0]:
        for name, value in named(row, CLEANRL).items():
            writer.add_scalar(name, value, row["step"])
        writer.add_scalar("charts/SPS", 1000 + row["update"], row["step"])
    writer.close()


ON_POLICY = {
    "value_loss": "value_loss",
    "policy_loss": "policy_loss",
    "entropy": "dist_entropy",
    "grad_norm": "actor_grad_norm",
    "ratio": "ratio",
    "return": "average_episode_rewards",
}


def tensorboardx(agents, rows, out):
    """tensorboardX, used as on-policy (MAPPO with separate policies) uses it."""
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(out)
    for i, own in enumerate(rows):
        for row in own:
            for name, value in named(row, ON_POLICY).items():
                key = f"agent{i}/{name}" if len(rows) > 1 else name
                writer.add_scalars(key, {key: value}, row["step"])
    writer.close()


def wandb(agents, rows, out):
    """Weights & Biases, offline."""
    import wandb

    names = {**CLEANRL, "grad_norm": "losses/grad_norm", "advantage_mean": "train/adv_mean", "advantage_std": "train/adv_std"}
    names["epochs_run"] = "train/stop_iter"
    run = wandb.init(project="logs", dir=out, mode="offline", config=SETTINGS, settings=wandb.Settings(x_disable_meta=True, x_disable_stats=True))
    for row in rows[0]:
        run.log({**named(row, names), "global_step": row["step"]})
    run.finish()


PLAIN = {
    "return": "episode_reward",
    "approx_kl": "approx_kl",
    "clip_fraction": "clip_fraction",
    "entropy": "entropy",
    "policy_loss": "policy_loss",
    "value_loss": "value_loss",
    "explained_variance": "explained_variance",
    "learning_rate": "learning_rate",
    "advantage_mean": "advantage_mean",
    "advantage_std": "advantage_std",
}


def mlflow(agents, rows, out):
    """MLflow's store of files."""
    import mlflow

    mlflow.set_tracking_uri(pathlib.Path(out, "mlruns").resolve().as_uri())
    mlflow.set_experiment("logs")
    with mlflow.start_run(run_name="seed-1"):
        mlflow.log_params(SETTINGS)
        for i, own in enumerate(rows):
            for row in own:
                prefix = f"{agents[i]}." if len(rows) > 1 else ""
                figures = {f"{prefix}{name}": value for name, value in named(row, PLAIN).items()}
                mlflow.log_metrics(figures, step=row["step"])


TRL = {
    "return": "objective/scores",
    "approx_kl": "policy/approxkl_avg",
    "clip_fraction": "policy/clipfrac_avg",
    "entropy": "policy/entropy_avg",
    "policy_loss": "loss/policy_avg",
    "value_loss": "loss/value_avg",
    "ratio": "val/ratio",
    "learning_rate": "lr",
}


def trainer_state(agents, rows, out):
    """transformers' trainer_state.json with the names of TRL's PPO trainer."""
    from transformers.trainer_callback import TrainerState

    state = TrainerState(num_train_epochs=1, max_steps=len(rows[0]))
    for row in rows[0]:
        state.global_step = row["step"]
        state.log_history.append({**named(row, TRL), "episode": row["step"], "epoch": row["update"] / len(rows[0]), "step": row["step"]})
    state.save_to_json(os.path.join(out, "trainer_state.json"))


def trainer_printed(agents, rows, out):
    """What transformers' PrinterCallback prints, with the names of TRL's PPO trainer."""
    from transformers.trainer_callback import PrinterCallback

    printer = PrinterCallback()
    state = types.SimpleNamespace(is_local_process_zero=True)
    with open(os.path.join(out, "train.log"), "w") as file, contextlib.redirect_stdout(file):
        for row in rows[0]:
            printer.on_log(None, state, None, logs={**named(row, TRL), "epoch": round(row["update"] / len(rows[0]), 2)})


def keras(agents, rows, out):
    """Keras's CSVLogger; an update is an epoch."""
    # The rest of Keras wants a newer torch than Debian's; its CSVLogger asks it for a base class and for `open`.
    stands_for("keras", "src/api_export.py")
    sys.modules["keras.src.callbacks"] = types.ModuleType("keras.src.callbacks")
    sys.modules["keras.src.callbacks.callback"] = types.SimpleNamespace(Callback=type("Callback", (), {"set_model": lambda self, model: setattr(self, "model", model)}))
    files = types.SimpleNamespace(path_to_string=str, exists=os.path.exists, File=open)
    sys.modules["keras.src.utils"] = types.SimpleNamespace(file_utils=files)
    CSVLogger = part_of("keras", "src/callbacks/csv_logger.py").CSVLogger
    names = {"return": "episode_return", "approx_kl": "kl", "entropy": "entropy", "policy_loss": "actor_loss"}
    names |= {"value_loss": "critic_loss", "clip_fraction": "clip_fraction", "learning_rate": "learning_rate"}
    logger = CSVLogger(os.path.join(out, "training.csv"))
    logger.set_model(types.SimpleNamespace(stop_training=False))
    logger.on_train_begin()
    for row in rows[0]:
        logger.on_epoch_end(row["update"], named(row, names))
    logger.on_train_end()


def lightning(agents, rows, out):
    """Lightning's CSVLogger."""
    from lightning_fabric.loggers import CSVLogger

    names = {"return": "Rewards/rew_avg", "approx_kl": "Info/approx_kl", "entropy": "Info/entropy", "value_loss": "Loss/value_loss"}
    names |= {"policy_loss": "Loss/policy_loss", "clip_fraction": "Info/clip_fraction", "learning_rate": "Info/learning_rate"}
    logger = CSVLogger(root_dir=out, name="ppo", flush_logs_every_n_steps=1000)
    for row in rows[0]:
        logger.log_metrics(named(row, names), step=row["step"])
    logger.save()


def sacred(agents, rows, out):
    """Sacred's FileStorageObserver, used as EPyMARL uses it."""
    from sacred import SETTINGS as OPTIONS
    from sacred import Experiment
    from sacred.observers import FileStorageObserver

    OPTIONS["CAPTURE_MODE"] = "no"
    experiment = Experiment("ppo", save_git_info=False)
    experiment.observers.append(FileStorageObserver(out))
    names = {"return": "return_mean", "value_loss": "critic_loss", "entropy": "agent_entropy", "policy_loss": "pg_loss"}
    names |= {"grad_norm": "agent_grad_norm", "advantage_mean": "advantage_mean", "advantage_std": "advantage_std", "approx_kl": "approx_kl"}

    @experiment.main
    def main(_run):
        for row in rows[0]:
            for name, value in named(row, names).items():
                _run.log_scalar(name, value, row["step"])

    with contextlib.redirect_stdout(io.StringIO()):
        experiment.run(options={"--loglevel": "ERROR"})


def dowel(agents, rows, out):
    """garage's logger, with the names of garage's PPO."""
    dowel_table(rows, out, "csv")


def dowel_printed(agents, rows, out):
    """The same as it prints."""
    dowel_table(rows, out, "text")


def dowel_table(rows, out, kind):
    from dowel import CsvOutput, TextOutput, logger, tabular

    names = {"return": "Evaluation/AverageReturn", "approx_kl": "GaussianMLPPolicy/KL", "entropy": "GaussianMLPPolicy/Entropy"}
    names |= {"policy_loss": "GaussianMLPPolicy/LossAfter", "value_loss": "VFunction/LossAfter"}
    names |= {"explained_variance": "VFunction/ExplainedVariance", "step": "TotalEnvSteps"}
    logger.remove_all()
    path = os.path.join(out, "progress.csv" if kind == "csv" else "debug_run.log")
    logger.add_output(CsvOutput(path) if kind == "csv" else TextOutput(path))
    for row in rows[0]:
        tabular.clear()
        for name, value in {**{theirs: float("nan") for theirs in names.values()}, **named(row, names)}.items():
            tabular.record(name, value)
        logger.log(tabular)
        logger.dump_all(row["update"])
    logger.remove_all()


def pfrl(agents, rows, out):
    """PFRL's scores.txt, with the statistics of its PPO."""
    from pfrl.experiments import evaluator

    statistics = ("average_value", "average_entropy", "average_value_loss", "average_policy_loss", "n_updates", "explained_variance")
    ours = (None, "entropy", "value_loss", "policy_loss", None, "explained_variance")
    agent = types.SimpleNamespace(get_statistics=lambda: [(name, 0.0) for name in statistics])
    env = types.SimpleNamespace(get_statistics=lambda: [])
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
                num_steps_per_env=32, env=types.SimpleNamespace(num_envs=16), gpu_world_size=1, tot_timesteps=row["step"],
                tot_time=float(row["update"]), writer=silent, alg=algorithm, logger_type="tensorboard", device="cpu",
            )
            names = {"value_loss": "value_function", "policy_loss": "surrogate", "entropy": "entropy"}
            local = {
                "collection_time": 0.5, "learn_time": 0.5, "ep_infos": [], "it": row["update"], "tot_iter": len(rows[0]),
                "start_iter": 0, "num_learning_iterations": len(rows[0]), "rewbuffer": paid, "lenbuffer": deque([30.0] * len(paid)),
                "loss_dict": named(row, names), "mean_std": policy.action_std.mean(),
            }
            OnPolicyRunner.log(runner, local)


def part_of(package, path):
    """One file of a package whose other files want more than a logger needs."""
    for folder in sys.path:
        file = pathlib.Path(folder, package, path)
        if file.exists():
            spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", f"{package}_{path}"), file)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise ImportError(f"{package}/{path}")


def stands_for(package, path):
    """Makes one file importable by its name, and its folders empty packages."""
    parts = [package, *path.removesuffix(".py").split("/")]
    for depth in range(1, len(parts)):
        sys.modules.setdefault(".".join(parts[:depth]), types.ModuleType(".".join(parts[:depth])))
    module = sys.modules[".".join(parts)] = part_of(package, path)
    setattr(sys.modules[".".join(parts[:-1])], parts[-1], module)


def verl(agents, rows, out):
    """What verl's console logger prints."""
    logger = part_of("verl", "utils/logger/aggregate_logger.py").LocalLogger()
    names = {"approx_kl": "actor/ppo_kl", "clip_fraction": "actor/pg_clipfrac", "entropy": "actor/entropy", "policy_loss": "actor/pg_loss"}
    names |= {"value_loss": "critic/vf_loss", "grad_norm": "actor/grad_norm", "learning_rate": "actor/lr", "return": "critic/score/mean"}
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
            (agents[k] if len(rows) > 1 else "default_policy"): {"learner_stats": named(own[i], names)} for k, own in enumerate(rows)
        }
        paid = {f"policy_reward_mean/{agents[k]}": own[i]["return"] for k, own in enumerate(rows)} if len(rows) > 1 else {}
        result = {"info": {"learner": learner}, "timesteps_total": row["step"], "training_iteration": i + 1, "config": {"gamma": 0.99}}
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
    logger = part_of("tianshou", "utils/logger/tensorboard.py").TensorboardLogger(SummaryWriter(out), train_interval=1, update_interval=1)
    for row in rows[0]:
        logger.log_update_data(named(row, {"policy_loss": "loss/clip", "value_loss": "loss/vf", "entropy": "loss/ent"}), row["step"])
        if row["return"] is not None:
            logger.log_train_data({"n/ep": 8, "rew": row["return"], "rew_std": 0.1, "len": 30.0, "len_std": 0.0}, row["step"])
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
    names = {"return": "AverageEpRet", "value_loss": "LossV", "policy_loss": "LossPi", "approx_kl": "KL", "entropy": "Entropy"}
    names |= {"clip_fraction": "ClipFrac", "epochs_run": "StopIter", "step": "TotalEnvInteracts"}
    with open(os.path.join(out, "progress.txt"), "w") as file:
        print("Epoch", *names.values(), sep="\t", file=file)
        for row in rows[0]:
            print(row["update"], *(named(row, names).get(name, "") for name in names.values()), sep="\t", file=file)


def main():
    writers = {name: value for name, value in globals().items() if callable(value) and name not in {"number", "named", "main", "part_of", "stands_for", "dowel_table", "sb3"}}
    report = []
    for job in json.load(sys.stdin):
        with open(job["figures"]) as file:
            figures = json.load(file)
        rows = [[{name: number(value) for name, value in row.items()} for row in own] for own in figures["rows"]]
        # Loggers note where they write; what is stored must not tell where that was.
        os.makedirs(job["out"], exist_ok=True)
        os.chdir(os.path.dirname(job["out"]))
        try:
            writers[job["writer"]](figures["agents"], rows, os.path.basename(job["out"]))
            report.append(None)
        except Exception as error:  # one program that fails must not take the others along
            report.append(f"{type(error).__name__}: {error}")
    print(json.dumps(report), file=sys.__stdout__)


if __name__ == "__main__":
    main()
