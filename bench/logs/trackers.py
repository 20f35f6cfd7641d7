"""Logs of programs that track experiments, each by that program's own code; named as their users name figures."""

import contextlib
import io
import os
import pathlib
import sys
import types

from figure_names import PLAIN, SETTINGS, named, part_of, stands_for

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

    names = {
        **CLEANRL,
        "grad_norm": "losses/grad_norm",
        "advantage_mean": "train/adv_mean",
        "advantage_std": "train/adv_std",
    }
    names["epochs_run"] = "train/stop_iter"
    run = wandb.init(
        project="logs",
        dir=out,
        mode="offline",
        config=SETTINGS,
        settings=wandb.Settings(x_disable_meta=True, x_disable_stats=True),
    )
    for row in rows[0]:
        run.log({**named(row, names), "global_step": row["step"]})
    run.finish()


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
        state.log_history.append(
            {**named(row, TRL), "episode": row["step"], "epoch": row["update"] / len(rows[0]), "step": row["step"]}
        )
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
    sys.modules["keras.src.callbacks.callback"] = types.SimpleNamespace(
        Callback=type("Callback", (), {"set_model": lambda self, model: setattr(self, "model", model)})
    )
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

    names = {
        "return": "Rewards/rew_avg",
        "approx_kl": "Info/approx_kl",
        "entropy": "Info/entropy",
        "value_loss": "Loss/value_loss",
    }
    names |= {
        "policy_loss": "Loss/policy_loss",
        "clip_fraction": "Info/clip_fraction",
        "learning_rate": "Info/learning_rate",
    }
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
    names |= {
        "grad_norm": "agent_grad_norm",
        "advantage_mean": "advantage_mean",
        "advantage_std": "advantage_std",
        "approx_kl": "approx_kl",
    }

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

    names = {
        "return": "Evaluation/AverageReturn",
        "approx_kl": "GaussianMLPPolicy/KL",
        "entropy": "GaussianMLPPolicy/Entropy",
    }
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
