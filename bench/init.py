#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `forebay init` looks at many files, and the memory it needs.

    bench/init.py [--forebay build/forebay] [--files N] [--dir DIR]

Makes N empty files (1,000,000 unless said otherwise) below DIR, once in 1,000
class folders and once in one flat folder. It runs `forebay init` on them twice,
and prints for the second run, whose directories are cached:
    init_folders seconds VALUE goal <= 10 met|missed
    init_folders MiB VALUE goal <= 100 met|missed
    init_folders CPU seconds VALUE
and the same for init_flat. The memory is at least that of this script when it
starts the process, about 12 MiB. A missed goal is a result: the exit code is 0
if all could be measured."""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

FOLDERS = 1000
SECONDS = 10
MIB = 100


def make_files(folder, number):
    """Write so many empty files into a new folder."""
    folder.mkdir(parents=True)
    for i in range(number):
        os.close(os.open(folder / f"{i:07}.jpg",
                         os.O_CREAT | os.O_WRONLY, 0o644))


def run_init(forebay, root):
    """Seconds, MiB (at most) and CPU seconds of one run."""
    begin = time.monotonic()
    with subprocess.Popen([forebay, "init", root], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"init failed with {process.returncode}")
    return (time.monotonic() - begin, usage.ru_maxrss / 1024,
            usage.ru_utime + usage.ru_stime)


def report(name, unit, value, goal):
    """Print one figure with its goal."""
    print(f"{name} {unit} {value:.2f} goal <= {goal} "
          f"{'met' if value <= goal else 'missed'}")


def measure(name, forebay, root):
    """Run init twice; print the figures of the second run."""
    run_init(forebay, root)
    seconds, mib, cpu = run_init(forebay, root)
    report(name, "seconds", seconds, SECONDS)
    report(name, "MiB", mib, MIB)
    print(f"{name} CPU seconds {cpu:.2f}")


def main():
    """Make the files and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--forebay", default="build/forebay")
    parser.add_argument("--files", type=int, default=1_000_000)
    parser.add_argument("--dir", help="where the files are made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.dir) as scratch:
        root = pathlib.Path(scratch)
        for i in range(FOLDERS):
            make_files(root / "folders" / f"class{i:04}",
                       options.files // FOLDERS)
        measure("init_folders", options.forebay, root / "folders")
        shutil.rmtree(root / "folders")
        make_files(root / "flat", options.files)
        measure("init_flat", options.forebay, root / "flat")


if __name__ == "__main__":
    main()
