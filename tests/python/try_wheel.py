# SPDX-License-Identifier: Apache-2.0
"""Install a wheel into an empty virtual environment, and use it there: the
program by its three names, the extension, and a stream from `forebay up`.

usage: python3 tests/python/try_wheel.py dist/forebay-*.whl"""

import pathlib
import subprocess
import sys
import tempfile
import venv
import zipfile

FOREIGN = ("krb5", "gssapi", "pgm", "norm", "libxml2", "stdc++")

STREAM = """\
import json, os, subprocess
from forebay import _forebay
cluster = subprocess.Popen(
    ["forebay", "up", "--pipeline", "p.yaml", "--workers", "1", "--listen",
     "tcp://127.0.0.1:*", "--json"], stdout=subprocess.PIPE, text=True)
try:
    said = json.loads(cluster.stdout.readline())
    stream = _forebay.Stream(
        server=said["server"], keys=said["keys"], pipeline_path="p.yaml",
        open_timeout=60,
        roots=[("data0", os.path.abspath("photos"))])
    batch = stream.next(60)
    print(batch.rows, *batch.names, len(memoryview(batch.tensor(1))))
finally:
    cluster.terminate()
    cluster.wait()
"""


def check_contents(wheel):
    """No file is of a library that libzmq of the distribution would bring."""
    names = zipfile.ZipFile(wheel).namelist()
    wrong = [name for name in names if any(word in name for word in FOREIGN)]
    if wrong:
        sys.exit(f"{wheel} has {', '.join(wrong)}")


def try_wheel(wheel, folder):
    venv.create(folder / "venv", with_pip=True)
    bin_dir = folder / "venv/bin"
    python = bin_dir / "python"
    env = {"PATH": f"{bin_dir}:/usr/bin:/bin", "HOME": str(folder),
           "LANG": "C.UTF-8"}

    def run(*command):
        return subprocess.run(
            [str(word) for word in command], cwd=folder, env=env, check=True,
            stdout=subprocess.PIPE, text=True, timeout=120).stdout

    run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel)
    run(bin_dir / "forebay", "photos", "photos", "--number", "64")
    run(python, "-m", "forebay", "init", "photos", "-o", "p.yaml")
    run(bin_dir / "forebay", "pull", "--pipeline", "p.yaml", "--steps", "1")
    print(run(python, "-c", STREAM), end="")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wheel = pathlib.Path(sys.argv[1]).resolve()
    check_contents(wheel)
    with tempfile.TemporaryDirectory() as folder:
        try_wheel(wheel, pathlib.Path(folder))


main()
