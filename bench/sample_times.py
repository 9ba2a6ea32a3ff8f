#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which time of a sample tells how many samples a second a worker can make?

    bench/sample_times.py --data DIR [--forebay build/forebay] [--seconds S]

A worker runs on CPU 0, with one thread or two that decode, and in the last case
with threads that wait 5 ms for each sample; a trainer runs on CPU 1. For S
seconds (15) each, it takes batches as fast as they come, which is the capacity,
and then 90, 60 and 30 % of that. From what the server knows of a sample then,
the capacity is predicted from its CPU time (cores / CPU time), from the time of
the threads that transform (threads / time), and by the server's rule, which is
the smaller of both (goal: 0.8 to 1.2 of the capacity). Prints a line for each:
    sample_times CASE LOAD cpu RATIO wall RATIO rule RATIO
where a RATIO is the prediction / the capacity."""

import argparse
import http.client
import json
import os
import re
import signal
import subprocess
import tempfile
import time

PIPELINE = """\
forebay: 1
splits: {train: {folder: "%s", shuffle: full, last: drop}}
global_batch: 32
fields:
  image:
    from: jpg
    decode: rgb8
    ops: [{random_resized_crop: {size: 224}}]
  label: {from: folder}
"""
CASES = (("one-thread", 1, ""), ("two-threads", 2, ""),
         ("threads-that-wait", 1, "worker.slow:every_sample=1:ms=5"))
LOADS = (1.0, 0.9, 0.6, 0.3)


def start(args, faults="", **options):
    """A process, and the text of its log once it is ready."""
    log = tempfile.TemporaryFile("w+")
    process = subprocess.Popen(args, stderr=log, env=dict(
        os.environ, FOREBAY_LOG="info", FOREBAY_FAULT=faults), **options)
    return process, log


def said(log, pattern):
    """What the pattern finds in a log, when it is there."""
    while True:
        log.seek(0)
        found = re.search(pattern, log.read())
        if found:
            return found[1]
        time.sleep(0.05)


def sample_of(page):
    """What the server knows of the only rank."""
    host, port = page.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    connection.request("GET", "/api/cluster")
    cluster = json.load(connection.getresponse())
    connection.close()
    return cluster["jobs"][0]["ranks"][0]


def stream(args, server, page, path, step_ms):
    """What the server knows after a trainer took steps of so many ms."""
    pull, _ = start(
        ["taskset", "-c", "1", args.forebay, "pull", "--server", server,
         "--pipeline", path, "--data", f"photos={args.data}", "--epochs",
         "1000000", "--step-ms", str(step_ms)], stdout=subprocess.DEVNULL)
    time.sleep(args.seconds)
    rank = sample_of(page)
    pull.send_signal(signal.SIGINT)
    pull.wait()
    return rank


def run_case(args, path, name, threads, faults):
    server, log = start([args.forebay, "server", "--listen",
                         "tcp://127.0.0.1:*", "--http", "127.0.0.1:0"])
    page = said(log, r"HTTP-READY http://(\S+)/")
    address = said(log, r"SERVER-READY (\S+)")
    worker, log = start(
        [args.forebay, "worker", "--server", address, "--data",
         f"photos={args.data}", "--cpus", "0", "--threads", str(threads)],
        faults)
    said(log, r"(REGISTERED)")
    capacity = 0
    for load in LOADS:
        step_ms = 0 if load == 1 else round(32e3 / (load * capacity))
        rank = stream(args, address, page, path, step_ms)
        if load == 1:
            capacity = rank["rows_per_second"]
        times = rank["ms_per_row"]
        by_cpu = 1e3 / times["cpu"] / capacity
        by_wall = threads * 1e3 / times["transform"] / capacity
        print(f"sample_times {name} {load} cpu {by_cpu:.2f} wall {by_wall:.2f} "
              f"rule {min(by_cpu, by_wall):.2f}", flush=True)
    for process in (worker, server):
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="class folders of JPEG")
    parser.add_argument("--forebay", default="build/forebay")
    parser.add_argument("--seconds", type=float, default=15)
    args = parser.parse_args()
    args.data = os.path.abspath(args.data)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as pipeline:
        pipeline.write(PIPELINE % args.data)
        pipeline.flush()
        for case in CASES:
            run_case(args, pipeline.name, *case)


if __name__ == "__main__":
    main()
