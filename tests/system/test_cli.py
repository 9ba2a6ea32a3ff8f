# SPDX-License-Identifier: Apache-2.0
"""The command line: help, exit codes, the files it writes."""

import json
import os
import pathlib
import re
import resource
import shlex
import signal
import socket
import subprocess
import unittest

import numpy
from PIL import Image

from harness import DIVISOR, FOREBAY, PIPELINE, SystemTest
from harness import read_line, seconds

COMMANDS = ("init", "pull", "up", "server", "worker", "plan", "show", "lint",
            "index", "doctor", "photos")


def forebay(*args, largest_file=resource.RLIM_INFINITY, folder=None,
            **environment):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE,
                           (largest_file, resource.RLIM_INFINITY))

    return subprocess.run([FOREBAY, *map(str, args)], capture_output=True,
                          text=True, check=False, timeout=120,
                          preexec_fn=limit, cwd=folder,
                          env={**os.environ,
                               "FOREBAY_TIME_DIVISOR": str(DIVISOR),
                               **environment})


class CommandLine(SystemTest):
    def pictures(self, **changes):
        self.cluster.photos(number=32)
        return self.cluster.pipeline(**changes)

    def test_every_command_has_help_with_examples(self):
        overview = forebay("--help")
        self.assertEqual(overview.returncode, 0)
        for command in COMMANDS:
            self.assertIn(f"  {command} ", overview.stdout)
            shown = forebay(command, "--help")
            self.assertEqual(shown.returncode, 0, command)
            self.assertIn("Examples:", shown.stdout)
            self.assertIn(f"forebay {command}", shown.stdout)

    def test_control_bytes_of_arguments_are_shown_escaped(self):
        for args in (("pull", "--no\x1b[31m\nx"), ("pull", "\x1b[31m\nx"),
                     ("worker", "--threads", "\x1b[31m\nx"),
                     ("\x1b[31m\nx",)):
            shown = forebay(*args)
            self.assertEqual(shown.returncode, 2, args)
            self.assertIn(r"\x1b[31m\x0ax", shown.stderr)
            self.assertEqual(shown.stderr.count("\n"), 2, shown.stderr)

    def test_an_empty_token_file_is_refused_before_the_first_step(self):
        shown = forebay("pull", "-p", self.pictures(), "--token-file", "",
                        "--steps", 1)
        self.assertEqual(shown.returncode, 2)
        self.assertIn("'' is not the name of a file", shown.stderr)
        self.assertNotIn("samples/s", shown.stdout)

    CACHE_REMEDY = (": in a container mount a volume there, else set "
                    "FOREBAY_CACHE_DIR to a folder with write access and space")

    def of_a_shard(self, data):
        root = self.cluster.path("shards")
        self.cluster.tars(root, [{"jpg": data}])
        self.cluster.root = root
        return self.cluster.pipeline(
            PIPELINE.replace("folder:", "shards:").replace(
                "{root}", "{root}/*.tar").split("  label:")[0],
            batch=1)

    def test_index_fails_if_it_cannot_write_its_manifest(self):
        pipeline = self.of_a_shard(b"x")
        shown = forebay("index", "-p", pipeline, "--cache", "/proc/no")
        self.assertEqual(shown.returncode, 1, shown.stderr)
        self.assertIn("cannot write /proc/no/", shown.stderr)
        self.assertIn(self.CACHE_REMEDY, shown.stderr)
        self.assertEqual(shown.stdout, "")
        cache = self.cluster.path("cache")
        shown = forebay("index", "-p", pipeline, "--cache", cache,
                        largest_file=16)
        self.assertEqual(shown.returncode, 1, shown.stderr)
        self.assertIn(f"cannot write {cache}/", shown.stderr)
        self.assertEqual(os.listdir(cache), [])

    def test_without_a_cache_that_can_be_written_it_streams_and_says_so(self):
        picture = next(self.cluster.photos(1).rglob("*.jpg")).read_bytes()
        pipeline = self.of_a_shard(picture)
        shown = forebay("pull", "-p", pipeline, "--workers", 1, "--steps", 1,
                        FOREBAY_CACHE_DIR="/proc/no")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stderr, "CACHE-NOT-WRITTEN cannot write /proc/"
                         f"no/.*{self.CACHE_REMEDY}; the next open indexes")

    def test_a_file_that_cannot_be_written_whole_is_not_left_behind(self):
        pipeline = self.pictures()
        into = self.cluster.path("into")
        into.mkdir()
        self.cluster.start(1)
        for args in (("pull", "-p", pipeline, "--steps", 1, "--token-file",
                      into / "token", "--data", f"data={self.cluster.root}",
                      "--server", self.cluster.server.endpoint),
                     ("init", self.cluster.root, "-o", into / "new.yaml"),
                     ("photos", into / "photos", "-n", 1, "-c", 1)):
            shown = forebay(*args, largest_file=16)
            self.assertEqual(shown.returncode, 1, shown.stderr)
            self.assertIn(f"{into}/", shown.stderr)
            self.assertIn("File too large", shown.stderr)
            self.assertEqual(
                [path for path in into.rglob("*") if path.is_file()], [])
        old = into / "old.yaml"
        old.write_text("forebay: 1\n")
        shown = forebay("init", self.cluster.root, "-o", old, "--force",
                        largest_file=16)
        self.assertEqual(shown.returncode, 1, shown.stderr)
        self.assertEqual(old.read_text(), "forebay: 1\n")

    def test_wrong_usage_is_2_and_says_what_would_be_right(self):
        for args, words in (
                ((), "Usage"), (("pul",), "did you mean 'pull'"),
                (("pull",), "--pipeline"), (("pull", "--no"), "--no"),
                (("pull", "-p", "x", "--rank", "2", "--world", "2"), "--world"),
                (("pull", "-p", "x", "--steps", "4x"), "4x"),
                (("pull", "-p", "x", "--server", "a:1", "--workers", "3"),
                 "--workers is for workers that pull starts"),
                (("pull", "-p", "x", "--server", "a:1", "--nice", "3"),
                 "--nice is for"),
                (("pull", "-p", "x", "--device", "gpu"), "host, cuda, cuda:N"),
                (("pull", "-p", "x", "--device", "cuda:"), "'cuda:'"),
                (("pull", "-p", "x", "--device", "cuda:1x"), "'cuda:1x'"),
                (("worker",), "--data"), (("init",), "directory"),
                (("worker", "--data", "d=/"), "--server"),
                (("worker", "-s", "tcp://127.0.0.1:1", "/d"), "argument '/d'\n"),
                (("pull", "p.yaml"), "did you mean --pipeline p.yaml"),
                (("server", "tcp://127.0.0.1:1"), "unexpected argument 'tcp"),
                (("up", "-p", "x", "--listen", "tcp://*:7070"), "address")):
            shown = forebay(*args)
            self.assertEqual(shown.returncode, 2, args)
            self.assertIn(words, shown.stderr)

    def test_a_missing_file_or_server_is_1_and_named(self):
        shown = forebay("pull", "--pipeline", "/nowhere/p.yaml")
        self.assertEqual(shown.returncode, 1)
        self.assertIn("/nowhere/p.yaml", shown.stderr)
        self.cluster.photos(number=32)
        shown = forebay(
            "pull", "-p", self.cluster.pipeline(), "--server",
            "tcp://127.0.0.1:9", "--data", f"d={self.cluster.root}",
            "--open-timeout-ms", int(seconds(15) * 1000))
        self.assertEqual(shown.returncode, 1)
        self.assertIn("NO-WORKERS no answer from the server", shown.stderr)
        self.assertNotIn("registered", shown.stderr)
        self.assertIn("127.0.0.1:9", shown.stderr.splitlines()[-1])

    def test_a_gpu_that_cannot_be_used_is_1_and_says_why(self):
        pipeline = self.pictures()
        for device in ("cuda", "cuda:3"):
            shown = forebay("pull", "-p", pipeline, "--device", device,
                            CUDA_VISIBLE_DEVICES="")
            self.assertEqual(shown.returncode, 1)
            self.assertRegex(
                shown.stderr,
                r"^forebay pull: device cuda(:3)?: (this machine has no NVIDIA "
                r"driver;|this library was built without CUDA;|the driver is "
                r"for CUDA .* update the driver, or|the driver reports "
                r"cudaErrorNoDevice;) use host\n$")
            self.assertEqual(shown.stdout, "")

    def test_auto_without_a_gpu_is_the_host_without_a_digest(self):
        pipeline = self.pictures(batch=8)
        host = forebay("pull", "-p", pipeline, "--json", "--device", "host")
        self.assertEqual(host.returncode, 0, host.stderr)
        host = json.loads(host.stdout)
        self.assertEqual(host["device"], "host")
        self.assertRegex(host["digest"], "^[0-9a-f]{32}$")
        lines = self.cluster.path("digests")
        for args, digest in (((), None),
                             (("--digests", lines), host["digest"])):
            auto = forebay("pull", "-p", pipeline, "--json", "--device",
                           "auto", *args, CUDA_VISIBLE_DEVICES="")
            self.assertEqual(auto.returncode, 0, auto.stderr)
            auto = json.loads(auto.stdout)
            self.assertEqual(auto["device"], "host")
            self.assertEqual(auto["digest"], digest)
            self.assertEqual(auto["images"], host["images"])
        self.assertEqual(len(lines.read_text().splitlines()), host["steps"])

    def test_a_folder_that_is_not_there_is_named_with_its_split(self):
        pipeline = self.cluster.pipeline()
        missing = self.cluster.path("nowhere")
        text = pathlib.Path(pipeline).read_text()
        pathlib.Path(pipeline).write_text(
            text.replace(str(self.cluster.root), str(missing)))
        for command, *more in (("pull",), ("plan",), ("lint",), ("index",),
                               ("up", "--listen", "tcp://127.0.0.1:*"),
                               ("show", "-o", self.cluster.path("s.png"))):
            shown = forebay(command, "-p", pipeline, *more)
            self.assertEqual(shown.returncode, 1, command)
            self.assertEqual(
                f"forebay {command}: {pipeline}: split 'train': cannot open "
                f"the directory {missing}: No such file or directory\n",
                shown.stderr)

    def test_fewer_classes_than_folders_are_refused_not_substituted(self):
        self.cluster.photos(number=32)
        pipeline = self.cluster.pipeline(
            PIPELINE.replace("from: folder", "from: folder, classes: 3") +
            "on_bad_sample: {{do: substitute, limit: 100}}\n")
        for command in ("pull", "plan", "index"):
            shown = forebay(command, "--pipeline", pipeline)
            self.assertEqual(shown.returncode, 1, command)
            self.assertIn("field label: classes is 3, and there are 4 class "
                          "folders; raise classes to at least 4", shown.stderr)

    def test_a_plain_path_on_a_server_needs_data(self):
        self.cluster.photos(number=32)
        shown = forebay("pull", "-p", self.cluster.pipeline(), "--server",
                        "tcp://127.0.0.1:9")
        self.assertEqual(shown.returncode, 1)
        self.assertTrue(shown.stderr.endswith(
            "say which root it is in: --data NAME=DIR\n"), shown.stderr)

    def test_the_data_of_a_server_need_not_be_on_the_trainers_machine(self):
        self.cluster.photos(number=32)
        self.cluster.start(1)
        root = self.cluster.path("elsewhere")
        link = self.cluster.path("link")
        link.symlink_to(self.cluster.dir)
        for where, directories in (
                *((path, (root, f"{root}/.", "elsewhere"))
                  for path in (root, "elsewhere", "data:")),
                (link, (link,)),
                (self.cluster.dir, (f"{self.cluster.root}/..",))):
            pipeline = self.cluster.pipeline(root=where)
            for directory in directories:
                shown = forebay(
                    "pull", "-p", pipeline, "--server",
                    self.cluster.server.endpoint, "--data", f"data={directory}",
                    folder=self.cluster.dir)
                self.assertEqual(shown.returncode, 0, shown.stderr)
        shown = forebay("pull", "-p", self.cluster.pipeline(root=root),
                        "--server", self.cluster.server.endpoint, "--data",
                        "data=/else")
        self.assertEqual(shown.returncode, 1)
        self.assertIn("is not below any of the roots", shown.stderr)

    def test_a_plan_has_a_line_for_each_op_with_what_was_drawn(self):
        self.cluster.photos(number=32)
        text = (PIPELINE
                .replace("- horizontal_flip: {{p: 0.5}}",
                         "- pad: {{padding: 2}}\n"
                         "      - rotate: {{degrees: 10}}"))
        lines = forebay("plan", "-p",
                        self.cluster.pipeline(text)).stdout.split("\n")
        self.assertRegex(lines[0], r"^row 0  sample \d+  \S+$")
        self.assertRegex(lines[1], r"^    image \d+x\d+$")
        self.assertRegex(
            lines[2], r"^        random_resized_crop( at \d+,\d+)? \d+x\d+ > ")
        self.assertEqual(lines[3], "        pad left 2 top 2 right 2 bottom 2 "
                                   "fill 0 constant")
        self.assertRegex(lines[4], r"^        rotate affine angle -?[\d.]+$")

    def test_init_writes_a_file_that_works_at_once(self):
        root = self.cluster.photos(number=96)
        path = self.cluster.path("made.yaml")
        shown = forebay("init", root, "-o", path)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        again = forebay("init", root, "-o", path)
        self.assertEqual(again.returncode, 1)
        self.assertIn("--force", again.stderr)
        table = forebay("pull", "--pipeline", path)
        self.assertEqual(table.returncode, 0, table.stderr)
        for words in ("images/s", "bytes per image", "digest", "token"):
            self.assertIn(words, table.stdout)

    def test_a_command_that_is_printed_can_be_run_and_is_no_escape_sequence(
            self):
        """Its path has control characters, quotes and bytes of no text."""
        folder = os.fsencode(self.cluster.path("d"))
        folder += b"\x1b[31m\n'\\x$\xc2\x9b1m\xff\xc3\xa9 "
        os.mkdir(folder)
        path = folder + b"/p.yaml"
        os.rename(self.pictures(), path)
        with subprocess.Popen(
                [FOREBAY, "up", "-p", path, "--listen", "tcp://127.0.0.1:*",
                 "--workers", "1"], stdout=subprocess.PIPE) as up:
            up.stdout.readline()
            command = up.stdout.readline()
            up.terminate()
        self.assertNotRegex(
            command, rb"[\x00-\x09\x0b-\x1f\x7f\xff]|\xc2\x9b")
        self.assertIn("\u00e9".encode(), command)
        words = subprocess.run(
            ["bash", "-c", b"printf '%s\\0' " + command], check=True,
            capture_output=True).stdout.split(b"\0")
        self.assertEqual(words[:4], [b"forebay", b"pull", b"--pipeline", path])

    def test_paths_in_messages_are_no_escape_sequences(self):
        pipeline = self.pictures()
        odd = self.cluster.path("a\x1b[31m\nb")
        shown = forebay("lint", "-p", pipeline, "--check", "-o", f"{odd}.txt")
        self.assertEqual(
            shown.stderr, f"wrote {self.cluster.path('a?[31m?b')}.txt, a list "
            "without names\n")
        shown = forebay("show", "-p", pipeline, "-o", f"{odd}.npz")
        self.assertTrue(shown.stdout.startswith(
            f"wrote {self.cluster.path('a?[31m?b')}.npz: "), shown)
        os.rename(pipeline, f"{odd}.yaml")
        for args in (), ("--check",):
            shown = forebay("lint", "-p", f"{odd}.yaml", *args)
            self.assertNotIn("\x1b", shown.stdout + shown.stderr)
            self.assertIn("a?[31m?b.yaml: ", shown.stdout)

    def test_statistics_use_the_word_for_the_samples(self):
        """Sequences of token files, samples of other data without pictures."""
        tokens = self.cluster.path("tokens")
        tokens.mkdir()
        (tokens / "t.bin").write_bytes(bytes(2 * 64 * 1025))
        table = self.cluster.path("table")
        table.mkdir()
        numpy.save(table / "x.npy", numpy.zeros((64, 3), "f4"))
        for data, noun, *options in ((tokens, "sequence", "--tokens", "u16"),
                                     (table, "sample")):
            path = self.cluster.path(f"{noun}.yaml")
            made = forebay("init", data, *options, "-o", path)
            self.assertEqual(made.returncode, 0, made.stderr)
            shown = forebay("pull", "--pipeline", path)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertRegex(
                shown.stdout, rf"delivered +64 {noun}s in 1 step, .*\n"
                rf"  rate .* {noun}s/s\n  raw .* bytes per {noun}\n"
                rf"  on the wire .* bytes? per {noun}, ")
            self.assertNotIn("image", shown.stdout)

    def made_and_pulled(self, data, name="made.yaml"):
        """The pipeline that init makes for it, and how many images it has."""
        path = self.cluster.path(name)
        shown = forebay("init", data, "-o", path)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        table = forebay("pull", "--pipeline", path, "--json")
        self.assertEqual(table.returncode, 0, table.stderr)
        return path.read_text(), json.loads(table.stdout)["images"]

    def shards(self, root, kind):
        shards = self.cluster.path(f"shards-{kind}")
        shards.mkdir()
        for i in range(2):
            work = self.cluster.path(f"{kind}-{i}")
            work.mkdir()
            for j, name in enumerate(sorted(root.rglob(f"*.{kind}"))[i::2]):
                (work / f"{j:04}.{kind}").write_bytes(name.read_bytes())
                (work / f"{j:04}.cls").write_text(str(j % 3))
            subprocess.run(["tar", "--sort=name", "-cf",
                            shards / f"x-{i:02}.tar", "-C", work, "."],
                           check=True)
        return shards

    def test_init_knows_tar_shards(self):
        root = self.cluster.photos(number=96)
        text, images = self.made_and_pulled(self.shards(root, "jpg"))
        self.assertIn("from: jpg\n", text)
        self.assertEqual(images, 64)

    def test_init_knows_png_files_in_folders_and_shards(self):
        root = self.cluster.photos(number=160)
        names = sorted(root.rglob("*.jpg"))
        for name in names[::5] + names[1::5]:
            Image.open(name).save(name.with_suffix(".png"))
            Image.open(name).convert("L").save(name.with_suffix(".mask.png"))
            name.unlink()
        text, images = self.made_and_pulled(root, "mixed.yaml")
        self.assertIn("from: [jpg, png]\n", text)
        self.assertEqual(images, 128)
        for other in [*root.rglob("*.jpg"), *root.rglob("*.mask.png")]:
            other.unlink()
        text, images = self.made_and_pulled(root, "folder.yaml")
        self.assertIn("from: png\n", text)
        self.assertEqual(images, 64)
        text, images = self.made_and_pulled(
            self.shards(root, "png"), "shards.yaml")
        self.assertIn("from: png\n", text)
        self.assertEqual(images, 64)

    def test_a_split_that_is_not_there_is_wrong_usage_everywhere(self):
        pipeline = self.pictures()
        sheet = self.cluster.path("b.png")
        for args in (("pull",), ("plan",), ("lint",), ("index",),
                     ("show", "-o", sheet)):
            shown = forebay(*args, "-p", pipeline, "--split", "nosuch")
            self.assertEqual(shown.returncode, 2, shown.stderr)
            self.assertIn("nosuch", shown.stderr)
            self.assertIn("train", shown.stderr)

    def test_commands_that_look_at_data_share_their_options(self):
        shard = self.shards(self.cluster.photos(number=32), "jpg") / "x-00.tar"
        text = PIPELINE.replace('folder: "{root}"', "shards: d:x-00.tar")
        pipeline = self.cluster.pipeline(text.replace("folder", "cls"))
        for command, more in (("plan", ()), ("lint", ()), ("index", ()),
                              ("show", ("-o", self.cluster.path("b.npz")))):
            shown = forebay(command, *more)
            self.assertEqual(shown.returncode, 2)
            self.assertIn("--pipeline FILE is required", shown.stderr)
            stray = forebay(command, "p.yaml")
            self.assertEqual(stray.returncode, 2)
            self.assertIn("did you mean --pipeline p.yaml", stray.stderr)
            cache = self.cluster.path(f"cache-{command}")
            shown = forebay(command, "-p", pipeline, *more, "--cache", cache,
                            "--split", "train", "--data", f"d={shard.parent}")
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertEqual(len(list(cache.iterdir())), 1)

    def test_index_says_what_it_found_and_finds_it_again(self):
        self.cluster.photos(number=32)
        pipeline = self.cluster.pipeline()
        args = ("index", "--pipeline", pipeline, "--cache",
                self.cluster.path("cache"), "--hash")
        first = forebay(*args)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("train: 32 samples in 1 part, data digest ",
                      first.stdout)
        self.assertIn("bytes hashed", first.stdout)
        again = forebay(*args)
        self.assertEqual(again.stdout, first.stdout.replace(
            " part,", " part (1 unchanged, not read again),"))

    def test_an_output_that_is_an_input_is_refused(self):
        pipeline = self.pictures()
        picture = next(self.cluster.root.rglob("*.jpg"))
        link = self.cluster.path("link.png")
        link.symlink_to(picture)
        names = self.cluster.path("list.csv")
        names.write_text(f"image\n{picture}\n")
        for output, *args in (
                (pipeline, "lint", "-p", pipeline, "--check", "-o"),
                (pipeline, "pull", "-p", pipeline, "--digests"),
                (pipeline, "pull", "-p", pipeline, "--token-file"),
                (link, "show", "-p", pipeline, "-o"),
                (picture, "lint", "-p", pipeline, "--check", "-o"),
                (names, "init", names, "-f", "-o")):
            before = output.read_bytes()
            shown = forebay(*args, output)
            self.assertEqual(shown.returncode, 2, (args, shown.stderr))
            self.assertRegex(
                shown.stderr, "the command reads this file|no list of names")
            self.assertEqual(output.read_bytes(), before)

    def test_digests_and_token_need_a_file_each(self):
        path = self.cluster.path("one")
        shown = forebay("pull", "-p", self.pictures(), "--digests", path,
                        "--token-file", path)
        self.assertEqual(shown.returncode, 2)
        self.assertIn("need a file each", shown.stderr)
        self.assertFalse(path.exists())

    def test_photos_are_not_written_through_links_or_into_pipes(self):
        root = self.cluster.path("photos")
        (root / "c00").mkdir(parents=True)
        first = root / "c00/000000.jpg"
        target = self.cluster.path("mine")
        target.write_text("mine")
        first.symlink_to(target)
        for make in (lambda: None, lambda: os.mkfifo(first)):
            make()
            shown = forebay("photos", root, "-n", 1, "-c", 1)
            self.assertEqual(shown.returncode, 1)
            self.assertIn(f"{first} exists and is no file", shown.stderr)
            first.unlink()
        self.assertEqual(target.read_text(), "mine")

    def test_output_that_cannot_be_written_is_a_failure(self):
        pipeline = self.pictures()
        for args in (("--help",), ("--version",), ("pull", "--help"),
                     ("plan", "-p", pipeline), ("index", "-p", pipeline),
                     ("pull", "-p", pipeline),
                     ("pull", "-p", pipeline, "--json")):
            with open("/dev/full", "wb") as full:
                shown = subprocess.run(
                    [FOREBAY, *map(str, args)], stdout=full, check=False,
                    stderr=subprocess.PIPE, text=True, env=self.cluster.env,
                    timeout=120)
            self.assertEqual(shown.returncode, 1, args)
            self.assertIn("standard output: No space left", shown.stderr)

    def test_closed_standard_streams_are_not_taken_by_other_files(self):
        digests = self.cluster.path("digests")
        shown = subprocess.run(
            [FOREBAY, "pull", "-p", self.pictures(), "--digests", digests],
            check=False, env=self.cluster.env, timeout=120, close_fds=False,
            preexec_fn=lambda: [os.close(fd) for fd in (0, 1, 2)])
        self.assertEqual(shown.returncode, 1)
        for line in digests.read_text().splitlines():
            self.assertRegex(
                line, "^0 [01] 0 16 [0-9a-f]{32}( [0-9]+:[0-9a-f]{32}){16}$")

    def test_a_token_file_that_cannot_be_written_is_found_at_once(self):
        pipeline = self.pictures()
        nowhere = self.cluster.path("nowhere") / "token"
        for path, words in ((nowhere, "No such file"),
                            (self.cluster.dir, "Is a directory")):
            shown = forebay("pull", "-p", pipeline, "--token-file", path,
                            "--server", "tcp://127.0.0.1:9")
            self.assertEqual(shown.returncode, 1)
            self.assertIn(f"{path}", shown.stderr)
            self.assertIn(words, shown.stderr)
        nowhere.parent.mkdir()
        shown = forebay("pull", "-p", pipeline, "--token-file", nowhere,
                        "--steps", 1)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(os.listdir(nowhere.parent), ["token"])

    def test_a_token_file_that_is_a_device_or_pipe_stays_one(self):
        pipeline = self.pictures()
        device = self.cluster.path("device")
        device.symlink_to("/dev/full")
        shown = forebay("pull", "-p", pipeline, "--token-file", device)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("No space left", shown.stderr)
        self.assertTrue(device.is_symlink())
        shown = forebay("pull", "-p", pipeline, "--token-file", "/dev/stderr")
        self.assertEqual(shown.returncode, 0)
        self.assertEqual(shown.stderr.count("fby1-"), 3)

    def test_a_token_that_cannot_be_kept_at_the_end_is_a_failure(self):
        pipeline = self.pictures()
        device = self.cluster.path("device")
        device.symlink_to("/dev/full")
        args = ("pull", "-p", pipeline, "--token-file", device,
                "--token-every", 1000, "--workers", 1, "--json")
        shown = forebay(*args)
        self.assertEqual(shown.returncode, 1)
        self.assertEqual(json.loads(shown.stdout)["steps"], 2)
        self.assertIn(f"{device}: No space left", shown.stderr)
        victim = sorted(self.cluster.root.rglob("*.jpg"))[20]
        victim.write_bytes(b"no picture")
        shown = forebay(*args)  # the first failure is reported
        self.assertEqual(shown.returncode, 1)
        self.assertIn(victim.name, shown.stderr)
        self.assertNotIn("No space left", shown.stderr)

    def test_digests_that_cannot_be_written_are_a_failure(self):
        shown = forebay("pull", "-p", self.pictures(), "--digests",
                        "/dev/full", "--workers", 1)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("/dev/full: No space left", shown.stderr)

    def test_the_newest_token_is_kept_when_a_run_fails(self):
        pipeline = self.pictures(shuffle="none", batch=4)
        victim = sorted(self.cluster.root.rglob("*.jpg"))[20]
        victim.write_bytes(b"no picture")
        token = self.cluster.path("token")
        shown = forebay("pull", "-p", pipeline, "--token-file", token,
                        "--token-every", 1000, "--workers", 1)
        self.assertEqual(shown.returncode, 1)
        self.assertIn(victim.name, shown.stderr)
        self.assertTrue(token.read_text().startswith("fby1-"))

    def test_where_nothing_is_left_the_token_stays(self):
        pipeline = self.pictures()
        token = self.cluster.path("token")
        first = forebay("pull", "-p", pipeline, "--token-file", token)
        self.assertEqual(first.returncode, 0, first.stderr)
        again = forebay("pull", "-p", pipeline, "--resume", f"@{token}",
                        "--epochs", 1, "--json")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("the token was taken at the end of the run", again.stderr)
        result = json.loads(again.stdout)
        self.assertEqual(result["steps"], 0)
        self.assertEqual(result["token"], token.read_text().strip())

    def test_a_root_that_is_nowhere_said_is_wrong_usage(self):
        path = self.cluster.path("named.yaml")
        path.write_text('forebay: 1\nsplits: {train: {folder: "in1k:a"}}\n'
                        "global_batch: 2\nfields: {label: {from: folder}}\n")
        for command in ("pull", "up"):
            shown = forebay(command, "-p", path)
            self.assertEqual(shown.returncode, 2, command)
            self.assertIn("--data in1k=DIR", shown.stderr)

    def test_an_address_that_cannot_be_listened_on_is_wrong_usage(self):
        for address in ("foo", "tcp://127.0.0.1", "tcp://127.0.0.1:65536",
                        "tcp://127.0.0.1:x", "tcp://:1", "ipc:///tmp/x"):
            shown = forebay("server", "--listen", address)
            self.assertEqual(shown.returncode, 2, address)
            self.assertIn(f"'{address}'; write tcp://", shown.stderr)

    def test_listening_beyond_loopback_says_what_that_exposes(self):
        self.cluster.photos(number=4)
        server = self.cluster.start_server("--insecure",
                                           listen="tcp://0.0.0.0:*")
        server.wait_for_text("keep the port in a trusted network")
        self.assertRegex(
            server.text(),
            "LISTENS-OPENLY .*, with --insecure: .*register workers")
        server.endpoint = f"tcp://127.0.0.1:{server.port}"
        worker = self.cluster.start_worker(
            "--listen", "tcp://0.0.0.0:*", "--insecure")
        worker.wait_for_text("keep the port in a trusted network")
        self.assertRegex(worker.text(),
                         "LISTENS-OPENLY .*, with --insecure: .*can read")
        for part in (self.cluster.start_server(),
                     self.cluster.start_worker()):
            self.assertTrue(part.endpoint.startswith("tcp://127.0.0.1:"))
            part.wait_for_text("-READY")
            self.assertNotIn("LISTENS-OPENLY", part.text())

    def test_a_seed_beyond_what_is_signed_stays_what_it_is(self):
        pipeline = self.pictures()
        for seed in (0, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1):
            shown = forebay("plan", "-p", pipeline, "--seed", seed, "--json")
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertEqual(int(json.loads(shown.stdout)["seed"]), seed)

    def test_a_worker_says_when_no_server_answers(self):
        worker = subprocess.Popen(
            [FOREBAY, "worker", "--server", "tcp://127.0.0.1:9", "--data",
             f"d={self.cluster.dir}", "--memory", "64M"],
            stderr=subprocess.PIPE, env=dict(self.cluster.env, FOREBAY_LOG=""))
        self.addCleanup(worker.stderr.close)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        self.assertIn("WORKER-READY", read_line(worker.stderr.fileno(), 60))
        line = read_line(worker.stderr.fileno(), 60)
        self.assertIn("SERVER-SILENT no answer from tcp://127.0.0.1:9", line)

    def test_interrupted_before_the_stream_is_open_pull_says_so(self):
        pipeline = self.pictures()
        with socket.create_server(("127.0.0.1", 0)) as silent:
            pull = subprocess.Popen(
                [FOREBAY, "pull", "--pipeline", pipeline, "--server",
                 f"127.0.0.1:{silent.getsockname()[1]}", "--data",
                 f"d={self.cluster.root}"], stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True)
            self.addCleanup(pull.kill)
            silent.settimeout(60)
            silent.accept()[0].close()
            pull.send_signal(signal.SIGINT)
            said = pull.communicate(timeout=60)[1]
        self.assertEqual(pull.returncode, 130, said)
        self.assertIn("interrupted before the stream was open", said)

    def told_to_end_while_workers_start(self, number, *command):
        """Its exit code. That a worker tests itself is known from what it
        says of FOREBAY_SIMD then."""
        starts = subprocess.Popen(
            [FOREBAY, *map(str, command)], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
            env=dict(self.cluster.env, FOREBAY_SIMD="none"))
        self.addCleanup(starts.kill)
        line = starts.stderr.readline()
        while line and not re.search(r" worker\[\d+\] .*FOREBAY_SIMD", line):
            line = starts.stderr.readline()
        self.assertTrue(line, "no worker has begun")
        starts.send_signal(number)
        said = starts.communicate(timeout=60)[1]
        return starts.returncode, said

    def test_a_worker_told_to_end_while_it_starts_ends_in_order(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            code, said = self.told_to_end_while_workers_start(
                number, "worker", "--server", "tcp://127.0.0.1:9", "--data",
                f"d={self.cluster.dir}")
            self.assertEqual(code, 0, said)
            self.assertIn("WORKER-ENDED", said)

    def test_pull_told_to_end_while_its_workers_start_ends_them(self):
        pipeline = self.pictures()
        for number in (signal.SIGTERM, signal.SIGINT):
            code, said = self.told_to_end_while_workers_start(
                number, "pull", "--pipeline", pipeline, "--epochs", 10000)
            self.assertEqual(code, 128 + number, said)
            self.assertEqual(said.count("WORKER-ENDED"), 2, said)

    def test_up_serves_until_it_is_told_to_end(self):
        self.cluster.photos(number=64, name="it's my data")
        pipeline = self.cluster.pipeline(name="my pipeline.yaml")
        up = subprocess.Popen(
            [FOREBAY, "up", "--pipeline", pipeline, "--listen",
             "tcp://127.0.0.1:*", "--memory", "128M"], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.cluster.env)
        self.addCleanup(up.kill)
        self.assertIn(b"2 workers", up.stdout.readline())
        children = pathlib.Path(f"/proc/{up.pid}/task/{up.pid}/children")
        commands = [pathlib.Path(f"/proc/{pid}/cmdline").read_text()
                    for pid in children.read_text().split()]
        self.assertEqual(
            sum("\0--memory\x00128M\0" in words for words in commands), 2)
        words = shlex.split(up.stdout.readline().decode())[1:]
        result = subprocess.run(
            [FOREBAY, *words, "--json"],
            capture_output=True, check=False, env=self.cluster.env,
            timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        up.terminate()
        self.assertEqual(up.wait(60), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
