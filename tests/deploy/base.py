# SPDX-License-Identifier: Apache-2.0
"""What the tests of packages and images share: commands, the files of a bare
system of this distribution, and the image of deploy/Containerfile."""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOREBAY = os.environ.get("FOREBAY_BIN", str(SOURCE / "build/forebay"))
DEADLINE = 600
IMAGE = "localhost/forebay"
IMAGES = SOURCE / "build/images"  # what buildah and podman keep


def skip_unless(*programs):
    """End this test as skipped, unless root runs it and has these programs."""
    missing = [name for name in programs if shutil.which(name) is None]
    cause = ""
    if missing or os.geteuid() != 0:
        cause = "this needs root and: " + ", ".join(programs)
    elif subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"],
                        check=False).returncode != 0:
        cause = "this user cannot make namespaces here"
    if cause:
        print(f"{pathlib.Path(sys.argv[0]).name}: skipped: {cause}")
        sys.exit(77)


def run(*args, **options):
    """Run a command; return its standard output."""
    done = subprocess.run(list(map(str, args)), check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=DEADLINE, **options)
    if done.returncode != 0:
        raise AssertionError(f"{args}: {done.returncode}: {done.stdout}"
                             f"{done.stderr}")
    return done.stdout


@contextlib.contextmanager
def exclusive_lock():
    """Of tests that run at the same time, one makes what they share."""
    with open(SOURCE / "build/deploy.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def bare_system():
    """A tar archive of a bare system; made once in a build folder."""
    with exclusive_lock():
        return made_bare_system()


def made_bare_system():
    text = pathlib.Path("/etc/os-release").read_text()
    values = dict(line.split("=", 1) for line in text.splitlines()
                  if "=" in line)
    codename = values["VERSION_CODENAME"].strip('"')
    path = SOURCE / f"build/bare-{codename}.tar"
    if not path.exists():
        part = path.with_suffix(".part.tar")
        run("mmdebstrap", "--variant=apt", "--mode=root",
            "--dpkgopt=force-unsafe-io", codename, part)
        part.rename(path)
    return path


def made(pattern):
    """The only file in dist/ with this name."""
    (path,) = (SOURCE / "dist").glob(pattern)
    return path


def prepare_storage():
    """Images and containers of this process's commands: without overlays, and
    apart from those of the machine."""
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "storage.conf").write_text(
        f'[storage]\ndriver = "vfs"\ngraphroot = "{IMAGES}/store"\n'
        f'runroot = "{IMAGES}/run"\n')
    os.environ.update(CONTAINERS_STORAGE_CONF=str(IMAGES / "storage.conf"),
                      STORAGE_DRIVER="vfs")


def import_system(system):
    container = run("buildah", "from", "scratch").strip()
    run("buildah", "add", "--quiet", container, system, "/")
    run("buildah", "commit", "--quiet", container, "localhost/bare")
    run("buildah", "rm", container)


def make_image():
    """Have IMAGE, made of the package in dist/, in the storage of
    prepare_storage()."""
    prepare_storage()
    system = bare_system()
    with exclusive_lock():
        build_image(system)


def build_image(system):
    made_of = IMAGES / "package"
    package = made("forebay_*.deb")
    if made_of.exists() and made_of.read_bytes() == package.read_bytes():
        return
    import_system(system)
    run(SOURCE / "tools/image", IMAGE, env={
        **os.environ, "IMAGE_BASE": "localhost/bare",
        "BUILDAH_OPTIONS": "--isolation chroot --network host"})
    shutil.copyfile(package, made_of)


def photos():
    """A folder with 64 photos of 6 classes, which every user may read, and the
    text of its pipeline."""
    folder = IMAGES / "photos"
    with exclusive_lock():
        if not folder.exists():
            run(FOREBAY, "photos", "--number", "64", folder)
    return folder, run(FOREBAY, "init", folder)


def digest(pipeline, *args):
    """What a trainer on this machine receives of a pipeline."""
    return json.loads(run(FOREBAY, "pull", "--json", "--pipeline", pipeline,
                          *args))["digest"]
