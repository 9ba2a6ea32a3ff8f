# SPDX-License-Identifier: Apache-2.0
"""Trials: whether the tests notice a fault.

Stages, in order; the first test that fails or hangs ends the trial:
    unit      tests whose programs contain code of the file, nearest first
    simulate  the simulator of window and session, if it contains the file
    asan      the nearest unit tests again, under ASan and UBSan
    system    chosen tests of real processes

A test may take five times as long as without the fault, and ten seconds."""

import collections
import pathlib

from copy_tree import ASAN, FAILS, HANGS, ORDINARY, Failed, call

Outcome = collections.namedtuple("Outcome", "verdict by")
FOUND, SURVIVED, EQUIVALENT, UNUSABLE = (
    "found", "SURVIVED", "equivalent", "does not compile")

# System tests that use a folder's code, cheapest first.
SYSTEM = {
    "": ["sessions", "stream", "values", "ranks", "wire", "hostile", "faults"],
    "server": ["ranks", "stream", "hostile", "faults"],
    "cli": ["cli", "stream", "doctor", "lint", "show", "init"],
    "pipeline": ["values", "lint", "show", "init"],
    "worker/source": [
        "values", "lists", "columns", "tokens", "inputs", "init"],
    "worker/transform": ["values", "pictures", "bits", "yuv", "arrays"],
}
ASAN_SLOWER = 4
MOST_UNDER_ASAN = 8  # tests of a file that has none of its own
SYSTEM_PROGRAMS = ["forebay", "check_labels", "see_tensors"]


class Patch(collections.namedtuple("Patch", "name paths")):
    """A fault planted by hand, as a unified diff."""

    def __str__(self):
        return pathlib.Path(self.name).name

    def key(self):
        return None

    def plant(self, copy):
        call(["patch", "-s", "-p1", "-i", self.name], copy.source)


def read_patch(name):
    lines = pathlib.Path(name).read_text(encoding="utf-8").splitlines()
    paths = [l.split()[1].removeprefix("b/")
             for l in lines if l.startswith("+++ ")]
    if not paths or not all(p.endswith((".c", ".h")) for p in paths):
        raise Failed(f"{name}: it must be a unified diff of .c and .h files")
    return Patch(str(pathlib.Path(name).resolve()), paths)


def distance(test, path):
    """How far a test is from the file: 0 its own test, 1 another part of the
    same subject, 2 the same folder, 3 elsewhere."""
    file = pathlib.PurePath(path).with_suffix("")
    own = ".".join(file.parts)
    if test.name == own:
        return 0
    folder = ".".join(file.parent.parts) + "."
    if test.name.startswith(folder + file.name.split("_", maxsplit=1)[0]):
        return 1
    return 2 if test.name.startswith(folder) else 3


class Bench:
    """Tries faults in one copy. `limits` are seconds a test may take."""

    def __init__(self, copy, limits, stages):
        self.copy = copy
        self.limits = limits
        self.stages = stages
        self.clean = {}
        self.confirmed = set()

    def prepare(self):
        """Build the programs of the stages without any fault."""
        self.copy.build(ORDINARY).make_all()

    def measure(self, test):
        """How long a test takes without a fault; it must pass."""
        outcome, seconds = self.copy.build(ORDINARY).run(test, 900)
        if outcome:
            raise Failed(f"{test.name} {outcome} without any fault")
        self.limits[test.name] = 10 + 5 * seconds

    def needed(self, paths):
        """The tests that the stages would run for faults in `paths`."""
        needed = {}
        for path in sorted(paths):
            for stage, (_, tests) in self.plan([path]).items():
                if stage in self.stages:
                    needed.update({t.name: t for t in tests})
        return list(needed.values())

    def confirm(self, flavour, test):
        """Check that `test` fails because of the fault. Under ASan this is its
        first run, so it is run again without the fault, once."""
        if flavour == ORDINARY or test.name in self.confirmed:
            return
        build = self.copy.build(flavour)
        build.make(*self.targets(test))
        if build.run(test, ASAN_SLOWER * self.limits[test.name])[0]:
            raise Failed(f"{test.name} fails under ASan without any fault")
        self.confirmed.add(test.name)

    @staticmethod
    def targets(test):
        return SYSTEM_PROGRAMS if "system" in test.labels else [
            test.program()]

    def linking(self, paths):
        """Tests with code of `paths`, nearest first."""
        build = self.copy.build(ORDINARY)
        defined = set()
        for path in paths:
            for item in build.objects(path):
                defined |= build.symbols(build.path / item, "TDBR")
        tests = [t for t in build.programs() if "finds_" not in t.name and
                 defined & build.program_symbols(build.path / t.program())]
        return sorted(tests, key=lambda t: (
            min(distance(t, p) for p in paths),
            self.limits.get(t.name, 0)))

    def try_fault(self, fault, paths):
        build = self.copy.build(ORDINARY)
        for path in paths:
            if path not in self.clean:
                self.clean[path] = build.digest(path)
        plan = self.plan(paths)
        fault.plant(self.copy)
        try:
            digests = [build.digest(p) for p in paths]
            if None in digests:
                return Outcome(UNUSABLE, "")
            if digests == [self.clean[p] for p in paths]:
                return Outcome(EQUIVALENT, "the machine code is the same")
            flavour, test, outcome = self.first_that_fails(plan)
        finally:
            self.copy.restore(paths)
        if outcome not in (FAILS, HANGS):
            return Outcome(outcome, "")
        self.confirm(flavour, test)
        where = " under ASan" if flavour == ASAN else ""
        return Outcome(FOUND, f"{test.name} {outcome}{where}")

    def plan(self, paths):
        """For each stage, the build and the tests."""
        tests = self.linking(paths)
        unit = [t for t in tests if "unit" in t.labels]
        near = [t for t in unit if min(distance(t, p) for p in paths) <= 1]
        return {
            "unit": (ORDINARY, unit),
            "simulate": (ORDINARY,
                         [t for t in tests if "simulate" in t.labels]),
            "asan": (ASAN, near or unit[:MOST_UNDER_ASAN]),
            "system": (ORDINARY, self.system_tests(paths)),
        }

    def first_that_fails(self, plan):
        """Build, test, and FAILS or HANGS of the first test that does not pass;
        SURVIVED where all pass, UNUSABLE where a program does not build."""
        for stage in self.stages:
            flavour, tests = plan[stage]
            slower = ASAN_SLOWER if flavour == ASAN else 1
            for test in tests:
                build = self.copy.build(flavour)
                if not build.make(*self.targets(test)):
                    return flavour, test, UNUSABLE
                outcome, _ = build.run(test, slower * self.limits[test.name])
                if outcome:
                    return flavour, test, outcome
        return None, None, SURVIVED

    def system_tests(self, paths):
        build = self.copy.build(ORDINARY)
        names = []
        for path in paths:
            folder = str(pathlib.PurePath(path).parent)
            names += SYSTEM.get(folder, SYSTEM.get(
                folder.split("/", maxsplit=1)[0], SYSTEM[""]))
        return [build.tests["system." + n] for n in dict.fromkeys(names)
                if "system." + n in build.tests]
