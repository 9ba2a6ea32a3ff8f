# SPDX-License-Identifier: Apache-2.0
"""`python -m forebay` and the script `forebay`: the program."""

import os
import sys

from forebay.cluster import program


def main() -> None:
    """Become the program, with the arguments of this process."""
    path = program()
    os.execv(path, ["forebay", *sys.argv[1:]])


if __name__ == "__main__":
    main()
