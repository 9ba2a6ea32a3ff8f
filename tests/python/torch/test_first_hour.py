# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/first-hour.md, each section in a folder of its own that
the page calls /data. These blocks of a section are used, in their order:

    ```files       makes these files: `NAME/` is a folder, with the files behind
                   it or indented below it, and `NAME.tar:` a tar of members
    ```csv PATH    makes this file; also ```jsonl
    ```console     runs the lines that begin with `$ `; the lines after a command
                   are what it prints
    ```python      runs the code; the comment behind each print() has its output

Needs PyTorch and Pillow."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from package import ROOT, PackageTest  # noqa: E402
import harness  # noqa: E402
from test_corpus import mask, picture, save, tar  # noqa: E402

BLOCK = re.compile("```(files|csv|jsonl|console|python)(?: (\\S+))?\n(.*?)```", re.S)


def content(path, number):
    """The content of a file of the page, by its name."""
    if path.endswith(".png"):
        return mask(number) if "mask" in path else picture(number)
    return {"jpg": picture(number), "cls": str(number), "txt": "a picture"}[
        path.rsplit(".", 1)[1]]


def as_bytes(value):
    if isinstance(value, (bytes, str)):
        return value
    out = io.BytesIO()
    value.save(out, "JPEG")
    return out.getvalue()


def make_files(text, root):
    """Make the files of a tree. Their contents are numbered."""
    folders = []  # (indentation, path) of the folders that are open
    number = 0
    for line in text.splitlines():
        indentation = len(line) - len(line.lstrip())
        head, *names = line.split()
        while folders and folders[-1][0] >= indentation:
            folders.pop()
        path = (folders[-1][1] if folders else root) / head.rstrip("/:")
        if head.endswith(":"):
            tar(path, {name: as_bytes(content(name, int(name.split(".")[0])))
                       for name in names})
            continue
        folders.append((indentation, path))
        for name in names:
            save(path / name, content(f"{head}{name}", number))
            number += 1


class FirstHour(PackageTest):
    def run_console(self, text, root):
        env = dict(self.cluster.env, PATH=":".join(
            [os.path.dirname(os.path.abspath(harness.FOREBAY)),
             os.environ["PATH"]]))
        for command, wanted in re.findall(
                r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
            done = subprocess.run(
                command, shell=True, cwd=root, env=env, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=harness.DEADLINE)
            got = done.stdout.replace(str(root), "/data")
            self.assertEqual(done.returncode, 0, f"{command}\n{got}")
            if wanted:
                self.assertEqual(got, wanted, command)

    def run_python(self, code, names):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "docs/first-hour.md", "exec"), names)
        wanted = re.findall(r"^ *print\(.*\)  # (.*)$", code, re.M)
        got = list(dict.fromkeys(printed.getvalue().splitlines()))
        self.assertEqual(got, list(dict.fromkeys(wanted)), code)

    def run_section(self, text, root):
        root.mkdir()
        os.chdir(root)
        names = {}
        for kind, path, body in BLOCK.findall(text):
            if kind == "files":
                make_files(body, root)
            elif kind in ("csv", "jsonl"):
                save(root / path, body)
            elif kind == "console":
                self.run_console(body, root)
            else:
                self.run_python(body, names)
        for value in names.values():
            if hasattr(value, "state_dict"):
                value.close()

    def test_each_section_runs_as_it_is_written(self):
        page = (ROOT / "docs" / "first-hour.md").read_text()
        sections = [text for text in page.split("\n## ") if "```" in text]
        self.assertGreater(len(sections), 8)
        self.addCleanup(os.chdir, os.getcwd())
        for number, text in enumerate(sections):
            with self.subTest(text.splitlines()[0]):
                self.run_section(text, self.cluster.path(f"section-{number}"))


if __name__ == "__main__":
    harness.main()
