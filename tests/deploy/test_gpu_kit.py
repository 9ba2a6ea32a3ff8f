#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build/gpu-kit in a root with nothing but a shell: it starts there, and says that
there is no GPU. What needs none runs: a stream of its photos to the host."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import base
from base import SOURCE, run

KIT = SOURCE / "build/gpu-kit"
MAX_MIB = 60


class Kit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="forebay-kit-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        for folder in ("bin", "dev", "proc", "tmp"):
            (cls.root / folder).mkdir()
        os.mknod(cls.root / "dev/null", 0o20666, os.makedev(1, 3))
        os.mknod(cls.root / "dev/urandom", 0o20666, os.makedev(1, 9))
        busybox = cls.root / "bin/busybox"
        shutil.copy(shutil.which("busybox"), busybox)
        for name in run(busybox, "--list").split():
            if name != "busybox":
                (cls.root / "bin" / name).symlink_to("busybox")
        shutil.copytree(KIT, cls.root / "kit", symlinks=True)

    def inside(self, *args, **env):
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--net", "--fork",
             f"--mount-proc={self.root}/proc", "chroot", self.root, "/bin/sh",
             "-c", "ip link set lo up; cd /kit; " + " ".join(args)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=base.DEADLINE,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", **env})

    def test_it_starts_and_says_that_there_is_no_device(self):
        shown = self.inside("/kit/run", "--quick")
        self.assertIn("no device", shown.stdout)
        self.assertEqual(shown.returncode, 77)
        shown = self.inside("/kit/run", "--quick", FOREBAY_REQUIRE_GPU="1")
        self.assertIn("a GPU is required", shown.stdout)
        self.assertEqual(shown.returncode, 1)

    def test_all_its_programs_start(self):
        for program in KIT.glob("bin/*gpu*"):
            shown = self.inside(f"bin/{program.name}")
            self.assertEqual(shown.returncode, 77, shown.stdout)

    def test_its_stream_needs_nothing_else(self):
        shown = self.inside("bin/forebay", "pull", "--pipeline", "photos.yaml",
                            "--steps", "3", "--json",)
        self.assertEqual(shown.returncode, 0, shown.stdout)
        self.assertEqual(json.loads(shown.stdout)["steps"], 3)

    def test_it_is_small_enough_to_be_carried(self):
        self.assertLessEqual(
            int(run("du", "-sm", KIT).split()[0]), MAX_MIB)


if __name__ == "__main__":
    base.skip_unless("unshare", "chroot", "busybox")
    if not KIT.exists():
        print("test_gpu_kit.py: there is no build/gpu-kit: cmake has found no "
              "nvcc that it can use, and says why")
        sys.exit(1 if os.environ.get("FOREBAY_REQUIRE_KIT") == "1" else 77)
    unittest.main(verbosity=2)
