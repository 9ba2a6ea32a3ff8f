# SPDX-License-Identifier: Apache-2.0
"""Faults of server, workers and connections do not change the stream."""

import pathlib
import re
import resource
import signal
import time
import unittest

import proxy
from harness import PATIENT, SLOW, Cluster, SystemTest, seconds


class Faults(SystemTest):
    EPOCHS = 6

    @classmethod
    def setUpClass(cls):
        cluster = Cluster()
        cls.addClassCleanup(cluster.close)
        cls.root = cluster.photos()
        pull = cluster.pull_alone(
            cluster.pipeline(), "--epochs", cls.EPOCHS, "--workers", 1)
        pull.finish()
        cls.without_faults = pull.lines

    def setUp(self):
        super().setUp()
        self.cluster.root = self.root
        self.pipeline = self.cluster.pipeline()

    def pull(self, *args, **options):
        return self.cluster.pull(self.pipeline, "--epochs", self.EPOCHS,
                                 "--window", "4M", *args, watched=True,
                                 **options)

    def assert_same(self, pull):
        result = pull.finish()
        self.assertEqual(pull.lines, self.without_faults)
        return result

    def pull_slowly(self, *args, **options):
        """A consumer that outlasts two leases."""
        return self.pull("--step-ms", int(seconds(0.3) * 1000 * SLOW), *args,
                         **options)

    def assert_under_way(self, pull):
        """Assert that the stream still runs, so the fault was within it."""
        self.assertIsNone(pull.process.poll())

    def assert_killed(self, worker):
        """Assert that its fault point killed it in the middle of a batch."""
        worker.wait_killed()
        self.assertEqual(worker.faults("worker.exit"), 1)

    def test_workers_killed_in_the_middle_of_batches_again_and_again(self):
        self.cluster.start_server()
        pull = None
        for after in (3, 7, 2, 5, 11):
            worker = self.cluster.start_worker(
                faults=f"worker.exit:after_chunk={after}")
            pull = pull or self.pull()
            self.assert_killed(worker)
        self.cluster.start_worker()
        result = self.assert_same(pull)
        self.assertGreater(result["rerequests"], 0)

    def test_workers_of_an_own_cluster_are_started_again(self):
        pull = self.cluster.pull_alone(
            self.pipeline, "--epochs", self.EPOCHS,
            faults="worker.exit:after_chunk=51")
        result = self.assert_same(pull)
        self.assertGreaterEqual(pull.faults("worker.exit"), 2)
        self.assertRegex(pull.error, "CHILD-ENDED worker [12] was killed")
        self.assertGreater(result["rerequests"], 0)

    def test_workers_killed_at_random_moments_and_others_joining(self):
        workers = self.cluster.start(2)
        pull = self.pull_slowly()
        for _ in range(3):
            pull.steps(5)
            workers.append(self.cluster.start_worker())
            killed = workers.pop(0)
            killed.kill()
            self.assertEqual(killed.process.returncode, -signal.SIGKILL)
            self.assert_under_way(pull)
        self.assert_same(pull)
        self.cluster.server.wait_for_text("WORKER-LATE", times=3)

    def test_a_worker_of_another_build_is_not_used(self):
        worker, = self.cluster.start(1)
        pull = self.pull_slowly()
        pull.steps(5)
        other = self.cluster.start_worker(faults="worker.fingerprint")
        worker.kill()
        pull.steps_until_text("NO-WORKERS")
        self.assertRegex(
            pull.text(), r"NO-WORKERS no worker: .* fingerprint \w{16}, the "
            r"stream has \w{16}: start workers of the build that began the "
            r"run, or begin a new run\n")
        self.assertEqual(other.faults("worker.fingerprint"), 1)
        self.assert_under_way(pull)
        self.cluster.start_worker()
        self.assert_same(pull)

    def test_a_worker_stopped_for_longer_than_its_lease(self):
        self.cluster.start(1)
        worker = self.cluster.start_worker(faults="worker.stop:after_chunk=3")
        pull = self.pull_slowly()
        worker.wait_stopped()
        self.cluster.server.wait_for_text("WORKER-LATE")
        worker.resume()
        self.assert_under_way(pull)
        result = self.assert_same(pull)
        self.assertEqual(worker.faults("worker.stop"), 1)
        self.assertGreater(result["rerequests"] + result["hedges"], 0)

    def test_the_server_killed_and_restarted(self):
        delay_ms = int(seconds(5) * 1000)
        workers = []
        server = self.cluster.start_server(faults="server.exit:after_renew=3")
        for _ in range(2):
            workers.append(self.cluster.start_worker(
                faults=f"worker.register_delay:ms={delay_ms}"))
        pull = self.pull_slowly(env=PATIENT)
        server.wait_killed()
        self.assertEqual(server.faults("server.exit"), 1)
        pull.steps(10)
        again = self.cluster.start_server(listen=server.endpoint)
        if SLOW == 1:  # a slow restart is silence: they register by themselves
            for worker in workers:
                worker.wait_for_text(" FAULT worker.register_delay")
        again.wait_for_text("WORKER-NEW")
        self.assert_under_way(pull)
        result = self.assert_same(pull)
        self.assertEqual(result["reconnects"], 0)
        if SLOW == 1:  # under a sanitizer workers do fall silent
            self.assertEqual(result["rerequests"], 0)

    def test_a_worker_that_joins_late(self):
        self.cluster.start(1)
        pull = self.pull("--step-ms", 10)
        pull.steps(10)
        self.cluster.start_worker()
        result = self.assert_same(pull)
        self.assertEqual(result["workers"], 2)

    def test_every_connection_reset_again_and_again(self):
        server = self.cluster.start_server()
        proxies = []
        for _ in range(2):
            cut = proxy.Proxy(every_s=0.2 * SLOW)
            self.addCleanup(cut.close)
            proxies.append(cut)
            cut.to = self.cluster.start_worker(
                "--advertise", cut.endpoint).port
        cut = proxy.Proxy(server.port, 0.2 * SLOW)
        self.addCleanup(cut.close)
        server.endpoint = cut.endpoint
        pull = self.pull("--step-ms", int(20 * SLOW))
        result = self.assert_same(pull)
        self.assertGreater(result["reconnects"], 0)
        self.assertGreater(sum(p.resets for p in proxies), 3)
        self.assertGreater(cut.resets, 1)

    def test_a_worker_registers_again_on_each_new_connection(self):
        server = self.cluster.start_server()
        cut = proxy.Proxy(server.port, 0.3 * SLOW)
        self.addCleanup(cut.close)
        direct, server.endpoint = server.endpoint, cut.endpoint
        worker = self.cluster.start_worker()
        server.endpoint = direct
        worker.wait_for_text(" REGISTERED ", times=3)
        self.assert_same(self.pull())
        self.assertEqual(server.text().count("WORKER-NEW"), 1)
        self.assertNotIn("WORKER-LATE", server.text())

    def test_a_worker_restarted_on_its_port(self):
        self.cluster.start_server()
        endpoint, pull = "tcp://127.0.0.1:*", None
        for after in (21, 7, 15):
            worker = self.cluster.start_worker(
                "--listen", endpoint, faults=f"worker.exit:after_chunk={after}")
            endpoint = worker.endpoint
            pull = pull or self.pull_slowly()
            self.assert_killed(worker)
            self.assert_under_way(pull)
        worker = self.cluster.start_worker("--listen", endpoint)
        worker.wait_for_text("CLIENT-NEW")
        result = self.assert_same(pull)
        self.assertGreater(result["rerequests"], 0)

    def test_a_consumer_killed_and_resumed_from_its_token(self):
        self.cluster.start(2)
        token = self.cluster.path("token")
        lines, begun = [], 0
        args = ["--job", "j", "--window", "1M", "--token-file", token]
        for fault in ["client.exit:after_chunk=31"] * 3 + [""]:
            pull = self.pull(*args, faults=fault)
            pull.finish(code=-signal.SIGKILL if fault else 0)
            self.assertEqual(pull.faults("client.exit"), int(fault != ""))
            begun = self.without_faults.index(pull.lines[0])
            # The token is written after the digest line of its batch.
            self.assertLessEqual(begun, len(lines))
            lines = lines[:begun] + pull.lines
            args = [*args, "--resume", f"@{token}"]
        self.assertGreater(begun, 20)
        self.assertEqual(lines, self.without_faults)

    def test_chunks_that_come_twice_are_taken_once(self):
        self.cluster.start_server()
        worker = self.cluster.start_worker(
            faults="worker.duplicate_chunk:every_chunk=7")
        result = self.assert_same(self.pull(env=PATIENT))
        self.assertGreater(worker.faults("worker.duplicate_chunk"), 0)
        if SLOW == 1:  # under a sanitizer workers do fall silent
            self.assertEqual(result["rerequests"], 0)

    def test_corrupt_lost_busy_and_late_answers_are_asked_again(self):
        for fault, counter in (
                ("worker.corrupt_chunk:every_chunk=9", "checksum_failures"),
                ("worker.lost:every_request=4", "lost"),
                ("worker.busy:every_request=5", "busy"),
                (f"worker.slow:every_sample=100:ms={int(1500 * SLOW)}",
                 "hedges")):
            with self.subTest(fault):
                self.cluster.start_server()
                self.cluster.start_worker()
                worker = self.cluster.start_worker(faults=fault)
                result = self.assert_same(self.pull())
                self.assertGreater(worker.faults(), 0)
                self.assertGreater(result[counter], 0)

    def timed(self):
        """A long stream, its result, and the seconds that it took."""
        begun = time.monotonic()
        pull = self.cluster.pull(self.pipeline, "--epochs", 10 * self.EPOCHS,
                                 "--window", "4M")
        result = pull.finish()
        return pull.lines, result, time.monotonic() - begun

    def test_a_worker_that_sends_headers_and_nothing_else(self):
        """It answers PING too, so only its missing chunks tell."""
        self.cluster.start_server()
        self.cluster.start_worker()
        lines, _, usual_s = self.timed()
        mute = self.cluster.start_worker(faults="worker.mute")
        beside, result, taken_s = self.timed()
        self.assertEqual(beside, lines)
        self.assertGreater(mute.faults("worker.mute"), 0)
        self.assertGreater(result["rerequests"], 0)
        self.assertLess(taken_s, 2 * usual_s + 2 * SLOW)

    def test_a_worker_without_files_to_open_is_busy_until_there_are_some(self):
        worker = self.cluster.start(1)[0]
        pid, files = worker.process.pid, resource.RLIMIT_NOFILE
        limits = resource.prlimit(pid, files)
        pull = self.pull("--step-ms", 10)
        pull.steps(3)
        resource.prlimit(pid, files, (16, limits[1]))
        while "NOT-NOW" not in worker.text():
            self.assert_under_way(pull)
            pull.has_step(0.05)  # so that it asks for more
        resource.prlimit(pid, files, limits)
        result = self.assert_same(pull)
        self.assertGreater(result["busy"], 0)

    def test_a_worker_that_leaves_gives_its_work_back(self):
        workers = self.cluster.start(2)
        pull = self.pull("--step-ms", 10)
        pull.steps(10)
        self.assertEqual(workers[0].terminate(), 0)
        self.assertIn("LEAVING", workers[0].text())
        self.assert_under_way(pull)
        self.assert_same(pull)

    def test_a_worker_ends_although_a_thread_of_it_hangs(self):
        self.cluster.start_server()
        hangs, _ = [self.cluster.start_worker("--drain", "0", faults=faults)
                    for faults in ("worker.slow:after_sample=20:ms=1000000", "")]
        pull = self.pull()
        hangs.wait_for_text(" FAULT worker.slow")
        self.assertEqual(hangs.terminate(), 1)
        self.assertIn("forebay worker: it did not end within 3 s of "
                      "--drain: probably a thread reads from a mount", hangs.text())
        self.assert_same(pull)

    def pull_that_writes_for_long(self):
        """A consumer that waits in write(2), since nothing reads its digests."""
        self.cluster.start(1)
        pull = self.pull("--epochs", "100000")
        state = pathlib.Path(f"/proc/{pull.process.pid}/syscall")
        while not state.read_text().startswith("1 "):  # write(2)
            self.assert_under_way(pull)
            pull.ended_within(0.1)
        return pull

    def test_ctrl_c_while_the_pipe_for_digests_is_full(self):
        pull = self.pull_that_writes_for_long()
        pull.process.send_signal(signal.SIGINT)
        pull.finish(code=130)
        self.assertGreater(len(pull.lines), 0)
        self.assertEqual(
            pull.lines, self.without_faults[:len(pull.lines)])

    def test_one_request_that_comes_as_two_signals(self):
        """As that of timeout(1), which signals the process and its group."""
        pull = self.pull_that_writes_for_long()
        pull.process.send_signal(signal.SIGTERM)
        status = pathlib.Path(f"/proc/{pull.process.pid}/status")
        while not re.search(r"ShdPnd:\t0+\n", status.read_text()):
            self.assert_under_way(pull)
        pull.process.send_signal(signal.SIGTERM)
        result = pull.finish(code=143)
        self.assertIn("--resume " + result["token"], pull.error)

    @unittest.skipIf(SLOW > 1, "ThreadSanitizer runs a handler only when the "
                     "call that the signal interrupted has returned")
    def test_a_later_signal_ends_a_command_that_hangs(self):
        pull = self.pull_that_writes_for_long()
        began = time.monotonic()
        while not pull.ended_within(0.1):
            pull.process.send_signal(signal.SIGTERM)
        self.assertEqual(pull.process.returncode, -signal.SIGTERM)
        self.assertGreater(time.monotonic() - began, 1)

    def test_ctrl_c_ends_with_the_token_to_go_on_from(self):
        self.cluster.start(1)
        pull = self.pull("--step-ms", 10)
        pull.steps(10)
        pull.process.send_signal(signal.SIGINT)
        result = pull.finish(code=130)
        self.assertIn("--resume " + result["token"], pull.error)
        rest = self.pull("--resume", result["token"])
        rest.finish()
        self.assertEqual(pull.lines + rest.lines, self.without_faults)


if __name__ == "__main__":
    unittest.main(verbosity=2)
