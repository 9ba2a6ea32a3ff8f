# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/run: steps, results and exit codes of a kit whose programs are scripts
that print what real ones would. tests/deploy/test_gpu_kit.py runs a real kit."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SAID = {
    "gpu_about": "device NVIDIA H100 80GB \"HBM3\"\ncapability 9.0\n"
                 "memory 79.6 GiB\nruntime CUDA 13.0, driver for 13.0\n"
                 "clock 1755 MHz measured, 1980 MHz at most\n",
    "gpu_expand_block": "",
    "gpu_client": "",
    "gpu_lifetimes": "default stream: 1000 batches, 0 wrong values\n",
    "bench_gpu": "gpu_u8_f32: 70.1 us, 2744 GB/s read and written\n"
                 "gpu_u8_f32 ratio 0.91 goal >= 0.85 met\n"
                 "gpu_pinned_copy value 54.3 GB/s\n",
    "bench_gpu_feed": "gpu_feed_cpu_us ratio 25 goal <= 20 missed\n",
    "bench_gpu_way": "gpu_way_kernel value 70.5 us\n"
                     "gpu_way_batch value 400.25 us\n",
    "bench_gpu_stream": "gpu_stream_images_s ratio 7e+04 goal >= 6e+04 met\n",
}
# It writes the digests that it is told to write.
FOREBAY = """\
for word; do
    [ "$before" != --digests ] || echo the same >"$word"
    before=$word
done
"""


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "bin").mkdir()
        (self.dir / "python").mkdir()
        shutil.copy(ROOT / "tests/gpu/run", self.dir)
        (self.dir / "commit").write_text("abc123\n")
        for name, text in SAID.items():
            self.program(name, f"cat <<'END'\n{text}END\n")
        self.program("forebay", FOREBAY)
        self.program("python", "echo args \"$@\"\n")
        self.env = {**os.environ, "FOREBAY_TORCH_PYTHON":
                    str(self.dir / "bin/python")}

    def program(self, name, text):
        path = self.dir / "bin" / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def run_kit(self, *args, code=0):
        shown = subprocess.run(
            [self.dir / "run", *args], capture_output=True, text=True,
            check=False, env=self.env)
        self.assertEqual(shown.returncode, code, shown.stdout + shown.stderr)
        return shown.stdout + shown.stderr

    def results(self):
        """The two files of the only run: its text, and its values."""
        (text,) = self.dir.glob("results/*.md")
        (values,) = self.dir.glob("results/*.json")
        self.assertEqual(text.stem, values.stem)
        self.assertRegex(text.name,
                         r"^\d{4}-\d\d-\d\d-nvidia-h100-80gb-hbm3-")
        return text.read_text(), json.loads(values.read_text())

    def test_the_results_have_the_machine_the_steps_and_the_figures(self):
        self.run_kit("--full", "--part", "5")
        text, values = self.results()
        for row in ("| `gpu_u8_f32` | 0.91 | >= 0.85 | met |",
                    "| `gpu_pinned_copy` | 54.3 GB/s |  |  |",
                    "| `gpu_feed_cpu_us` | 25 | <= 20 | missed |",
                    "    gpu_u8_f32: 70.1 us, 2744 GB/s read and written"):
            self.assertIn(row + "\n", text)
        self.assertEqual(values["device"], "NVIDIA H100 80GB \"HBM3\"")
        self.assertEqual(values["commit"], "abc123")
        self.assertIn("1755 MHz measured", values["clock"])
        self.assertIn(
            {"name": "gpu_feed_cpu_us", "value": 25, "unit": "",
             "goal": "<= 20", "result": "missed"}, values["figures"])
        self.assertEqual(
            [(step["name"], step["exit"]) for step in values["steps"]],
            [("gpu", 0), ("gpu_feed", 0), ("gpu_way", 0), ("gpu_stream", 0),
             ("torch_way", 0)])
        self.assertRegex(
            text, r"args bench/torch_way\.py --ours-us 400\.25 70\.5\n")

    def test_the_first_finding_hides_nothing(self):
        self.program("gpu_expand_block", "exit 1\n")
        self.program("gpu_client", "kill -SEGV $$\n")
        self.run_kit("--full", "--part", "1", code=1)
        text, values = self.results()
        self.assertEqual(
            [(step["name"], step["exit"]) for step in values["steps"]],
            [("expansion", 1), ("client", 139), ("lifetimes", 0),
             ("stream", 0)])
        self.assertIn("| expansion | FAILED with 1 |", text)

    def test_a_step_without_an_end_is_called_so(self):
        for code in (124, 143):  # of coreutils, and of busybox
            with self.subTest(code):
                shutil.rmtree(self.dir / "results", ignore_errors=True)
                self.program("timeout", f"exit {code}\n")
                self.env["PATH"] = f"{self.dir}/bin:/usr/bin:/bin"
                said = self.run_kit("--full", "--part", "1", code=1)
                self.assertIn("client: no end within 90 s", said)
                text, values = self.results()
                self.assertIn("| client | FAILED: no end |", text)
                self.assertEqual({step["exit"] for step in values["steps"]},
                                 {124})

    def test_other_digests_than_those_of_the_host_are_a_failure(self):
        self.program("forebay", FOREBAY.replace("the same", '"$*"'))
        self.run_kit("--quick", code=1)
        _, values = self.results()
        self.assertEqual(
            [step["name"] for step in values["steps"] if step["exit"]],
            ["stream"])

    def test_what_is_not_on_the_machine_is_skipped(self):
        self.program("python", "exit 1\n")
        self.env["PATH"] = "/usr/bin:/bin"
        said = self.run_kit("--full", "--part", "2", "--part", "4")
        self.assertIn("skipped, there is no compute-sanitizer", said)
        _, values = self.results()
        self.assertEqual({step["exit"] for step in values["steps"]}, {77})
        self.assertEqual(len(values["steps"]), 6)

    def test_every_tool_of_the_sanitizer_runs(self):
        self.program("compute-sanitizer", "echo tool $2 of $5\n")
        self.env["PATH"] = f"{self.dir}/bin:/usr/bin:/bin"
        self.run_kit("--full", "--part", "2", "--part", "3")
        self.assertEqual(
            re.findall("tool (.*) of", self.results()[0]),
            ["memcheck", "synccheck", "initcheck", "memcheck", "memcheck",
             "racecheck"])

    def test_without_a_gpu_nothing_is_written(self):
        self.program("gpu_about", "echo skipped, no device; exit 77\n")
        self.assertIn("no device", self.run_kit("--quick", code=77))
        self.assertEqual(list(self.dir.glob("results/*")), [])

    def test_wrong_usage_is_refused(self):
        for args, words in (((), "--quick or --full?"),
                            (("--full", "--part", "6"), "1 to 5"),
                            (("--quick", "--part", "1"), "belongs to --full"),
                            (("--quickly",), "unknown option --quickly")):
            self.assertIn(words, self.run_kit(*args, code=2))
        self.assertIn("Exit code", self.run_kit("--help"))


class Present(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def python(self, *args, **env):
        return subprocess.run(
            [sys.executable, *args], capture_output=True, text=True,
            check=False, cwd=ROOT / "bench", env={**os.environ, **env})

    def test_without_pytorch_or_its_gpu_nothing_is_measured(self):
        for module, words in (
                ("raise ImportError('none')", "no PyTorch (none)"),
                ("class version:\n    cuda = None", "there is no ")):
            (self.dir / "torch.py").write_text(module)
            shown = self.python("torch_way.py", PYTHONPATH=str(self.dir))
            self.assertEqual(shown.returncode, 77, shown.stderr)
            self.assertIn(words, shown.stdout)
            self.assertIsNone(re.search("goal|value", shown.stdout))

    def test_a_driver_that_fails_is_not_the_absence_of_a_gpu(self):
        for code, said, result in ((802, "cuInit failed with 802", 1),
                                   (100, "there is no GPU", 77)):
            subprocess.run(
                ["cc", "-shared", "-o", self.dir / "libcuda.so.1", "-xc", "-"],
                check=True, text=True,
                input=f"int cuInit(void) {{ return {code}; }}")
            shown = self.python(
                "-c", "import gpu_present\n"
                "gpu_present.skip('t', gpu_present.why_none())",
                LD_LIBRARY_PATH=str(self.dir))
            self.assertEqual(shown.returncode, result)
            self.assertIn(said, shown.stdout + shown.stderr)


if __name__ == "__main__":
    unittest.main()
