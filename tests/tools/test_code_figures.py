#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tools/code-figures on a small tree: the value of each figure."""

import pathlib
import subprocess
import tempfile
import textwrap
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
TOOL = TREE / "tools/code-figures"

FILES = {
    "common/plan/order.c": """\
        /* SPDX-License-Identifier: MIT */
        #include "common/plan/order.h"
        """,
    "common/plan/order.h": """\
        /* The order of samples. */
        #include "common/size.h"
        """,
    "common/size.h": """\
        #include "common/plan/order.h"
        struct size {
            int bytes;
        };
        """,
    "pipeline/fields/table.c": """\
        /* SPDX-License-Identifier: MIT */
        /* The kinds. */
        int known(int kind)
        {
            return kind == FBY_DECODE_TEXT || kind == FBY_SOURCE_LIST;
        }
        """,
    "trainer_client/include/forebay/forebay.h": """\
        /* The public header. */
        #include "server/peer.h"
        #ifdef __cplusplus
        extern "C" {
        #endif

        int undocumented(int a);

        /* Documented. */
        int forebay_open(const char *path,
            int flags);
        #ifdef __cplusplus
        }
        #endif
        """,
    "server/peer.h": """\
        /* A peer. */
        #include "forebay/forebay.h"
        typedef int (*call)(int a);
        extern int (*hook)(int a);

        /* Both have this comment. */
        int first(int a); /* and its own,
                             of two lines */
        int second(
            int a);

        int third(int a);
        int fourth(int a) __attribute__((nonnull(1))); /* "documented" */
        int fifth(int a);

        static inline int sixth(int a)
        {
            return a;
        }
        """,
    "worker/loop.c": """\
        #include "worker/queue.h"
        struct size {
            struct {
                int a;
            } nested;
        };
        static int declared(int a);
        static int once(int a)
        {
            return a + 1; /* not twice() or once() */
        }
        static int twice(int a)
        {
            const char *text = "once() }";
            return text[a];
        }
        DEFINE_LOAD(u8, int)
        DEFINE_LOAD(u16, int)

        static int declared(int a)
        {
            if (a == FBY_DECODE_TEXT) {
                return once(a);
            }
            switch (a) {
            case FBY_SOURCE_LIST: /* FBY_SOURCE_TOKENS */
                return twice(a) + twice(a);
            }
            return FBY_DECODE_TEXT;
        }
        int longest(int a)
        {
            TWELVE_LINES
            return declared(a);
        }
        """,
    "worker/loop.h": """\
        /* The loop. */
        #include "worker/loop_private.h"
        """,
    "worker/loop_private.h": """\
        /* Of the loop. */
        /* #include "worker/loop.h" */
        """,
    "worker/queue.c": """\
        /* The queue. */
        #include "worker/loop.h"
        static int code = FBY_SOURCE_TOKENS;
        """,
    "worker/queue.h": """\
        /* The queue. */
        """,
    "tests/worker/test_loop.c": "int not_counted;\n",
}


class CodeFigures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in FILES.items():
                file = pathlib.Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(textwrap.dedent(text).replace(
                    "TWELVE_LINES\n", 12 * "a++;\n"))
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
            subprocess.run(["git", "add", "."], cwd=folder, check=True)
            pathlib.Path(folder, "untracked.c").write_text("int a;\n")
            cls.short, cls.long = (subprocess.run(
                [TOOL, "--root", folder, *options], check=True, text=True,
                capture_output=True).stdout for options in ([], ["--list"]))

    def section(self, heading, text=None):
        """{name: value} of the section, and the items in their order."""
        for part in (text or self.short).strip().split("\n\n"):
            first, *lines = part.split("\n")
            if first.startswith(heading):
                items = [s.strip() for s in lines if s.startswith(6 * " ")]
                rows = [s.strip().split("  ", 1) for s in lines
                        if not s.startswith(6 * " ")]
                return {k: v.strip() for k, v in rows}, items
        self.fail(f"no section '{heading}'")

    def figures(self, heading):
        return self.section(heading)[0]

    def items(self, heading):
        return self.section(heading, self.long)[1]

    def test_lines_are_counted_by_folder_and_without_tests(self):
        self.assertEqual(
            {"common": "4", "common/plan": "4", "pipeline": "6",
             "server": "19", "trainer_client": "14", "worker": "54",
             "total": "101", "files": "11"}, self.figures("lines"))

    def test_sizes_of_files_have_median_and_p90(self):
        self.assertEqual({".c files": "4", "median": "3", "p90": "46"},
                         self.figures("lines per .c file"))

    def test_sizes_of_functions_run_from_signature_to_brace(self):
        self.assertEqual(
            {"functions": "6", "median": "4", "p90": "16", "max": "16"},
            self.figures("lines per function"))

    def test_prototypes_are_documented_above_their_group_or_behind(self):
        heading = "documented prototypes"
        self.assertEqual(
            {"internal headers": "3 of 5 (60.0 %)",
             "public headers": "1 of 2 (50.0 %)"}, self.figures(heading))
        self.assertEqual(
            ["server/peer.h:12: third", "server/peer.h:14: fifth",
             "trainer_client/include/forebay/forebay.h:7: undocumented"],
            self.items(heading))

    def test_a_licence_or_a_guard_is_no_explanation(self):
        heading = "files that open with an explanation"
        self.assertEqual(
            {"files": "8 of 11 (72.7 %)",
             "files, or their own header": "10 of 11 (90.9 %)"},
            self.figures(heading))
        self.assertEqual(
            ["common/plan/order.c", "common/size.h", "worker/loop.c",
             "common/size.h"], self.items(heading))

    def test_struct_tags_defined_twice_are_listed(self):
        values, items = self.section("struct tags")
        self.assertEqual("1", values["tags"])
        self.assertEqual(["size: common/size.h:2, worker/loop.c:2"], items)

    def test_comparisons_of_kinds_count_outside_their_tables(self):
        heading = "files that compare the number of a kind"
        values = self.figures(heading)
        self.assertEqual("1", values["decoders"])
        self.assertEqual("2", values["sources"])
        self.assertEqual(
            ["worker/loop.c:22", "pipeline/fields/table.c",
             "worker/loop.c", "pipeline/fields/table.c:5",
             "worker/loop.c:26", "pipeline/fields/table.c",
             "worker/loop.c", "worker/queue.c"], self.items(heading))

    def test_circles_are_found_among_files_units_and_modules(self):
        values, items = self.section("include circles")
        self.assertEqual(
            ["2", "3", "3"],
            [values["of " + node] for node in ("files", "units", "modules")])
        self.assertEqual(
            ["common/plan/order.h common/size.h",
             "server/peer.h trainer_client/include/forebay/forebay.h",
             "common/plan/order common/size",
             "server/peer trainer_client/include/forebay/forebay",
             "worker/loop worker/queue"], items)

    def test_static_functions_used_once_are_short(self):
        heading = "static functions used once"
        self.assertEqual({"static functions": "2 of 4 (50.0 %)"},
                         self.figures(heading))
        self.assertEqual(["worker/loop.c:8: once", "worker/loop.c:20: "
                          "declared"], self.items(heading))

    def test_a_folder_without_git_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([TOOL, "--root", folder], check=False,
                                 capture_output=True, text=True)
        self.assertEqual(1, run.returncode)
        self.assertIn("git ls-files failed", run.stderr)


if __name__ == "__main__":
    unittest.main()
