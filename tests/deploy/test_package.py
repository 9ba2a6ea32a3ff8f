#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The packages in dist/, installed into a bare root of this distribution."""

import json
import pathlib
import shutil
import tempfile
import unittest

import base
from base import FOREBAY, made, run

ROOT = pathlib.Path(tempfile.mkdtemp(prefix="forebay-root-"))


def inside(*args):
    """Run a command in the root, with its own /proc."""
    return run("unshare", "--mount", "--pid", "--fork",
               f"--mount-proc={ROOT}/proc", "chroot", ROOT, *args)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run("tar", "xf", base.bare_system(), "-C", ROOT)
        shutil.copy(made("*.deb"), ROOT / "tmp/forebay.deb")
        inside("apt-get", "update")
        inside("apt-get", "install", "-y", "--no-install-recommends",
               "/tmp/forebay.deb")
        cls.pipeline = "/tmp/p.yaml"
        inside("forebay", "photos", "--number", "64", "/tmp/photos")
        inside("forebay", "init", "/tmp/photos", "-o", cls.pipeline)
        # The same for the program of the build, which sees the data elsewhere.
        text = (ROOT / "tmp/p.yaml").read_text()
        outside = ROOT / "tmp/outside.yaml"
        outside.write_text(text.replace("/tmp/photos", f"{ROOT}/tmp/photos"))
        cls.digest = json.loads(run(FOREBAY, "pull", "--pipeline", outside,
                                    "--json"))["digest"]

    def assert_works(self, program):
        self.assertIn("\nok ", inside(program, "doctor"))
        pulled = json.loads(inside(program, "pull", "--pipeline",
                                   self.pipeline, "--json"))
        self.assertEqual(pulled["images"], 64)
        self.assertEqual(pulled["digest"], self.digest)

    def test_1_the_deb_works_with_what_it_depends_on(self):
        self.assert_works("/usr/bin/forebay")
        listed = inside("dpkg", "-L", "forebay")
        for file in ("/usr/share/man/man1/forebay.1",
                     "/usr/include/forebay/forebay.h",
                     "/usr/lib/systemd/system/forebay-worker.service",
                     "/usr/share/forebay/slurm/scale",
                     "/usr/share/doc/forebay/LICENSE"):
            self.assertIn(file + "\n", listed)

    def test_2_the_archive_works_anywhere(self):
        inside("dpkg", "--remove", "forebay")
        self.assertFalse((ROOT / "usr/bin/forebay").exists())
        (ROOT / "srv/some").mkdir()
        run("tar", "xzf", made("*.tar.gz"), "-C", ROOT / "srv/some",
            "--strip-components=1")
        self.assert_works("/srv/some/bin/forebay")
        self.assertTrue((ROOT / "srv/some/share/man/man1/forebay.1").exists())


if __name__ == "__main__":
    base.skip_unless("mmdebstrap", "unshare")
    try:
        unittest.main(verbosity=2)
    finally:
        shutil.rmtree(ROOT, ignore_errors=True)
