# SPDX-License-Identifier: Apache-2.0
"""`cmake --install`: a library that a trainer links, and a manual.

The example is compiled outside the tree against an installation that was moved
since, in the ways that docs/library.md names, and takes a stream of a real
`forebay up`. In a build with a sanitizer the example is built with it too."""

import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import FOREBAY, PATIENT, SLOW, SystemTest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ.get("FOREBAY_BUILD", "build")
CC = os.environ.get("FOREBAY_CC", "cc")
SANITIZE = os.environ.get("FOREBAY_SANITIZE", "")
FLAGS = [f"-fsanitize={SANITIZE}"] if SANITIZE else []
EXAMPLE = SOURCE / "examples" / "trainer.c"
STEPS = 6  # of 96 pictures

PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES C)
find_package(Forebay 0.1 REQUIRED)
add_executable(shared trainer.c)
target_link_libraries(shared PRIVATE Forebay::forebay)
add_executable(static trainer.c)
target_link_libraries(static PRIVATE Forebay::forebay_static)
"""


def output(*command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run(list(map(str, command)), capture_output=True,
                          text=True, check=False, timeout=120 * SLOW,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Installation:
    """Installed once, then moved."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="forebay-install-"))
        before = self.dir / "before"
        self.prefix = self.dir / "moved"
        output("cmake", "--install", BUILD, "--prefix", before)
        before.rename(self.prefix)
        self.pc = next(self.prefix.rglob("forebay.pc"))
        self.lib = self.pc.parents[1]
        self.shared = self.lib / "libforebay.so"
        self.static = self.lib / "libforebay.a"

    def flags(self, *options):
        """The flags of pkg-config, as in docs/library.md."""
        return shlex.split(output(
            "pkg-config", *options, "--cflags", "--libs", "forebay",
            env=dict(os.environ, PKG_CONFIG_PATH=str(self.pc.parent))))

    def compile(self, name, flags):
        program = self.dir / name
        output(CC, *FLAGS, EXAMPLE, "-o", program, *flags)
        return program

    def close(self):
        shutil.rmtree(self.dir)


installed = None


def setUpModule():
    global installed
    installed = Installation()
    unittest.addModuleCleanup(installed.close)


def header():
    """forebay.h as it is installed, without its comments."""
    text = (installed.prefix / "include/forebay/forebay.h").read_text()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def functions(text):
    return set(re.findall(r"\b(forebay_\w+)\(", text))


def exported():
    text = header()
    inline = set(re.findall(r"static inline[^(]*\b(forebay_\w+)\(", text))
    return functions(text) - inline


class Files(unittest.TestCase):
    def test_all_that_is_promised_is_there_and_no_path_of_the_old_place(self):
        files = {str(path.relative_to(installed.prefix))
                 for path in installed.prefix.rglob("*") if path.is_file()}
        lib = str(installed.lib.relative_to(installed.prefix))
        for name in ("bin/forebay", "include/forebay/forebay.h",
                     "include/forebay/dlpack.h", "share/man/man1/forebay.1",
                     "share/man/man3/forebay.3", f"{lib}/libforebay.a",
                     f"{lib}/libforebay.so", f"{lib}/pkgconfig/forebay.pc",
                     f"{lib}/cmake/Forebay/ForebayConfig.cmake",
                     f"{lib}/cmake/Forebay/ForebayConfigVersion.cmake"):
            self.assertIn(name, files)
        for name in files:
            text = (installed.prefix / name).read_bytes()
            self.assertNotIn(str(installed.dir / "before").encode(), text, name)
        self.assertIn("0.2", output(installed.prefix / "bin/forebay",
                                    "--version"))

    def test_exported_is_what_the_header_has_and_all_has_a_version(self):
        if SANITIZE:
            self.skipTest("a sanitizer exports names of its own")
        shown = output("nm", "-D", "--defined-only", installed.shared)
        names = [line.split()[2] for line in shown.splitlines()
                 if line.split()[1] != "A"]
        self.assertTrue(all(re.search(r"@@FOREBAY_\d+\.\d+$", name)
                            for name in names), names)
        self.assertEqual({name.split("@")[0] for name in names}, exported())

    def test_the_archive_clashes_with_no_name_of_a_program(self):
        if SANITIZE:
            self.skipTest("a sanitizer exports names of its own")
        shown = output("nm", "-g", "--defined-only", installed.static)
        names = {line.split()[2] for line in shown.splitlines()
                 if len(line.split()) == 3}
        self.assertEqual(names, exported())

    def test_the_library_needs_only_what_a_trainer_does(self):
        shown = output("readelf", "-dW", installed.shared)
        self.assertRegex(shown, r"\(SONAME\).*\[libforebay\.so\.\d+\]")
        self.assertNotIn("TEXTREL", shown)
        needed = set(re.findall(r"\(NEEDED\).*\[(\S+?)\.so", shown))
        allowed = {"libzmq", "libsodium", "libcrypto", "libxxhash", "liblz4", "libyaml-0",
                   "libprotobuf-c", "libc", "libm", "libpthread"}
        if not SANITIZE:  # whose runtime is one more
            self.assertEqual({name for name in needed - allowed
                              if not name.startswith("ld-linux")}, set())
        loaded = output("ldd", installed.shared)
        for name in ("archive", "jpeg", "spng", "webp", "jansson",
                     "microhttpd", "not found"):
            self.assertNotIn(name, loaded)


class Trainers(SystemTest):
    def start_up(self):
        """A cluster of `forebay up`: sets its server and its root."""
        self.cluster.photos(number=96)
        self.pipeline = self.cluster.pipeline()
        up = subprocess.Popen(
            [FOREBAY, "up", "--pipeline", self.pipeline, "--workers", "1",
             "--listen", "tcp://127.0.0.1:*"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=self.cluster.env)
        self.addCleanup(up.stdout.close)
        self.addCleanup(up.wait)
        self.addCleanup(up.terminate)
        self.assertIn("1 worker", up.stdout.readline())
        words = shlex.split(up.stdout.readline())
        self.server = words[words.index("--server") + 1]
        self.root = words[words.index("--data") + 1]
        self.cluster.env["FOREBAY_KEYS"] = words[words.index("--keys") + 1]

    def command(self, program, token, epochs, split="train"):
        return [str(program), self.server, str(self.pipeline), split,
                str(epochs), str(self.cluster.path(token)), self.root]

    def train(self, program, token, epochs):
        """What it printed, with its rows and steps."""
        shown = output(*self.command(program, token, epochs),
                       env=self.cluster.env)
        rows, steps = re.search(r"(\d+) rows in (\d+) steps", shown).groups()
        return shown, int(rows), int(steps)

    def token(self, name):
        return self.cluster.path(name).read_text().strip()

    def found_by_cmake(self):
        project = installed.dir / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT)
        shutil.copy(EXAMPLE, project)
        build = project / "build"
        output("cmake", "-S", project, "-B", build, "-G", "Ninja",
               f"-DCMAKE_C_COMPILER={CC}", f"-DCMAKE_C_FLAGS={' '.join(FLAGS)}",
               f"-DCMAKE_PREFIX_PATH={installed.prefix}")
        output("cmake", "--build", build)
        return build

    def test_linked_in_four_ways_it_takes_what_pull_takes(self):
        self.start_up()
        pulled = json.loads(output(
            FOREBAY, "pull", "--pipeline", self.pipeline, "--server",
            self.server, "--data", self.root, "--epochs", 2, "--json",
            env=self.cluster.env))
        build = self.found_by_cmake()
        archive = [flag.replace("-lforebay", "-l:libforebay.a")
                   for flag in installed.flags("--static")]
        programs = {
            "pkg-config": installed.compile("shared", [
                *installed.flags(), f"-Wl,-rpath,{installed.lib}"]),
            "pkg-config-static": installed.compile("static", archive),
            "cmake": build / "shared",
            "cmake-static": build / "static",
        }
        for way, program in programs.items():
            shown, rows, steps = self.train(program, way, 2)
            self.assertEqual(rows, pulled["images"], way)
            self.assertEqual(steps, pulled["steps"], way)
            self.assertEqual(self.token(way), pulled["token"], way)
            self.assertIn("image: float32, shape 16 3 64 64\n", shown)
            self.assertIn("label: int64, shape 16\n", shown)
            loaded = output("ldd", program)
            self.assertEqual("libforebay" in loaded, "static" not in way)

    def test_ended_by_ctrl_c_it_goes_on_where_it_was(self):
        self.start_up()
        program = installed.compile("trainer", [
            *installed.flags(), f"-Wl,-rpath,{installed.lib}"])
        first = subprocess.Popen(
            self.command(program, "token", 0), stdout=subprocess.PIPE,
            text=True, env=self.cluster.env)
        self.addCleanup(first.stdout.close)
        self.addCleanup(first.kill)
        self.assertIn("image", first.stdout.readline())
        first.send_signal(signal.SIGINT)
        shown = first.communicate(timeout=60 * SLOW)[0]
        self.assertEqual(first.returncode, 130)
        taken = int(re.search(r"in (\d+) steps", shown)[1])
        epochs = taken // STEPS + 2
        _, _, left = self.train(program, "token", epochs)
        self.assertEqual(taken + left, epochs * STEPS)
        self.assertEqual(self.train(program, "token", epochs)[2], 0)

    def test_what_is_wrong_is_said_in_a_line(self):
        self.start_up()
        program = installed.compile("wrong", [
            *installed.flags(), f"-Wl,-rpath,{installed.lib}"])
        self.cluster.path("empty").touch()
        for command, code, words in (
                ([program], 2, "usage: trainer SERVER"),
                (self.command(program, "t", 1, "vall"), 1, "vall"),
                (self.command(program, "empty", 1), 1, "token"),
                (self.command(program, "nowhere/t", 1), 1, "nowhere/t")):
            shown = subprocess.run(
                command, capture_output=True, text=True, check=False,
                env=dict(self.cluster.env, **PATIENT, FOREBAY_LOG="warn"))
            self.assertEqual(shown.returncode, code, shown.stderr)
            self.assertIn(words, shown.stderr)
            said = [line for line in shown.stderr.splitlines()
                    if " NO-WORKERS " not in line]  # on a slow machine
            self.assertEqual(len(said), 1, shown.stderr)


class Manual(unittest.TestCase):
    def page(self, section):
        return (installed.prefix /
                f"share/man/man{section}/forebay.{section}").read_text()

    def test_it_is_well_formed(self):
        lint = next((words for words in (["mandoc", "-Tlint", "-Wwarning"],
                                         ["man", "--warnings", "-l"])
                     if shutil.which(words[0])), None)
        if lint is None:
            self.skipTest("there is neither mandoc nor man")
        for section in (1, 3):
            shown = subprocess.run(
                [*lint, SOURCE / f"docs/man/forebay.{section}"], check=False,
                capture_output=True, text=True)
            self.assertEqual(shown.returncode, 0, shown.stdout + shown.stderr)
            self.assertEqual(shown.stderr, "")

    def test_it_has_every_command_and_no_other(self):
        help_text = output(FOREBAY, "--help").split("The first five")[0]
        commands = re.findall(r"^  (\w+) ", help_text, flags=re.M)
        self.assertEqual(re.findall(r"^\.It Ic (\w+)$", self.page(1), re.M),
                         commands)

    def test_it_has_every_variable_that_the_program_reads_and_no_other(self):
        read = set()
        for folder in ("cli", "common", "proto", "secure", "server",
                       "trainer_client", "worker"):
            for path in (SOURCE / folder).rglob("*.c"):
                read |= set(re.findall(r'getenv\("(\w+)"\)', path.read_text()))
        page = self.page(1).split("\n.Ss Settings as variables\n")[0]
        self.assertEqual(set(re.findall(r"^\.It Ev (\w+)", page, re.M)), read)

    def test_it_has_every_option_and_no_other(self):
        members = re.search(r"struct forebay_options \{(.*?)\n\};", header(),
                            re.S).group(1)
        names = re.findall(r"(\w+)\)?(?:\([^;]*\))?;", members)
        options = re.search(r"^\.Ss Options\n(.*?)^\.Ss ", self.page(3),
                            re.M | re.S).group(1)
        shown = [name for line in re.findall(r"^\.It Va (.*)$", options, re.M)
                 for name in line.split(" , ")]
        self.assertEqual(sorted(["struct_size", *shown]), sorted(names))

    def test_it_declares_what_the_header_does_and_names_nothing_else(self):
        declared = "".join(header().split())
        shown = re.findall(
            r'^\.Ft "?(.*?)"?\n\.Fo (\w+)\n((?:\.Fa .*\n)+)\.Fc$',
            self.page(3), re.M)
        self.assertEqual({name for _, name, _ in shown}, functions(header()))
        for kind, name, arguments in shown:
            words = ",".join(re.findall(r'\.Fa "(.*)"', arguments))
            self.assertIn("".join(f"{kind}{name}({words})".split()), declared)
        variables = set(re.findall(r"^\.It Ev (\w+)", self.page(1), re.M))
        for name in set(re.findall(r"\b(?:forebay|FOREBAY)_\w+",
                                   self.page(3))) - variables:
            self.assertRegex(header(), rf"\b{name}\b")

    def test_its_example_compiles(self):
        text = re.search(r"^\.Bd .*?\n(#include.*?)^\.Ed$", self.page(3),
                         re.M | re.S)[1].replace("\\e", "\\")
        example = installed.dir / "example.c"
        example.write_text(text)
        output(CC, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
               "-fsyntax-only", f"-I{installed.prefix}/include", example)

    def test_it_has_every_status(self):
        statuses = re.search(r"enum forebay_status \{(.*?)\}", header(), re.S)
        self.assertEqual(
            set(re.findall(r"^\.It Dv (FOREBAY_\w+)", self.page(3), re.M)),
            set(re.findall(r"FOREBAY_\w+", statuses[1])))


if __name__ == "__main__":
    unittest.main(verbosity=2)
