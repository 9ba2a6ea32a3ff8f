#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package with PyTorch on a real GPU: values, memory, streams.

    tests/gpu/test_python.py [--wheel FILE] [--device cpu|fake] [NAME ...]

Needs a Python with PyTorch, and the package: that of PYTHONPATH, or a wheel
that `make wheel` has built with CUDA. Exits with 77 if there is no GPU, or
with 1 if FOREBAY_REQUIRE_GPU is 1. `make test-gpu` runs it.

With `--device cpu` the same tests run on the host, where streams and graphs do
nothing. With `--device fake` those of values and streams run on the GPU of
tests/trainer_client/fake_cuda.h, which works late and in any order."""

import argparse
import array
import contextlib
import importlib.util
import json
import logging
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))
import gpu_present  # noqa: E402

# Programs of tools/gpu-kit have their loader in `lib` of the current folder.
KIT_LIBRARIES = ROOT / "lib"

BATCH, STEPS = 16, 12  # rows of a batch, batches of an epoch
MEMORIES = ("own", "ring", "fixed")

PHOTOS = """\
forebay: 1
splits:
  train: {folder: photos, shuffle: full, last: drop}
  val: {folder: photos, shuffle: none, last: pad}
global_batch: %d
seed: 7
fields:
  image:
    from: [jpg]
    ops:
      - random_resized_crop: {size: 64, only: train}
      - horizontal_flip: {p: 0.5, only: train}
      - resize: {size: 64, only: val}
    device:
      - normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
    out: {dtype: f32, layout: chw}
  label: {from: folder, classes: 4}
""" % BATCH

# With ops of the device, which need the second and the third kernel.
JITTER = PHOTOS.replace("    device:\n", "    device:\n      - colour_jitter: "
                       "{brightness: 0.4, contrast: 0.4, only: train}\n")

TEXTS = """\
forebay: 1
splits: {train: {shards: 'texts/*.tar', shuffle: full, last: pad}}
global_batch: 8
fields:
  text: {from: txt, decode: text, max_length: 64}
  label: {from: cls, one_hot: {classes: 10, smoothing: 0.1}}
"""

COLUMNS = """\
forebay: 1
splits: {train: {columns: 'columns/day-*', shuffle: full, last: short}}
global_batch: 12
fields:
  ids: {from: ids, decode: array, shape: [], max_length: 9, wire: i32}
  words: {from: words, decode: sparse, shape: [10], max_length: 10, wire: f32}
  x: {from: x, decode: number}
"""

# A process that ends while tensors and the loader are alive.
AT_EXIT = """\
import sys, torch, forebay
loader = forebay.Loader("photos.yaml", split="train", device=sys.argv[1],
                        memory=sys.argv[2])
kept = [batch for batch, _ in zip(loader, range(3))]
print(kept[2]["image"].shape[0], flush=True)
"""

# JAX has the GPU's memory by DLPack. A long computation reads each batch, and
# nothing else refers to it then.
JAX = """\
import sys, jax, jax.numpy as jnp, numpy, forebay
on_host = list(forebay.Loader("photos.yaml", split="train",
                              framework="numpy"))
rounds = 2 if sys.argv[1] == "cpu" else 200
@jax.jit
def late(image):
    matrix = jnp.ones((512, 512)) / 512
    slow = jax.lax.fori_loop(0, rounds, lambda i, m: m @ matrix, matrix)
    return image + 0 * slow[0, 0]
for copied in False, True:
    loader = forebay.Loader("photos.yaml", split="train", framework="jax",
                            device=sys.argv[1])
    seen = []
    for batch in loader:
        seen.append(late(batch["image"]) if copied else batch["image"])
        del batch
    for image, right in zip(seen, on_host, strict=True):
        assert numpy.array_equal(numpy.asarray(image), right["image"]), copied
    loader.close()
print(jax.devices()[0].platform)
"""


# ---- devices ----------------------------------------------------------------

class Gpu:
    """The current GPU."""
    is_gpu = True
    epochs = 20  # of a test of streams

    def __init__(self):
        self.name = self.of_tensors = f"cuda:{torch.cuda.current_device()}"
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(1 << 24)  # warms up
        begin.record()
        torch.cuda._sleep(1 << 24)
        end.record()
        end.synchronize()
        self.cycles_per_ms = (1 << 24) / begin.elapsed_time(end)

    def about(self):
        return torch.cuda.get_device_name()

    def delay(self, ms):
        """Let later work on the current stream begin so much later."""
        torch.cuda._sleep(int(ms * self.cycles_per_ms))

    def new_stream(self):
        return torch.cuda.Stream()

    def on(self, stream):
        return torch.cuda.stream(stream)

    def current(self):
        return torch.cuda.current_stream()

    def synchronize(self):
        torch.cuda.synchronize()

    def allocated(self):
        """Bytes that PyTorch has allocated."""
        return torch.cuda.memory_allocated()

    def used(self):
        """Bytes of the device that are not free."""
        free, total = torch.cuda.mem_get_info()
        return total - free

    def taken(self, batch):
        """A batch was taken, and the host may read it now."""

    def record(self, batch, stream):
        """Let PyTorch keep the memory of a batch for a stream."""
        for tensor in batch.values():
            tensor.record_stream(stream)

    def overwrite(self, batch):
        """Overwrite a batch, in the order of the current stream."""
        for tensor in batch.values():
            tensor.fill_(99)

    def poison(self, size):
        """Overwrite memory that PyTorch has just got back."""
        torch.empty(size, dtype=torch.uint8, device=self.name).fill_(0xEE)

    def begin_count(self):
        self.wrong = torch.zeros(2, dtype=torch.int64, device=self.of_tensors)
        self.synchronize()

    def count_wrong(self, batch, right, counter):
        """Compare on the current stream, when that stream gets there. Streams
        that run at the same time have counters of their own."""
        for name in right:
            self.wrong[counter] += (batch[name] != right[name]).sum()

    def end_count(self):
        """The number of values that were wrong."""
        self.synchronize()
        return self.wrong.sum().item()

    def capture(self, function):
        """A function that replays what `function` does now, and its result."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            function()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = function()
        return graph.replay, result


class HostStream:
    def wait_stream(self, other):
        """The host does all work at once."""


class Host(Gpu):
    """The same on the host."""
    is_gpu = False

    def __init__(self):
        self.name = self.of_tensors = "cpu"

    def about(self):
        return "the host"

    def delay(self, ms):
        pass

    def new_stream(self):
        return HostStream()

    def on(self, stream):
        return contextlib.nullcontext()

    def current(self):
        return HostStream()

    def synchronize(self):
        pass

    def allocated(self):
        return 0

    def used(self):
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def record(self, batch, stream):
        pass

    def capture(self, function):
        result = function()
        return lambda: result.copy_(function()), result


# ---- data -------------------------------------------------------------------

def npy(code, values, shape=None):
    """The bytes of a .npy file."""
    name = {"i": "<i4", "q": "<i8", "f": "<f4", "b": "|S3"}[code]
    data = values if code == "b" else array.array(code, values).tobytes()
    shape = (len(values),) if shape is None else shape
    head = f"{{'descr': '{name}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little")
            + head.encode() + data)


def make_columns(folder, rows=40):
    """Rows of several lengths, some of them empty, and sparse rows."""
    folder.mkdir(parents=True)
    ids = [[100 * row + i for i in range(row % 10)] for row in range(rows)]
    sparse = [[i for i in range(10) if (row * i) % 3 == 1]
              for row in range(rows)]

    def ends(lists):
        made = [0]
        for row in lists:
            made.append(made[-1] + len(row))
        return made

    (folder / "ids.values.npy").write_bytes(npy("i", sum(ids, [])))
    (folder / "ids.offsets.npy").write_bytes(npy("q", ends(ids)))
    (folder / "x.npy").write_bytes(npy("f", range(rows)))
    with zipfile.ZipFile(folder / "words.npz", "w") as archive:
        for name, data in (  # as scipy.sparse.save_npz(compressed=False)
                ("format", npy("b", b"csr", ())),
                ("shape", npy("q", [rows, 10])),
                ("data", npy("f", [i + 0.5 for i in sum(sparse, [])])),
                ("indices", npy("i", sum(sparse, []))),
                ("indptr", npy("i", ends(sparse)))):
            archive.writestr(f"{name}.npy", data)


def make_texts(folder):
    folder.mkdir()
    for i in range(20):
        (folder / f"{i:02}.txt").write_bytes(("é" * (i % 9)).encode())
        (folder / f"{i:02}.cls").write_bytes(b"%d" % (i % 10))
    with tarfile.open(folder / "texts.tar", "w") as tar:
        for path in sorted(folder.glob("*.[tc]*[ts]")):
            tar.add(path, path.name)


def make_data():
    """Data and pipelines in the current directory, which is a new one."""
    from forebay import cluster
    subprocess.run([cluster.program(), "photos", "photos", "--number",
                    str(BATCH * STEPS), "--classes", "4", "--side", "96"],
                   check=True, stdout=subprocess.DEVNULL)
    make_columns(pathlib.Path("columns/day-0"))
    make_texts(pathlib.Path("texts"))
    for name, text in (("photos", PHOTOS), ("jitter", JITTER),
                       ("texts", TEXTS), ("columns", COLUMNS)):
        pathlib.Path(f"{name}.yaml").write_text(text)


# ---- the tests --------------------------------------------------------------

def parts(value):
    """The plain tensors of a value."""
    if value.layout == torch.jagged:
        return [value.values(), value.offsets()]
    if value.layout == torch.sparse_coo:
        return [value._indices(), value._values()]
    if value.layout == torch.sparse_csr:
        return [value.crow_indices(), value.col_indices(), value.values()]
    return [value]


def late_sums(batch):
    """A number for each row that depends on all values of the image."""
    image = batch["image"].reshape(len(batch["label"]), -1)
    weights = torch.arange(image.shape[1], device=image.device) % 7 - 3.0
    return (image * weights).sum(1) + batch["label"]


def batch_bytes(loader):
    return loader._opened().stream.info["batch_bytes"]


class GpuTest(unittest.TestCase):
    maxDiff = 2000

    def loader(self, name="photos", device=None, **arguments):
        arguments.setdefault("split", "train")
        made = forebay.Loader(f"{name}.yaml", device=device or DEVICE.name,
                              **arguments)
        self.addCleanup(made.close)
        return made

    def steps(self, loader, number):
        """As many batches as wanted, over epochs. Keeps none of them."""
        batches, last = iter(loader), []
        for _ in range(number):
            try:
                last.append(next(batches))
            except StopIteration:
                batches = iter(loader)
                last.append(next(batches))
            DEVICE.taken(last[-1])
            yield last.pop()

    def right(self, number, **arguments):
        """Batches made on the host, moved to the device."""
        return [{name: tensor.to(DEVICE.of_tensors)
                 for name, tensor in batch.items()} for batch in self.steps(
                    self.loader(device="cpu", **arguments), number)]

    def assert_same(self, value, right, name):
        if isinstance(right, list):
            self.assertEqual(value, right, name)
            return
        self.assertEqual(value.device, torch.device(DEVICE.of_tensors))
        self.assertEqual(value.layout, right.layout)
        if right.layout == torch.jagged:
            for length in "_get_min_seqlen", "_get_max_seqlen":
                self.assertEqual(getattr(value, length)(),
                                 getattr(right, length)())
        else:
            self.assertEqual(value.shape, right.shape)
        for a, b in zip(parts(value), parts(right), strict=True):
            self.assertEqual((a.dtype, a.shape, a.stride()),
                             (b.dtype, b.shape, b.stride()), name)
            self.assertTrue(torch.equal(a.cpu(), b), name)

    def assert_same_batches(self, name, number, **arguments):
        on_host = list(self.steps(
            self.loader(name, "cpu", **arguments), number))
        for memory in MEMORIES:
            with self.subTest(name=name, memory=memory, **arguments):
                loader = self.loader(name, memory=memory, **arguments)
                for batch, right in zip(self.steps(loader, number), on_host,
                                        strict=True):
                    self.assertEqual(sorted(batch), sorted(right))
                    for key in right:
                        self.assert_same(batch[key], right[key], key)
                loader.close()


class Values(GpuTest):
    def test_pictures_are_those_of_the_host(self):
        for dtype in ("f32", "f16", "bf16"):
            for layout in ("hwc", "chw", "channels_last"):
                self.assert_same_batches("photos", 4, output={
                    "image": {"dtype": dtype, "layout": layout}})

    def test_pictures_with_ops_of_the_device_and_padding_rows(self):
        self.assert_same_batches("jitter", STEPS + 2)
        self.assert_same_batches("photos", STEPS + 1, split="val")

    def test_texts_and_one_hot_labels(self):
        for output in ({"as": "text"}, {"as": "ragged", "offsets": "i64"},
                       {"as": "padded", "to": "longest", "pad": 7}):
            self.assert_same_batches("texts", 4, output={"text": output})

    def test_rows_of_several_lengths(self):
        for output in ({"as": "nested", "dtype": "i64"}, {"as": "ragged"},
                       {"as": "padded"}, {"as": "padded", "to": "longest"}):
            self.assert_same_batches("columns", 5, fields=["ids", "x"],
                                     output={"ids": output})

    def test_sparse_rows(self):
        for output in ({"as": "sparse"}, {"as": "csr"}, {"as": "dense"},
                       {"as": "sparse_csr"}, {"as": "coo", "dtype": "bf16"}):
            self.assert_same_batches("columns", 5, fields=["words", "x"],
                                     output={"words": output})

    def test_a_state_resumes_at_its_step(self):
        right = self.right(3 * STEPS)
        for memory in MEMORIES:
            loader, at = self.loader(memory=memory), 0
            for save in (1, STEPS, STEPS + 5, 2 * STEPS):
                for batch in self.steps(loader, save - at):
                    self.assert_same(batch["image"], right[at]["image"].cpu(),
                                     "image")
                    at += 1
                saved = loader.state_dict()
                loader.close()
                loader = self.loader(memory=memory)
                loader.load_state_dict(json.loads(json.dumps(saved)))
            loader.close()

    def test_arrays_of_jax(self):
        if importlib.util.find_spec("jax") is None or (
                DEVICE.name != DEVICE.of_tensors):
            self.skipTest("no JAX, or a GPU that it does not know")
        self.assertIn(run_script(JAX, DEVICE.name), ("gpu\n", "cpu\n"))


class Streams(GpuTest):
    """Work that comes late reads the values of its own batch."""

    def begin(self, number):
        self.expected = self.right(number)
        DEVICE.begin_count()

    def count_wrong(self, batch, step, counter=0):
        DEVICE.count_wrong(batch, self.expected[step], counter)

    def assert_nothing_wrong(self):
        self.assertEqual(DEVICE.end_count(), 0)

    def use_each(self, loader, number, use):
        """Drop each batch after its use, and overwrite the memory that PyTorch
        then has back."""
        size, batches = batch_bytes(loader), self.steps(loader, number)
        for i in range(number):  # enumerate() would keep the batch before
            batch = next(batches)
            use(batch, i)
            del batch
            DEVICE.poison(size)

    def read_late(self, loader, number, keep):
        """Read each batch on a side stream that is slow. `keep` says how the
        memory is kept until then."""
        side = DEVICE.new_stream()

        def read(batch, i):
            side.wait_stream(DEVICE.current())
            with DEVICE.on(side):
                DEVICE.delay(0.5)
                self.count_wrong(batch, i)
            if keep == "record":
                DEVICE.record(batch, side)
            elif keep == "wait":
                DEVICE.current().wait_stream(side)
                DEVICE.overwrite(batch)

        self.use_each(loader, number, read)

    def test_a_side_stream_reads_values_that_nothing_overwrites(self):
        number = DEVICE.epochs * STEPS
        self.begin(number)
        for memory in MEMORIES:
            with self.subTest(memory=memory):
                loader = self.loader(memory=memory)
                self.read_late(loader, number,
                               "record" if memory == "own" else "wait")
                self.assert_nothing_wrong()
                loader.close()

    def test_this_test_would_see_memory_that_is_overwritten(self):
        if not DEVICE.is_gpu:
            self.skipTest("the host has no streams")
        self.begin(2 * STEPS)
        self.read_late(self.loader(), 2 * STEPS, "forget to record")
        self.assertGreater(DEVICE.end_count(), 0)

    def slow_steps(self, loader, number):
        """Fall behind the host by many batches, and overwrite each after its
        use, as a training does that works in place."""
        def train(batch, i):
            DEVICE.delay(0.5)
            self.count_wrong(batch, i)
            DEVICE.overwrite(batch)

        self.use_each(loader, number, train)

    def test_a_slow_consumer_on_any_stream(self):
        number = DEVICE.epochs * STEPS
        self.begin(number)
        for memory in MEMORIES:
            for stream in (DEVICE.current(), DEVICE.new_stream()):
                with self.subTest(memory=memory), DEVICE.on(stream):
                    loader = self.loader(memory=memory)
                    self.slow_steps(loader, number)
                    self.assert_nothing_wrong()
                    loader.close()

    def test_batches_that_two_streams_take_in_turn(self):
        number = DEVICE.epochs * STEPS
        self.begin(number)
        streams = [DEVICE.new_stream(), DEVICE.new_stream()]
        for memory in MEMORIES:
            with self.subTest(memory=memory):
                loader = self.loader(memory=memory)
                batches = self.steps(loader, number)
                for i in range(number):
                    with DEVICE.on(streams[i % 2]):
                        batch = next(batches)
                        DEVICE.delay(1.5 if i % 2 == 0 else 0)
                        self.count_wrong(batch, i, i % 2)
                        del batch
                DEVICE.current().wait_stream(streams[0])
                DEVICE.current().wait_stream(streams[1])
                self.assert_nothing_wrong()
                loader.close()

    def test_close_while_the_gpu_is_behind(self):
        self.begin(3)
        for memory in MEMORIES:
            with self.subTest(memory=memory):
                loader = self.loader(memory=memory)
                batches = self.steps(loader, 3)
                kept = [next(batches)]
                DEVICE.delay(50)
                kept += [next(batches), next(batches)]
                loader.close()
                if memory == "fixed":
                    kept[:-1] = []  # the last one has overwritten the others
                for i in range(-len(kept), 0):
                    self.count_wrong(kept[i], i)
                del kept, batches
                self.assert_nothing_wrong()

    def test_a_forked_child_releases_tensors(self):
        for memory in MEMORIES:
            loader = self.loader(memory=memory)
            batches = iter(loader)
            batch = next(batches)
            child = os.fork()
            if child == 0:
                del batch
                os._exit(0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            del batch
            self.assertEqual(len(list(batches)), STEPS - 1)
            loader.close()

    def test_another_gpu_than_the_current_one(self):
        if not DEVICE.is_gpu or torch.cuda.device_count() < 2:
            self.skipTest("there is one device")
        right = self.right(4)
        for memory in MEMORIES:
            loader = self.loader(device="cuda:1", memory=memory)
            for batch, values in zip(self.steps(loader, 4), right):
                self.assertEqual(batch["image"].device.index, 1)
                self.assertTrue(torch.equal(batch["image"].cpu(),
                                            values["image"].cpu()))
            loader.close()


class Graphs(GpuTest):
    def test_a_graph_over_fixed_memory_is_replayed_1000_times(self):
        number = 1000
        eager = torch.stack([late_sums(batch) for batch in self.steps(
            self.loader(memory="own"), number)])
        loader = self.loader(memory="fixed")
        found = torch.empty_like(eager)
        for i, batch in enumerate(self.steps(loader, number)):
            if i == 0:
                static = dict(batch)
                replay, result = DEVICE.capture(lambda: late_sums(static))
            if not DEVICE.is_gpu:
                static.update(batch)  # the host has no fixed memory
            self.assertEqual([tensor.data_ptr() for tensor in batch.values()],
                             [static[name].data_ptr() for name in batch])
            replay()
            found[i].copy_(result)
        self.assertTrue(torch.equal(found, eager))

    def test_next_in_a_capture_is_refused_and_the_stream_goes_on(self):
        if not DEVICE.is_gpu:
            self.skipTest("the host has no graphs")
        for memory in MEMORIES:
            loader = self.loader(memory=memory)
            batches = iter(loader)
            next(batches)
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                with self.assertRaisesRegex(forebay.UsageError, "captured"):
                    next(batches)
                torch.zeros(1, device=DEVICE.name).add_(1)
            self.assertEqual(len(list(batches)), STEPS - 1)
            loader.close()

    def profile(self, memory):
        """The events of a trace of an epoch: name, category, arguments."""
        loader = self.loader(memory=memory)
        next(iter(loader))
        with torch.profiler.profile() as profile:
            for batch in self.steps(loader, STEPS):
                late_sums(batch)
            DEVICE.synchronize()
        profile.export_chrome_trace("trace.json")
        loader.close()
        with open("trace.json") as trace:
            return [(event["name"], event["cat"], event.get("args", {}))
                    for event in json.load(trace)["traceEvents"]
                    if "cat" in event]

    def test_the_profiler_shows_next_and_copies_on_their_own_streams(self):
        for memory in MEMORIES:
            events = self.profile(memory)
            self.assertEqual(sum(name == "forebay.next" and
                                 kind == "user_annotation"
                                 for name, kind, _ in events), STEPS)
            if not DEVICE.is_gpu:
                continue
            kernels = {kind: {args["stream"] for name, cat, args in events
                              if cat == "kernel"
                              and ("fby_expand" in name) == (kind == "ours")}
                       for kind in ("ours", "theirs")}
            self.assertTrue(kernels["theirs"], "no kernel is reported")
            copies = {args["stream"] for name, cat, args in events
                      if cat == "gpu_memcpy" and "HtoD" in name}
            self.assertEqual(len(kernels["theirs"]), 1, kernels)
            self.assertTrue(copies)
            self.assertFalse(copies & kernels["theirs"])
            # Values for memory of PyTorch are made on its stream.
            self.assertEqual(kernels["ours"] == kernels["theirs"],
                             memory != "ring", kernels)


class Memory(GpuTest):
    def test_memory_is_flat_over_2000_batches(self):
        for memory in MEMORIES:
            with self.subTest(memory=memory):
                loader = self.loader(memory=memory)
                for batch in self.steps(loader, 10 * STEPS):
                    late_sums(batch)
                DEVICE.synchronize()
                before = DEVICE.allocated(), DEVICE.used()
                for batch in self.steps(loader, 2000):
                    late_sums(batch)
                DEVICE.synchronize()
                self.assertEqual(DEVICE.allocated(), before[0])
                self.assertLess(DEVICE.used() - before[1], 16 << 20)
                del batch
                loader.close()

    def test_memory_reports_know_own_and_fixed_memory(self):
        if not DEVICE.is_gpu:
            self.skipTest("the host has no report")
        for memory in MEMORIES:
            loader = self.loader(memory=memory)
            size = batch_bytes(loader)
            before = torch.cuda.memory_allocated()
            kept = [dict(batch) for batch in self.steps(loader, 4)]
            batches = {"own": 4, "fixed": 1, "ring": 0}[memory]
            grown = torch.cuda.memory_allocated() - before
            self.assertLess(abs(grown - batches * size), 4096 * 4)
            del kept
            loader.close()

    def test_a_tensor_is_kept_for_1000_steps_and_after_the_loader(self):
        for memory in ("own", "ring"):
            loader = self.loader(memory=memory)
            kept = next(iter(loader))["image"]
            before = kept.clone()
            for batch in self.steps(loader, 1000):
                pass
            self.assertTrue(torch.equal(kept, before))
            del batch
            loader.close()
            del loader
            self.assertTrue(torch.equal(kept, before))

    def test_a_process_ends_with_tensors_alive(self):
        for memory in MEMORIES:
            self.assertEqual(run_script(AT_EXIT, DEVICE.name, memory),
                             f"{BATCH}\n")


def run_script(code, *arguments):
    """The output of a Python process, which has to succeed silently."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path),
                       XLA_PYTHON_CLIENT_PREALLOCATE="false",
                       TF_CPP_MIN_LOG_LEVEL="2")
    if DEVICE.name == "cpu":
        environment["JAX_PLATFORMS"] = "cpu"
    done = subprocess.run([sys.executable, "-c", code, *arguments],
                          env=environment, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0 or "Traceback" in done.stderr:
        raise AssertionError(f"{done.returncode}: {done.stderr[-3000:]}")
    return done.stdout


# ---- main -------------------------------------------------------------------

def unpack(wheel, folder):
    """Unpack a wheel. (The zipfile module forgets which files can run.)"""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = archive.extract(member, folder)
            os.chmod(path, member.external_attr >> 16 & 0o777 | 0o600)
    sys.path.insert(0, str(folder))


class Timed(unittest.TextTestResult):
    """Says how long each test takes."""

    def startTest(self, test):
        super().startTest(test)
        self.begun = time.monotonic()

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        self.stream.writeln(f"ok, {time.monotonic() - self.begun:.1f} s")
        self.stream.flush()


def main():
    global DEVICE, forebay, torch
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--wheel", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--device", choices=("cuda", "cpu", "fake"),
                        default="cuda")
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="classes or tests, as Streams (all)")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        gpu_present.skip("test_python", f"no PyTorch in {sys.executable}")
    if options.device == "cuda":
        gpu_present.require("test_python", torch)
    with tempfile.TemporaryDirectory(prefix="forebay-gpu-") as folder:
        home = pathlib.Path(folder)
        if options.wheel:
            unpack(options.wheel.resolve(), home / "wheel")
        sys.path[:] = [os.path.abspath(path) for path in sys.path]
        import forebay
        os.chdir(home)
        if KIT_LIBRARIES.exists():
            (home / "lib").symlink_to(KIT_LIBRARIES)
        (home / "run").mkdir(mode=0o700)
        os.environ.update(XDG_RUNTIME_DIR=str(home / "run"),
                          FOREBAY_CACHE_DIR=str(home / "cache"))
        logging.getLogger("forebay").setLevel(logging.ERROR)
        make_data()
        if options.device == "fake":
            import fake_gpu
            DEVICE = fake_gpu.make(Host)
        else:
            DEVICE = Gpu() if options.device == "cuda" else Host()
        print(f"PyTorch {torch.__version__} on {DEVICE.about()}", flush=True)
        runner = unittest.TextTestRunner(verbosity=2, resultclass=Timed)
        result = unittest.main(argv=[sys.argv[0], *options.names], exit=False,
                               testRunner=runner).result
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
