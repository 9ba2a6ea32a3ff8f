# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which faults are planted, built and tried.

    DIR/src          the files that git knows or would add
    DIR/build        the ordinary build       DIR/build-asan   ASan and UBSan

Both builds are kept between runs. One process uses a copy: it adopts what a
test leaves running, and ends it with the test."""

import ctypes
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
ORDINARY, ASAN = "build", "build-asan"
FAILS, HANGS = "fails", "hangs"
OPTIONS = {
    ORDINARY: ["-DCMAKE_BUILD_TYPE=Release"],
    ASAN: ["-DCMAKE_BUILD_TYPE=RelWithDebInfo",
           "-DFBY_SANITIZE=address,undefined"],
}


class Failed(Exception):
    """A build or a test fails without any fault."""


def call(command, where):
    done = subprocess.run(command, cwd=where, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command[:3])}:\n{done.stdout[-2000:]}")
    return done.stdout


def adopt_orphans():
    """From now on processes whose parent ends become children of this one."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children():
    """Kill all processes below this one and wait for them."""
    while True:
        children = pathlib.Path(
            f"/proc/self/task/{os.getpid()}/children").read_text().split()
        if not children:
            return
        for child in children:
            os.kill(int(child), signal.SIGKILL)
            os.waitpid(int(child), 0)


class Test:
    """A test as CTest describes it."""

    def __init__(self, entry):
        properties = {p["name"]: p["value"]
                      for p in entry.get("properties", [])}
        self.name = entry["name"]
        self.command = entry["command"]
        self.labels = properties.get("LABELS", [])
        self.environment = dict(
            e.split("=", 1) for e in properties.get("ENVIRONMENT", []))

    def program(self):
        return pathlib.Path(self.command[0]).name


class Build:
    """One build of a copy."""

    def __init__(self, copy, flavour):
        self.source = copy.source
        self.path = copy.path / flavour
        self.flavour = flavour
        self.symbols_of_program = {}
        if not (self.path / "build.ninja").exists():
            call(["cmake", "-S", str(self.source), "-B", str(self.path),
                  "-G", "Ninja", "-DFBY_CUDA=off", *OPTIONS[flavour]],
                 self.source)
        self.units = json.loads(
            (self.path / "compile_commands.json").read_text())
        for unit in self.units:
            words = unit["command"].split()
            unit["object"] = words[words.index("-o") + 1]

    def make(self, *targets):
        """Build `targets`; whether that worked."""
        done = subprocess.run(
            ["ninja", "-j", "1", *targets], cwd=self.path, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def make_all(self):
        """Build everything, and list the tests."""
        call(["ninja"], self.path)
        shown = call(["ctest", "--show-only=json-v1"], self.path)
        tests = [Test(t) for t in json.loads(shown)["tests"]]
        self.tests = {t.name: t for t in tests}

    def units_of(self, path):
        """The compilations that read `path`, a source or a header: without
        tests, and without the libraries that can be broken on purpose."""
        file = str(self.source / path)
        read = [u for u in self.units
                if "_mutable.dir" not in u["object"] and
                not u["file"].startswith(str(self.source / "tests"))]
        if not path.endswith(".h"):
            return [u for u in read if u["file"] == file]
        listed = call(["ninja", "-t", "deps"], self.path)
        including = {block.split(":", maxsplit=1)[0]
                     for block in listed.split("\n\n")
                     if f"    {file}\n" in block + "\n"}
        return [u for u in read if u["object"] in including]

    def compiler_options(self, path):
        words = self.units_of(path)[0]["command"].replace('\\"', '"').split()
        return [w for before, w in zip([""] + words, words)
                if re.match(r"-(I|D|std|m|isystem)", w) or
                before == "-isystem"]

    def objects(self, path):
        return [u["object"] for u in self.units_of(path)]

    def digest(self, path):
        """A hash of the machine code of `path`; None if it does not compile."""
        objects = self.objects(path)
        if not self.make(*objects):
            return None
        return hashlib.sha256(b"".join(
            (self.path / o).read_bytes() for o in objects)).digest()

    def symbols(self, file, kinds):
        listed = call(["nm", "--defined-only", str(file)], self.path)
        return {w[2] for w in map(str.split, listed.splitlines())
                if len(w) == 3 and w[1] in kinds}

    def program_symbols(self, program):
        if program not in self.symbols_of_program:
            self.symbols_of_program[program] = self.symbols(
                program, "TtDdBbRr")
        return self.symbols_of_program[program]

    def programs(self):
        """The tests that only run a program of this build."""
        return [t for t in self.tests.values()
                if {"unit", "simulate"} & set(t.labels) and
                t.command[0] == str(self.path / t.program())]

    def run(self, test, limit_s):
        """Run `test`: "" if it passes, else how it failed; and seconds."""
        command = test.command
        if "system" not in test.labels:
            command = [str(self.path / test.program()), *command[1:]]
        begun = time.monotonic()
        process = subprocess.Popen(
            command, cwd=self.path, stdin=subprocess.DEVNULL,
            env={**os.environ, **test.environment},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=self.confine)
        try:
            outcome = FAILS if process.wait(timeout=limit_s) else ""
        except subprocess.TimeoutExpired:
            outcome = HANGS
            process.kill()
            process.wait()
        end_children()
        return outcome, time.monotonic() - begun

    def confine(self):
        """Limits on what a fault may use up: files, memory."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self.flavour == ORDINARY:
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


class Copy:
    """The tree's files in a folder of their own, with builds of them."""

    def __init__(self, tree, path):
        self.tree = tree
        self.path = path
        self.source = path / "src"
        self.builds = {}
        self.refresh()

    def refresh(self):
        """Make src/ equal to the tree; only files that differ are written."""
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=self.tree, capture_output=True, check=False)
        if listed.returncode != 0:
            raise Failed(f"{self.tree}: not a git checkout")
        wanted = {p for p in listed.stdout.decode().split("\0")
                  if (self.tree / p).is_file()}
        for path in wanted:
            there, here = self.tree / path, self.source / path
            if not here.is_file() or here.read_bytes() != there.read_bytes():
                here.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(there, here)
        for here in self.source.rglob("*"):
            if here.is_file() and str(
                    here.relative_to(self.source)) not in wanted:
                here.unlink()

    def build(self, flavour):
        if flavour not in self.builds:
            self.builds[flavour] = Build(self, flavour)
        return self.builds[flavour]

    def restore(self, paths):
        """Undo a fault; its new mtime makes every build compile it again."""
        for path in paths:
            shutil.copy(self.tree / path, self.source / path)
