#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of deploy/slurm, with a real Slurm: its daemons run in namespaces
of this test, and emulate five nodes on one machine."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import base
from base import FOREBAY, SOURCE, run

NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts",
              "--net", "--mount-proc")
DIR = pathlib.Path(os.environ.get("IN_NAMESPACES") or
                   tempfile.mkdtemp(prefix="forebay-slurm-"))
SCALE = SOURCE / "deploy/slurm/scale"
TRAIN = SOURCE / "deploy/slurm/train.sbatch"
ADDRESS = "10.77.0.1"
DEADLINE_S = 90
OPTIONS = ("--partition=few", "--exclusive", "--time=30")
PROCESSES = []
MANY = {"DATA": str(DIR / "many"), "PIPELINE": str(DIR / "many.yaml")}

# Heterogeneous jobs start when the backfill scheduler runs. `config_overrides`:
# the nodes have as many cores and GPUs as is said here. `KillOnBadExit`,
# `WaitTime`: unless srun says otherwise, the end of a task ends the others.
CONFIG = f"""
ClusterName=test
SlurmctldHost=cluster
AuthType=auth/munge
AuthInfo=socket={DIR}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmUser=root
SlurmdUser=root
StateSaveLocation={DIR}/state
SlurmdSpoolDir={DIR}/spool-%n
SlurmctldPidFile={DIR}/slurmctld.pid
SlurmdPidFile={DIR}/slurmd-%n.pid
SlurmdParameters=config_overrides
KillOnBadExit=1
WaitTime=1
GresTypes=gpu
PartitionName=gpu Nodes=gpu1 State=UP
PartitionName=cpu Nodes=cpu[1-2] State=UP
PartitionName=few Nodes=cpu[3-4] State=UP
"""
NODES = ("gpu1", "cpu1", "cpu2", "cpu3", "cpu4")
for number, node in enumerate(NODES):
    CONFIG += (f"NodeName={node} NodeHostname=cluster NodeAddr={ADDRESS} "
               f"Port={7001 + number} CPUs=32 RealMemory=64000 "
               f"{'Gres=gpu:1' if node == 'gpu1' else ''}\n")


def inside():
    """Run this test again, in namespaces of its own; return its exit code. The
    shell reaps the processes whose parents end."""
    return subprocess.run(
        [*NAMESPACES, "sh", "-c", '"$@"; exit $?', "sh", sys.executable,
         *sys.argv], check=False,
        env={**os.environ, "IN_NAMESPACES": str(DIR)}).returncode


def wait_for(condition, what):
    """The first true value of a function."""
    until = time.monotonic() + DEADLINE_S
    while not (value := condition()):
        if time.monotonic() > until:
            raise AssertionError(f"waited in vain for {what()}")
        time.sleep(0.2)
    return value


def start(name, *args, **options):
    """A process that ends with the namespaces; its log is NAME.log."""
    with open(DIR / f"{name}.log", "wb") as log:
        process = subprocess.Popen(list(map(str, args)), stdout=log, stderr=log,
                                   stdin=subprocess.DEVNULL, **options)
    PROCESSES.append(process)
    return process


def make_network():
    """A host name, and an address beside loopback."""
    run("hostname", "cluster")
    (DIR / "hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} cluster\n")
    run("mount", "--bind", DIR / "hosts", "/etc/hosts")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "left", "type", "veth", "peer", "name", "right")
    run("ip", "address", "add", f"{ADDRESS}/24", "dev", "left")
    run("ip", "link", "set", "left", "up")
    run("ip", "link", "set", "right", "up")


def start_slurm():
    (DIR / "slurm.conf").write_text(CONFIG)
    (DIR / "gres.conf").write_text("NodeName=gpu1 Name=gpu File=/dev/null\n")
    (DIR / "cgroup.conf").write_text("IgnoreSystemd=yes\n")
    (DIR / "munge.key").write_bytes(os.urandom(128))
    (DIR / "munge.key").chmod(0o400)
    os.environ["SLURM_CONF"] = str(DIR / "slurm.conf")
    start("munged", "munged", "--foreground", "--force",
          f"--key-file={DIR}/munge.key", f"--socket={DIR}/munge.socket",
          f"--pid-file={DIR}/munged.pid", f"--seed-file={DIR}/munge.seed",
          f"--log-file={DIR}/munge.log")
    wait_for((DIR / "munge.socket").exists, lambda: "munged")
    start("slurmctld", "slurmctld", "-D")
    for node in NODES:
        start(node, "slurmd", "-D", "-N", node)
    wait_for(lambda: attempt("sinfo", "-h", "-N", "-o", "%T").split() ==
             ["idle"] * len(NODES), lambda: attempt("sinfo", "-N"))


def setUpModule():
    """A cluster, 64 photos with their pipeline, and 20 copies of them."""
    os.environ["PATH"] = f"{pathlib.Path(FOREBAY).parent}:{os.environ['PATH']}"
    os.environ["FOREBAY_CACHE_DIR"] = str(DIR / "cache")
    os.chdir(DIR)
    make_network()
    start_slurm()
    run(FOREBAY, "photos", "--number", "64", "photos")
    run(FOREBAY, "init", "photos", "-o", "p.yaml")
    for copy in range(20):
        shutil.copytree("photos", f"many/{copy}")
    run(FOREBAY, "init", "many", "-o", "many.yaml", "--class-depth", "2")


def attempt(*args, **options):
    """The standard output of a command that may fail."""
    return subprocess.run(list(map(str, args)), check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=DEADLINE_S, **options).stdout


def log(name):
    path = DIR / f"{name}.log"
    return path.read_text() if path.exists() else ""


def state(job):
    """The state of a job, as RUNNING."""
    return re.search(r"JobState=(\w+)", run("scontrol", "show", "job", job))[1]


def run_time(job):
    """How long a job runs, in seconds."""
    text = run("scontrol", "show", "job", job)
    hours, minutes, seconds = re.search(r"RunTime=(\d+):(\d+):(\d+)",
                                        text).groups()
    return 3600 * int(hours) + 60 * int(minutes) + int(seconds)


def set_time_limit(job, seconds):
    """Set the time limit to so much, and up to a minute more."""
    run("scontrol", "update", f"JobId={job}",
        f"TimeLimit={-(-seconds // 60)}")


class Train(unittest.TestCase):
    """train.sbatch, as it is but for the seconds that a trainer has to end."""

    def submit(self, *args, **variables):
        script = TRAIN.read_text()
        self.assertIn("trainer_grace_s=60", script)
        (DIR / "train.sbatch").write_text(
            script.replace("trainer_grace_s=60", "trainer_grace_s=4"))
        job = run("sbatch", "--parsable", *args, "train.sbatch", env={
            **os.environ, "DATA": str(DIR / "photos"),
            "PIPELINE": str(DIR / "p.yaml"), **variables}).strip()
        self.addCleanup(attempt, "scancel", job)
        return job

    def finish(self, job):
        """(exit code, log) of a job at its end."""
        wait_for(lambda: attempt("squeue", "-h", "-j", job) == "",
                 lambda: run("scontrol", "show", "job", job))
        code = re.search(r"ExitCode=(\d+):",
                         run("scontrol", "show", "job", job))[1]
        self.assertFalse((DIR / f"forebay-{job}").exists())
        return int(code), log(f"train-{job}")

    def assert_has_pulled(self, job):
        """A job receives the data of a local pull."""
        digest = json.loads(run(FOREBAY, "pull", "--pipeline", "p.yaml",
                                "--json"))["digest"]
        code, text = self.finish(job)
        self.assertEqual(code, 0, text)
        self.assertIn(digest, text)
        return text

    def test_a_job_receives_the_data_of_a_local_pull(self):
        text = self.assert_has_pulled(self.submit(
            "--export=DATA,PIPELINE,PATH,SLURM_CONF,FOREBAY_CACHE_DIR"))
        self.assertEqual(text.count("LEAVING"), 2, text)  # both workers drain
        self.assertEqual(text.count("SERVER-ENDED"), 1, text)
        self.assertNotIn("error", text)

    def test_its_exit_code_is_that_of_the_trainer(self):
        code, text = self.finish(self.submit(PIPELINE="/nonexistent"))
        self.assertEqual(code, 1, text)
        self.assertIn("/nonexistent", text)

    def test_variables_that_are_missing(self):
        code, text = self.finish(self.submit(SBATCH_EXPORT="NONE"))
        self.assertEqual(code, 1, text)
        self.assertIn("DATA: is not set: submit with DATA=", text)

    def submit_slow(self, **variables):
        """A job that has begun, and takes 4 s for each copy of the photos:
        each of the 32 threads makes two samples of it."""
        job = self.submit(FOREBAY_FAULT="worker.slow:every_sample=1:ms=2000",
                          FOREBAY_DRAIN="1", **variables)
        wait_for(lambda: log(f"train-{job}").count("REGISTERED") == 2,
                 lambda: attempt("squeue"))
        return job

    def test_a_job_that_is_cancelled_leaves_no_keys(self):
        job = self.submit_slow()
        self.assertTrue((DIR / f"forebay-{job}/keys").exists())
        run("scancel", job)
        self.finish(job)
        self.assertEqual(state(job), "CANCELLED")

    def test_it_fails_when_its_workers_end(self):
        for signal, sign in (("USR1", "User defined signal 1"),  # fail
                             ("TERM", "LEAVING")):               # exit with 0
            job = self.submit_slow(**MANY)
            workers = int(job) + 1
            run("scancel", f"--signal={signal}", workers)
            code, text = self.finish(job)
            self.assertEqual(code, 1, text)
            self.assertIn(sign, text)
            self.assertIn("the workers ended before the trainer", text)

    def test_it_goes_on_without_one_of_its_workers(self):
        job = self.submit_slow()
        run("pkill", "--oldest", "-KILL", "--full", "^[^ ]*forebay worker ")
        text = self.assert_has_pulled(job)
        self.assertRegex(text, r"srun: error: cpu[12]: task [01]: Killed")

    def test_at_the_time_limit_the_workers_serve_until_the_trainer_ends(self):
        job = self.submit_slow(**MANY)
        for part in (job, int(job) + 1):
            set_time_limit(part, 60)
        code, text = self.finish(job)
        self.assertEqual(code, 143, text)
        self.assertEqual(text.count("LEAVING"), 2, text)
        self.assertLess(text.index("ended by signal"), text.index("LEAVING"))


class Scale(unittest.TestCase):
    """The command `scale`, on a partition of two nodes."""

    def setUp(self):
        self.env = {**os.environ, "SBATCH_EXPORT": "NONE",
                    "FOREBAY_DATA": f"data={DIR}/photos",
                    "FOREBAY_SERVER_FILE": f"{DIR}/{self.id()}"}
        self.addCleanup(self.end_jobs)

    def end_jobs(self):
        self.scale(0)
        wait_for(lambda: not self.jobs(), lambda: run("squeue"))

    def scale(self, n, *args, code=0, before=300, **variables):
        """What `scale N` says that it did, or its error."""
        done = subprocess.run(
            [SCALE, "--replace-before", str(before), str(n), *OPTIONS, *args],
            env={**self.env, **variables}, text=True, timeout=DEADLINE_S,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def jobs(self, *states):
        """The ids of the jobs in these states, the oldest first."""
        lines = run("squeue", "-h", "-S", "i", "-p", "few", "-o",
                    "%i %T").splitlines()
        return [line.split()[0] for line in lines
                if not states or line.split()[1] in states]

    def wait_for_jobs(self, n, state):
        return wait_for(lambda: len(self.jobs(state)) == n and self.jobs(state),
                        lambda: run("squeue"))

    def start_cluster(self):
        """A server with keys."""
        keys = DIR / f"{self.id()}-keys"
        run(FOREBAY, "keys", "init", keys)
        run(FOREBAY, "keys", "add", keys, "worker")
        run(FOREBAY, "keys", "add", keys, "trainer", "alice")
        server = start("server", FOREBAY, "server", "--keys", keys, "--listen",
                       f"tcp://{ADDRESS}:*", "--ready-file",
                       self.env["FOREBAY_SERVER_FILE"], "--lease", "1")
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.env["FOREBAY_KEYS"] = str(keys / "worker.key")
        path = pathlib.Path(self.env["FOREBAY_SERVER_FILE"])
        wait_for(path.exists, lambda: "the server")
        self.ask = (FOREBAY, "scale", "--server", path.read_text().strip(),
                    "--keys", keys / "trainer-alice.key")
        return server

    def wait_for_workers(self, n):
        """Wait until the server knows so many."""
        wait_for(lambda: json.loads(run(*self.ask, "--json"))["workers"] == n,
                 lambda: f"{n} workers: {run(*self.ask, '--json')}")

    def test_from_1_to_3_and_to_1_and_over_the_time_limit(self):
        self.start_cluster()
        self.scale(1)
        (first,) = self.wait_for_jobs(1, "RUNNING")
        self.wait_for_workers(1)
        self.scale(3)  # a third node is not there
        self.wait_for_jobs(2, "RUNNING")
        self.wait_for_jobs(1, "PENDING")
        self.assertEqual(self.scale(3), "")
        # One is cancelled by somebody.
        run("scancel", first)
        self.assertRegex(self.scale(3), r"^scale: job \d+ submitted\n$")
        self.wait_for_jobs(2, "RUNNING")
        self.wait_for_workers(2)
        # The oldest one stays.
        oldest, second, pending = self.jobs()
        self.assertEqual(
            self.scale(1), f"scale: job {pending} is not needed, and ends\n"
                           f"scale: job {second} is not needed, and ends\n")
        self.assertEqual(self.wait_for_jobs(1, "RUNNING"), [oldest])
        self.wait_for_workers(1)
        self.assertIn("WORKER-ENDED", log(f"forebay-worker-{second}"))
        self.replace_at_its_time_limit(oldest)

    def replace_at_its_time_limit(self, job):
        set_time_limit(job, 240)
        self.assertRegex(self.scale(1, before=300),
                         r"^scale: job \d+ submitted\n$")
        self.assertEqual(self.scale(1, before=300), "")
        self.assertEqual(self.wait_for_jobs(2, "RUNNING")[0], job)
        # Slurm looks every 30 s, and sends SIGTERM 60 to 90 s before the end.
        set_time_limit(job, run_time(job) + 35)
        wait_for(lambda: job not in self.jobs(), lambda: run("squeue"))
        self.assertEqual(state(job), "COMPLETED")
        self.wait_for_workers(1)
        self.assertEqual(self.scale(1), "")
        # Jobs of a short time limit are not replaced over and over.
        self.assertIn("submitted", self.scale(1, before=3600))
        self.wait_for_jobs(2, "RUNNING")
        self.assertEqual(self.scale(1, before=3600), "")

    def test_a_server_that_is_gone_leaves_the_workers(self):
        server = self.start_cluster()
        start("asking", *self.ask, "--every", "1", "--min", "1", "--exec",
              f"{SCALE} $1 {' '.join(OPTIONS)}", env=self.env)
        jobs = self.wait_for_jobs(1, "RUNNING")
        server.kill()
        wait_for(lambda: "SCALE-FAILED" in log("asking"), lambda: log("asking"))
        self.assertIn("no answer", log("asking"))
        self.assertEqual(self.jobs(), jobs)
        PROCESSES[-1].terminate()
        PROCESSES[-1].wait()

    def test_a_worker_that_cannot_start_is_not_started_again_and_again(self):
        self.scale(1, FOREBAY_DATA="data=/nonexistent")
        wait_for(lambda: not self.jobs(), lambda: run("squeue"))
        error = self.scale(1, code=1)
        self.assertRegex(error, r"^scale: failed: job \d+: read ")
        self.assertEqual(self.jobs(), [])
        self.scale(2, code=1)  # but the other one is
        self.assertEqual(len(self.jobs()), 1)

    def test_errors_say_what_to_do(self):
        for text, args, variables in (
                ("the number of workers is not 'x'", ("x",), {}),
                ("the number of workers is not '08'", ("08",), {}),
                ("FOREBAY_SERVER_FILE is not set", (1,),
                 {"FOREBAY_SERVER_FILE": ""})):
            self.assertIn(text, self.scale(*args, code=2, **variables))
        for text, args, variables in (
                ("sbatch failed, see above: correct its options",
                 (1, "--partition=none"), {}),
                ("squeue failed, see above: 'scontrol ping' tells",
                 (1,), {"SLURM_CONF": "/dev/null"}),
                ("there is no squeue here", (1,), {"PATH": str(DIR)})):
            error = self.scale(*args, code=1, **variables)
            self.assertRegex(error.splitlines()[-1], f"^scale: {text}")
        self.assertEqual(self.jobs(), [])

    def test_a_job_that_slurm_forgot_has_ended(self):
        name = f"forebay-worker {self.env['FOREBAY_SERVER_FILE']}"
        (DIR / "old").mkdir()
        squeue = DIR / "old/squeue"
        squeue.write_text(
            f"#!/bin/sh\nrm {squeue}\necho '4000000|R|1:00:00|2:00:00|{name}'\n"
            f"exec {shutil.which('squeue')} \"$@\"\n")
        squeue.chmod(0o755)
        self.scale(0, PATH=f"{DIR}/old:{os.environ['PATH']}")
        self.assertFalse(squeue.exists())


def skip_unless_possible():
    base.skip_unless("slurmctld", "slurmd", "sbatch", "munged", "ip")
    probe = subprocess.run(
        [*NAMESPACES, "ip", "link", "add", "left", "type", "veth", "peer",
         "name", "right"], check=False, stderr=subprocess.DEVNULL)
    if probe.returncode != 0:
        print("test_slurm.py: skipped: there are no namespaces for networks, "
              "or no veth devices here")
        sys.exit(77)


def main():
    program = unittest.main(verbosity=2, exit=False)
    if not program.result.wasSuccessful():
        sys.stderr.flush()
        subprocess.run(["tail", "-n", "30", *sorted(DIR.glob("*.log"))],
                       check=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    if "IN_NAMESPACES" not in os.environ:
        try:
            skip_unless_possible()
            sys.exit(inside())
        finally:
            shutil.rmtree(DIR)
    sys.exit(main())
