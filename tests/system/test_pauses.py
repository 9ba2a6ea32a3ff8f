"""Processes that stop for a while, or for good."""

import signal
import time
import unittest

from PIL import Image

from harness import PATIENT, SLOW, SystemTest, seconds


def wait(duration_s):
    """Let it pass: how long somebody stands still is what is tested."""
    signal.sigtimedwait([], duration_s)


class Pauses(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.photos()
        self.pipeline = self.cluster.pipeline()

    def test_a_client_stopped_for_a_minute_declares_nobody_dead(self):
        self.cluster.start(2)
        pull = self.cluster.pull(self.pipeline, "--epochs", 4, "--window",
                                 "4M", "--step-ms", 5, watched=True,
                                 env=PATIENT,
                                 faults="client.stop:after_chunk=31")
        pull.wait_stopped()
        wait(seconds(60))
        pull.resume()
        result = pull.finish()
        self.assertEqual(pull.faults("client.stop"), 1)
        self.assertLessEqual(result["rerequests"], 20)  # the window
        self.assertNotIn("WORKER-UNREACHABLE", pull.error)
        if SLOW == 1:  # under a sanitizer workers do fall silent
            # A worker cuts off a route that takes nothing for 30 s, and is
            # suspected until it has been greeted anew: once each, no more.
            self.assertLessEqual(result["suspects"], 2)

    def test_a_server_stopped_for_a_minute_declares_nobody_dead(self):
        server = self.cluster.start_server(faults="server.stop:after_renew=3")
        for _ in range(2):
            self.cluster.start_worker()
        pull = self.cluster.pull(self.pipeline, "--epochs", 1000, "--window",
                                 "4M", "--step-ms", 5, watched=True,
                                 env=PATIENT)
        server.wait_stopped()
        wait(seconds(60))
        pull.steps(5)
        server.resume()
        pull.steps(50)
        pull.process.send_signal(signal.SIGINT)
        result = pull.finish(code=130)
        self.assertEqual(server.faults("server.stop"), 1)
        self.assertNotIn("-LATE", server.text())
        if SLOW == 1:
            self.assertEqual(result["suspects"], 0)
            self.assertEqual(result["rerequests"], 0)

    def resume_stopped(self, workers):
        """Of these workers; how many there were."""
        stopped = [worker for worker in workers if worker.has_stopped()]
        for worker in stopped:
            worker.resume()
        return len(stopped)

    def hold(self, held, workers, pull):
        """Two steps without `held`; who stops meanwhile goes on at once."""
        others = [worker for worker in workers if worker is not held]
        stops, until = 1, len(pull.lines) + 2
        while len(pull.lines) < until:
            pull.has_step(0.05)
            stops += self.resume_stopped(others)
        held.resume()
        return stops

    def test_workers_that_stop_again_and_again(self):
        self.cluster.start_server()
        workers = [self.cluster.start_worker(
            "--threads", "1", faults=f"worker.stop:every_chunk={chunks}")
            for chunks in (5, 7, 11, 13)]
        pull = self.cluster.pull(self.pipeline, "--epochs", 1000, "--window",
                                 "4M", "--step-ms", 20, watched=True)
        stops = 0
        while stops < 50:
            for worker in workers:
                if worker.has_stopped():
                    stops += self.hold(worker, workers, pull)
            pull.has_step(0.05)
        self.resume_stopped(workers)
        pull.process.send_signal(signal.SIGINT)
        result = pull.finish(code=130)
        self.assertGreaterEqual(
            sum(worker.faults("worker.stop") for worker in workers), 50)
        self.assertEqual(result["steps"], len(pull.lines))

    def test_without_workers_it_says_so_and_goes_on_when_one_returns(self):
        self.cluster.start_server()
        worker = self.cluster.start_worker(faults="worker.exit:after_chunk=9")
        pull = self.cluster.pull(self.pipeline, "--epochs", 2, "--window",
                                 "1M", "--step-ms", 5, watched=True)
        worker.wait_killed()
        self.assertEqual(worker.faults("worker.exit"), 1)
        pull.wait_for_text("NO-WORKERS")
        self.cluster.start_worker()
        pull.finish()
        self.assertEqual(len(pull.lines), 24)


class Memory(SystemTest):
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
            self.pipeline, "--epochs", 60, "--window", "16M", watched=True)
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
        other = self.cluster.pull(
            self.pipeline, "--epochs", 200, "--window", "16M", watched=True)
        other.steps(50)
        before = worker.rss_bytes()
        result = other.finish()
        self.assertEqual(result["steps"], 600)
        self.assertLess(worker.rss_bytes() - before, (16 << 20) * SLOW)
        wait(max(0, seconds(60) - (time.monotonic() - stopped_at)))
        frozen.resume()
        frozen.steps(20)

    def test_pictures_are_decoded_within_the_budget(self):
        folder = self.cluster.path("large") / "c0"
        folder.mkdir(parents=True)
        picture = Image.effect_noise((1150, 1150), 60).convert("RGB")
        for i in range(64):
            picture.save(folder / f"{i}.jpg", quality=50, progressive=True)
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
        pull = self.cluster.pull(pipeline, "--epochs", 100, "--window", "4M",
                                 watched=True)

        def client_rss():
            for line in open(f"/proc/{pull.process.pid}/status"):
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
            return 0
        pull.steps(400)
        before = worker.rss_bytes(), client_rss()
        pull.steps(1900)
        after = worker.rss_bytes(), client_rss()
        for grown, start in zip(after, before):
            self.assertLess(grown - start, (8 << 20) * SLOW)


if __name__ == "__main__":
    unittest.main(verbosity=2)
