# SPDX-License-Identifier: Apache-2.0
"""The base of the tests that use a cluster. PYTHONPATH has the package."""

import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import time

import forebay

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = str(pathlib.Path(forebay.__file__).resolve().parents[1])
sys.path.insert(0, str(ROOT / "tests" / "system"))

import harness  # noqa: E402

STEPS = 6  # of an epoch

PIPELINE = """\
forebay: 1
splits:
  train: {{folder: "{root}"}}
  val: {{folder: "{root}", shuffle: none, last: {last}}}
global_batch: {batch}
seed: {seed}
fields:
  image:
    from: [jpg]
    ops:
      - random_resized_crop: {{size: 32, only: train}}
      - horizontal_flip: {{p: 0.5, only: train}}
      - resize: {{size: 32, only: val}}
    out: {{dtype: f32, layout: chw}}
  label: {{from: folder, classes: 4}}
"""

# The beginning of a script that a test runs in a process of its own.
SCRIPT = """\
import os, sys
import forebay
def say(*words):
    print(*words, flush=True)
"""


def wait_until(what, deadline_s=harness.DEADLINE):
    """Wait until what() is true."""
    until = time.monotonic() + deadline_s
    while not what():
        if time.monotonic() > until:
            raise AssertionError("did not happen in time")
        harness.wait(0.01)


def is_running(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] not in "ZX"


def digest(batch):
    """A hash of a batch of NumPy arrays."""
    made = hashlib.sha256()
    for name in sorted(batch):
        if name != "forebay":
            made.update(name.encode() + batch[name].tobytes())
    return made.hexdigest()[:16]


class Script(harness.Process):
    """A process that runs Python code with the package."""

    def __init__(self, test, code, *args, env=None):
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT + code,
             *map(str, args)],
            env=dict(os.environ, **(env or {})), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        test.addCleanup(self.close)

    def line(self):
        """The next line of its output."""
        line = harness.read_line(self.process.stdout.fileno(),
                                 harness.DEADLINE).strip()
        if not line:
            self.process.kill()
            raise AssertionError(self.process.communicate()[1])
        return line

    def finish(self, code=0):
        """Wait for the end; return its output."""
        out, errors = self.process.communicate(timeout=harness.DEADLINE)
        if code is not None and self.process.returncode != code:
            raise AssertionError(f"{self.process.returncode}: {errors}")
        return out + errors

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class PackageTest(harness.SystemTest):
    """A test with pictures, a pipeline, and a runtime folder of its own."""

    def setUp(self):
        super().setUp()
        self.runtime = self.cluster.path("run")
        self.runtime.mkdir(mode=0o700)
        self.set_environment(
            XDG_RUNTIME_DIR=str(self.runtime),
            FOREBAY_TIME_DIVISOR=str(harness.DIVISOR),
            FOREBAY_CACHE_DIR=self.cluster.env["FOREBAY_CACHE_DIR"])
        self.cluster.photos(number=16 * STEPS)
        self.pipeline = self.cluster.pipeline(PIPELINE)

    def set_environment(self, **variables):
        for name, value in variables.items():
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(self.restore, name, before)

    @staticmethod
    def restore(name, before):
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before

    def loader(self, pipeline=None, **arguments):
        """A loader with NumPy, of the test's server if it was started."""
        if self.cluster.server and "server" not in arguments:
            arguments["server"] = self.cluster.server.endpoint
            arguments.setdefault("data", {"data": self.cluster.root})
        arguments.setdefault("split", "train")
        arguments.setdefault("framework", "numpy")
        made = forebay.Loader(pipeline or self.pipeline, **arguments)
        self.addCleanup(made.close)
        return made

    def raises(self, error, *words):
        """Assert that a block raises an error with these words."""
        return _Raises(self, error, words)

    def clusters(self):
        """The files with the addresses of local clusters."""
        return sorted(self.runtime.glob("forebay/*.json"))


class _Raises:
    def __init__(self, test, error, words):
        self.test, self.error, self.words = test, error, words

    def __enter__(self):
        self.context = self.test.assertRaises(self.error)
        self.caught = self.context.__enter__()
        return self

    def __exit__(self, *details):
        done = self.context.__exit__(*details)
        if done:
            self.exception = self.caught.exception
            for word in self.words:
                self.test.assertIn(word, str(self.exception))
            self.test.assertNotIn("\n", str(self.exception))
        return done
