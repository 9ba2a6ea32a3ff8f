#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of the Python package: what it adds to the library.

    bench/python.py [--data DIR] [NAME ...]

Runs all benches or those named, on real processes on loopback, and prints for
each a short table, then one line per goal:
    NAME ratio VALUE goal OP GOAL met|missed
and at the end a table of all figures. A missed goal is a result: the exit code
is 0 if the benches could measure. PYTHONPATH has the package; `make
bench-python` sets it. PyTorch is measured if this Python has it. The figures
are ratios of ways that ran alternately, or medians of repeats."""

from __future__ import annotations

import argparse
import fcntl
import glob
import importlib.util
import json
import logging
import math
import os
import pathlib
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator

import numpy

import forebay
import gpu_present
from forebay import cluster

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROWS = 32          # of a batch of py_overhead
BATCH = 64         # images of a batch of py_rate and trainer_cpu
READY = 4          # batches that are ready before a call is timed
WARM = 200         # calls of py_overhead that are not timed
STEP_S = 0.002     # of py_overhead: the trainer computes between calls
MAX_PHOTOS = 1000  # of a folder of photographs, by path
EPOCH_STEPS = 8    # of an epoch of epoch_gap
BORDERS = 6        # between epochs, in one repeat of epoch_gap
LOAD_SAMPLE_S = 0.3
POLL_S = 0.0002
GPU_STEP_MS = 25.0  # of py_gpu without torchvision: ResNet-50 on a fast GPU
GPU_STEPS = 40      # timed together

HAS_TORCH = importlib.util.find_spec("torch") is not None
FRAMEWORKS = ("torch", "numpy") if HAS_TORCH else ("numpy",)


# ---- figures ----------------------------------------------------------------

def percentile(values: list[float], percent: float) -> float:
    """By the nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def noise_of(values: list[float]) -> float:
    """Half of the interquartile range, in percent of the median."""
    spread = percentile(values, 75) - percentile(values, 25)
    return 100 * spread / 2 / statistics.median(values)


def pairs(n: int, a: Callable[[], float], b: Callable[[], float]
          ) -> list[tuple[float, float]]:
    """Call a() and b() in n pairs. Every second pair calls b first, so that
    other load on the machine affects both alike."""
    made = []
    for i in range(n):
        if i % 2 == 0:
            first = a()
            made.append((first, b()))
        else:
            second = b()
            made.append((a(), second))
    return made


class Output:
    """Prints rows and goals, and keeps the goals for the last table."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str, str, str]] = []
        self.note = ""  # of the bench that runs

    def row(self, name: str, text: str) -> None:
        print(f"  {name:<26} {text}", flush=True)

    def judge(self, name: str, what: str, value: float, op: str,
              goal: float) -> None:
        met = value <= goal if op == "<=" else value >= goal
        word = "met" if met else "missed"
        print(f"{name} ratio {value:.3g} goal {op} {goal:.3g} {word}",
              flush=True)
        self.rows.append((name, what, f"{value:.3g}", f"{op} {goal:.3g}",
                          word + self.note))

    def left_out(self, name: str, why: str) -> None:
        self.row(name, f"left out: {why}")
        self.rows.append((name, "", "", "", f"left out: {why}"))

    def table(self) -> None:
        head = ("bench", "what", "value", "goal", "")
        widths = [max(len(row[i]) for row in (head, *self.rows))
                  for i in range(4)]
        print()
        for row in (head, *self.rows):
            cells = (cell.ljust(width) for cell, width in zip(row, widths))
            print("  " + "  ".join((*cells, row[4])).rstrip())


# ---- the machine ------------------------------------------------------------

def cpu_times() -> tuple[int, int, int]:
    """Ticks of all processors since boot: busy, all, stolen by the host."""
    words = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
    user, nice, system, idle, iowait, irq, softirq, steal = map(
        int, words[1:9])
    busy = user + nice + system + irq + softirq
    return busy, busy + idle + iowait + steal, steal


class Machine:
    """The load of other processes when a bench begins, and whether its figures
    can be trusted: the rules of bench.h."""

    def __init__(self, name: str, output: Output):
        self.output = output
        output.note = ""
        before = cpu_times()
        time.sleep(LOAD_SAMPLE_S)
        self.begun = cpu_times()
        self.others = 100 * (self.begun[0] - before[0]) / max(
            1, self.begun[1] - before[1])
        output.row(name, f"{cluster.usable_cores():g} cores, {model()}, "
                         f"Python {platform.python_version()}; others use "
                         f"{self.others:.0f} %")

    def trust(self, noise: float) -> None:
        now = cpu_times()
        stolen = 100 * (now[2] - self.begun[2]) / max(
            1, now[1] - self.begun[1])
        if (noise <= 10 and self.others <= 10 and stolen <= 2
                and cluster.usable_cores() >= 2):
            self.output.row("trust", f"yes: noise {noise:.1f} %, stolen "
                                     f"{stolen:.1f} %")
            return
        self.output.note = ", not to be trusted on this machine"
        self.output.row(
            "NOT TO BE TRUSTED", f"noise {noise:.1f} % (<= 10), others "
            f"{self.others:.0f} % (<= 10), stolen {stolen:.1f} % (<= 2), "
            f"{cluster.usable_cores():g} cores (>= 2)")


def cpu_s(who: int) -> float:
    """Seconds of CPU of this process, or of its children that ended."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def model() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().split("\n"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


# ---- data and processes -----------------------------------------------------

COLUMNS = """\
forebay: 1
splits: {{train: {{columns: "{root}/columns", shuffle: full}}}}
global_batch: {batch}
fields:
  x: {{from: x, decode: array, shape: [16],
      wire: {{type: f32, filter: none, codec: store}}}}
  y: {{from: y, decode: array, shape: [],
      wire: {{type: i32, filter: none, codec: store}}}}
"""

PHOTOS = """\
forebay: 1
splits: {{train: {{folder: "{root}/{folder}", shuffle: full, last: drop}}}}
global_batch: {batch}
seed: 42
fields:
  image:
    from: [jpg]
    decode: rgb8
    ops:
      - random_resized_crop: {{size: 224}}
      - horizontal_flip: {{p: 0.5}}
    wire: {{codec: auto}}
  label: {{from: folder}}
"""

# Pictures as a training on a GPU takes them.
GPU_PHOTOS = PHOTOS.replace("    wire:", """\
    device:
      - normalize: {{mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}}
    out: {{dtype: bf16, layout: channels_last}}
    wire:""")


class Bench:
    """A temporary folder with data and pipelines, and a cluster that serves
    it. The cluster ends with this process, however that ends."""

    def __init__(self, options: argparse.Namespace, output: Output):
        self.options, self.output = options, output
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="forebay-bench-"))
        os.environ["FOREBAY_CACHE_DIR"] = str(self.folder)
        os.environ.setdefault("FOREBAY_LOG", "error")
        self.server = ""
        self.cores = os.sched_getaffinity(0)  # of the cluster
        self.has_data = False
        self.synthetic = options.data is None

    def stop(self) -> None:
        if self.server:
            self.process.terminate()
            self.process.wait()
            self.lock.close()
            self.server = ""

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    # -- the cluster

    def start(self, cores: set[int] | None = None) -> None:
        """Make the data and start the cluster on these cores (default: all),
        unless that was done."""
        cores = cores or os.sched_getaffinity(0)
        if self.server and self.cores == cores:
            return
        self.stop()
        self.cores = cores
        if not self.has_data:
            self.make_columns()
            self.make_photos()
            self.has_data = True
        self.lock = open(self.folder / "used", "w+")
        fcntl.lockf(self.lock, fcntl.LOCK_SH)
        read_end, write_end = os.pipe()
        self.process = subprocess.Popen(
            ["taskset", "--cpu-list", ",".join(map(str, cores)),
             cluster.program(), "up", "--pipeline", self.path("photos"),
             "--data", f"bench={self.folder}", "--listen",
             "tcp://127.0.0.1:*", "--while-used", self.lock.name,
             "--ready-fd", str(write_end)],
            pass_fds=[write_end], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(write_end)
        with open(read_end) as ready:
            line = ready.readline()
        if not line:
            sys.exit("bench: forebay up did not start")
        ready = json.loads(line)
        self.server, self.keys = ready["server"], ready["keys"]

    def path(self, name: str) -> str:
        return str(self.folder / f"{name}.yaml")

    def loader(self, name: str, **arguments: object) -> forebay.Loader:
        """An open loader of a pipeline."""
        made = forebay.Loader(
            self.path(name), server=self.server, keys=self.keys,
            data={"bench": self.folder}, **arguments)  # type: ignore[arg-type]
        len(made)
        return made

    def pull(self) -> tuple[float, float]:
        """Images per second of `forebay pull`, and seconds of CPU of its
        process for 1,000 images, its start included."""
        before = cpu_s(resource.RUSAGE_CHILDREN)
        answer = subprocess.run(
            [cluster.program(), "pull", "--pipeline", self.path("photos"),
             "--server", self.server, "--keys", self.keys,
             "--data", f"bench={self.folder}",
             "--steps", str(self.steps), "--json"],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ).stdout
        used = cpu_s(resource.RUSAGE_CHILDREN) - before
        result = json.loads(answer)
        return (result["images"] / result["seconds"],
                1000 * used / result["images"])

    @property
    def steps(self) -> int:
        """Batches of a run of py_rate and trainer_cpu."""
        return -(-self.options.images // BATCH)

    # -- data

    def make_columns(self) -> None:
        folder = self.folder / "columns"
        folder.mkdir()
        rows = 1 << 16
        numpy.save(folder / "x.npy", numpy.zeros((rows, 16), numpy.float32))
        numpy.save(folder / "y.npy", numpy.arange(rows, dtype=numpy.int32))
        self.write("columns", COLUMNS, batch=ROWS)

    def make_photos(self) -> None:
        """All pictures in one folder, some copied until an epoch has 32
        batches; and as many in `few` as an epoch of epoch_gap needs."""
        source = self.options.data
        if source is None:
            source = self.folder / "made"
            subprocess.run([cluster.program(), "photos", source, "--number",
                            "512"], check=True, stdout=subprocess.DEVNULL)
        files = sorted(path for end in ("jpg", "jpeg", "JPG", "JPEG")
                       for path in pathlib.Path(source).rglob(f"*.{end}"))
        if not files:
            sys.exit(f"bench: {source}: there is no JPEG file")
        files = files[:MAX_PHOTOS]
        few = min(len(files), EPOCH_STEPS * 32) // EPOCH_STEPS * EPOCH_STEPS
        if few == 0:
            sys.exit(f"bench: {source}: {EPOCH_STEPS} files are needed")
        self.copy(files, 32 * BATCH, "photos")
        self.copy(files, few, "few")
        self.write("photos", PHOTOS, batch=BATCH, folder="photos")
        self.write("gpu", GPU_PHOTOS, batch=BATCH, folder="photos")
        self.write("few", PHOTOS, batch=few // EPOCH_STEPS, folder="few")
        self.output.row("pictures", f"{len(files)} " + (
            "SYNTHETIC ones (no --data): no goal that depends on them is "
            "judged" if self.synthetic else "photographs"))

    def copy(self, files: list[pathlib.Path], number: int, name: str) -> None:
        for i in range(number):
            folder = self.folder / name / f"c{i % 10}"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files[i % len(files)], folder / f"{i:06}.jpg")

    def write(self, name: str, text: str, **values: object) -> None:
        pathlib.Path(self.path(name)).write_text(
            text.format(root=self.folder, **values))


def endless(loader: forebay.Loader) -> Iterator[dict]:
    while True:
        yield from loader


# ---- the benches ------------------------------------------------------------

def take_ready_us(loader: forebay.Loader, number: int, step_s: float
                  ) -> list[float]:
    """Microseconds of next() when a batch is ready. The batch before was
    dropped, and the trainer computed for `step_s`. With a timeout of 0 a call
    that would wait raises, and does not count; the next one is made when the
    statistics say that batches are ready."""
    taken: list[float] = []
    loader.timeout = 0.0
    batches = iter(loader)
    while len(taken) < number:
        compute(step_s)
        begun = time.perf_counter_ns()
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)
            continue
        except forebay.Timeout:
            time.sleep(POLL_S)
            while loader.stats()["batches_ready"] < READY:
                time.sleep(POLL_S)
            continue
        taken.append((time.perf_counter_ns() - begun) / 1e3)
        del batch
    return taken


def compute(seconds: float) -> None:
    """Use the core for some time, as a trainer does between two batches."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def take_on_other_cores(bench: Bench, framework: str, own: int
                        ) -> tuple[list[float], list[float]]:
    """Microseconds of next() in a row, and in steps of a trainer. This thread
    leaves the core `own` to the cluster; the client's threads have all."""
    cores = os.sched_getaffinity(0)
    with bench.loader("columns", framework=framework) as loader:
        os.sched_setaffinity(0, cores - {own} or cores)
        try:
            take_ready_us(loader, WARM, 0)
            return (take_ready_us(loader, bench.options.batches, 0),
                    take_ready_us(loader, bench.options.batches, STEP_S))
        finally:
            os.sched_setaffinity(0, cores)


def py_overhead(bench: Bench) -> None:
    """The cluster has a core of its own, as if it were on another machine."""
    core = max(os.sched_getaffinity(0))
    bench.start({core})
    for framework in FRAMEWORKS:
        machine = Machine("py_overhead", bench.output)
        at_once, taken = take_on_other_cores(bench, framework, core)
        for name, times in (("in a row", at_once), ("in steps", taken)):
            shown = (f"p{percent} {percentile(times, percent):.1f}, "
                     for percent in (10, 50, 90, 99))
            bench.output.row(f"{framework}, {name}", f"{len(times)} batches: "
                             f"{''.join(shown)}longest {max(times):.0f} us")
        size = max(1, len(taken) // 10)
        machine.trust(noise_of([
            statistics.median(taken[i:i + size])
            for i in range(0, len(taken), size)]))
        for percent, goal in ((50, 15), (99, 100)):
            bench.output.judge(
                f"py_overhead.{framework}_p{percent}_us",
                f"next(loader), 2 fields, {framework}: p{percent}",
                percentile(taken, percent), "<=", goal)


def loop(bench: Bench, framework: str) -> tuple[float, float]:
    """Images per second of a loop over a loader, and seconds of CPU of this
    process for 1,000 images after the first 16 batches."""
    with bench.loader("photos", framework=framework) as loader:
        seconds, warm, steps = 0.0, min(16, bench.steps - 1), 0
        begun = time.perf_counter()
        for batch in endless(loader):
            steps += 1
            if steps == warm:
                seconds = cpu_s(resource.RUSAGE_SELF)
            if steps == bench.steps:
                break
        ended = time.perf_counter()
        seconds = cpu_s(resource.RUSAGE_SELF) - seconds
        assert batch["image"].shape[0] == BATCH
    images = (steps - warm) * BATCH
    return steps * BATCH / (ended - begun), 1000 * seconds / images


def py_rate(bench: Bench) -> None:
    bench.start()
    framework = FRAMEWORKS[0]
    machine = Machine("py_rate", bench.output)
    bench.pull()  # makes the manifest, fills the page cache
    rates = pairs(bench.options.pairs, lambda: loop(bench, framework)[0],
                  lambda: bench.pull()[0])
    ratios = [ours / theirs for ours, theirs in rates]
    for name, values in ((framework, [a for a, _ in rates]),
                         ("forebay pull", [b for _, b in rates])):
        bench.output.row(name, f"{statistics.median(values):8.1f} images/s, "
                               f"noise {noise_of(values):.1f} %")
    bench.output.row("ratio", f"{statistics.median(ratios):.3f}, noise "
                              f"{noise_of(ratios):.1f} %, {len(ratios)} pairs")
    machine.trust(noise_of(ratios))
    bench.output.judge("py_rate", f"images/s, {framework} / forebay pull",
                       statistics.median(ratios), ">=", 0.97)


def first_wait(loader: forebay.Loader) -> tuple[float, Iterator[dict]]:
    """Seconds from iter() to the first batch."""
    begun = time.perf_counter()
    batches = iter(loader)
    next(batches)
    return time.perf_counter() - begun, batches


def at_borders(loader: forebay.Loader, step_s: float) -> float:
    """The longest wait for the first batch of an epoch, in seconds. The
    consumer needs `step_s` for a batch."""
    waits = []
    for _ in range(BORDERS + 1):
        wait, batches = first_wait(loader)
        waits.append(wait)
        time.sleep(step_s)
        for _ in batches:
            time.sleep(step_s)
    return max(waits[1:])  # the first one is not at a border


def after_breaks(loader: forebay.Loader, step_s: float) -> float:
    """The same after a `break` in the third step of an epoch."""
    waits = []
    for _ in range(BORDERS + 1):
        wait, batches = first_wait(loader)
        waits.append(wait)
        time.sleep(step_s)
        for _ in range(2):
            next(batches)
            time.sleep(step_s)
    return max(waits[1:])


def service_time(bench: Bench) -> float:
    """Seconds from a request to its batch, when only one is requested."""
    with bench.loader("few", framework="numpy", prefetch=1) as loader:
        batches, waits = endless(loader), []
        for _ in range(4 * EPOCH_STEPS):
            begun = time.perf_counter()
            next(batches)
            waits.append(time.perf_counter() - begun)
    return statistics.median(waits)


def epoch_gap(bench: Bench) -> None:
    bench.start()
    machine = Machine("epoch_gap", bench.output)
    service_time(bench)  # fills the page cache
    borders, breaks, services = [], [], []
    for _ in range(bench.options.repeats):
        service_s = service_time(bench)
        services.append(service_s)
        with bench.loader("few", framework="numpy") as loader:
            batches = endless(loader)
            for _ in range(EPOCH_STEPS):
                next(batches)  # the window fills
            borders.append(at_borders(loader, 2 * service_s) / service_s)
            breaks.append(after_breaks(loader, 2 * service_s) / service_s)
    bench.output.row("service time",
                     f"{1000 * statistics.median(services):.1f} ms, noise "
                     f"{noise_of(services):.1f} %")
    for name, values in (("at borders", borders), ("after break", breaks)):
        bench.output.row(
            name, f"longest of {BORDERS} waits / service time: "
            f"{statistics.median(values):.2f} as median of {len(values)} "
            f"repeats, {min(values):.2f} to {max(values):.2f}")
    machine.trust(noise_of(services))
    what = "longest wait / a batch's service time,"
    bench.output.judge("epoch_gap", f"{what} at the border of epochs",
                       statistics.median(borders), "<=", 1)
    bench.output.judge("epoch_gap.break", f"{what} after break",
                       statistics.median(breaks), "<=", 3)


def trainer_cpu(bench: Bench) -> None:
    bench.start()
    framework = FRAMEWORKS[0]
    machine = Machine("trainer_cpu", bench.output)
    loop(bench, framework)
    both = pairs(bench.options.repeats, lambda: loop(bench, framework)[1],
                 lambda: bench.pull()[1])
    used = [ours for ours, _ in both]
    value = statistics.median(used)
    for name, values in ((framework, used),
                         ("forebay pull", [theirs for _, theirs in both])):
        bench.output.row(name, f"{statistics.median(values):.4f} s of CPU for "
                               f"1,000 images, noise {noise_of(values):.1f} %")
    bench.output.row("of forebay pull's", f"""{statistics.median(
        ours / theirs for ours, theirs in both):.3f}, {len(both)} pairs""")
    machine.trust(noise_of(used))
    if bench.synthetic:
        bench.output.row("trainer_cpu",
                         f"{value:.3g} on synthetic pictures: no goal")
        return
    bench.output.judge("trainer_cpu", "CPU s of this process for 1,000 u8 "
                                      "images", value, "<=", 0.045)


def wait_until_ready(loader: forebay.Loader) -> None:
    while loader.stats()["batches_ready"] < READY:
        time.sleep(POLL_S)


def sleep_gpu(ms: float) -> None:
    """Let the current stream do nothing for about this time."""
    import torch
    torch.cuda._sleep(int(ms * 1.5e6))  # cycles


def gpu_ms(work: Callable[[], object]) -> float:
    """Milliseconds that the current stream needs for what work() submits, if
    that takes less than 5 ms."""
    import torch
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    sleep_gpu(5)  # so that all is submitted before the GPU begins
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def made_ms(bench: Bench, memory: str) -> float:
    """Milliseconds that a batch, which is ready, takes of the stream."""
    with bench.loader("gpu", device="cuda", memory=memory) as loader:
        batches, times = endless(loader), []
        for _ in range(2 * GPU_STEPS):
            wait_until_ready(loader)
            times.append(gpu_ms(lambda: next(batches)))
    return statistics.median(times[GPU_STEPS:])


def make_gpu_step() -> tuple[str, Callable[[dict], object]]:
    """A step of ResNet-50 where there is torchvision, else one that only takes
    as long."""
    import torch
    if importlib.util.find_spec("torchvision") is None:
        return (f"{GPU_STEP_MS:g} ms without work",
                lambda batch: sleep_gpu(GPU_STEP_MS))
    import torchvision
    torch.backends.cudnn.benchmark = True
    model = torchvision.models.resnet50().cuda().to(
        memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

    def step(batch: dict) -> None:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(
                model(batch["image"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return "ResNet-50, bf16, channels_last", step


def step_ms(bench: Bench, memory: str, step: Callable[[dict], object]
            ) -> float:
    """Milliseconds of a step in a loop over a loader. The host is at most two
    steps ahead of the GPU."""
    import torch
    ends = []
    with bench.loader("gpu", device="cuda", memory=memory) as loader:
        wait_until_ready(loader)
        for i, batch in zip(range(2 * GPU_STEPS), endless(loader)):
            step(batch)
            ends.append(torch.cuda.Event(enable_timing=True))
            ends[-1].record()
            ends[max(0, i - 2)].synchronize()
        ends[-1].synchronize()
        share = loader.stats()["wait_share"]
    if share > 0.05:
        bench.output.row("NOT TO BE TRUSTED", f"memory={memory}: the loop "
                         f"waits {100 * share:.0f} % of the time for data")
    return ends[GPU_STEPS - 1].elapsed_time(ends[-1]) / GPU_STEPS


def py_gpu(bench: Bench) -> None:
    """What it costs to make values on the consumer's stream (memory="own")
    instead of another one ("ring")."""
    if not HAS_TORCH:
        return bench.output.left_out("py_gpu", "there is no PyTorch")
    import torch
    why = gpu_present.why_none()
    if why is not None:
        return bench.output.left_out("py_gpu", f"there is {why}")
    bench.start()
    machine = Machine("py_gpu", bench.output)
    name, step = make_gpu_step()
    own_ms, ring_ms = made_ms(bench, "own"), made_ms(bench, "ring")
    step_ms(bench, "ring", step)
    both = pairs(bench.options.repeats, lambda: step_ms(bench, "own", step),
                 lambda: step_ms(bench, "ring", step))
    ratios = [own / ring for own, ring in both]
    alone_ms = statistics.median(ring for _, ring in both)
    bench.output.row("GPU", f"{torch.cuda.get_device_name()}, PyTorch "
                            f"{torch.__version__}")
    bench.output.row("values of a batch", f"{BATCH} images take "
                     f"{1000 * own_ms:.0f} us of the consumer's stream with "
                     f"own, {1000 * ring_ms:.0f} us with ring")
    bench.output.row("step", f"{alone_ms:.2f} ms with ring, {name}; own / "
                     f"ring {statistics.median(ratios):.4f}, noise "
                     f"{noise_of(ratios):.2f} %, {len(ratios)} pairs")
    machine.trust(noise_of(ratios))
    bench.output.judge("py_gpu", "values on the consumer's stream / a step",
                       (own_ms - ring_ms) / alone_ms, "<=", 0.01)
    bench.output.judge("py_gpu.loop", "time of a step, own / ring",
                       statistics.median(ratios), "<=", 1.01)


def wheel(bench: Bench) -> None:
    """Report the size of each wheel in dist/."""
    paths = sorted(glob.glob(str(ROOT / "dist" / "*.whl")))
    if not paths:
        bench.output.left_out("wheel", "dist/ has none; `make wheel` makes it")
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            has_cuda = any(b".nv_fatbin" in archive.read(name)
                           for name in archive.namelist()
                           if "_forebay" in name and name.endswith(".so"))
        megabytes = os.path.getsize(path) / 1e6
        bench.output.row("wheel", f"{os.path.basename(path)}: "
                                  f"{megabytes:.2f} MB")
        bench.output.judge(
            "wheel.cuda_mb" if has_cuda else "wheel.mb",
            f"size {'with' if has_cuda else 'without'} CUDA",
            megabytes, "<=", 14 if has_cuda else 6)


def import_ms(statement: str) -> list[float]:
    """Milliseconds of a statement in nine fresh processes."""
    code = (f"import time; begun = time.perf_counter(); {statement}; "
            "print(1000 * (time.perf_counter() - begun))")
    return [float(subprocess.run(
        [sys.executable, "-c", code], check=True, stdout=subprocess.PIPE
        ).stdout) for _ in range(10)][1:]  # the first one writes .pyc files


def import_time(bench: Bench) -> None:
    machine = Machine("import", bench.output)
    alone = import_ms("import forebay")
    whole = import_ms("import forebay; forebay.Loader")
    for name, times in (("import forebay", alone), ("and its Loader", whole)):
        bench.output.row(name, f"{statistics.median(times):.1f} ms, "
                               f"{min(times):.1f} to {max(times):.1f}")
    machine.trust(noise_of(alone))
    bench.output.judge("import.ms", "import forebay, a fresh process",
                       statistics.median(alone), "<=", 30)


BENCHES: dict[str, Callable[[Bench], None]] = {
    "py_overhead": py_overhead, "py_rate": py_rate, "epoch_gap": epoch_gap,
    "wheel": wheel, "import": import_time, "trainer_cpu": trainer_cpu,
    "py_gpu": py_gpu}


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Figures of the Python package.")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"the benches to run (all): {', '.join(BENCHES)}")
    parser.add_argument("--data", metavar="DIR", type=pathlib.Path,
                        help="a folder of photographs (JPEG), at any depth; "
                             "without one the pictures are synthetic")
    parser.add_argument("--batches", type=int, default=4000, metavar="N",
                        help="batches of py_overhead (4000)")
    parser.add_argument("--pairs", type=int, default=7, metavar="N",
                        help="pairs of runs of py_rate (7)")
    parser.add_argument("--images", type=int, default=6400, metavar="N",
                        help="images of a run of py_rate, trainer_cpu (6400)")
    parser.add_argument("--repeats", type=int, default=5, metavar="N",
                        help="repeats of epoch_gap, pairs of trainer_cpu and "
                             "py_gpu (5)")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in BENCHES:
            parser.error(f"there is no bench {name}: {', '.join(BENCHES)}")
    if options.images < 2 * BATCH:
        parser.error(f"--images: at least {2 * BATCH}")
    return options


def main(arguments: list[str]) -> None:
    options, output = parse(arguments), Output()
    logging.getLogger("forebay").setLevel(logging.ERROR)
    begun = time.monotonic()
    if not HAS_TORCH:
        output.row("torch", "this Python has no PyTorch: only NumPy is "
                            "measured; PYTHON=... chooses another one")
    bench = Bench(options, output)
    try:
        for name in options.names or BENCHES:
            BENCHES[name](bench)
    finally:
        bench.close()
    output.table()
    print(f"  {time.monotonic() - begun:.0f} seconds")


if __name__ == "__main__":
    main(sys.argv[1:])
