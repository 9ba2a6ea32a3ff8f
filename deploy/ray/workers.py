#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forebay workers as tasks of a Ray cluster, as many as the trainers need.

    python workers.py --server tcp://10.0.0.1:7070 --data photos=/data/photos

Runs until Ctrl-C. docs/operations.md, "With Ray", has the steps."""

import argparse
import json
import signal
import subprocess
import time

import ray

DRAIN_S = 25  # for what a worker was asked for, when it ends


@ray.remote(num_gpus=0, max_retries=-1, scheduling_strategy="SPREAD")
def run_worker(command):
    """One worker. It gets SIGTERM when the task is cancelled or killed."""
    process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *command])
    try:
        while process.poll() is None:
            time.sleep(0.5)  # a cancelled task is interrupted between two calls
    finally:
        process.terminate()
        process.wait()


def wanted(args):
    """How many workers to have; None if the server does not say."""
    asked = subprocess.run(
        ["forebay", "scale", "--json", f"--server={args.server}",
         f"--min={args.min}", f"--max={args.max}"],
        stdout=subprocess.PIPE, check=False)  # its error is printed
    return json.loads(asked.stdout or "{}").get("workers_wanted")


def hold(args, start, tasks):
    """Keep as many tasks as are wanted; those that wait for a node count."""
    while True:
        number = wanted(args)
        if tasks:  # without those that have ended
            tasks[:] = ray.wait(tasks, num_returns=len(tasks), timeout=0)[1]
        if number is not None:
            while len(tasks) > number:
                ray.cancel(tasks.pop())
            tasks += [start() for _ in range(number - len(tasks))]
        time.sleep(args.every)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--server", required=True, help="tcp://HOST:PORT")
    parser.add_argument("--data", required=True, action="append",
                        help="NAME=DIR, as of forebay worker (repeatable)")
    parser.add_argument("--cpus", type=int, default=4, help="cores of a worker")
    parser.add_argument("--min", type=int, default=1, help="fewest workers")
    parser.add_argument("--max", type=int, default=8, help="most workers")
    parser.add_argument("--every", type=float, default=15, help="seconds")
    args = parser.parse_args()
    ray.init(address="auto")
    command = ["forebay", "worker", f"--server={args.server}",
               f"--threads={args.cpus}", f"--drain={DRAIN_S}",
               *(f"--data={each}" for each in args.data)]
    task = run_worker.options(num_cpus=args.cpus)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tasks = []
    try:
        hold(args, lambda: task.remote(command), tasks)
    except KeyboardInterrupt:
        for each in tasks:
            ray.cancel(each)
        if tasks:
            ray.wait(tasks, num_returns=len(tasks), timeout=DRAIN_S + 5)


main()
