"""The recorder in trouble (disks, kills, warnings), and training that goes on the same bit for bit beside it."""

import errno
import glob
import os
import pathlib
import signal
import subprocess
import sys
import unittest
import warnings
from unittest import mock

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import trueline_recorder
from support import Case, manifest, table
from trueline_recorder import Recorder, RecorderWarning


class Trouble(Case):
    def test_warns_once_and_lets_training_go_on(self):
        actor, critic, optimizer = self.network()
        recorder = self.recorder(strict=False)
        recorder.watch(actor=actor, critic=critic, optimizer=optimizer)
        recorder.samples(old_logp=np.zeros(3), terminated=np.zeros(3))
        with self.assertWarnsRegex(
            RecorderWarning, "ends in iteration 0, training goes on: ValueError: replays has no column logprob"
        ):
            recorder.replays(logprob=[0.0])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            recorder.replays(logprob=[0.0])
            recorder.samples(nonsense=3)
            actor(torch.ones(1, 3)).sum().backward()
            optimizer.step()
            recorder.close()
        self.assertEqual(table(self.path, "samples")["t"], [0, 1, 2])
        self.assertNotIn("step", vars(optimizer))

    def two(self, updates, iteration=0):
        """A run whose actor and critic have an optimiser each; `updates` steps what it wants to."""
        actor, critic, _ = self.network()
        both = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (actor, critic)]
        recorder = self.recorder(overwrite=True, first=1, every=100)
        recorder.watch(actor=actor, critic=critic, optimizer=both)
        recorder.begin(iteration)
        recorder.samples(old_logp=np.zeros(2), terminated=np.zeros(2))
        if updates is not None:
            recorder.replays(sample=[0, 1], new_logp=[0.0, 0.0])
            (actor(torch.ones(1, 3)).sum() + critic(torch.ones(1, 3)).sum()).backward()
            updates(*both, critic)
        return recorder

    def marked(self):
        return [tensor["name"] for tensor in manifest(self.path)["tensors"] if tensor.get("never_stepped")]

    def test_says_at_the_end_whose_optimiser_never_stepped(self):
        recorder = self.two(lambda policy, value, critic: (policy.step(), policy.step()))
        with self.assertWarnsRegex(RecorderWarning, "ever stepped for critic.0.weight, critic.0.bias, critic.2.weight"):
            recorder.close()
        self.assertEqual(self.marked(), [f"critic.{layer}.{kind}" for layer in (0, 2) for kind in ("weight", "bias")])
        said = manifest(self.path)["recorder"]["warnings"]
        self.assertEqual([notice["iteration"] for notice in said], [0])
        self.assertIn("its step() was never called", said[0]["text"])

    def test_says_nothing_of_parameters_that_something_moves_or_that_nothing_should(self):
        def replaced(policy, value, critic):
            policy.step()
            torch.optim.SGD(critic.parameters(), lr=0.1).step()

        def by_hand(policy, value, critic):
            policy.step()
            for parameter in critic.parameters():
                parameter.data.add_(parameter.grad)

        def frozen(policy, value, critic):
            policy.step()
            critic.requires_grad_(False)

        def stepped(policy, value, critic):
            policy.step()
            value.step()

        for updates in (replaced, by_hand, frozen, stepped, None):
            # Steps of iterations whose rows are not kept count too.
            for iteration in (0, 1):
                recorder = self.two(updates, iteration)
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    recorder.close()
                self.assertEqual(self.marked(), [])
                self.assertNotIn("warnings", manifest(self.path).get("recorder", {}))

    def test_survives_a_disk_that_fails(self):
        recorder = self.recorder(strict=False)
        recorder.samples(old_logp=np.zeros(3), terminated=np.zeros(3))
        with mock.patch.object(np, "savez", side_effect=OSError(28, "No space left on device")):
            recorder.step(loss=1.0)
            with self.assertWarnsRegex(RecorderWarning, "No space left on device"):
                recorder.samples(old_logp=np.zeros(3), terminated=np.zeros(3))
        recorder.close()
        self.assertEqual(glob.glob(os.path.join(self.path, "*", ".*")), [])

    def test_does_not_raise_where_warnings_are_errors(self):
        recorder = self.recorder(strict=False)
        with warnings.catch_warnings(), mock.patch("sys.stderr") as stderr:
            warnings.simplefilter("error")
            recorder.samples(nonsense=3)
        self.assertIn("no column nonsense", "".join(str(call.args[0]) for call in stderr.write.call_args_list))
        self.assertTrue(recorder.stopped)

    def test_refuses_a_folder_that_holds_a_recording(self):
        self.recorder().close()
        with self.assertRaisesRegex(FileExistsError, "pass overwrite=True"):
            Recorder(self.path)
        recorder = Recorder(self.path, overwrite=True, name="second")
        recorder.close()
        self.assertEqual(manifest(self.path)["name"], "second")

    def test_a_disk_without_room_is_said_with_the_path_before_training_begins(self):
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch("os.fsync", side_effect=full), self.assertRaisesRegex(OSError, "No space left.*" + self.path):
            Recorder(self.path)

    def test_overwriting_removes_its_own_files_and_no_others(self):
        recorder = self.recorder()
        recorder.samples(old_logp=np.zeros(3), terminated=np.zeros(3))
        recorder.close()
        mine = [
            "samples/20240101.jpg",
            "samples/notes.npz",
            "policies/deep/best.onnx",
            "replays.txt",
            "steps/.000000.npz",
        ]
        elsewhere = os.path.join(self.path, "..", "elsewhere")
        os.makedirs(elsewhere)
        os.symlink(elsewhere, os.path.join(self.path, "tensors"))
        for name in [*mine, os.path.join(elsewhere, "000000.npz")]:
            file = os.path.join(self.path, name)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            pathlib.Path(file).write_text("mine")
        Recorder(self.path, overwrite=True).close()
        for name in [*mine, os.path.join(elsewhere, "000000.npz")]:
            self.assertEqual(pathlib.Path(os.path.join(self.path, name)).read_text(), "mine")
        self.assertFalse(os.path.exists(os.path.join(self.path, "samples", "000000.npz")))

    def test_refuses_a_folder_of_another_program_even_to_overwrite(self):
        os.makedirs(os.path.join(self.path, "samples"))
        file = pathlib.Path(self.path, "samples", "000000.npz")
        file.write_text("mine")
        with self.assertRaisesRegex(FileExistsError, "belongs to no recording"):
            Recorder(self.path, overwrite=True)
        pathlib.Path(self.path, "manifest.json").write_text('{"format": "webextension"}')
        with self.assertRaisesRegex(FileExistsError, "another program"):
            Recorder(self.path, overwrite=True)
        self.assertEqual(file.read_text(), "mine")

    def test_syncs_each_file_and_its_folder_once(self):
        synced = []
        renamed = mock.Mock(side_effect=os.replace)
        made = mock.Mock(side_effect=os.mkdir)
        fsync = os.fsync

        def counted(file):
            synced.append(os.readlink(f"/proc/self/fd/{file}"))
            fsync(file)

        with mock.patch("os.fsync", counted), mock.patch("os.replace", renamed), mock.patch("os.mkdir", made):
            recorder = self.recorder()
            for _ in range(200):
                recorder.samples(old_logp=np.zeros(3), terminated=np.zeros(3))
                recorder.step(loss=1.0)
            recorder.close()
        files = sum(name.endswith(".trueline-part") for name in synced)
        self.assertEqual(files, renamed.call_count)
        self.assertEqual(len(synced) - files, renamed.call_count + made.call_count)
        # A moment's iterations cost no more than a few: the first is written at once, the rest together.
        self.assertLessEqual(files, 12)
        self.assertEqual([name for name in os.listdir(self.path) if "trueline-part" in name], [])

    def test_holds_no_more_than_it_should(self):
        with mock.patch.object(trueline_recorder.store, "HELD_BYTES", 100_000):
            recorder = self.recorder()
            most = 0
            for _ in range(50):
                recorder.samples(old_logp=np.zeros(100), terminated=np.zeros(100), obs=np.zeros((100, 40)))
                most = max(most, recorder._store.bytes)
            recorder.close()
        self.assertLess(most, 140_000)
        self.assertGreater(len(os.listdir(os.path.join(self.path, "samples"))), 10)
        self.assertEqual(table(self.path, "samples")["t"], [*range(5000)])

    def test_a_killed_program_leaves_whole_files_and_one_that_ends_leaves_all(self):
        script = f"""
import os, signal, sys
sys.path.insert(0, {str(HERE.parent)!r})
import numpy as np
import trueline_recorder
trueline_recorder.store.HELD_SECONDS = 0
recorder = trueline_recorder.Recorder(sys.argv[1])
for _ in range(3):
    recorder.samples(old_logp=np.zeros(5), terminated=np.zeros(5))
    recorder.step(loss=1.0)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""
        for way, rows in (("kill", 10), ("end", 15)):
            path = f"{self.path}-{way}"
            done = subprocess.run([sys.executable, "-c", script, path, way], check=False)
            self.assertEqual(done.returncode, -signal.SIGKILL if way == "kill" else 0)
            self.assertEqual(len(table(path, "samples")["t"]), rows)
            self.assertEqual(manifest(path)["format"], "trueline/1")


class Training(Case):
    def test_is_the_same_bit_for_bit_with_and_without_the_recorder(self):
        import mappo
        import ppo

        class Nothing:
            def __init__(self, *args, **kwargs):
                pass

            def __getattr__(self, name):
                return lambda *args, **kwargs: None

        for example in (ppo, mappo):
            options = example.parser().parse_args(["--iterations", "3", "--steps", "16", "--out", self.path])
            options.fault = "dropout" if example is mappo else None
            with self.subTest(example.__name__):
                self.assertEqual(example.train(options, Recorder), example.train(options, Nothing))

    def test_records_the_same_whether_rows_and_tensors_are_looked_at_together_or_one_by_one(self):
        import mappo
        import ppo

        def recorded(example, strict):
            options = example.parser().parse_args(["--iterations", "5", "--steps", "4", "--out", self.path])
            example.train(options, lambda *args, **kwargs: Recorder(*args, **{**kwargs, "strict": strict}))
            tables = {name: table(self.path, name) for name in trueline_recorder.TABLES}
            return {
                (name, key): np.hstack(values) for name, columns in tables.items() for key, values in columns.items()
            }

        for example in (ppo, mappo):
            together = recorded(example, False)
            with (
                mock.patch.object(trueline_recorder.tensors, "COPIED_ENTRIES", 1),
                mock.patch.object(trueline_recorder.core, "RAW_ROWS", 0),
            ):
                single = recorded(example, True)
            with self.subTest(example.__name__):
                self.assertGreater(len(together["tensors", "delta"]), 100)
                self.assertEqual(list(together), list(single))
                for key, values in together.items():
                    np.testing.assert_array_equal(values, single[key], str(key))


if __name__ == "__main__":
    unittest.main()
