# SPDX-License-Identifier: Apache-2.0
"""A server that is named, and moves: workers and trainers find it.

Names are those of a hosts file of the test, which a mount namespace shows to a
process as /etc/hosts."""

import subprocess
import unittest

from harness import Daemon, FOREBAY, Pull, SystemTest

ANYWHERE = "tcp://127.0.0.1:*"
SHOW = """
mount --bind "$1/hosts" /etc/hosts &&
mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf && shift && exec "$@"
"""


class Names(SystemTest):
    def setUp(self):
        super().setUp()
        self.etc = self.cluster.path("etc")
        self.etc.mkdir()
        self.names("")
        (self.etc / "nsswitch.conf").write_text("hosts: files\n")
        self.prefix = ["unshare", "-rm", "sh", "-c", SHOW, "sh", str(self.etc)]
        probe = subprocess.run([*self.prefix, "true"], check=False,
                               capture_output=True)
        if probe.returncode != 0:
            self.skipTest("no mount namespaces here: " + str(probe.stderr))
        self.root = self.cluster.photos(number=96)

    def names(self, *lines):
        """Write the hosts file, in place: the mount is of this very file."""
        (self.etc / "hosts").write_text("".join(f"{x}\n" for x in lines))

    def server(self, address, port="*"):
        return self.cluster.start_server(listen=f"tcp://{address}:{port}")

    def worker(self, *args):
        return Daemon(self.cluster,
                      ["worker", "--data", f"data={self.root}", *args],
                      prefix=self.prefix)

    def pull(self, server, *args, **options):
        return Pull(self.cluster, [
            "--pipeline", str(self.cluster.pipeline()), "--server", server,
            "--data", f"data={self.root}", *args], prefix=self.prefix,
            **options)

    def test_a_server_that_moves_is_found_under_its_name(self):
        self.names("127.0.0.1 head")
        first = self.server("127.0.0.1")
        name = f"head:{first.port}"
        worker = self.worker("--server", name)
        worker.wait_for_text(f" REGISTERED at tcp://127.0.0.1:{first.port} ")
        pull = self.pull(name, "--epochs", "30", watched=True)
        pull.steps(3)
        first.kill()
        self.names("127.0.0.2 head")
        second = self.server("127.0.0.2", first.port)
        worker.wait_for_text(f" REGISTERED at tcp://127.0.0.2:{second.port} ")
        pull.wait_for_text(" JOINED ", times=2)
        new = self.worker("--server", name)
        pull.wait_for_text(" WORKER-FOUND ", times=2)
        self.assertIn(new.endpoint, pull.text())
        pull.finish()
        self.assertEqual(len(pull.lines), 30 * 6)

    def test_all_addresses_of_a_name_are_tried(self):
        self.names("127.0.0.3 head", "127.0.0.4 head", "127.0.0.1 head")
        server = self.server("127.0.0.1")
        name = f"head:{server.port}"
        worker = self.worker("--server", name)
        worker.wait_for_text(f" REGISTERED at tcp://127.0.0.1:{server.port} ")
        self.pull(name, "--epochs", "1").finish()

    def test_an_unknown_name_is_waited_for(self):
        server = self.server("127.0.0.1")
        name = f"head:{server.port}"
        cause = "cannot resolve host 'head': Name or service not known"
        worker = self.worker("--server", name, "--listen", ANYWHERE)
        pull = self.pull(name, "--epochs", "1")
        for process in (worker, pull):
            process.wait_for_text(
                f" SERVER-UNKNOWN {cause}; waiting for it\n")
        self.names("127.0.0.1 head")
        worker.wait_for_text(" REGISTERED ")
        pull.finish()
        self.assertEqual(worker.text().count("SERVER-UNKNOWN"), 1)

    def test_a_stream_that_cannot_open_says_that_the_name_is_unknown(self):
        pull = self.pull("head:7070", "--open-timeout-ms", "1000")
        pull.finish(code=1)
        self.assertTrue(pull.text().endswith(
            "forebay pull: not open after 1.0 s: no answer from the server "
            "tcp://head:7070: cannot resolve host 'head': Name or service not "
            "known\n"), pull.text())

    def test_a_worker_that_waits_for_a_name_ends_at_sigterm(self):
        worker = self.worker("--server", "head:7070", "--listen", ANYWHERE)
        worker.wait_for_text("SERVER-UNKNOWN")
        self.assertEqual(worker.terminate(), 0)

    def worker_that_waits_to_listen(self):
        """A worker that has logged SERVER-UNKNOWN, and its further lines."""
        worker = subprocess.Popen(
            [*self.prefix, FOREBAY, "worker", "--server", "head:7070",
             "--data", f"data={self.root}"], env=self.cluster.env,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(worker.kill)
        lines = iter(worker.stderr.readline, "")
        self.assertTrue(any("SERVER-UNKNOWN" in line for line in lines))
        return worker, lines

    def test_without_an_address_to_listen_on_a_worker_waits_for_the_name(self):
        """It learns from the server's address where to listen."""
        worker, lines = self.worker_that_waits_to_listen()
        self.names("127.0.0.1 head")
        self.assertIn("WORKER-READY tcp://127.0.0.1:", next(lines))
        worker.terminate()
        worker.communicate(timeout=60)
        self.assertEqual(worker.returncode, 0)
        self.names("")
        worker, _ = self.worker_that_waits_to_listen()
        worker.terminate()
        self.assertNotIn("READY", worker.communicate(timeout=60)[1])
        self.assertEqual(worker.returncode, 0)


class ServerFile(SystemTest):
    def test_it_is_waited_for_and_read_again(self):
        root = self.cluster.photos(number=8)
        path = self.cluster.path("server")
        worker = Daemon(self.cluster, [
            "worker", "--data", f"d={root}", "--server-file", str(path),
            "--listen", ANYWHERE])
        worker.wait_for_text(f" SERVER-UNKNOWN server file {path}: No such "
                             "file or directory; waiting for it\n")
        for _ in range(2):
            server = Daemon(self.cluster, [
                "server", "--listen", "tcp://127.0.0.1:*", "--ready-file",
                str(path)])
            worker.wait_for_text(f" REGISTERED at {server.endpoint} ")
            server.kill()
        self.assertEqual(worker.text().count("No such file"), 1)
        path.write_text("nonsense\n")
        worker.wait_for_text(
            f" SERVER-UNKNOWN server file {path}: 'nonsense' is not an "
            "address; write tcp://HOST:PORT, with a PORT up to 65535, IPv6 in "
            "brackets; waiting for "
            "it\n")

    def test_it_excludes_an_address(self):
        for args, words in (
                (["--server", "a:1", "--server-file", "f"],
                 "--server and --server-file exclude each other: both say "
                 "where the server is\n"),
                ([], "--server ADDR is required: trainers find a worker "
                     "through it\n")):
            with self.assertRaisesRegex(AssertionError, "did not start: "
                                        "forebay worker: " + words):
                Daemon(self.cluster, ["worker", "--data", "d=/", *args])


if __name__ == "__main__":
    unittest.main(verbosity=2)
