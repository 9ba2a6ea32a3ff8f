#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The image of deploy/Containerfile, built and run by buildah without a daemon."""

import json
import os
import pathlib
import shutil
import tempfile
import unittest

import base
from base import FOREBAY, IMAGE, run

DIR = pathlib.Path(tempfile.mkdtemp(prefix="forebay-image-"))
MB = 1000000


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        base.make_image()
        cls.container = run("buildah", "from", IMAGE).strip()
        cls.addClassCleanup(run, "buildah", "rm", cls.container)
        cls.root = pathlib.Path(
            run("buildah", "mount", cls.container).strip())

    def test_it_has_the_program_and_its_libraries_and_no_shell(self):
        files = [path for path in self.root.rglob("*") if path.is_file()]
        programs = [str(path.relative_to(self.root)) for path in files
                    if os.access(path, os.X_OK) and ".so" not in path.name]
        self.assertEqual(programs, ["usr/bin/forebay"])
        # Only the cache belongs to the user.
        owned = [str(path.relative_to(self.root))
                 for path in self.root.rglob("*") if path.lstat().st_uid != 0]
        self.assertEqual(owned, ["cache"])

    def test_its_size_is_within_the_limits(self):
        size = sum(path.lstat().st_size for path in self.root.rglob("*")
                   if path.is_file())
        run("buildah", "push", IMAGE, f"oci-archive:{DIR}/image.tar")
        packed = (DIR / "image.tar").stat().st_size
        print(f"{size / MB:.1f} MB, packed {packed / MB:.1f} MB")
        self.assertLessEqual(size, 30 * MB)
        self.assertLessEqual(packed, 13 * MB)

    def test_its_packages_are_listed_with_versions_and_licences(self):
        text = (self.root / "usr/share/doc/packages.txt").read_text()
        entries = [line.split(" ", 2) for line in text.splitlines()]
        names = [name for name, _, _ in entries]
        version = run(FOREBAY, "--version").split()[1]
        self.assertIn(["forebay", version, "Apache-2.0"], entries)
        self.assertTrue({"libc6", "libzmq5", "libsodium23"} <= set(names))
        for name, version, licences in entries:
            self.assertTrue(version and licences, name)
            self.assertTrue(
                list((self.root / "usr/share/doc" / name).iterdir()), name)

    def test_its_config_names_user_cache_and_labels(self):
        config = json.loads(run("buildah", "inspect", "--type", "image",
                                IMAGE))["OCIv1"]["config"]
        self.assertEqual(config["User"], "10001:10001")
        self.assertEqual(config["Entrypoint"], ["/usr/bin/forebay"])
        self.assertEqual(list(config["Volumes"]), ["/cache"])
        labels = {name.removeprefix("org.opencontainers.image."): value
                  for name, value in config["Labels"].items()}
        self.assertEqual(labels["licenses"], "Apache-2.0")
        self.assertEqual(labels["version"], run(FOREBAY, "--version").split()[1])
        self.assertTrue(labels["revision"])

    def test_it_streams_as_its_user(self):
        photos, text = base.photos()
        data = DIR / "data"
        data.mkdir()
        DIR.chmod(0o755)  # the image's user goes through it
        (data / "p.yaml").write_text(text)
        (data / "inside.yaml").write_text(text.replace(str(photos), "/photos"))
        pulled = json.loads(run(
            "buildah", "run", "--isolation", "chroot", "--network", "host",
            "--volume", f"{data}:/data:ro", "--volume", f"{photos}:/photos:ro",
            self.container, "--", "/usr/bin/forebay", "pull", "--pipeline",
            "/data/inside.yaml", "--json"))
        self.assertEqual(pulled["digest"], base.digest(data / "p.yaml"))


if __name__ == "__main__":
    base.skip_unless("mmdebstrap", "buildah")
    try:
        unittest.main(verbosity=2)
    finally:
        shutil.rmtree(DIR, ignore_errors=True)
