# SPDX-License-Identifier: Apache-2.0
"""Workers and consumers stay within their memory budgets."""

import shutil
import time

import harness

from PIL import Image

from harness import SLOW, SystemTest, seconds


class Memory(SystemTest):
    """Under a sanitizer there are fewer batches and looser limits."""

    BUDGET = 64 << 20

    def setUp(self):
        super().setUp()
        self.cluster.photos()
        self.pipeline = self.cluster.pipeline(batch=64)

    def start(self):
        self.cluster.start_server()
        return self.cluster.start_worker("--memory", "64M", "--threads", "2")

    def test_a_consumer_that_stops_reading_costs_a_bounded_amount(self):
        worker = self.start()
        pull = self.cluster.pull(
            self.pipeline, "--epochs", 1000, "--window", "16M",
            "--step-ms", 3600000, watched=True)
        other = self.cluster.pull(
            self.pipeline, "--epochs", int(60 / SLOW), "--window", "16M",
            watched=True)
        other.steps(20)
        before = worker.rss_bytes()
        other.finish()
        self.assertLess(worker.rss_bytes() - before, (16 << 20) * SLOW)
        self.assertLess(worker.rss_bytes(), (self.BUDGET + (128 << 20)) * SLOW)
        self.assertIsNone(pull.process.poll())

    def test_a_consumer_frozen_in_a_batch_does_not_hold_up_others(self):
        worker = self.start()
        frozen = self.cluster.pull(self.pipeline, "--epochs", 1000, "--window",
                                   "16M", watched=True,
                                   faults="client.stop:after_chunk=31")
        frozen.wait_stopped()
        stopped_at = time.monotonic()
        epochs = int(200 / SLOW)
        other = self.cluster.pull(
            self.pipeline, "--epochs", epochs, "--window", "16M", watched=True)
        other.steps(50)
        before = worker.rss_bytes()
        result = other.finish()
        self.assertEqual(result["steps"], 3 * epochs)
        self.assertLess(worker.rss_bytes() - before, (16 << 20) * SLOW)
        harness.wait(max(0, seconds(60) - (time.monotonic() - stopped_at)))
        frozen.resume()
        frozen.steps(20)

    def test_pictures_are_decoded_within_the_budget(self):
        folder = self.cluster.path("large") / "c0"
        folder.mkdir(parents=True)
        picture = Image.effect_noise((1150, 1150), 60).convert("RGB")
        picture.save(folder / "0.jpg", quality=50, progressive=True)
        for i in range(1, 64):
            shutil.copy(folder / "0.jpg", folder / f"{i}.jpg")
        self.cluster.root = folder.parent
        self.cluster.start_server()
        worker = self.cluster.start_worker(
            "--memory", "64M", "--threads", "32", "--fetch-threads", "4")
        self.cluster.pull(self.cluster.pipeline(batch=32), "--epochs",
                          2).finish()
        self.assertIn("MEMORY-WAIT", worker.text())
        self.assertLess(worker.peak_bytes(),
                        (self.BUDGET + (24 << 20)) * SLOW)

    def test_memory_is_flat_over_thousands_of_batches(self):
        pipeline = self.cluster.pipeline(batch=8)
        worker = self.start()
        pull = self.cluster.pull(pipeline, "--epochs", int(100 / SLOW),
                                 "--window", "4M", watched=True)

        def client_rss():
            for line in open(f"/proc/{pull.process.pid}/status"):
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
            return 0
        pull.steps(int(400 / SLOW))
        before = worker.rss_bytes(), client_rss()
        pull.steps(int(1900 / SLOW))
        after = worker.rss_bytes(), client_rss()
        for grown, start in zip(after, before):
            self.assertLess(grown - start, (8 << 20) * SLOW)


if __name__ == "__main__":
    harness.main()
