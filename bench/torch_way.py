# SPDX-License-Identifier: Apache-2.0
"""GPU time of PyTorch's usual sequence for a batch of pictures.

The sequence is pinned u8 -> device -> permute -> float -> normalise ->
contiguous; the batch has 256 pictures of 224 x 224.

    torch_way.py [--ours-us BATCH KERNEL]

BATCH and KERNEL are the times of Forebay from gpu_way in microseconds, with
and without the copy. Without PyTorch or a GPU the program prints a message and
measures nothing."""

import argparse
import statistics
import sys
import time

import gpu_present

ROWS, SIDE, LAUNCHES, ROUNDS = 256, 224, 20, 9


def measure(torch, name, once):
    """Microseconds of GPU time, the median of ROUNDS rounds."""

    def round_us():
        begun = torch.cuda.Event(enable_timing=True)
        ended = torch.cuda.Event(enable_timing=True)
        begun.record()
        for _ in range(LAUNCHES):
            once()
        ended.record()
        ended.synchronize()
        return begun.elapsed_time(ended) * 1e3 / LAUNCHES

    warm_up(name, round_us)
    return statistics.median(round_us() for _ in range(ROUNDS))


def warm_up(name, round_us):
    """Call round_us() as bench_warm_up() of bench.h does."""
    begun, times = time.monotonic(), []
    elapsed = 0
    while elapsed < 5:
        times.append(round_us())
        last = times[-5:]
        elapsed = time.monotonic() - begun
        if elapsed >= 0.5 and len(last) == 5 and max(last) <= min(last) * 1.01:
            return
    print(f"{name}: do not trust these figures: after 5 s of warming up, runs "
          "still differ by more than 1 %")


def usual_way(torch):
    """PyTorch's sequence as two functions, without and with the copy."""
    host = torch.randint(0, 256, (ROWS, SIDE, SIDE, 3), dtype=torch.uint8)
    host = host.pin_memory()
    on_gpu = host.to("cuda")
    shape = (1, 3, 1, 1)
    mean = torch.tensor([0.485, 0.456, 0.406], device="cuda").mul(255)
    std = torch.tensor([0.229, 0.224, 0.225], device="cuda").mul(255)
    mean, std = mean.view(shape), std.view(shape)

    def kernels(pixels=on_gpu):
        return (pixels.permute(0, 3, 1, 2).float().sub_(mean).div_(std)
                .contiguous())

    def batch():
        return kernels(host.to("cuda", non_blocking=True))

    return kernels, batch


def report(name, theirs, ours):
    print(f"{name}_us value {theirs:.4g} us")
    if ours is not None:
        ratio = theirs / ours
        met = "met" if ratio >= 3 else "missed"
        print(f"{name} ratio {ratio:.3g} goal >= 3 {met}")


def main(args):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ours-us", nargs=2, type=float, default=(None, None),
                        metavar=("BATCH", "KERNEL"))
    ours = parser.parse_args(args).ours_us
    try:
        import torch
    except ImportError as error:
        gpu_present.skip("torch_way", f"no PyTorch ({error})")
    gpu_present.require("torch_way", torch)
    print(f"PyTorch {torch.__version__}")
    kernels, batch = usual_way(torch)
    for name, once, ours_us in (("gpu_way_batch_torch", batch, ours[0]),
                                ("gpu_way_kernels_torch", kernels, ours[1])):
        report(name, measure(torch, name, once), ours_us)


if __name__ == "__main__":
    main(sys.argv[1:])
