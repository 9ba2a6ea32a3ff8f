# SPDX-License-Identifier: Apache-2.0
"""The Loader with NumPy, on clusters of real processes."""

import gc
import itertools
import json
import logging
import os
import pathlib
import pickle
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import unittest
from unittest import mock

import numpy

from package import (
    PYTHON, STEPS, PackageTest, Script, digest, is_running, wait_until)
import harness

import forebay
from forebay import cluster as local_cluster
from forebay import state as local_state
from forebay import interrupts

GRACE_S = 26  # of `forebay up` for its workers (cli/cluster.c)


class Epochs(PackageTest):
    """Positions, on one cluster."""

    def setUp(self):
        super().setUp()
        self.cluster.start(2)

    def stream(self, epochs=3):
        """The digests of whole epochs."""
        loader = self.loader()
        made = [[digest(batch) for batch in loader] for _ in range(epochs)]
        self.assertEqual([len(epoch) for epoch in made], [STEPS] * epochs)
        self.assertEqual(len(set(sum(made, []))), epochs * STEPS)
        loader.close()
        return made

    def take(self, loader, number):
        """The digests of the next batches; the iteration is then left."""
        made = []
        for batch in loader:
            made.append(digest(batch))
            if len(made) == number:
                break
        return made

    def test_a_batch_is_a_dict_of_arrays(self):
        loader = self.loader()
        batch = next(iter(loader))
        self.assertEqual(sorted(batch), ["image", "label"])
        self.assertEqual(batch["image"].shape, (16, 3, 32, 32))
        self.assertEqual(batch["image"].dtype, numpy.float32)
        batch["image"][:] = 0  # writable
        right = next(self.first_batches(self.pipeline, 1))
        self.assert_equal(batch["label"], right["label"])
        self.assertEqual(loader.fields["image"],
                         ("image", "f32", (16, 3, 32, 32), ""))
        self.assertEqual(len(loader), STEPS)

    def test_names_of_classes_are_those_of_the_pipeline(self):
        """The file of names is beside the pipeline file; `a` has none."""
        (self.cluster.root / "words.csv").write_text("a,animal\n" + "".join(
            f"{i},{('dog', ' cat')[i % 2]}\n" for i in range(16)))
        pipeline = self.cluster.pipeline("""\
forebay: 1
splits: {{train: {{list: "{root}/words.csv", shuffle: none}}}}
global_batch: 16
fields:
  a: {{from: a, decode: label}}
  animal: {{from: animal, names: classes.txt}}
""", name="words.yaml")
        (pipeline.parent / "classes.txt").write_text("cat\r\ndog\ncow\n")
        loader = self.loader(pipeline)
        self.assertEqual(loader.classes, ("cat", "dog", "cow"))
        self.assertEqual(next(iter(loader))["animal"].tolist(), [1, 0] * 8)
        loader.close()
        self.assertEqual(self.loader().classes, ("c00", "c01", "c02", "c03"))

    def test_values_are_those_of_the_program(self):
        loader = self.loader()
        for batch, right in zip(loader, self.first_batches(self.pipeline, 3)):
            for name in loader.fields:
                self.assert_equal(batch[name], right[name])

    def test_a_batch_that_could_not_be_read_comes_again(self):
        right, loader = self.stream(1)[0], self.loader()
        self.assertEqual(self.take(loader, 2), right[:2])
        loader.load_state_dict(loader.state_dict())
        reader = loader._open.reader
        loader._open = loader._open._replace(reader=None)
        with self.assertRaises(AttributeError):
            next(iter(loader))
        loader._open = loader._open._replace(reader=reader)
        self.assertEqual(loader.state_dict()["step"], 2)
        self.assertEqual(self.take(loader, STEPS), right[2:])

    def test_a_signal_handler_that_wants_the_state_while_it_opens(self):
        loader, errors = self.loader(), []

        def handler(*_):
            try:
                loader.state_dict()
            except forebay.UsageError as error:
                errors.append(str(error))

        before = signal.signal(signal.SIGUSR1, handler)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        open_it = loader._do_open

        def opening():
            signal.raise_signal(signal.SIGUSR1)
            return open_it()

        loader._do_open = opening
        self.assertEqual(len(loader), STEPS)
        self.assertEqual(len(errors), 1)
        self.assertIn("in use", errors[0])

    def test_a_signal_handler_that_moves_the_loader_is_refused(self):
        loader, errors = self.loader(), []
        right = self.take(self.loader(), STEPS)
        batches, state = iter(loader), loader.state_dict()

        def handler(*_):
            for move in (lambda: iter(loader), lambda: loader.set_epoch(4),
                         lambda: loader.load_state_dict(state)):
                with self.raises(forebay.UsageError, "in use") as caught:
                    move()
                errors.append(caught.exception)

        before = signal.signal(signal.SIGUSR1, handler)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        take = loader._open.take

        def taking(timeout):
            signal.raise_signal(signal.SIGUSR1)
            return take(timeout)

        loader._open = loader._open._replace(take=taking)
        self.assertEqual([digest(batch) for batch in batches], right)
        self.assertEqual(len(errors), 3 * STEPS)

    def test_resume_at_any_step(self):
        right = self.stream()
        reader, writer = self.loader(), self.loader()
        for _ in range(20):
            epoch, step = random.randrange(2), random.randrange(STEPS + 1)
            writer.set_epoch(epoch + 5)
            writer.set_epoch(epoch)
            self.assertEqual(self.take(writer, step) if step else [],
                             right[epoch][:step])
            state = json.loads(json.dumps(writer.state_dict()))
            for loader in (reader, self.loader()):
                loader.load_state_dict(state)
                self.assertEqual(loader.state_dict(), state)
                rest = [digest(batch) for batch in loader]
                self.assertEqual(rest, right[epoch][step:], (epoch, step))
                self.assertEqual([digest(batch) for batch in loader],
                                 right[epoch + 1])
            reader.load_state_dict(state)

    def test_200_save_points_and_switches(self):
        right = self.stream()
        train, val = self.loader(), self.loader(split="val")
        checked = [digest(batch) for batch in val]
        for _ in range(200):
            epoch, step = random.randrange(3), random.randrange(STEPS)
            train.set_epoch(epoch + 1)
            train.set_epoch(epoch)
            self.take(train, step + 1)
            state = train.state_dict()
            if random.random() < 0.5:
                next(iter(train))  # it moves on
            val.set_epoch(3)
            val.set_epoch(0)
            self.assertEqual(self.take(val, 2), checked[:2])
            train.load_state_dict(state)
            self.assertEqual(self.take(train, STEPS), right[epoch][step + 1:])

    def test_resume_again_and_again_in_one_epoch(self):
        right, got = self.stream(1)[0], []
        state = None
        while len(got) < STEPS:
            loader = self.loader()
            if state:
                loader.load_state_dict(state)
            got += self.take(loader, 2)
            state = loader.state_dict()
        self.assertEqual(got, right)

    def test_the_state_at_the_end_of_an_epoch(self):
        right = self.stream()
        loader = self.loader()
        for _ in loader:
            inside = loader.state_dict()
        outside = loader.state_dict()
        self.assertEqual((inside["epoch"], inside["step"]), (0, STEPS))
        self.assertEqual((outside["epoch"], outside["step"]), (1, 0))
        loader.load_state_dict(inside)
        self.assertEqual(list(loader), [])  # it finishes epoch 0
        self.assertEqual([digest(batch) for batch in loader], right[1])
        loader.load_state_dict(outside)
        self.assertEqual([digest(batch) for batch in loader], right[1])

    def test_break_ends_an_epoch_without_a_new_connection(self):
        right = self.stream()
        loader = self.loader()
        self.assertEqual(self.take(loader, 2), right[0][:2])
        state = loader.state_dict()
        self.assertEqual((state["epoch"], state["step"]), (0, 2))
        self.assertEqual([digest(batch) for batch in loader], right[1])
        self.assertEqual(loader.stats()["stream"]["reconnects"], 0)
        loader.load_state_dict(state)
        self.assertEqual([digest(batch) for batch in loader], right[0][2:])

    def test_an_epoch_without_a_batch_is_not_used(self):
        right = self.stream(1)
        loader = self.loader()
        iter(loader)
        self.assertEqual([digest(batch) for batch in loader], right[0])

    def test_set_epoch_after_a_break_begins_the_epoch_again(self):
        loader = self.loader()
        right = self.stream()
        for _ in range(3):
            loader.set_epoch(0)
            self.assertEqual(self.take(loader, 2), right[0][:2])
        loader.set_epoch(0)
        self.assertEqual([digest(batch) for batch in loader], right[0])
        loader.set_epoch(1)  # it stands there
        self.assertEqual(self.take(loader, 1), right[1][:1])

    def test_set_epoch_leaves_a_loaded_position_and_a_running_iteration(self):
        right = self.stream()
        loader = self.loader()
        made = []
        for batch in loader:
            made.append(digest(batch))
            loader.set_epoch(0)
            if len(made) == 2:
                saved = loader.state_dict()
        self.assertEqual(made, right[0])
        loader.load_state_dict(saved)
        loader.set_epoch(0)
        self.assertEqual([digest(batch) for batch in loader], right[0][2:])

    def test_threads_that_share_an_iterator_take_one_epoch(self):
        loader, right = self.loader(), self.stream(2)
        for epoch in right:
            iterator, made = iter(loader), []
            threads = [threading.Thread(target=lambda: made.extend(
                digest(batch) for batch in iterator)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sorted(made), sorted(epoch))

    def test_a_thread_that_was_the_last_user_waits_for_the_next(self):
        loader = self.loader()
        batches = iter(loader)
        next(batches)  # this thread is the last user
        # Another thread has taken the lock, and releases it when we wait.
        loader._lock = mock.MagicMock(locked=lambda: True)
        next(batches)
        loader._lock.__enter__.assert_called_once()

    def test_close_while_it_opens(self):
        loader = self.loader()
        open_it = loader._do_open

        def opening():
            opened = open_it()
            loader.close()
            return opened

        loader._do_open = opening
        with self.raises(forebay.UsageError, "closed"):
            iter(loader)
        with self.raises(forebay.UsageError, "closed"):
            loader._open.stream.stats()

    def test_the_statistics_stay_after_close(self):
        loader = self.loader()
        list(loader)
        before = loader.stats()
        for _ in range(2):
            loader.close()
            self.assertEqual(loader.stats()["steps"], before["steps"])
            self.assertEqual(loader.stats()["wait_share"],
                             before["wait_share"])
        unused = self.loader()
        unused.close()
        with self.raises(forebay.UsageError, "closed"):
            unused.stats()

    def test_memory_has_no_effect_on_the_cpu(self):
        self.assertEqual([digest(batch) for batch in
                          self.loader(memory="ring")], self.stream(1)[0])

    def test_close_in_a_signal_handler_that_interrupts_next(self):
        loader = self.loader()
        batches = iter(loader)
        take = loader._open.take

        def taking(timeout):
            loader.close()
            return take(timeout)

        loader._open = loader._open._replace(take=taking)
        with self.raises(forebay.UsageError, "the loader is closed"):
            next(batches)

    def test_what_is_no_batch_is_refused_as_after(self):
        loader = self.loader()
        for after in ({}, 5, {"epoch": "x", "step": 2, "token": 3},
                      {"epoch": 2**80, "step": 0, "token": ""}):
            with self.raises(forebay.UsageError, "state_dict(after=...)"):
                loader.state_dict(after=after)

    def test_states_with_wrong_tokens(self):
        loader = self.loader()
        good = loader.state_dict()
        for token in ("", "x", "a\0b", "\ud800"):
            bad = dict(good, token=token)
            bad["check"] = local_state._checksum(bad)
            for one in (loader, self.loader()):
                with self.raises(forebay.StateError, ""):
                    one.load_state_dict(bad)
                    len(one)

    def test_a_state_of_another_seed_is_refused_before_and_after_opening(self):
        state = self.loader(seed=5).state_dict()
        for opened in (False, True):
            loader = self.loader()
            if opened:
                len(loader)
            with self.assertRaisesRegex(forebay.StateError,
                                        "seed is 5 .* and 42 here"):
                loader.load_state_dict(state)
                next(iter(loader))
            loader.close()

    def test_a_state_of_other_data_says_what_changed(self):
        loader = self.loader()
        state = loader.state_dict()
        loader.close()
        next(self.cluster.root.rglob("*.jpg")).unlink()
        count = 16 * STEPS
        said = (f"the data changed since this state was saved: {count} "
                f"samples in 1 shard then, {count - 1} samples in 1 shard now; "
                "first difference: the part from sample 0 on .*bring the data back")
        for opened in (False, True):
            loader = self.loader()
            if opened:
                len(loader)
            with self.assertRaisesRegex(forebay.StateError, said):
                loader.load_state_dict(state)
                next(iter(loader))
            loader.close()

    def test_a_refused_state_with_an_own_token_does_not_move_the_stream(self):
        loader = self.loader()
        state = {**loader.state_dict(), "data": 16 * "0"}
        state["check"] = forebay.state._checksum(state)
        batches = iter(loader)
        got = [digest(next(batches)) for _ in range(2)]
        with self.assertRaisesRegex(forebay.StateError, "data digest 000"):
            loader.load_state_dict(state)
        got.append(digest(next(batches)))
        self.assertEqual(got, self.stream()[0][:3])

    def test_set_epoch(self):
        right = self.stream()
        loader = self.loader()
        loader.set_epoch(2)
        self.assertEqual(self.take(loader, 3), right[2][:3])
        state = loader.state_dict()
        loader.load_state_dict(state)
        loader.set_epoch(2)  # where it stands
        self.assertEqual([digest(batch) for batch in loader], right[2][3:])
        loader.set_epoch(0)
        self.assertEqual(loader.state_dict()["epoch"], 0)
        for epoch in range(3):  # as the Hugging Face Trainer does
            loader.set_epoch(epoch)
            self.assertEqual([digest(batch) for batch in loader],
                             right[epoch])
        for wrong in (-1, 0.5, True):
            with self.raises(forebay.UsageError, "set_epoch"):
                loader.set_epoch(wrong)

    def test_an_old_iterator_is_refused(self):
        loader = self.loader()
        old = iter(loader)
        next(old)
        new = iter(loader)
        with self.raises(forebay.UsageError, "newest iterator"):
            next(old)
        self.assertEqual(len(list(new)), STEPS)
        with self.assertRaises(StopIteration):
            next(new)

    def test_an_interrupt_loses_no_batch(self):
        right = self.stream(1)[0]
        loader = self.loader()
        iterator = iter(loader)
        got = [digest(next(iterator))]
        opened, take = loader._open, loader._open.take
        for error in (KeyboardInterrupt, forebay.Timeout):
            def interrupted(timeout):
                if error is KeyboardInterrupt:
                    take(timeout)
                raise error("now")

            loader._open = opened._replace(take=interrupted)
            with self.assertRaises(error):
                next(iterator)
            loader._open = opened
            got.append(digest(next(iterator)))
        got += [digest(batch) for batch in iterator]
        self.assertEqual(got, right)

    def test_switches_between_train_and_val(self):
        train, val = self.loader(), self.loader(split="val")
        right = self.stream()
        checked = None
        for epoch in range(3):
            self.assertEqual([digest(batch) for batch in train], right[epoch])
            val.set_epoch(0)
            values = [digest(batch) for batch in val]
            checked = checked or values
            self.assertEqual(values, checked)

    def test_info_and_the_state_after_a_batch(self):
        right = self.stream()
        loader = self.loader(info=True)
        batches = list(loader)
        info = batches[2]["forebay"]
        self.assertEqual((info["epoch"], info["step"]), (0, 2))
        self.assertEqual(len(info["samples"]), 16)
        self.assertEqual(info["substitutions"], [])
        samples = sum((batch["forebay"]["samples"] for batch in batches), [])
        self.assertEqual(sorted(samples), list(range(16 * STEPS)))
        loader.load_state_dict(loader.state_dict(after=info))
        self.assertEqual([digest(batch) for batch in loader], right[0][3:])

    def test_ranks_share_the_stream_and_have_one_state(self):
        whole = [batch["label"].tolist() for batch in self.loader()]
        parts, states = {}, {}

        def run(rank):
            loader = self.loader(rank=rank, world=2, job="j")
            parts[rank] = [batch["label"].tolist() for batch in loader]
            states[rank] = loader.state_dict()

        # In one process the second loader of a job is another stream.
        threads = [threading.Thread(target=run, args=[0])]
        code = """
loader = forebay.Loader(sys.argv[1], server=sys.argv[2], split="train",
    data={"data": sys.argv[3]}, rank=1, world=2, job="j", framework="numpy")
say([batch["label"].tolist() for batch in loader])
say(loader.state_dict())
"""
        other = Script(self, code, self.pipeline, self.cluster.server.endpoint,
                       self.cluster.root)
        threads[0].start()
        out = other.finish().splitlines()
        threads[0].join()
        joined = [a + b for a, b in zip(parts[0], eval(out[0]))]
        self.assertEqual(joined, whole)
        self.assertEqual(states[0], eval(out[1]))

    def test_a_state_of_another_stream_says_both_values(self):
        state = self.loader().state_dict()
        other = self.cluster.pipeline(PIPELINE_32, name="other.yaml")
        for make, words in (
                (lambda: self.loader(other), ("global batch", "16", "32")),
                (lambda: self.loader(split="val"), ("content digest",)),
                (lambda: self.loader(seed=7), ("seed", "42", "7"))):
            closed, opened = make(), make()
            closed.load_state_dict(state)
            with self.raises(forebay.Error, *words):
                iter(closed)
            len(opened)
            with self.raises(forebay.StateError, *words):
                opened.load_state_dict(state)

    def test_arrays_outlive_the_loader(self):
        loader = self.loader()
        kept = list(loader)
        before = [digest(batch) for batch in kept]
        for _ in range(3):
            list(loader)
        loader.close()
        self.assertEqual([digest(batch) for batch in kept], before)
        with self.raises(forebay.UsageError, "closed"):
            iter(loader)

    def test_memory_is_flat(self):
        loader = self.loader(fields=["label"], info=True)

        def rss_after(batches):
            for _ in range(batches // STEPS + 1):
                for _ in loader:
                    loader.state_dict()
            gc.collect()
            return harness.memory_bytes(os.getpid(), "VmRSS")

        before = rss_after(1000)
        self.assertLess(rss_after(10000) - before, 3e6 * harness.SLOW)

    def test_close_ends_a_thread_that_waits(self):
        loader = self.loader(timeout=60)
        len(loader)
        for daemon in self.cluster.daemons[1:]:
            daemon.process.send_signal(signal.SIGSTOP)
        caught = []

        def run():
            try:
                while True:
                    list(loader)
            except forebay.Error as error:
                caught.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        harness.wait(0.2)
        begin = time.monotonic()
        loader.close()
        thread.join()
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(len(caught), 1)

    def test_statistics(self):
        loader = self.loader()
        for _ in range(12):
            list(loader)
        stats = loader.stats()
        self.assertEqual(stats["steps"], 12 * STEPS)
        self.assertGreater(stats["rows_per_s"], 0)
        self.assertTrue(0 <= stats["wait_share"] <= 1)
        self.assertLessEqual(stats["wait_ms_p50"], stats["wait_ms_p99"])
        self.assertIn("worker.transform", stats["stages"])
        self.assertIn("waits for data", stats["advice"])  # nothing else to do

    def test_a_warning_when_the_trainer_waits(self):
        loader = self.loader()
        with self.assertLogs("forebay", logging.WARNING) as logs:
            begin = time.monotonic()
            while time.monotonic() - begin < 3 * harness.SLOW:
                for _ in loader:
                    pass
        self.assertEqual(sum("waits for data" in record.getMessage()
                             for record in logs.records), 1)


PIPELINE_32 = """\
forebay: 1
splits: {{train: {{folder: "{root}"}}}}
global_batch: 32
seed: {seed}
fields: {{label: {{from: folder, classes: 4}}}}
"""

USER = """
import logging
logging.basicConfig(level=logging.INFO)
loader = forebay.Loader(sys.argv[1], split="train", framework="numpy",
                        threads=1)
len(loader)
say(loader._open.cluster.started.server, loader._open.cluster.started.pid)
sys.stdin.readline()
"""


class LocalClusters(PackageTest):
    """Clusters that the package starts."""

    def user(self):
        """Another process that uses the cluster: its server and its pid."""
        script = Script(self, USER, self.pipeline)
        server, pid = script.line().split()
        return script, server, int(pid)

    def test_a_loader_starts_a_cluster_and_ends_it(self):
        with self.assertLogs("forebay", logging.INFO) as logs:
            loader = self.loader()
            self.assertEqual(len(list(loader)), STEPS)
        self.assertIn(f"of {local_cluster.usable_cores():g} cores",
                      logs.output[0])
        self.assertIn("threads=", logs.output[0])
        [file] = self.clusters()
        pid = json.loads(file.read_text())["pid"]
        self.assertTrue(is_running(pid))
        loader.close()
        self.assertFalse(is_running(pid))
        self.assertEqual(os.listdir(self.runtime / "forebay"), ["lock"])

    def test_splits_and_processes_share_it(self):
        train, val = self.loader(), self.loader(split="val")
        self.assertEqual(len(train), len(val))
        started = train._open.cluster.started
        script, server, pid = self.user()
        self.assertEqual((server, pid), (started.server, started.pid))
        train.close()
        self.assertEqual(len(list(val)), STEPS)
        val.close()
        self.assertTrue(is_running(pid))
        script.finish()
        wait_until(lambda: not is_running(pid))

    def test_a_killed_user_frees_it(self):
        script, _, pid = self.user()
        script.kill()
        wait_until(lambda: not is_running(pid))
        self.assertEqual(len(list(self.loader())), STEPS)

    def test_processes_that_start_together_start_one(self):
        scripts = [Script(self, USER, self.pipeline) for _ in range(4)]
        self.assertEqual(len({script.line() for script in scripts}), 1)

    def test_a_crashed_cluster_is_replaced(self):
        script, _, pid = self.user()
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_running(pid))
        loader = self.loader()
        self.assertEqual(len(list(loader)), STEPS)
        script.finish()
        self.assertEqual(len(list(loader)), STEPS)

    def test_a_starter_that_is_killed_is_replaced(self):
        slow = self.cluster.path("slow")
        slow.write_text("#!/bin/sh\necho $$ >&2\nexec sleep 600\n")
        slow.chmod(0o700)
        script = Script(self, USER, self.pipeline,
                        env={"FOREBAY_BIN": str(slow)})
        folder = self.runtime / "forebay"
        wait_until(lambda: any(p.read_text() for p in folder.glob("*.log")))
        [log] = folder.glob("*.log")
        script.kill()
        os.kill(int(log.read_text()), signal.SIGKILL)
        self.assertEqual(len(list(self.loader())), STEPS)

    def test_another_pipeline_does_not_wait_for_a_slow_start(self):
        slow = self.cluster.path("slow")
        slow.write_text("#!/bin/sh\necho begun >&2\nexec sleep 600\n")
        slow.chmod(0o700)
        Script(self, USER, self.pipeline, env={"FOREBAY_BIN": str(slow)})
        folder = self.runtime / "forebay"
        wait_until(lambda: any(p.read_text() for p in folder.glob("*.log")))
        self.assertEqual(len(list(self.loader())), STEPS)

    def test_threads_of_a_later_loader_are_not_used_and_it_says_so(self):
        self.assertEqual(len(self.loader(threads=1)), STEPS)
        with self.assertLogs("forebay", logging.WARNING) as logs:
            len(self.loader(threads=2))
        self.assertIn("threads=2 has no effect", logs.output[0])
        with self.assertNoLogs("forebay", logging.WARNING):
            len(self.loader(threads=1)), len(self.loader())
        for threads, word in ((1, "sharing"), (2, "threads=2 has no effect")):
            script = Script(self, USER.replace(
                "threads=1", f"threads={threads}"), self.pipeline)
            script.line()
            self.assertIn(word, script.finish())

    def test_a_process_with_many_descriptors_starts_one(self):
        code = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (2000,) * 2)
files = [open(os.devnull) for _ in range(1100)]
loader = forebay.Loader(sys.argv[1], split="train", framework="numpy",
                        threads=1)
say(len(list(loader)))
"""
        out = Script(self, code, self.pipeline).finish()
        self.assertIn(f"{STEPS}\n", out)

    def test_files_of_a_killed_user_are_removed_by_another_cluster(self):
        script, _, pid = self.user()
        script.kill()
        wait_until(lambda: not is_running(pid))
        self.assertEqual(len(self.clusters()), 1)
        other = self.cluster.path("other.yaml")
        other.write_text(self.pipeline.read_text() + "# another one\n")
        self.assertEqual(len(self.loader(other)), STEPS)
        [file] = self.clusters()
        self.assertNotEqual(json.loads(file.read_text())["pid"], pid)

    def test_a_fork_while_a_program_starts_does_not_hide_its_end(self):
        wrong = {"forebay": 1, "nokey": 1}
        start, children = subprocess.Popen, []

        def starting(*arguments, **options):
            children.append(os.fork())
            if children[-1] == 0:  # it has the ends of the pipes
                signal.pause()
            return start(*arguments, **options)

        try:
            with mock.patch.object(subprocess, "Popen", starting):
                with self.raises(forebay.PipelineError, "nokey"):
                    len(self.loader(wrong, timeout=float("inf")))
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        self.assertEqual(len(children), 1)

    def test_a_program_that_refuses_its_options_says_why(self):
        program = self.cluster.path("refuses")
        program.write_text("#!/bin/sh\necho 'forebay up: too hot' >&2\n"
                           "echo \"Try 'forebay up --help'\" >&2\nexit 2\n")
        program.chmod(0o700)
        self.set_environment(FOREBAY_BIN=str(program))
        with self.raises(forebay.PipelineError, "too hot"):
            len(self.loader())

    def test_a_signal_handler_that_opens_one_is_refused(self):
        loader, errors = self.loader(), []
        start = local_cluster._start

        def starting(*arguments):
            with self.raises(forebay.UsageError, "elsewhere") as caught:
                len(self.loader(split="val"))
            errors.append(caught.exception)
            return start(*arguments)

        with mock.patch.object(local_cluster, "_start", starting):
            self.assertEqual(len(loader), STEPS)
        self.assertEqual(len(errors), 1)

    def test_a_cluster_that_is_late_is_a_timeout(self):
        slow = self.cluster.path("slow")
        slow.write_text("#!/bin/sh\nexec sleep 600\n")
        slow.chmod(0o700)
        self.set_environment(FOREBAY_BIN=str(slow))
        with self.raises(forebay.Timeout, "0.3 s", "timeout="):
            len(self.loader(timeout=0.3))
        self.assertEqual(os.listdir(self.runtime / "forebay"), ["lock"])

    def test_many_short_users_never_meet_a_cluster_that_ends(self):
        code = """
for _ in range(6):
    loader = forebay.Loader(sys.argv[1], split="train", framework="numpy",
                            threads=1, timeout=20)
    next(iter(loader))
    loader.close()
"""
        scripts = [Script(self, code, self.pipeline) for _ in range(3)]
        for script in scripts:
            script.finish()

    def test_an_exit_without_close_leaves_nothing(self):
        for end in ("", "raise SystemExit(0)", "1 / 0", "os.kill(os.getpid(), "
                    "9)"):
            code = USER.replace("sys.stdin.readline()", f"kept = next(iter("
                                f"loader))\n{end}")
            script = Script(self, code, self.pipeline)
            pid = int(script.line().split()[1])
            script.finish(None)
            wait_until(lambda: not is_running(pid))
            if "kill" not in end:
                self.assertEqual(os.listdir(self.runtime / "forebay"),
                                 ["lock"], end)

    def test_a_daemon_thread_in_next_does_not_crash_the_exit(self):
        code = """
import threading
loader = forebay.Loader(sys.argv[1], split="train", framework="numpy",
                        threads=1)
taken = threading.Event()
def run():
    while True:
        for batch in loader:
            taken.set()
threading.Thread(target=run, daemon=True).start()
taken.wait()
"""
        for _ in range(3):
            Script(self, code, self.pipeline).finish(0)

    def test_a_folder_of_another_mode_is_refused(self):
        (self.runtime / "forebay").mkdir(mode=0o755)
        with self.raises(forebay.ClusterError, "0700"):
            len(self.loader())

    def test_the_program_says_why_it_does_not_start(self):
        for folder, words in (
                ("/nowhere", "the pipeline: split 'train': cannot open"),
                ("x:y", 'data={"x": "DIR"}')):
            with self.raises(forebay.PipelineError, words, folder):
                len(self.loader({"forebay": 1, "global_batch": 4, "splits": {
                    "train": {"folder": folder}}, "fields": {
                        "label": {"from": "folder"}}}))
        self.assertEqual(os.listdir(self.runtime / "forebay"), ["lock"])

    def test_a_cluster_that_was_killed_is_named_before_the_timeout(self):
        loader = self.loader(timeout=float("inf"))
        next(iter(loader))
        os.kill(loader._open.cluster.started.pid, signal.SIGKILL)
        with self.raises(forebay.ClusterError, "has ended", "another loader"):
            while True:
                list(loader)

    def stop_worker(self, pid):
        """Stop the worker of a cluster: it waits without end, as it waits for
        some seconds for a user that was killed."""
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
        [worker] = [
            int(child) for child in children.read_text().split()
            if b"worker" in pathlib.Path(f"/proc/{child}/cmdline")
            .read_bytes().split(b"\0")]
        os.kill(worker, signal.SIGSTOP)

    def test_the_last_user_does_not_wait_for_one_that_was_killed(self):
        """If it waited for the worker, it would give up before `up` does, and
        the cluster would still run."""
        loader = self.loader()
        len(loader)
        killed, _, pid = self.user()
        killed.kill()
        self.stop_worker(pid)
        with mock.patch.object(local_cluster, "STOP_S", GRACE_S - 1):
            loader.close()
        self.assertFalse(is_running(pid))

    def test_a_cluster_ends_soon_after_its_only_user_was_killed(self):
        killed, _, pid = self.user()
        self.stop_worker(pid)
        killed_at = time.monotonic()
        killed.kill()
        wait_until(lambda: not is_running(pid))
        self.assertLess(time.monotonic() - killed_at, GRACE_S)

    def test_a_cluster_for_which_two_signals_count_as_one_is_told_again(self):
        code = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
say("ready")
for _ in range(3):
    signal.sigwait({signal.SIGTERM})
"""
        script = Script(self, code)
        script.line()
        pid = script.process.pid
        with mock.patch.multiple(
                local_cluster, POLITE_S=0.1, STOP_S=harness.DEADLINE):
            local_cluster._stop(local_cluster.Started(
                "", "", {}, pid, local_cluster._start_ticks(pid), 1))
        self.assertFalse(is_running(pid))

    def test_a_program_that_reads_no_pipeline_says_why_it_ended(self):
        pipeline = {"forebay": 1, "more": "x" * 300000}  # fills the pipe
        with self.raises(forebay.PipelineError, "BAD!"):
            len(self.loader(pipeline, data={"BAD!": self.cluster.root}))

    def test_a_program_that_is_too_slow(self):
        program = self.cluster.path("slow")
        program.write_text("#!/bin/sh\nexec sleep 60\n")
        program.chmod(0o700)
        self.set_environment(FOREBAY_BIN=str(program))
        with self.raises(forebay.Timeout, "0.1 s", "timeout="):
            len(self.loader(timeout=0.1))


PIPELINE_BAD = "forebay: 1\nsplits: {{train: {{folder: '{root}'}}}}\n"


class Arguments(PackageTest):
    """What is refused, and the words for it."""

    def test_errors_show_one_frame_of_the_package(self):
        bad = self.cluster.pipeline(PIPELINE_BAD, name="bad.yaml")
        self.cluster.start_server()
        self.cluster.start_worker()
        fine = self.loader()
        next(iter(fine))
        damaged = next(self.cluster.root.rglob("*.jpg"))
        damaged.write_bytes(b"no picture")
        for error, do in (
                (forebay.UsageError, lambda: self.loader(prefetch=0)),
                (forebay.UsageError, lambda: self.loader(spilt="x")),
                (forebay.PipelineError, lambda: iter(self.loader(bad))),
                (forebay.PipelineError, lambda: len(self.loader("/none"))),
                (forebay.UsageError, lambda: fine.set_epoch(-1)),
                (forebay.StateError, lambda: fine.load_state_dict({})),
                (forebay.UsageError, lambda: self.loader(fields=["x"]).fields),
                (forebay.Error, lambda: list(self.loader()))):
            with self.assertRaises(error) as caught:
                try:
                    do()
                except error:
                    text = traceback.format_exc()
                    raise
            self.assertEqual(text.count(f'File "{PYTHON}/forebay/'), 1, text)
            self.assertEqual(text.count("Traceback"), 1, text)
            self.assertTrue(str(caught.exception))

    def test_arguments_of_other_loaders(self):
        for name, words in (
                ("num_workers", "threads="), ("batch_size", "global_batch"),
                ("shuffle", "split"), ("collate_fn", "output="),
                ("sampler", "rank and world"), ("pin_memory", "cuda"),
                ("prefetch_factor", "prefetch="), ("transform", "ops"),
                ("spilt", "did you mean split=?"), ("colour", "help(")):
            with self.raises(forebay.UsageError, f"{name}= is", words):
                self.loader(**{name: 1})

    def test_arguments_that_are_wrong(self):
        for arguments, words in (
                ({"framework": "keras"}, "torch, numpy or jax"),
                ({"memory": "mine"}, "own, ring"),
                ({"device": "cuda"}, "NumPy"),
                ({"fields": "image"}, "list of names"),
                ({"fields": 7}, "list of names"),
                ({"fields": [7]}, "fields[0]=7"),
                ({"fields": ["a\0"]}, "NUL"),
                ({"split": "a\0b"}, "NUL"),
                ({"prefetch": 2**40}, "from 1 to 4096"),
                ({"rank": 2**40, "world": 2**41}, "from 0 to 4294967295"),
                ({"seed": 2**63}, "to 9223372036854775807"),
                ({"mesh": 3}, "DeviceMesh"),
                ({"data": {3: "/x"}}, "a name=3"),
                ({"data": {"x": "/nowhere"}}, "no such directory"),
                ({"threads": 2, "server": "tcp://127.0.0.1:1"}, "threads="),
                ({"threads": 10000}, "from 1 to 1024"),
                ({"output": {3: {}}}, "a field=3"),
                ({"output": {"label": {"pad": "x"}}}, "'x' is not a number"),
                ({"prefetch": 0}, "prefetch=0"),
                ({"prefetch": "x"}, "prefetch='x'"),
                ({"prefetch": 2.5}, "prefetch=2.5"),
                ({"threads": True}, "threads=True"),
                ({"seed": -1}, "whole number from 0"),
                ({"seed": 1 << 20000}, "seed=a large int"),
                ({"rank": -1, "world": 2}, "rank=-1"),
                ({"timeout": float("nan")}, "timeout=nan"),
                ({"timeout": -1}, "above 0"),
                ({"timeout": "soon"}, "timeout='soon'"),
                ({"timeout": None}, "timeout=None"),
                ({"split": 3}, "split=3: give a str"),
                ({"split": b"train"}, "give a str"),
                ({"server": 7070}, "server=7070"),
                ({"job": 1}, "job=1"),
                ({"memory": 1}, "memory=1"),
                ({"framework": numpy}, "framework=<module"),
                ({"data": "/data"}, "data='/data'"),
                ({"data": {"x": 1}}, "give the folder"),
                ({"output": ["image"]}, "output=['image']"),
                ({"output": {"image": "bf16"}}, "a dict for each field"),
                ({"rank": 0}, "give both"),
                ({"output": {"image": {"dtype": "f99"}}}, "bf16"),
                ({"output": {"image": {"colour": 1}}}, "the keys are"),
                ({"output": {"image": {"dtype": "bf16"}}}, "'f32'"),
                ({"output": {"image": {"as": "nested"}}}, "")):
            with self.raises(forebay.Error, words):
                len(self.loader(**arguments))

    def test_a_text_of_a_pipeline(self):
        with self.raises(forebay.UsageError, "the path of its file"):
            len(self.loader(self.pipeline.read_text()))

    def test_a_framework_that_is_not_installed(self):
        with mock.patch.dict(sys.modules, {"jax": None}):
            with self.raises(forebay.UsageError, "pip install jax"):
                len(self.loader(framework="jax"))

    def test_errors_of_a_pipeline_file_have_their_place(self):
        path = self.cluster.path("bad.yaml")
        path.write_text(self.pipeline.read_text().replace("size: 32, only: t",
                                                          "size: x, only: t"))
        for server in (None, "tcp://127.0.0.1:1"):
            with self.raises(forebay.PipelineError, "not 'x'") as raised:
                len(self.loader(path, server=server, timeout=1))
            self.assertTrue(raised.exception.file.endswith("bad.yaml"))
            self.assertEqual(raised.exception.line, 11)
            self.assertEqual(raised.exception.column, 37)
        with self.raises(forebay.PipelineError, "No such file"):
            len(self.loader("nowhere.yaml"))

    def test_errors_of_a_dict_have_the_path_of_their_key(self):
        good = {"forebay": 1, "global_batch": 16, "splits": {
            "train": {"folder": str(self.cluster.root)}}, "fields": {
                "image": {"from": ["jpg"], "ops": [
                    {"resize": {"size": 32}}]}, "label": {"from": "folder"}}}
        self.assertEqual(len(self.loader(good)), STEPS)
        bad = pickle.loads(pickle.dumps(good))
        bad["fields"]["image"]["ops"][0]["resize"]["size"] = "big"
        for server in (None, "tcp://127.0.0.1:1"):
            with self.raises(forebay.PipelineError,
                             "fields.image.ops[0].resize.size") as raised:
                len(self.loader(bad, server=server, timeout=1))
            self.assertEqual(raised.exception.key,
                             "fields.image.ops[0].resize.size")
        with self.raises(forebay.PipelineError, "pipeline: ") as raised:
            len(self.loader({"forebay": 1, "global_batch": 16}))
        self.assertNotIn("[", str(raised.exception).split(": ")[0])
        bad["fields"]["image"]["ops"] = object()
        with self.raises(forebay.UsageError, "fields.image.ops", "object"):
            len(self.loader(bad))

    def test_a_path_a_numpy_number_and_odd_text_in_a_dict(self):
        root = self.cluster.path("ünï \"quoted\" 😀")
        os.rename(self.cluster.root, root)
        self.assertEqual(len(self.loader({
            "forebay": 1, "global_batch": numpy.int64(16),
            "splits": {"train": {"folder": root}},
            "fields": {"label": {"from": "folder"}}})), STEPS)

    def test_no_server_and_no_worker(self):
        with self.raises(forebay.ClusterError, "127.0.0.1:1"):
            len(self.loader(server="tcp://127.0.0.1:1", timeout=1,
                            data={"data": self.cluster.root}))
        server = self.cluster.start_server()
        with self.raises(forebay.Timeout, "worker"):
            len(self.loader(server=server.endpoint, timeout=1,
                            data={"data": self.cluster.root}))

    def test_a_batch_that_does_not_come_and_then_comes(self):
        self.cluster.start_server()
        worker = self.cluster.start_worker()
        loader = self.loader(prefetch=1)
        iterator = iter(loader)
        next(iterator)
        loader.timeout = 0.3
        worker.process.send_signal(signal.SIGSTOP)
        with self.raises(forebay.Timeout):
            while True:
                next(iterator)
        at = loader.step
        worker.resume()
        loader.timeout = 60
        self.assertEqual(len(list(iterator)), STEPS - at)

    def test_a_world_that_does_not_divide(self):
        with self.raises(forebay.Error, "16", "3"):
            len(self.loader(rank=0, world=3, job="j"))

    def test_two_processes_with_one_rank(self):
        first = self.loader(rank=0, world=2, job="two")
        len(first)
        code = """
loader = forebay.Loader(sys.argv[1], split="train", framework="numpy", rank=0,
                        world=2, job="two", timeout=5)
try:
    len(loader)
except forebay.Error as error:
    say(error)
"""
        self.assertIn("rank 0", Script(self, code, self.pipeline).finish())

    def test_a_loader_that_is_not_open_can_be_pickled(self):
        loader = self.loader()
        state = loader.state_dict()
        with self.raises(forebay.UsageError, "pickled"):
            pickle.dumps(loader)
        fresh = self.loader()
        fresh.load_state_dict(dict(state))
        copy = pickle.loads(pickle.dumps(fresh))
        self.addCleanup(copy.close)
        self.assertEqual(copy.state_dict(), state)
        self.assertEqual([digest(b) for b in copy], [digest(b) for b in fresh])

    def test_a_forked_child_is_refused_and_can_open_its_own(self):
        loader = self.loader()
        iterator = iter(loader)
        next(iterator)
        with loader._lock:  # as if another thread were in next()
            child = os.fork()
        if child == 0:
            code = 1
            try:
                try:
                    loader.set_epoch(3)
                    assert False
                except forebay.UsageError as error:
                    assert "process" in str(error)
                try:
                    next(iterator)
                except forebay.UsageError as error:
                    assert "process" in str(error)
                    own = forebay.Loader(self.pipeline, split="train",
                                         framework="numpy")
                    assert len(list(own)) == STEPS
                    own.close()
                    code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(list(iterator)), STEPS - 1)

    def test_text_and_rows_of_several_lengths(self):
        samples = [{"txt": ("é" * i).encode(), "cls": b"1"} for i in range(8)]
        self.cluster.tars(self.cluster.path("text"), samples)
        path = self.cluster.path("text.yaml")
        path.write_text(
            "forebay: 1\nsplits: {train: {shards: 'text/*.tar', shuffle: "
            "none}}\nglobal_batch: 8\nfields:\n  caption: {from: txt, decode: "
            "text, max_length: 64}\n  label: {from: cls}\n")
        loader = self.loader(path, output={"caption": {"as": "text"}})
        [batch] = loader
        self.assertEqual(batch["caption"], ["é" * i for i in range(8)])
        self.assertEqual(sorted(batch), ["caption", "label"])
        self.assertEqual(loader.fields["caption"].dtype, "str")
        [batch] = self.loader(path, output={"caption": {"as": "ragged"}})
        self.assertEqual(sorted(batch),
                         ["caption", "caption.offsets", "label"])
        [batch] = self.loader(path, output={"caption": {
            "as": "padded", "to": "longest", "pad": 7}}, fields=["caption"])
        self.assertEqual(batch["caption"].shape, (8, 14))
        self.assertEqual(batch["caption"][0, 0], 7)
        with self.raises(forebay.UsageError, "nested"):
            next(iter(self.loader(path, output={"caption": {"as": "nested"}})))
        with self.raises(forebay.UsageError, "decode: text", "i32"):
            self.loader(path, output={
                "caption": {"as": "text", "dtype": "i32"}}).fields

    def test_padding_rows_are_marked(self):
        path = self.cluster.pipeline(PIPELINE_PAD, name="pad.yaml")
        batches = list(self.loader(path))
        valid = sum(int(batch["valid"].sum()) for batch in batches)
        self.assertEqual(batches[0]["valid"].dtype, bool)
        self.assertEqual(valid, 16 * STEPS)

    def test_names_of_classes_are_those_of_train(self):
        for name in "train/cat", "train/cow", "train/dog", "val/cow":
            path = self.cluster.path("animals") / name
            path.mkdir(parents=True)
            (path / "1.txt").write_text("x")
        loader = self.loader({
            "forebay": 1, "global_batch": 1, "splits": {
                split: {"folder": str(self.cluster.path("animals") / split),
                        "shuffle": "none"} for split in ("train", "val")},
            "fields": {"label": {"from": "folder"}}}, split="val")
        self.assertEqual(loader.classes, ("cat", "cow", "dog"))
        self.assertEqual(next(iter(loader))["label"].tolist(), [1])

    def test_repr(self):
        loader = self.loader()
        self.assertIn("p.yaml:train, epoch 0, not open", repr(loader))
        next(iter(loader))
        self.assertIn("rank 0 of 1, step 1 of 6", repr(loader))
        loader.close()
        self.assertIn("closed", repr(loader))

    def test_bad_data_names_its_sample(self):
        samples = [{"jpg": b"\xff\xd8nothing"} for _ in range(8)]
        self.cluster.tars(self.cluster.path("bad"), samples)
        with self.raises(forebay.DataError) as raised:
            list(self.loader({
                "forebay": 1, "global_batch": 8, "splits": {"train": {
                    "shards": str(self.cluster.path("bad")) + "/*.tar"}},
                "fields": {"image": {"from": ["jpg"], "ops": [
                    {"resize": {"size": 8}}]}}}))
        self.assertTrue(raised.exception.shard.endswith("000.tar"))
        self.assertIn(raised.exception.sample, range(8))

    def test_a_file_that_is_gone_or_a_socket_is_named(self):
        files = sorted(self.cluster.root.rglob("*.jpg"))
        for is_socket, cause in ((True, "it is not a plain file"),
                                 (False, "it is not there")):
            batches = iter(self.loader(split="val", prefetch=1))
            next(batches)
            victim = files[-1]
            picture = victim.read_bytes()
            victim.unlink()
            with socket.socket(socket.AF_UNIX) as made:
                if is_socket:
                    made.bind(str(victim))
                with self.assertRaises(forebay.DataError) as raised:
                    list(batches)
            self.assertRegex(str(raised.exception), (
                r"^worker \S+ \(tcp://127.0.0.1:\d+\): file "
                f"{victim.parent.name}/{victim.name}, sample 95: was removed "
                f"or replaced since it was indexed: {cause}: restore the file "
                "and resume, or begin a new run with the data as it is now$"))
            self.assertIn("tcp://127.0.0.1:", raised.exception.worker)
            victim.unlink(missing_ok=True)
            victim.write_bytes(picture)


PIPELINE_PAD = """\
forebay: 1
splits: {{train: {{folder: "{root}", last: pad}}}}
global_batch: 40
fields: {{label: {{from: folder, classes: 4}}}}
"""


class Interrupts(PackageTest):
    """Ctrl-C."""

    def ends_at_once(self, script):
        harness.wait(0.3)
        begin = time.monotonic()
        script.interrupt()
        text = script.finish(None)
        self.assertLess(time.monotonic() - begin, 1.5 * harness.SLOW)
        self.assertIn("KeyboardInterrupt", text)

    def test_in_open(self):
        server = self.cluster.start_server()
        script = Script(self, """
loader = forebay.Loader(sys.argv[1], split="train", framework="numpy",
                        server=sys.argv[2], data={"data": sys.argv[3]})
say("opening")
len(loader)
""", self.pipeline, server.endpoint, self.cluster.root)
        script.line()
        self.ends_at_once(script)

    def test_at_a_prompt_it_comes_after_the_import_of_a_framework(self):
        done = []
        with self.assertRaises(KeyboardInterrupt), mock.patch.object(
                sys, "ps1", ">>> ", create=True), interrupts.in_import():
            signal.raise_signal(signal.SIGINT)
            done.append(True)
        self.assertTrue(done)
        self.assertIs(signal.getsignal(signal.SIGINT),
                      signal.default_int_handler)

    def test_in_a_script_it_ends_the_import_of_a_framework(self):
        """Also one that makes another error of it, as numpy does."""
        module = self.cluster.path("slow/jax.py")
        module.parent.mkdir()
        module.write_text(
            "import signal\n"
            "print('importing', flush=True)\n"
            "try:\n"
            "    while True: signal.pause()\n"
            "except KeyboardInterrupt: raise ImportError('no') from None\n")
        script = Script(
            self, "len(forebay.Loader(sys.argv[1], framework='jax'))",
            self.pipeline,
            env={"PYTHONPATH": f"{PYTHON}:{module.parent}"})
        self.assertEqual(script.line(), "importing")
        self.ends_at_once(script)
        self.assertEqual(script.process.returncode, -signal.SIGINT)

    def scans(self):
        """Whether the worker of a local cluster looks at its data."""
        for file in self.clusters():
            up = pathlib.Path(f"/proc/{json.loads(file.read_text())['pid']}")
            children = (up / f"task/{up.name}/children").read_text().split()
            for task in itertools.chain.from_iterable(
                    pathlib.Path(f"/proc/{pid}/task").iterdir()
                    for pid in children):
                if (task / "comm").read_text().strip() == "fby-scan":
                    return True
        return False

    def test_in_a_scan_the_local_cluster_ends_too(self):
        shard = self.cluster.path("x.tar")
        shard.touch()
        os.truncate(shard, 1 << 40)  # one that takes minutes to read
        pipeline = self.cluster.pipeline(
            "forebay: 1\nsplits: {{train: {{shards: '{root}'}}}}\n"
            "global_batch: 1\nfields: {{image: {{from: jpg, decode: bytes, "
            "max_length: 8}}}}\n", root=shard)
        script = Script(
            self, "len(forebay.Loader(sys.argv[1], framework='numpy'))",
            pipeline)
        wait_until(self.scans)
        [file] = self.clusters()
        pid = json.loads(file.read_text())["pid"]
        begin = time.monotonic()
        script.interrupt()
        self.assertIn("KeyboardInterrupt", script.finish(-signal.SIGINT))
        self.assertLess(time.monotonic() - begin, 3 * harness.SLOW)
        self.assertFalse(is_running(pid))
        self.assertEqual(os.listdir(self.runtime / "forebay"), ["lock"])

    def test_in_next(self):
        self.cluster.start_server()
        worker = self.cluster.start_worker()
        script = Script(self, """
loader = forebay.Loader(sys.argv[1], split="train", framework="numpy",
                        server=sys.argv[2], data={"data": sys.argv[3]})
len(loader)
say("open")
sys.stdin.readline()
while True:
    list(loader)
""", self.pipeline, self.cluster.server.endpoint, self.cluster.root)
        script.line()
        worker.process.send_signal(signal.SIGSTOP)
        script.process.stdin.write("\n")
        script.process.stdin.flush()
        self.ends_at_once(script)

    def test_in_a_process_of_its_own_group_the_cluster_stays(self):
        loader = self.loader()
        iterator = iter(loader)
        next(iterator)
        pid = loader._open.cluster.started.pid
        self.assertNotEqual(os.getpgid(pid), os.getpgid(0))


class Import(unittest.TestCase):
    def test_it_is_quick_and_imports_no_framework(self):
        code = (f"import sys, time; sys.path.insert(0, {PYTHON!r})\n"
                "begin = time.perf_counter(); import forebay\n"
                "print((time.perf_counter() - begin) * 1000)\n"
                "assert not {'numpy', 'torch', 'jax'} & set(sys.modules)")
        times = [float(subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True,
            text=True).stdout) for _ in range(5)]
        self.assertLess(min(times), 30 * harness.SLOW)

    def test_every_exception_is_an_error(self):
        for name in forebay.__all__:
            if name != "Loader":
                self.assertTrue(issubclass(getattr(forebay, name),
                                           forebay.Error))
        error = forebay.DataError("text")
        error.sample = 3
        self.assertEqual(pickle.loads(pickle.dumps(error)).sample, 3)
        error = pickle.loads(pickle.dumps(forebay.Timeout("late")))
        self.assertEqual(str(error), "late")


if __name__ == "__main__":
    harness.main()
