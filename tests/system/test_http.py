# SPDX-License-Identifier: Apache-2.0
"""The HTTP pages of running servers and workers, asked as curl, Prometheus, a
slow client and a stranger ask."""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import resource
import select
import shutil
import socket
import subprocess
import time

from harness import DEADLINE, FOREBAY, PATIENT, Daemon, SystemTest, main

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs/operations.md"
ANY = ("--http", "127.0.0.1:0")
TOKEN = "0123456789abcdef0123456789abcdef"


def address(daemon):
    """Where a daemon answers HTTP: (host, port)."""
    line = re.search(r"HTTP-READY http://(\S+):(\d+)/", daemon.text())
    return line[1].strip("[]"), int(line[2])


def ask(daemon, path, method="GET", headers=None):
    """(status, text, headers) of one request."""
    connection = http.client.HTTPConnection(*address(daemon),
                                            timeout=DEADLINE)
    try:
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        connection.close()


def wait_for(condition):
    """Wait until condition() is true; return its value."""
    until = time.monotonic() + DEADLINE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError("never became true")
        select.select([], [], [], 0.05)


def wait_for_status(daemon, path, status):
    """Wait for an answer with this status; return its text."""
    answer = wait_for(lambda: next(
        (a for a in [ask(daemon, path)] if a[0] == status), None))
    return answer[1]


def metrics(daemon):
    """{name with labels: value} of /metrics."""
    status, text, _ = ask(daemon, "/metrics")
    if status != 200:
        return {}
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in text.splitlines() if not line.startswith("#")}


class Pages(SystemTest):
    def start(self, **worker_options):
        """A server and a worker, both with HTTP."""
        cluster = self.cluster
        cluster.photos()
        server = cluster.server = Daemon(cluster, [
            "server", "--listen", "tcp://127.0.0.1:*", *ANY])
        worker = cluster.start_worker(*ANY, **worker_options)
        return server, worker

    def test_every_page_answers(self):
        server, worker = self.start()
        for daemon, paths in (
                (server, ["/", "/healthz", "/readyz", "/metrics", "/scale",
                          "/api/cluster"]),
                (worker, ["/", "/healthz", "/readyz", "/metrics"])):
            wait_for_status(daemon, paths[-2], 200)  # the last to be ready
            listed = ask(daemon, "/")[1].splitlines()
            self.assertEqual([line.split()[0] for line in listed], paths)
            for path in paths:
                status, text, _ = ask(daemon, path)
                self.assertEqual(status, 200, path)
                status, nothing, headers = ask(daemon, path, "HEAD")
                self.assertEqual((status, nothing), (200, ""), path)
                self.assertGreater(int(headers["Content-Length"]), 2)
            self.assertEqual(ask(daemon, "/none")[0], 404)
            self.assertEqual(ask(daemon, "/metrics", "POST")[0], 405)
            self.assertEqual(ask(daemon, "/metrics", "DELETE")[0], 405)
        self.assertEqual(ask(worker, "/api/cluster")[0], 404)

    def test_without_the_option_nothing_listens(self):
        self.cluster.photos(16)
        worker, = self.cluster.start(1)
        self.assertNotIn("HTTP-READY", worker.text())
        self.assertNotIn("HTTP-READY", self.cluster.server.text())

    def test_numbers_of_a_pull_arrive_at_worker_and_server(self):
        server, worker = self.start()
        pull = self.cluster.pull(self.cluster.pipeline(), "--epochs", 1,
                                 "--job", "a \"job\"")
        result = pull.finish()
        steps = result["steps"]
        wait_for(lambda: metrics(worker)["forebay_worker_batches_total"]
                 >= steps)
        own = metrics(worker)
        self.assertGreater(own["forebay_worker_wire_bytes_total"], 1000)
        self.assertGreater(own['forebay_worker_stage_busy_seconds_total'
                               '{stage="transform"}'], 0)
        self.assertEqual(own["forebay_worker_registered"], 1)
        self.assertGreater(own["forebay_worker_budget_limit_bytes"], 1 << 20)

        def told_by_the_server():
            """The worker, once the server knows as much as the worker."""
            told = json.loads(ask(server, "/api/cluster")[1])["workers"][0]
            batches = metrics(worker)["forebay_worker_batches_total"]
            return told.get("counters", {}).get("batches") == batches and told

        told = wait_for(told_by_the_server)
        self.assertEqual(told["endpoints"], [worker.endpoint])
        self.assertEqual(told["pid"], worker.process.pid)
        self.assertEqual(told["host"], socket.gethostname())
        labels = (f'worker="{told["id"]}",host="{told["host"]}",'
                  f'endpoint="{worker.endpoint}"')
        wait_for(lambda: metrics(server)[
            f"forebay_cluster_worker_batches_total{{{labels}}}"]
            == told["counters"]["batches"])

    def test_a_running_job_is_told_with_its_ranks(self):
        server, _ = self.start()
        pull = self.cluster.pull(self.cluster.pipeline(), "--epochs", 1000,
                                 "--job", 'a "job"', watched=True)
        pull.steps(20)  # it goes on, and waits for its reader

        def job():
            jobs = json.loads(ask(server, "/api/cluster")[1])["jobs"]
            return (jobs and jobs[0]["ranks"]
                    and "wait_ratio" in jobs[0]["ranks"][0] and jobs[0])

        told = wait_for(job)
        self.assertEqual(told["name"], 'a "job"')
        self.assertEqual(told["world"], 1)
        self.assertEqual(told["ranks"][0]["pid"], pull.process.pid)
        self.assertEqual(told["ranks"][0]["state"], "joined")
        self.assertGreater(told["ranks"][0]["rows_per_second"], 0)
        self.assertEqual(
            metrics(server)['forebay_job_ranks{job_name="a \\"job\\""}'], 1)
        pull.kill()

    def test_a_worker_that_leaves_is_alive_but_not_ready(self):
        _, worker = self.start(  # a batch of it takes seconds
            faults="worker.slow:every_sample=1:ms=500", env=PATIENT)
        wait_for_status(worker, "/readyz", 200)
        pull = self.cluster.pull(self.cluster.pipeline(), "--epochs", 1)
        worker.wait_for_text(" FAULT worker.slow")
        worker.process.terminate()
        self.assertEqual(
            wait_for_status(worker, "/readyz", 503),
            "The worker is leaving: it takes no new requests.\n")
        self.assertEqual(ask(worker, "/healthz")[0], 200)
        pull.kill()

    def test_a_worker_without_its_server_is_alive_but_not_ready(self):
        server, worker = self.start()
        wait_for_status(worker, "/readyz", 200)
        server.kill()
        text = wait_for_status(worker, "/readyz", 503)
        self.assertEqual(
            text, "The worker is not registered at the server "
            f"{server.endpoint}: it keeps trying.\n")
        self.assertEqual(ask(worker, "/healthz")[0], 200)

    def test_ipv6_and_a_chosen_port(self):
        try:
            with socket.socket(socket.AF_INET6) as free:
                free.bind(("::1", 0))
                port = free.getsockname()[1]
        except OSError:
            self.skipTest("NOT CHECKED: this machine has no IPv6")
        server = Daemon(self.cluster, ["server", "--listen",
                                       "tcp://127.0.0.1:*", "--http",
                                       f"[::1]:{port}"])
        self.assertEqual(address(server), ("::1", port))
        self.assertEqual(ask(server, "/healthz")[:2], (200, "ok\n"))


class Tokens(SystemTest):
    def token(self, text=TOKEN + "\n", mode=0o600):
        path = self.cluster.path("token")
        path.write_text(text)
        path.chmod(mode)
        return path

    def server(self, listen, *args):
        return Daemon(self.cluster, ["server", "--listen", "tcp://127.0.0.1:*",
                                     "--http", listen, *args])

    def test_pages_need_the_token_and_probes_do_not(self):
        server = self.server("0.0.0.0:0", "--http-token-file", self.token())
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        wait_for_status(server, "/readyz", 200)
        for path in ("/", "/metrics", "/api/cluster"):
            status, text, headers = ask(server, path)
            self.assertEqual(status, 401, path)
            self.assertEqual(
                text, "This page needs the token of --http-token-file: send "
                "the header 'Authorization: Bearer TOKEN'.\n")
            self.assertEqual(headers["WWW-Authenticate"], "Bearer")
            wrong = {"Authorization": f"Bearer {TOKEN[:-1]}e"}
            self.assertEqual(ask(server, path, headers=wrong)[0], 401)
            self.assertEqual(ask(server, path, headers=bearer)[0], 200)
        for path in ("/healthz", "/readyz"):
            self.assertEqual(ask(server, path)[0], 200)

    def test_unsafe_options_end_with_code_2(self):
        refusals = (
            (["--http", "0.0.0.0:0"],
             "--http 0.0.0.0:0: other hosts could read the pages at this "
             "address: give --http-token-file PATH, or listen on 127.0.0.1\n"),
            (["--http", "9464"],
             "--http 9464: this is not a numeric address and a port: write "
             "it as 127.0.0.1:9464, or [::1]:9464; port 0 takes a free "
             "one\n"),
            (["--http", "127.0.0.1:0", "--http-token-file",
              self.token(mode=0o644)],
             f"--http-token-file {self.cluster.path('token')}: all users may "
             "read the token: run chmod o-rwx on the file, and change the "
             "token\n"),
            (["--http-token-file", "t"],
             "--http-token-file t: this needs --http ADDR:PORT\n"))
        root = self.cluster.photos(16)
        commands = (
            ["server", "--listen", "tcp://127.0.0.1:*"],
            ["worker", "--server", "tcp://127.0.0.1:9", "--data", f"d={root}"])
        for command in commands:
            for options, text in refusals:
                done = self.run_forebay(*command, *options)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr.endswith(
                    f"forebay {command[0]}: {text}"), done.stderr)


    def test_too_few_descriptors_are_found_at_the_start(self):
        def confine():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

        done = subprocess.run(
            [FOREBAY, "server", "--listen", "tcp://127.0.0.1:*", *ANY],
            preexec_fn=confine, capture_output=True, text=True, check=False,
            timeout=DEADLINE, env=self.cluster.env)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(
            done.stderr, r"a server needs (9\d|10\d) open files and sockets "
            r"here, and the limit is 64; raise it \(ulimit -n\)\n$")


class Load(SystemTest):
    """What HTTP clients do changes nothing for the stream."""

    REQUESTS = 10_000
    GARBAGE = (b"\0" * 64, b"GET", b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000,
               b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\r\n" * 500,
               b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
               b"GET /%00%ff HTTP/1.1\r\n\r\n")

    def send(self, daemon, data):
        """Send bytes and go away, or be sent away."""
        with socket.create_connection(address(daemon), DEADLINE) as client:
            try:
                client.sendall(data)
            except OSError:
                pass

    def attack(self, daemons, pull):
        """Slow clients that stay, then many requests, garbage among them,
        while the consumer takes a step for each 100 of them."""
        slow = []
        for daemon in daemons:
            for _ in range(100):
                client = socket.create_connection(address(daemon), DEADLINE)
                client.sendall(b"GET /metr")
                slow.append(client)
        paths = ("/metrics", "/api/cluster", "/healthz", "/readyz", "/none")

        def one(number):
            daemon = daemons[number % len(daemons)]
            if number % 10 == 9:
                self.send(daemon, self.GARBAGE[number // 10
                                               % len(self.GARBAGE)])
                return 0
            return ask(daemon, paths[number // 10 % len(paths)])[0]

        statuses = []
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for first in range(0, self.REQUESTS, 100):
                statuses += pool.map(one, range(first, first + 100))
                pull.steps(1)
        for client in slow:
            client.close()
        return statuses

    def sockets_and_threads(self, daemon):
        """The numbers of open sockets and of threads of a process."""
        folder = pathlib.Path(f"/proc/{daemon.process.pid}")
        sockets = 0
        for path in (folder / "fd").iterdir():
            try:
                sockets += os.readlink(path).startswith("socket:")
            except FileNotFoundError:
                pass  # it was closed meanwhile
        return sockets, len(os.listdir(folder / "task"))

    def test_ten_thousand_requests_change_no_byte(self):
        cluster = self.cluster
        cluster.photos()
        pipeline = cluster.pipeline()  # 12 steps an epoch
        quiet = cluster.pull_alone(pipeline, "--epochs", 9)
        quiet.finish()
        server = cluster.server = Daemon(cluster, [
            "server", "--listen", "tcp://127.0.0.1:*", *ANY])
        worker = cluster.start_worker(*ANY)
        pull = cluster.pull(pipeline, "--epochs", 9, watched=True)
        pull.steps(1)
        before = self.sockets_and_threads(worker)
        statuses = self.attack([worker, server], pull)
        self.assertGreater(statuses.count(200), self.REQUESTS // 2)
        self.assertEqual(set(statuses), {0, 200, 404})
        wait_for(lambda: self.sockets_and_threads(worker)[0] <= before[0])
        self.assertLessEqual(self.sockets_and_threads(worker)[1], before[1])
        result = pull.finish()
        self.assertEqual(pull.lines, quiet.lines)
        for key in ("lost", "checksum_failures", "protocol_errors"):
            self.assertEqual(result[key], 0, key)
        for daemon in (worker, server):
            self.assertEqual(ask(daemon, "/healthz")[0], 200)
            self.assertEqual(daemon.terminate(), 0)


def has_prometheus():
    return shutil.which("promtool") and shutil.which("prometheus")


class Prometheus(SystemTest):
    """The distribution's Prometheus reads what we serve."""

    def setUp(self):
        super().setUp()
        if not has_prometheus():
            self.skipTest("NOT CHECKED: the metrics, as there is no "
                          "Prometheus (apt-get install prometheus)")
        self.cluster.photos(64)
        self.server = self.cluster.server = Daemon(
            self.cluster, ["server", "--listen", "tcp://127.0.0.1:*", *ANY])
        self.worker = self.cluster.start_worker(*ANY)
        pull = self.cluster.pull(self.cluster.pipeline(), "--epochs", 1000,
                                 "--job", 'odd "name" \\', watched=True)
        pull.steps(1)

    def test_promtool_finds_no_fault(self):
        wait_for(lambda: "forebay_cluster_worker_batches_total{"
                 in ask(self.server, "/metrics")[1])
        for daemon in (self.server, self.worker):
            text = ask(daemon, "/metrics")[1]
            done = subprocess.run(["promtool", "check", "metrics"], input=text,
                                  capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, "", ""))

    def start_prometheus(self, targets):
        """Start Prometheus on a free port; returns the port."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        config = self.cluster.path("prometheus.yml")
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "forebay", "static_configs": [
                {"targets": targets}]}]}))
        log = open(self.cluster.path("prometheus.log"), "wb")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            ["prometheus", f"--config.file={config}",
             f"--storage.tsdb.path={self.cluster.path('tsdb')}",
             f"--web.listen-address=127.0.0.1:{port}"],
            stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return port

    def query(self, port, expression):
        """The results of a query; empty while Prometheus starts."""
        connection = http.client.HTTPConnection("127.0.0.1", port,
                                                timeout=DEADLINE)
        try:
            connection.request("GET", f"/api/v1/query?query={expression}")
            answer = connection.getresponse()
            if answer.status != 200:
                return []
            return json.loads(answer.read())["data"]["result"]
        except OSError:
            return []
        finally:
            connection.close()

    def test_prometheus_scrapes_server_and_worker(self):
        port = self.start_prometheus(
            ["%s:%d" % address(d) for d in (self.server, self.worker)])
        wait_for(lambda: [r["value"][1] for r in self.query(port, "up")]
                 == ["1", "1"])
        wait_for(lambda: self.query(port, "forebay_worker_batches_total%3E0"))
        job = wait_for(lambda: self.query(port, "forebay_job_ranks"))
        self.assertEqual(job[0]["metric"]["job_name"], 'odd "name" \\')


class Docs(SystemTest):
    def test_the_manual_has_a_row_for_each_metric_and_path(self):
        section = DOCS.read_text().split(
            "\n## Look at a running server or worker\n")[1].split("\n## ")[0]
        told = re.findall(r"^\| `(forebay_\w+)", section, re.MULTILINE)
        self.cluster.photos(16)
        self.cluster.server = Daemon(self.cluster, [
            "server", "--listen", "tcp://127.0.0.1:*", *ANY])
        worker = self.cluster.start_worker(*ANY)
        served = set()
        for daemon in (self.cluster.server, worker):
            wait_for_status(daemon, "/metrics", 200)
            if daemon is self.cluster.server:  # then it has all metrics
                wait_for_status(daemon, "/scale", 200)
            served |= set(re.findall(r"^# TYPE (\w+)",
                                     ask(daemon, "/metrics")[1], re.MULTILINE))
            for line in ask(daemon, "/")[1].splitlines():
                self.assertIn(f"`{line.split()[0]}`", section)
        self.assertEqual(sorted(told), sorted(served))


if __name__ == "__main__":
    main()
