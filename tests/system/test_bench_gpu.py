# SPDX-License-Identifier: Apache-2.0
"""bench/run-gpu: the table of a run, from the output of the benches. No GPU is
needed: the benches are scripts that print what real ones would."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SAID = {
    "gpu": "device NVIDIA H100 80GB HBM3\n"
           "gpu_u8_f32: 70.1 us, 2744 GB/s read and written\n"
           "gpu_u8_f32 ratio 0.91 goal >= 0.85 met\n"
           "gpu_pinned_copy value 54.3 GB/s\n",
    "gpu_feed": "gpu_feed_cpu_us ratio 25 goal <= 20 missed\n",
    "gpu_way": "gpu_way_kernel value 70.5 us\n"
               "gpu_way_batch value 400.25 us\n",
    "gpu_stream": "gpu_stream_images_s ratio 7e+04 goal >= 6e+04 met\n",
}


class RunGpu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "bench").mkdir()
        for name, text in SAID.items():
            self.bench(name, f"cat <<'END'\n{text}END\n")
        self.python("echo args \"$@\"\n")

    def script(self, path, text):
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def bench(self, name, text):
        self.script(self.dir / "bench" / name, text)

    def python(self, text):
        self.script(self.dir / "python", text)

    def run_gpu(self):
        return subprocess.run(
            [ROOT / "bench/run-gpu", self.dir, self.dir / "results"],
            capture_output=True, text=True, check=False,
            env={**os.environ,
                 "FOREBAY_TORCH_PYTHON": str(self.dir / "python")})

    def files(self):
        return list(self.dir.glob("results/*"))

    def test_a_run_is_a_table_with_date_and_device(self):
        shown = self.run_gpu()
        self.assertEqual(shown.returncode, 0, shown.stderr)
        [file] = self.files()
        self.assertRegex(
            file.name, r"^\d{4}-\d\d-\d\d-nvidia-h100-80gb-hbm3\.md$")
        text = file.read_text()
        self.assertRegex(
            text, r"^# NVIDIA H100 80GB HBM3, \d{4}-\d\d-\d\d \d\d:\d\d UTC\n")
        for row in ("| `gpu_u8_f32` | 0.91 | >= 0.85 | met |",
                    "| `gpu_pinned_copy` | 54.3 GB/s | | |",
                    "| `gpu_feed_cpu_us` | 25 | <= 20 | missed |",
                    "| `gpu_stream_images_s` | 7e+04 | >= 6e+04 | met |"):
            self.assertIn(row + "\n", text)
        self.assertIn(
            "    gpu_u8_f32: 70.1 us, 2744 GB/s read and written\n", text)
        self.assertTrue(shown.stdout.startswith(text))

    def test_pytorch_is_told_what_ours_took(self):
        self.run_gpu()
        self.assertRegex(
            self.files()[0].read_text(),
            r"args \S+/torch_way\.py --ours-us 400\.25 70\.5\n")

    def test_a_bench_that_fails_is_in_the_table_and_the_exit_code(self):
        self.bench("gpu_feed", "exit 1\n")
        shown = self.run_gpu()
        self.assertEqual(shown.returncode, 1)
        text = self.files()[0].read_text()
        self.assertIn("| gpu_feed | FAILED | | |\n", text)
        self.assertIn("| `gpu_pinned_copy` |", text)

    def test_without_a_gpu_nothing_is_written(self):
        self.bench("gpu", "echo gpu: there is no GPU, nothing is measured\n")
        shown = self.run_gpu()
        self.assertEqual(shown.returncode, 0)
        self.assertEqual(
            shown.stdout, "gpu: there is no GPU, nothing is measured\n")
        self.assertEqual(self.files(), [])

    def torch_way(self, module, *args):
        (self.dir / "torch.py").write_text(module)
        return subprocess.run(
            [sys.executable, ROOT / "bench/torch_way.py", *args],
            capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(self.dir)})

    def test_without_pytorch_or_its_gpu_nothing_is_measured(self):
        for module, words in (
                ("raise ImportError('none')", "no PyTorch (none)"),
                ("class version:\n    cuda = None", "there is no ")):
            shown = self.torch_way(module)
            self.assertEqual(shown.returncode, 77, shown.stderr)
            self.assertIn(words, shown.stdout)
            self.assertIsNone(re.search("goal|value", shown.stdout))

    def test_a_driver_that_fails_is_not_the_absence_of_a_gpu(self):
        driver = self.dir / "libcuda.so.1"
        for code, said, result in ((802, "cuInit failed with 802", 1),
                                   (100, "there is no GPU", 77)):
            subprocess.run(
                ["cc", "-shared", "-o", driver, "-xc", "-"], check=True,
                input=f"int cuInit(void) {{ return {code}; }}", text=True)
            shown = subprocess.run(
                [sys.executable, "-c", "import gpu_present\n"
                 "gpu_present.skip('t', gpu_present.why_none())"],
                capture_output=True, text=True, check=False, cwd=ROOT / "bench",
                env={**os.environ, "LD_LIBRARY_PATH": str(self.dir)})
            self.assertEqual(shown.returncode, result)
            self.assertIn(said, shown.stdout + shown.stderr)


if __name__ == "__main__":
    unittest.main()
