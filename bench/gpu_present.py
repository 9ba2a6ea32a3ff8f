# SPDX-License-Identifier: Apache-2.0
"""Whether there is a GPU: says the driver, not PyTorch, to which every failure is
the same as no GPU."""

import ctypes
import os
import sys

NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
SKIPPED = 77


def why_none():
    """Why there is no GPU, or None if there is one. Exits if a driver is installed
    that cannot use a GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no NVIDIA driver"
    code = driver.cuInit(0)
    if code not in (0, NO_DEVICE):
        sys.exit(f"the driver cannot use the GPUs: cuInit failed with {code}")
    return "no GPU" if code else None


def skip(program, why):
    """Exit as a skipped test, or with an error if a GPU is required."""
    if os.environ.get("FOREBAY_REQUIRE_GPU") == "1":
        sys.exit(f"{program}: FOREBAY_REQUIRE_GPU is set, but there is {why}")
    print(f"{program}: skipped, there is {why}")
    sys.exit(SKIPPED)


def require(program, torch):
    """Exit unless there is a GPU that `torch` can use."""
    why = why_none()
    if why is None and torch.version.cuda is None:
        why = "a PyTorch without CUDA"
    if why is not None:
        skip(program, why)
    torch.cuda.init()  # raises if PyTorch cannot use the GPU
