# SPDX-License-Identifier: Apache-2.0
"""What the tests of packages and images share: commands, and the files of a bare
system of this distribution."""

import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOREBAY = os.environ.get("FOREBAY_BIN", str(SOURCE / "build/forebay"))
DEADLINE = 600


def skip_unless(*programs):
    """End this test as skipped, unless root runs it and has these programs."""
    missing = [name for name in programs if shutil.which(name) is None]
    cause = ""
    if missing or os.geteuid() != 0:
        cause = "this needs root and: " + ", ".join(programs)
    elif subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"],
                        check=False).returncode != 0:
        cause = "this user cannot make namespaces here"
    if cause:
        print(f"{pathlib.Path(sys.argv[0]).name}: skipped: {cause}")
        sys.exit(77)


def run(*args, **options):
    """Run a command; return its standard output."""
    done = subprocess.run(list(map(str, args)), check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=DEADLINE, **options)
    if done.returncode != 0:
        raise AssertionError(f"{args}: {done.returncode}: {done.stdout}"
                             f"{done.stderr}")
    return done.stdout


def bare_system():
    """A tar archive of a bare system; made once in a build folder."""
    text = pathlib.Path("/etc/os-release").read_text()
    values = dict(line.split("=", 1) for line in text.splitlines()
                  if "=" in line)
    codename = values["VERSION_CODENAME"].strip('"')
    path = SOURCE / f"build/bare-{codename}.tar"
    if not path.exists():
        part = path.with_suffix(".part.tar")
        run("mmdebstrap", "--variant=apt", "--mode=root",
            "--dpkgopt=force-unsafe-io", codename, part)
        part.rename(path)
    return path


def made(pattern):
    """The only file in dist/ with this name."""
    (path,) = (SOURCE / "dist").glob(pattern)
    return path
