#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run as many Forebay workers as the trainers need, as tasks of a Ray cluster, until
Ctrl-C: see docs/operations.md, "With Ray"."""

import argparse
import json
import signal
import subprocess
import time

import ray


@ray.remote(num_gpus=0, max_retries=-1, scheduling_strategy="SPREAD")
def run_worker(command):  # it drains when this script cancels the task
    process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command])
    signals = [signal.SIGTERM]  # only one: a second would end the drain
    while True:
        try:
            if process.poll() is not None:
                return
            time.sleep(0.5)
        except KeyboardInterrupt:
            while signals:
                process.send_signal(signals.pop())


def wanted(args):
    """How many workers to have; None if the server does not say."""
    asked = subprocess.run(
        ["forebay", "scale", "--json", f"--server={args.server}",
         f"--min={args.min}", f"--max={args.max}"],
        stdout=subprocess.PIPE, check=False)  # its error is printed
    return json.loads(asked.stdout or "{}").get("workers_wanted")


def reconcile(args, start, tasks, since):
    """Keep as many tasks as are wanted. `since`: when each was first cancelled."""
    while True:
        number, before = wanted(args), len(tasks)
        tasks[:] = ray.wait(tasks, num_returns=before, timeout=0)[1] if tasks else []
        if len(tasks) < before:
            print(before - len(tasks), "workers ended", flush=True)
        for task in tasks[len(tasks) if number is None else number:]:
            age = time.monotonic() - since.setdefault(task, time.monotonic())
            ray.cancel(task, force=age > 45)  # repeated: Ray may lose one
        tasks += [start() for _ in range((number or 0) - len(tasks))]
        time.sleep(args.every)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="tcp://HOST:PORT")
    parser.add_argument("--data", required=True, action="append", help="NAME=DIR")
    parser.add_argument("--worker-key", help="path of worker.key on the nodes")
    for name, default, what in (
            ("cpus", 4, "cores of a worker (4)"), ("memory", 2, "its GiB (2)"),
            ("min", 1, "fewest workers (1)"), ("max", 8, "most workers (8)"),
            ("every", 15.0, "seconds between two looks (15)")):
        parser.add_argument("--" + name, type=type(default), default=default, help=what)
    args = parser.parse_args()
    ray.init(address="auto")
    command = ["forebay", "worker", f"--server={args.server}",
               f"--threads={args.cpus}", f"--memory={args.memory << 9}M",
               *(f"--data={each}" for each in args.data),
               *([f"--keys={args.worker_key}"] if args.worker_key else [])]
    task = run_worker.options(num_cpus=args.cpus, memory=args.memory << 30)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tasks = []
    try:
        reconcile(args, lambda: task.remote(command), tasks, {})
    except KeyboardInterrupt:
        for _ in range(6):  # 30 s, for their drain
            list(map(ray.cancel, tasks))
            if tasks:
                tasks = ray.wait(tasks, num_returns=len(tasks), timeout=5)[1]


main()
