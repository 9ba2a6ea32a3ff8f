# SPDX-License-Identifier: Apache-2.0
"""The package's copies of numbers and names of forebay.h equal the header's."""

import pathlib
import re
import unittest

from forebay import adapters, errors

HEADER = (pathlib.Path(__file__).resolve().parents[2] / "trainer_client" /
          "include" / "forebay" / "forebay.h").read_text()
DESCRIBE = (pathlib.Path(__file__).resolve().parents[2] / "trainer_client" /
            "python" / "_forebay" / "describe.c").read_text()


def numbers(prefix):
    """{name: number} of the enumerators FOREBAY_<prefix>NAME, but 0."""
    found = re.findall(rf"^    FOREBAY_{prefix}(\w+) *= (\d+)", HEADER, re.M)
    return {name.lower(): int(number) for name, number in found if number != "0"}


def members(struct):
    """The names of a struct's members."""
    body = re.search(rf"^struct {struct} {{\n(.*?)^}};", HEADER, re.M | re.S)[1]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return re.findall(r"(\w+)(?:\[\w+\])?;", body)


def described(macro):
    """The members in one of the tables of describe.c, in their order."""
    return re.findall(rf"^    {macro}\(KIND_\w+, (\w+)\),", DESCRIBE, re.M)


class Header(unittest.TestCase):
    def test_dtypes_layouts_and_forms(self):
        for prefix, known in (
                ("DTYPE_", adapters._DTYPES), ("LAYOUT_", adapters._LAYOUTS),
                ("AS_", adapters._FORMS), ("PAD_TO_", adapters._PADS)):
            self.assertEqual(numbers(prefix), known)

    def test_each_error_has_an_exception(self):
        enum = re.search("enum forebay_status {(.*?)};", HEADER, re.S)[1]
        found = set(map(int, re.findall(r"= (\d+)", enum)))
        # OK and END are no errors. The package never interrupts a stream.
        self.assertEqual(set(errors._CLASSES), found - {0, 1, 9})

    def test_all_members_of_info_and_stats_are_described(self):
        self.assertEqual(described("INFO"), members("forebay_info")[1:])
        self.assertEqual(  # stages become a dict
            described("STAT"), [name for name in members("forebay_stats")[1:]
                                if name not in ("n_stages", "stages")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
