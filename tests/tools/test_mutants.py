#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tools/mutants on a small project: the faults it plants, and its verdicts on
those that are found, hang, survive or change nothing."""

import fcntl
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import tomllib
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tools/mutation"))
import faults  # pylint: disable=wrong-import-position

CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(small C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
enable_testing()
add_library(number STATIC lib/number.c)
add_executable(test_number test.c)
target_link_libraries(test_number number)
add_test(NAME lib.number COMMAND test_number)
set_tests_properties(lib.number PROPERTIES LABELS unit)
"""
NUMBER = """\
#include "number.h"
unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b & 0xffffffffU;
}
int steps(int n)
{
    int count = 0;
    while (n > 0) {
        n -= 2;
        count++;
    }
    return count;
}
int unknown(int a)
{
    return a + 5;
}
int bounded(const int *values, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum > 0;
}
"""
HEADER = """\
unsigned larger(unsigned a, unsigned b);
int steps(int n);
int unknown(int a);
int bounded(const int *values, int n);
"""
TEST = """\
#include "lib/number.h"
#include <stdlib.h>
int main(void)
{
    int *one = malloc(sizeof(*one));
    *one = 1;
    int right = larger(1, 2) == 2 && larger(2, 1) == 2 && steps(5) == 3 &&
                steps(0) == 0 && unknown(1) != 0 && bounded(one, 1) == 1;
    free(one);
    return right ? 0 : 1;
}
"""
KINDS = """\
#include <stdbool.h>
enum colour { RED, GREEN, BLUE };
struct point { int x, y; bool set; const char *a, *b; };
extern int strcmp(const char *a, const char *b);
extern void fby_warn(const char *word, const char *format, ...);
extern int put(int fd, int size, const char *format, ...);
static enum colour pick(struct point *p, int fd, int size)
{
    struct point q = {.x = size, .y = fd};
    if (p->set && size < 8) {
        fby_warn("WORD", "%d", size + 1);
        fd += strcmp(p->a, p->b) == 0;
        return GREEN;
    }
    p->x += put(fd, size, "%d", q.y * 2);
    p->x += put(fd, size, "%s", p->a);
    return RED;
}
enum colour (*use)(struct point *, int, int) = pick;
"""


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")


def faults_in(text):
    with tempfile.TemporaryDirectory() as name:
        source = pathlib.Path(name) / "kinds.c"
        source.write_text(text, encoding="ascii")
        return faults.faults_of("kinds.c", source, ["-std=c11"])


class Faults(unittest.TestCase):
    def setUp(self):
        self.found = faults_in(KINDS)
        self.changes = {(f.kind, f.old, f.new.strip()) for f in self.found}

    def test_every_kind_of_fault_is_planted(self):
        for change in (
                ("comparison", "<", "<="),
                ("comparison", "<", ">="),
                ("logic", "&&", "||"),
                ("operand dropped", "p->set && size < 8", "p->set"),
                ("operand dropped", "p->set && size < 8", "size < 8"),
                ("condition", "p->set && size < 8",
                 "!(p->set && size < 8)"),
                ("condition", "p->set && size < 8", "1"),
                ("constant", "8", "7"),
                ("constant", "8", "9"),
                ("constant", "GREEN", "RED"),
                ("constant", "GREEN", "BLUE"),
                ("member", "p->x", "p->y"),
                ("assignment", "+=", "="),
                ("arguments swapped", "fd, size", "size, fd"),
                ("removed", ".x = size,", ""),
                ("removed", 'p->x += put(fd, size, "%d", q.y * 2)', "")):
            self.assertIn(change, self.changes)

    def test_a_member_is_replaced_by_one_of_its_type_only(self):
        self.assertEqual(
            [], [f for f in self.found if f.kind == "member" and
                 "set" in f.old + f.new])

    def test_arguments_of_a_comparison_for_equality_stay_in_order(self):
        self.assertNotIn(
            ("arguments swapped", "p->a, p->b", "p->b, p->a"), self.changes)

    def test_log_lines_and_arguments_of_formats_get_no_faults(self):
        for fault in self.found:
            line = KINDS.splitlines()[fault.line - 1]
            self.assertNotIn("fby_warn", line)
            self.assertNotIn("q.y", fault.old.replace(
                'put(fd, size, "%d", q.y * 2)', ""))
        self.assertNotIn(("arguments swapped", '"%s", p->a', 'p->a, "%s"'),
                         self.changes)

    def test_a_fault_moves_no_line(self):
        for fault in self.found:
            self.assertEqual(fault.old.count("\n"), fault.new.count("\n"))
            self.assertEqual(KINDS[fault.start:fault.end], fault.old)

    def test_every_place_is_chosen_once_before_any_twice(self):
        places = {(f.start, f.kind) for f in self.found}
        chosen = faults.choose(self.found, len(places), random.Random(1))
        self.assertEqual(
            places, {(f.start, f.kind) for f in chosen[:len(places)]})
        self.assertEqual(chosen, faults.choose(
            self.found, len(places), random.Random(1)))

    def test_a_file_that_does_not_parse_is_named(self):
        with self.assertRaisesRegex(ValueError, "kinds.c: .*cannot parse"):
            faults_in("int f( {")


def ticks(process):
    """The CPU time of a process in hundredths of a second; 0 if it ended. A
    test of the small project that does not hang takes none."""
    try:
        stat = pathlib.Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[11])


class Known(unittest.TestCase):

    def test_each_fault_of_equivalent_toml_can_still_be_planted(self):
        path = TREE / "tools/mutation/equivalent.toml"
        for fault in tomllib.loads(path.read_text())["fault"]:
            text = (TREE / fault["file"]).read_text()
            lines = [" ".join(line.split()) for line in text.splitlines()]
            with self.subTest(fault["file"], line=fault["line"]):
                self.assertTrue(fault["line"] in lines, "no such line")
                self.assertTrue(f"{fault['function']}(" in text,
                                f"no function {fault['function']}")


class Trials(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.tree = pathlib.Path(cls.folder.name) / "small"
        cls.files = {"CMakeLists.txt": CMAKE, "lib/number.c": NUMBER,
                     "lib/number.h": HEADER, "test.c": TEST,
                     ".gitignore": "/build-*/\n"}
        write(cls.tree, cls.files)
        subprocess.run(["git", "init", "-q", cls.tree], check=True)
        cls.run_all = cls.mutants("lib", "-n", "0", "--stages", "unit")

    @classmethod
    def mutants(cls, *arguments):
        return subprocess.run(
            [TREE / "tools/mutants", "--tree", cls.tree, *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=600)

    def verdict(self, change):
        lines = [l for l in self.run_all.stdout.splitlines()
                 if change in l and l[:4].strip().isdigit()]
        self.assertEqual(1, len(lines), self.run_all)
        return lines[0].split()[1]

    def test_faults_of_one_line_alone_are_planted(self):
        line = 1 + NUMBER.splitlines().index("    return a + 5;")
        run = self.mutants(f"lib/number.c:{line}", "-n", "0", "--list")
        printed = [l for l in run.stdout.splitlines() if "lib/number.c:" in l]
        self.assertTrue(printed, run)
        self.assertEqual(
            [], [l for l in printed if f"lib/number.c:{line} unknown" not in l])

    def test_a_fault_that_fails_a_test_is_found(self):
        self.assertEqual(0, self.run_all.returncode, self.run_all)
        self.assertEqual("found", self.verdict(
            "larger: comparison: > -> <="))

    def test_a_hang_is_found(self):
        self.assertEqual("found", self.verdict("steps: assignment: -= -> +="))
        self.assertIn("(lib.number hangs)", self.run_all.stdout)

    def test_a_fault_that_fails_no_test_survives(self):
        self.assertEqual("SURVIVED", self.verdict(
            "unknown: constant: 5 -> 6"))

    def test_a_fault_that_compiles_to_the_same_code_is_equivalent(self):
        self.assertEqual("equivalent", self.verdict(
            "larger: operand dropped: b & 0xffffffffU -> b"))

    def test_the_last_line_has_the_counts(self):
        printed = [l.split()[1] for l in self.run_all.stdout.splitlines()
                   if l[:4].strip().isdigit()]
        counts = {v: printed.count(v)
                  for v in ("found", "SURVIVED", "equivalent")}
        self.assertEqual(
            f"mutants: found {counts['found']} of {sum(counts.values())}, "
            f"equivalent {counts['equivalent']}",
            self.run_all.stdout.splitlines()[-1])

    def test_the_tree_stays_as_it_was(self):
        for name, text in self.files.items():
            self.assertEqual(
                text, (self.tree / name).read_text(encoding="ascii"))

    def test_a_patch_is_planted(self):
        patch = pathlib.Path(self.folder.name) / "over.diff"
        patch.write_text(textwrap.dedent("""\
            --- a/lib/number.c
            +++ b/lib/number.c
            @@ -23 +23 @@
            -    for (int i = 0; i < n; i++) {
            +    for (int i = 0; i < n + 1000000; i++) {
            """), encoding="ascii")
        run = self.mutants("--patches", patch, "--stages", "unit")
        self.assertEqual("mutants: found 1 of 1, equivalent 0",
                         run.stdout.splitlines()[-1], run)

    def test_tests_that_fail_without_a_fault_are_an_error(self):
        self.addCleanup(write, self.tree, self.files)
        write(self.tree, {"lib/number.c": NUMBER.replace("2", "1")})
        run = self.mutants("-n", "1", "lib", "--stages", "unit")
        self.assertEqual(1, run.returncode, run)
        self.assertIn("lib.number fails without any fault", run.stderr)

    def test_wrong_arguments_are_an_error(self):
        for arguments, word in ((["nothing"], "nothing: there is no such"),
                                (["lib/number.c:x"], "'x' is no line's"),
                                (["lib/number.c:1"], "no fault can be"),
                                (["--stages", "x"], "'x' is none of")):
            run = self.mutants(*arguments)
            self.assertNotEqual(0, run.returncode)
            self.assertIn(word, run.stderr)

    def test_two_runs_do_not_share_their_copies(self):
        with open(self.tree / "build-mutants/lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            run = self.mutants("lib", "--list")
        self.assertEqual(1, run.returncode)
        self.assertIn("build-mutants is in use by another run", run.stderr)

    def running(self):
        """The tests of the tree that run now."""
        return subprocess.run(
            ["pgrep", "-f", f"^{self.tree}/.*/test_number"], text=True,
            capture_output=True, check=False).stdout.split()

    def test_a_run_that_is_interrupted_often_leaves_no_test_running(self):
        line = 1 + NUMBER.splitlines().index("        n -= 2;")
        with subprocess.Popen(
                [TREE / "tools/mutants", "--tree", self.tree, "-n", "0",
                 "--stages", "unit", f"lib/number.c:{line}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as run:
            hanging, deadline = [], time.monotonic() + 120
            while not hanging and time.monotonic() < deadline:
                hanging = [p for p in self.running() if ticks(p) > 20]
            self.assertTrue(hanging)
            while run.poll() is None:
                run.send_signal(signal.SIGINT)
            self.assertEqual(130, run.returncode)
        self.assertEqual([], self.running())


if __name__ == "__main__":
    unittest.main()
