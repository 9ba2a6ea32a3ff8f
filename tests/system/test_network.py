# SPDX-License-Identifier: Apache-2.0
"""A cluster of five hosts: server, three workers and trainer, each in a
network namespace of its own. Whatever happens to the network, the stream is
that of one machine, with keys and without.

FOREBAY_TEST_LONG also takes links down for a minute."""

import signal
import time
import unittest

import harness
from harness import LONG, PATIENT, SLOW, Daemon, Pull, SystemTest, seconds
from network import Network, Unavailable
from proxy import BadNetwork

PORT = 7070
NAME = f"head:{PORT}"


class OnNetwork(SystemTest):
    """Starts a cluster; the server is named by the hosts files."""

    keyed = True

    def setUp(self):
        super().setUp()
        try:
            self.network = Network(self.cluster.path("network"))
            self.addCleanup(self.network.close)
            self.server, *self.workers, self.trainer = (
                self.network.host() for _ in range(5))
        except Unavailable as why:
            self.skipTest(f"no network namespaces here: {why}")
        self.cluster.photos()
        self.pipeline = self.cluster.pipeline()
        self.name(self.server)
        if self.keyed:
            self.keys = self.cluster.path("keys")
            self.forebay("keys", "init", self.keys)
            self.forebay("keys", "add", self.keys, "worker")
            self.forebay("keys", "add", self.keys, "trainer", "t")

    def name(self, server):
        """Give the server's name to this host, on all hosts."""
        for host in self.network.hosts:
            host.names(f"{server.address} head")

    def trust(self, key=""):
        """The options of a process that has this key, or trusts all."""
        if self.keyed:
            return ["--keys", str(self.keys / key)]
        return ["--insecure"]

    def start_server(self, host, env=None):
        return Daemon(self.cluster, [
            "server", "--listen", f"tcp://{host.address}:{PORT}",
            *self.trust()], prefix=host.prefix, env=env)

    def start_worker(self, host, env=None):
        return Daemon(self.cluster, [
            "worker", "--server", NAME, "--threads", "1", "--listen",
            f"tcp://{host.address}:*", "--data", f"data={self.cluster.root}",
            *self.trust("worker.key")], prefix=host.prefix, env=env)

    def start(self, env=None):
        self.served = self.start_server(self.server, env)
        self.work = [self.start_worker(host, env) for host in self.workers]
        for worker in self.work:
            worker.wait_for_text(" REGISTERED ")

    def pull(self, *args, step_ms=20, env=None):
        keyed = self.trust("trainer-t.key") if self.keyed else []
        return Pull(self.cluster, [
            "--pipeline", str(self.pipeline), "--server", NAME, "--data",
            f"data={self.cluster.root}", "--window", "1M", "--step-ms",
            str(int(step_ms * SLOW)), *keyed, *args], watched=True,
            prefix=self.trainer.prefix, env=env)

    def assert_one_machines(self, pull, code=130):
        """End the stream; assert that it is that of one machine."""
        if code == 130:
            pull.process.send_signal(signal.SIGINT)
        result = pull.finish(code=code)
        alone = self.cluster.pull_alone(
            self.pipeline, "--steps", len(pull.lines), "--workers", 1)
        alone.finish()
        self.assertEqual(pull.lines, alone.lines)
        return result

    def need(self, ability, *args):
        """Use an ability of the network that a kernel may lack."""
        try:
            ability(*args)
        except Unavailable as why:
            self.skipTest(f"{self.id()}: {why}")

    def watch(self, pull, duration_s):
        """Take the steps that arrive in this time."""
        until = time.monotonic() + duration_s
        while time.monotonic() < until:
            pull.has_step(max(0, until - time.monotonic()))

    def interrupt(self, pull, host, duration_s):
        """Take a host's link down for a while; wait until the stream goes on.
        Returns how long that took."""
        pull.steps(3)
        host.link("down")
        self.watch(pull, duration_s)
        host.link("up")
        begun = time.monotonic()
        pull.steps(20)
        return time.monotonic() - begun

    def connections(self):
        """The number of connection attempts of each host, by role."""
        roles = {worker.address: "worker" for worker in self.workers}
        roles[self.server.address] = "server"
        roles[self.trainer.address] = "trainer"
        found = {}
        for (source, target, _), number in self.network.attempts().items():
            found.setdefault((roles[source], roles[target]), []).append(number)
        return found


class WithKeys(OnNetwork):
    def test_one_connection_each_and_the_stream_of_one_machine(self):
        self.need(self.network.count_attempts)
        self.start(PATIENT)
        pull = self.pull("--epochs", "10", step_ms=0, env=PATIENT)
        result = self.assert_one_machines(pull, code=0)
        self.assertEqual(result["workers"], 3)
        self.assertEqual(self.connections(), {
            ("worker", "server"): [1, 1, 1], ("trainer", "server"): [1],
            ("trainer", "worker"): [1, 1, 1]})

    def test_links_that_go_down_for_a_second(self):
        self.start()
        pull = self.pull("--epochs", "100000")
        for host in (self.workers[0], self.server, self.trainer):
            self.assertLess(self.interrupt(pull, host, 1), 10 * SLOW)
        self.assert_one_machines(pull)

    @unittest.skipUnless(LONG, "takes minutes")
    def test_links_that_go_down_for_a_minute(self):
        self.start()
        pull = self.pull("--epochs", "1000000", step_ms=100)
        for duration_s in (10, 60):
            for host in (self.workers[0], self.server, self.trainer):
                took = self.interrupt(pull, host, duration_s)
                self.assertLess(took, 40, (duration_s, host.address))
        self.assert_one_machines(pull)

    def test_a_server_that_moves_to_another_host_is_found(self):
        self.start()
        pull = self.pull("--epochs", "100000")
        pull.steps(3)
        self.served.kill()
        moved = self.network.host()
        self.name(moved)
        self.start_server(moved)
        begun = time.monotonic()
        for worker in self.work:
            worker.wait_for_text(
                f" REGISTERED at tcp://{moved.address}:{PORT} ")
        pull.wait_for_text(" JOINED ", times=2)
        self.assertLess(time.monotonic() - begun, seconds(10 + 30) * SLOW)
        pull.steps(20)
        self.assert_one_machines(pull)

    def test_a_network_that_loses_a_packet_in_a_hundred(self):
        self.need(self.network.lose, 1)
        self.start(PATIENT)
        pull = self.pull("--epochs", "20", step_ms=0, env=PATIENT)
        self.assert_one_machines(pull, code=0)
        self.assertGreater(self.network.lost(), 0)

    def test_a_network_of_100_mbit_a_second(self):
        for worker in self.workers:
            self.need(worker.limit, "100mbit")
        self.start(PATIENT)
        pull = self.pull("--epochs", "20", step_ms=0, env=PATIENT)
        self.assert_one_machines(pull, code=0)

    def test_at_most_one_connection_attempt_a_second(self):
        """Of each peer to a host that is gone."""
        duration_s = 60 if LONG else 10
        self.start(PATIENT)
        pull = self.pull("--epochs", "100000", env=PATIENT)
        pull.steps(3)
        self.need(self.network.count_attempts)
        self.served.kill()
        self.work[0].kill()
        self.watch(pull, duration_s)
        found = self.connections()
        self.assertIn(("trainer", "server"), found)
        for attempts in found.values():
            self.assertLessEqual(max(attempts), duration_s, found)
        self.assert_one_machines(pull)


class WithoutKeys(WithKeys):
    keyed = False


class BadNetworks(SystemTest):
    """A network for each process, which delays, stalls, resets and changes."""

    def disturbed(self, to):
        network = BadNetwork(len(self.networks), to)
        self.networks.append(network)
        self.addCleanup(network.close)
        return network

    def check(self, options):
        """`options` are the further ones of each role."""
        self.networks = []
        self.cluster.photos()
        pipeline = self.cluster.pipeline()
        server = self.cluster.start_server(*options["server"])
        server.endpoint = self.disturbed(server.port).endpoint
        for _ in range(3):
            network = self.disturbed(None)
            network.to = self.cluster.start_worker(
                "--advertise", network.endpoint, *options["worker"]).port
        pull = self.cluster.pull(
            pipeline, "--epochs", 20, "--window", "1M", *options["trainer"])
        pull.finish()
        alone = self.cluster.pull_alone(pipeline, "--epochs", 20, "--workers", 1)
        alone.finish()
        self.assertEqual(pull.lines, alone.lines)
        for network in self.networks:
            self.assertGreater(min(network.done.values()), 0, network.done)

    def test_the_stream_is_that_of_one_machine(self):
        self.check({"server": [], "worker": [], "trainer": []})

    def test_the_stream_is_that_of_one_machine_with_keys(self):
        keys = self.cluster.path("keys")
        self.forebay("keys", "init", keys)
        self.forebay("keys", "add", keys, "worker")
        self.forebay("keys", "add", keys, "trainer", "t")
        self.check({"server": ["--keys", keys],
                    "worker": ["--keys", keys / "worker.key"],
                    "trainer": ["--keys", keys / "trainer-t.key"]})


class WrongKeys(OnNetwork):
    def test_at_most_one_connection_attempt_a_second(self):
        """Of processes with the key of another cluster, and without keys."""
        duration_s = 60 if LONG else 10
        self.start_server(self.server, PATIENT)
        self.keys = self.cluster.path("other")
        self.forebay("keys", "init", self.keys)
        self.forebay("keys", "add", self.keys, "worker")
        self.forebay("keys", "add", self.keys, "trainer", "t")
        self.need(self.network.count_attempts)
        self.start_worker(self.workers[0], PATIENT)
        self.pull("--epochs", "1", env=PATIENT)
        self.keyed = False
        self.start_worker(self.workers[1], PATIENT)
        harness.wait(duration_s)
        found = self.connections()
        for attempts in found.values():
            self.assertLessEqual(max(attempts), duration_s, found)


if __name__ == "__main__":
    harness.main(at_once=6 if LONG else 4)  # they mostly wait
