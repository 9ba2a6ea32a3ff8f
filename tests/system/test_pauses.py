# SPDX-License-Identifier: Apache-2.0
"""Processes that stop for a while, or for good."""

import signal

import harness

from harness import PATIENT, SLOW, SystemTest, seconds


class Pauses(SystemTest):
    WINDOW = 16  # batches, the default; 4M would hold 21

    def setUp(self):
        super().setUp()
        self.cluster.photos()
        self.pipeline = self.cluster.pipeline()

    def test_a_client_stopped_for_a_minute_declares_no_peer_dead(self):
        self.cluster.start(2)
        pull = self.cluster.pull(self.pipeline, "--epochs", 4, "--window",
                                 "4M", "--step-ms", 5, watched=True,
                                 env=PATIENT,
                                 faults="client.stop:after_chunk=31")
        pull.wait_stopped()
        harness.wait(seconds(60))
        pull.resume()
        result = pull.finish()
        self.assertEqual(pull.faults("client.stop"), 1)
        self.assertNotIn("WORKER-UNREACHABLE", pull.error)
        if SLOW == 1:  # under a sanitizer workers do fall silent
            # A worker cuts off a route that takes nothing for 30 s, and is
            # suspected until it has been greeted anew: once each, no more.
            self.assertLessEqual(result["suspects"], 2)
            # The stop, and each time that a worker is suspected, repeats the
            # requests of the window's steps, of each at most once.
            self.assertLessEqual(result["rerequests"],
                                 self.WINDOW * (1 + result["suspects"]))

    def test_a_server_stopped_for_a_minute_declares_no_peer_dead(self):
        server = self.cluster.start_server(faults="server.stop:after_renew=3")
        for _ in range(2):
            self.cluster.start_worker()
        pull = self.cluster.pull(self.pipeline, "--epochs", 1000, "--window",
                                 "4M", "--step-ms", 5, watched=True,
                                 env=PATIENT)
        server.wait_stopped()
        harness.wait(seconds(60))
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
        """Resume those of the workers that stopped; return their number."""
        stopped = [worker for worker in workers if worker.has_stopped()]
        for worker in stopped:
            worker.resume()
        return len(stopped)

    def hold(self, held, workers, pull):
        """Take two steps without `held`; resume others that stop at once."""
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


if __name__ == "__main__":
    harness.main(at_once=4)  # the tests mostly wait
