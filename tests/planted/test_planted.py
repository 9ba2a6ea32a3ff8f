#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plant the faults in this folder, one at a time, and run a test that finds it.

The first lines of a patch have `Found by TEST in BUILD: OUTPUT or OUTPUT` for
each such test. The build is an existing one, without any fault. What the patch
touches is compiled again, in a folder of its own, and linked with the rest of
the build. tools/mutants cannot plant these: the files are headers that only
tests and nvcc compile, or ThreadSanitizer is needed."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LONGEST = 120  # seconds of a test


class Failed(Exception):
    """The fault cannot be planted, or the build is not there."""


def run(command, where, shell=False):
    """The output of a command that must succeed. A cache of compilations does
    not see that a header lies in an earlier folder than before."""
    done = subprocess.run(command, cwd=where, shell=shell, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "CCACHE_DISABLE": "1"},
                          check=False)
    if done.returncode != 0:
        raise Failed(f"{command}:\n{done.stdout[-2000:]}")
    return done.stdout


class Trial(collections.namedtuple("Trial", "patch test build says")):
    """A fault, and a test in a build that finds it and says so."""

    @property
    def files(self):
        text = self.patch.read_text(encoding="utf-8")
        return re.findall(r"^\+\+\+ b/(\S+)", text, re.M)

    @property
    def program(self):
        return "test_" + self.test.replace(".", "_")

    @property
    def path(self):
        return ROOT / self.build

    def plant(self, into):
        """Copy what the patch touches to a folder, and change it there."""
        for name in self.files:
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, into / name)
        run(["git", "apply", str(self.patch)], into)

    def link_command(self):
        if not (self.path / "build.ninja").exists():
            raise Failed(f"{self.build} is missing: 'cmake --preset' and "
                         "'cmake --build --preset' make it")
        run(["ninja", self.program], self.path)
        return run(["ninja", "-t", "commands", self.program],
                   self.path).splitlines()[-1]

    def touched_units(self):
        """Compilations of the program and its libraries that read the files."""
        needed = run(["ninja", "-t", "commands", self.program], self.path)
        names = {name for file in self.files
                 for name in (f"{ROOT}/{file}", f"../{file}")}
        reading = {
            block.split(":", maxsplit=1)[0]
            for block in run(["ninja", "-t", "deps"], self.path).split("\n\n")
            if names & {line.strip() for line in block.splitlines()[1:]}}
        for unit in json.loads(
                (self.path / "compile_commands.json").read_text()):
            output = unit["command"].split(" -o ")[1].split()[0]
            if output in reading and f" -o {output} " in needed:
                yield unit, output

    def build_program(self, folder):
        """The path of the program with the fault."""
        link = self.link_command()
        first = []  # of libraries: before the library itself
        units = list(self.touched_units())
        if not units:
            raise Failed(f"{self.program} does not contain {self.files}")
        for i, (unit, output) in enumerate(units):
            compiled = str(folder / f"{i}.o")
            source = unit["file"]
            if source.removeprefix(f"{ROOT}/") in self.files:
                source = str(folder / source.removeprefix(f"{ROOT}/"))
            command = unit["command"].replace(f"-I{ROOT} ",
                                              f"-I{folder} -I{ROOT} ")
            command = command.replace(f" -o {output} ", f" -o {compiled} ")
            command = command.replace(f" -c {unit['file']}", f" -c {source}")
            run(command, self.path, shell=True)
            if f" {output} " in link:
                link = link.replace(f" {output} ", f" {compiled} ")
            else:
                first.append(compiled)
        program = folder / "program"
        run(link.replace(f" -o {self.program} ",
                         f" {' '.join(first)} -o {program} "),
            self.path, shell=True)
        return program

    def output(self, program):
        """What the test says and its exit code."""
        done = subprocess.run(
            [program], cwd=self.path, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False, timeout=LONGEST,
            env={**os.environ, "TSAN_OPTIONS": "halt_on_error=1"})
        return done.stdout, done.returncode


def trials():
    for patch in sorted(HERE.glob("*.patch")):
        text = patch.read_text(encoding="utf-8")
        found = re.findall(r"^Found by (\S+) in (\S+): (.+)$", text, re.M)
        if not found or len(found) != text.count("Found by"):
            raise Failed(f"{patch.name}: a line is not "
                         "'Found by TEST in BUILD: OUTPUT'")
        for each in found:
            yield Trial(patch, *each)


class Planted(unittest.TestCase):
    def test_each_fault_is_found(self):
        for trial in trials():
            with self.subTest(trial.patch.stem, test=trial.test):
                with tempfile.TemporaryDirectory(
                        prefix="forebay-planted-") as name:
                    folder = pathlib.Path(name)
                    trial.plant(folder)
                    said, code = trial.output(trial.build_program(folder))
                self.assertNotEqual(code, 0, "the test passes")
                self.assertTrue(
                    any(text in said for text in trial.says.split(" or ")),
                    said)
                print(f"{trial.patch.stem}: {trial.test} in {trial.build}: "
                      f"{trial.says}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
