# SPDX-License-Identifier: Apache-2.0
"""Listening beyond loopback, in a network namespace with an address of its
own."""

import json
import subprocess
import unittest

from harness import Daemon, FOREBAY, SystemTest

HOST = "10.9.0.1"
NETWORK = f"ip link set lo up && ip addr add {HOST}/32 dev lo && echo up && cat"
REMEDY = ("without keys, any host that reaches this port could use it: add "
          "--keys (forebay keys init writes them), listen on loopback "
          "(tcp://127.0.0.1:*), or add --insecure in a trusted network\n")


class Exposure(SystemTest):
    def setUp(self):
        super().setUp()
        holder = subprocess.Popen(
            ["unshare", "-rn", "sh", "-c", NETWORK], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(holder.communicate)  # ends its cat
        if holder.stdout.readline() != "up\n":
            self.skipTest("no network namespaces here: "
                          + holder.stderr.read())
        self.prefix = ["nsenter", "-t", str(holder.pid), "-U", "-n",
                       "--preserve-credentials"]
        self.root = self.cluster.photos(number=32)
        self.data = ["--data", f"data={self.root}"]

    def daemon(self, *args):
        return Daemon(self.cluster, list(args), prefix=self.prefix)

    def refused(self, *args):
        """Standard error of a command that is wrong usage."""
        shown = subprocess.run(
            [*self.prefix, FOREBAY, *args], env=self.cluster.env, text=True,
            capture_output=True, check=False, timeout=60)
        self.assertEqual(shown.returncode, 2, shown.stderr)
        return shown.stderr

    def test_beyond_loopback_needs_insecure(self):
        pipeline = str(self.cluster.pipeline())
        server = ["--server", f"{HOST}:7070"]
        for args in (("server",), ("worker", *server, *self.data),
                     ("up", "-p", pipeline)):
            for address in (f"tcp://{HOST}:7071",
                            *(("tcp://0.0.0.0:7071",) if args[0] != "up"
                              else ())):
                said = self.refused(*args, "--listen", address)
                self.assertIn(
                    f"forebay {args[0]}: --listen {address}: {REMEDY}", said)
                self.assertNotIn("LISTENS-OPENLY", said)

    def test_a_variable_allows_it_too(self):
        server = Daemon(self.cluster,
                        ["server", "--listen", f"tcp://{HOST}:*"],
                        prefix=self.prefix, env={"FOREBAY_INSECURE": "1"})
        server.wait_for_text("LISTENS-OPENLY")

    def test_a_worker_of_a_remote_server_does_not_hide_on_loopback(self):
        server = f"tcp://{HOST}:7070"
        self.assertIn(
            f"forebay worker: the server {server} is not on loopback, and "
            "a worker without a key listens only there: give it one (--keys), "
            "or in a trusted network --insecure\n",
            self.refused("worker", "--server", server, *self.data))

    def start_on_the_route(self, of_server, of_worker):
        """Start a server beyond loopback, and a worker without --listen, with
        these options. The worker listens on the route to the server, and
        registers that address."""
        server = self.daemon("server", "--listen", f"tcp://{HOST}:*",
                             *of_server)
        worker = self.daemon("worker", "--server", server.endpoint, *self.data,
                             *of_worker)
        self.assertTrue(worker.endpoint.startswith(f"tcp://{HOST}:"))
        self.assertIn(
            f" LISTENS-ON-ROUTE tcp://{HOST}:* is the address of this host on "
            f"the route to the server {server.endpoint}; choose another one "
            "with --listen\n", worker.text())
        worker.wait_for_text(
            f" REGISTERED at {server.endpoint} as {worker.endpoint}\n")
        return server, worker

    def test_a_worker_listens_on_the_route_to_its_server(self):
        for daemon in self.start_on_the_route(["--insecure"], ["--insecure"]):
            daemon.wait_for_text(" LISTENS-OPENLY ")

    def test_a_worker_with_keys_does_so_without_a_warning(self):
        keys = self.cluster.path("keys")
        self.forebay("keys", "init", keys)
        self.forebay("keys", "add", keys, "worker")
        for daemon in self.start_on_the_route(
                ["--keys", str(keys)], ["--keys", str(keys / "worker.key")]):
            self.assertNotIn(" LISTENS-OPENLY ", daemon.text())

    def test_a_cluster_of_up_can_be_open(self):
        ready = subprocess.run(
            [*self.prefix, "timeout", "60", FOREBAY, "up", "--json",
             "--listen", f"tcp://{HOST}:*", "--insecure", "--pipeline",
             str(self.cluster.pipeline()), "--while-used",
             str(self.cluster.path("p.yaml"))], env=self.cluster.env,
            text=True, capture_output=True, check=False)
        self.assertEqual(ready.returncode, 0, ready.stderr)
        self.assertTrue(json.loads(ready.stdout)["server"].startswith(
            f"tcp://{HOST}:"))
        self.assertEqual(ready.stderr.count("LISTENS-OPENLY"), 3)

    def test_a_loopback_address_is_refused_by_a_server_elsewhere(self):
        server = self.daemon("server", "--listen", f"tcp://{HOST}:*",
                             "--insecure")
        worker = self.daemon("worker", "--server", server.endpoint, *self.data,
                             "--listen", "tcp://127.0.0.1:*")
        worker.wait_for_text(
            f" REGISTERS-LOOPBACK {worker.endpoint} at the server "
            f"{server.endpoint}: no trainer on another host can reach this "
            "worker; --listen takes an address of this host\n")
        worker.wait_for_text(" REGISTER-REFUSED ")
        self.assertNotIn(" REGISTERED ", worker.text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
