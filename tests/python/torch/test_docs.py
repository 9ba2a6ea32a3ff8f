# SPDX-License-Identifier: Apache-2.0
"""Every example of docs/python.md, in order and in one namespace. Needs
PyTorch."""

import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from package import PIPELINE, ROOT, PackageTest  # noqa: E402
import harness  # noqa: E402


class Docs(PackageTest):
    def test_examples(self):
        text = (ROOT / "docs" / "python.md").read_text()
        snippets = re.findall("```python\n(.*?)```", text, re.S)
        self.assertGreater(len(snippets), 6)
        for split in ("train", "val"):
            shutil.copytree(self.cluster.root,
                            self.cluster.path("data") / split)
        self.cluster.pipeline(PIPELINE, name="photos.yaml")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.cluster.dir)
        steps = []
        names = {"step": lambda *tensors: steps.append(tensors[0].shape)}
        for snippet in snippets:
            with self.subTest(snippet=snippet):
                exec(compile(snippet, "docs/python.md", "exec"), names)
        self.assertGreater(len(steps), 20)
        for name in names.values():
            if hasattr(name, "state_dict"):
                name.close()


if __name__ == "__main__":
    harness.main()
