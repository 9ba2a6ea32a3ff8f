# SPDX-License-Identifier: Apache-2.0
"""The extension module `forebay._forebay`, with NumPy and real processes.

Each class has one cluster on generated photos. What needs a process of its own
(signals, fork, the interpreter's end) runs the beginning of CHILD in one."""

import concurrent.futures
import ctypes
import gc
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
import zlib

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parent.parent / "system"))
import harness  # noqa: E402  the base of the tests of real processes
import numpy  # noqa: E402
from forebay import _forebay  # noqa: E402

TIMEOUT, USAGE, CONFIG, DATA, FULL, INTERRUPTED = 2, 3, 4, 5, 6, 9  # forebay.h

# forebay_dtype; what NumPy calls it.
DTYPES = {1: "uint8", 3: "int32", 5: "float16", 7: "float32"}
BF16, CHANNELS_LAST = 6, 3


class Failure(Exception):
    """What the tests' error factory makes."""

    def __init__(self, status, text, parts):
        super().__init__(text)
        self.status, self.text, self.parts = status, text, parts


_forebay.set_error_factory(Failure)


def until(condition, what):
    """Wait until `condition` is true, with a deadline."""
    end = time.monotonic() + harness.DEADLINE
    pause = threading.Event()
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("not in time: " + what)
        pause.wait(0.002)


CHILD = """\
import os, signal, sys, threading
from forebay import _forebay
def open_stream(**more):
    return _forebay.Stream(server={server!r}, pipeline_path={pipeline!r},
                           roots=[("data", {root!r})], **more)
"""


class ExtensionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = harness.Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.photos()
        cls.pipeline = cls.cluster.pipeline()
        cls.cluster.start(1)

    def options(self, **more):
        given = {"server": self.cluster.server.endpoint,
                 "pipeline_path": self.pipeline,
                 "roots": [("data", self.cluster.root)], "open_timeout": 60}
        given.update(more)
        return given

    def open(self, **more):
        stream = _forebay.Stream(**self.options(**more))
        self.addCleanup(stream.close)
        return stream

    def fails(self, status, function, *args, **more):
        """Assert that a call fails with this status; return the exception."""
        with self.assertRaises(Failure) as caught:
            function(*args, **more)
        self.assertEqual(caught.exception.status, status, caught.exception)
        return caught.exception

    def child(self, code, **more):
        """Start a process that can open the class's stream."""
        head = CHILD.format(
            server=more.pop("server", self.cluster.server.endpoint),
            pipeline=str(self.pipeline), root=str(self.cluster.root))
        process = subprocess.Popen(
            [sys.executable, "-c", head + code], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env=dict(self.cluster.env, **more.pop("env", {})))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def finish(self, process, code=0):
        """Wait for the end of a child; return its output."""
        out, err = process.communicate(timeout=harness.DEADLINE)
        self.assertEqual(process.returncode, code, err)
        return out, err

    def arrays(self, batch):
        return {name: numpy.from_dlpack(batch.tensor(i))
                for i, name in enumerate(batch.names)}

    def show(self, pipeline, step):
        """The arrays of a batch as the program writes them."""
        path = self.cluster.path("b.npz")
        subprocess.run([harness.FOREBAY, "show", "-p", str(pipeline), "--step",
                        str(step), "-o", str(path)], check=True,
                       env=dict(self.cluster.env, FOREBAY_LOG="warn"),
                       stdout=subprocess.DEVNULL, timeout=harness.DEADLINE)
        with numpy.load(path) as file:
            return {name: file[name] for name in file.files}


class Values(ExtensionTest):
    def test_values_are_those_that_show_writes(self):
        stream = self.open()
        for step in range(2):
            batch = stream.next(harness.DEADLINE)
            shown = self.show(self.pipeline, step)
            self.assertEqual((batch.epoch, batch.step), (0, step))
            for name, array in self.arrays(batch).items():
                numpy.testing.assert_array_equal(array, shown[name])
                self.assertEqual(array.dtype, shown[name].dtype)
            samples = numpy.frombuffer(batch.samples(), numpy.uint64)
            numpy.testing.assert_array_equal(samples, shown["samples"])
            self.assertEqual(batch.valid(), shown["valid"].tobytes())

    def test_the_description_is_that_of_the_batches(self):
        stream = self.open(digests=True)
        batch = stream.next(harness.DEADLINE)
        self.assertEqual(stream.names, ("image", "label"))
        self.assertEqual(batch.names, stream.names)
        self.assertEqual(stream.fields, (
            ("image", "image", "f32", (16, 3, 64, 64), 2, 0, ()),
            ("label", "label", "i64", (16,), 0, 0, ())))
        for i, field in enumerate(stream.fields):
            tensor = batch.tensor(i)
            self.assertEqual(
                (tensor.name, tensor.dtype, tensor.shape),
                (field[0], field[2], field[3]))
            self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        self.assertEqual((batch.rows, batch.first_row), (16, 0))
        self.assertEqual(stream.info["samples"], 192)
        self.assertEqual(stream.info["device"], "host")
        self.assertEqual(len(batch.digest()), 16)
        self.assertEqual(len(stream.digest()), 16)
        self.assertEqual(batch.substitutions(), [])
        stats = stream.stats()
        self.assertEqual((stats["steps"], stats["images"]), (1, 16))
        self.assertIn("client.decode", stats["stages"])

    def test_each_dtype_and_layout_comes_as_itself(self):
        text = harness.PIPELINE.split("    device:")[0] + (
            "    out: {{dtype: u8, layout: chw}}\n")
        pipeline = self.cluster.pipeline(text, name="plain.yaml")
        first = numpy.asarray(self.open(pipeline_path=pipeline)
                              .next(harness.DEADLINE).tensor(0))
        for number, name in DTYPES.items():
            stream = self.open(pipeline_path=pipeline, outputs=[
                {"field": "image", "dtype": number, "layout": CHANNELS_LAST,
                 "as": None}])
            tensor = stream.next(harness.DEADLINE).tensor(0)
            array = numpy.asarray(tensor)
            self.assertEqual(array.dtype, numpy.dtype(name))
            self.assertEqual(numpy.from_dlpack(tensor).strides, array.strides)
            self.assertFalse(array.flags.c_contiguous)
            numpy.testing.assert_array_equal(array, first)
            copy = numpy.from_dlpack(Holder(tensor, {"copy": True}))
            numpy.testing.assert_array_equal(copy, first)
            with self.assertRaisesRegex(BufferError, "channels_last"):
                zlib.crc32(tensor)
            self.assertEqual(first.flags.c_contiguous, True)

    def test_plain_bytes_are_those_of_the_array(self):
        tensor = self.open().next(harness.DEADLINE).tensor(1)
        self.assertEqual(bytes(tensor), numpy.asarray(tensor).tobytes())
        self.assertEqual(memoryview(tensor).format, "l")
        self.assertEqual(memoryview(tensor).shape, (16,))

    def test_bf16_is_refused_with_a_way_out(self):
        stream = self.open(outputs=[{"field": "image", "dtype": BF16}])
        tensor = stream.next(harness.DEADLINE).tensor(0)
        self.assertEqual(tensor.dtype, "bf16")
        with self.assertRaisesRegex(BufferError, "DLPack.*f32 or f16"):
            memoryview(tensor)
        self.assertIn('"dltensor', repr(tensor.__dlpack__()))


class Memory(ExtensionTest):
    def test_views_are_of_one_memory_that_may_be_written(self):
        tensor = self.open().next(harness.DEADLINE).tensor(0)
        by_buffer = numpy.asarray(tensor)
        by_dlpack = numpy.from_dlpack(tensor)
        self.assertTrue(by_buffer.flags.writeable)
        self.assertEqual(by_buffer.ctypes.data, by_dlpack.ctypes.data)
        by_buffer[0, 0, 0, 0] = 42
        self.assertEqual(by_dlpack[0, 0, 0, 0], 42)

    def test_values_stay_after_release_close_and_the_end_of_the_stream(self):
        stream = _forebay.Stream(**self.options())
        batch = stream.next(harness.DEADLINE)
        tensors = [batch.tensor(0), batch.tensor(0)]
        capsule = batch.tensor(0).__dlpack__(max_version=(1, 0))
        view = numpy.asarray(tensors[0])
        before = view.copy()
        batch.release()
        late = numpy.from_dlpack(tensors[1])  # exported after the release
        for _ in range(8):  # the memory is not used for these
            stream.next(harness.DEADLINE).release()
        stream.close()
        del stream, batch, tensors
        gc.collect()
        numpy.testing.assert_array_equal(view, before)
        numpy.testing.assert_array_equal(late, before)
        del view, late, capsule

    def test_an_index_that_releases_the_batch_is_no_danger(self):
        class Index:
            def __index__(self):
                batch.release()
                return 0

        stream = self.open()
        for name in ("tensor", "row_lengths"):
            batch = stream.next(harness.DEADLINE)
            self.fails(USAGE, getattr(batch, name), Index())

    def test_a_released_batch_says_so(self):
        batch = self.open().next(harness.DEADLINE)
        token = batch.token
        batch.release()
        batch.release()
        for method in (batch.samples, batch.valid, batch.digest,
                       batch.substitutions):
            self.fails(USAGE, method)
        self.fails(USAGE, batch.tensor, 0)
        self.fails(USAGE, batch.capsule, 0)
        self.fails(USAGE, batch.row_lengths, 0)
        self.assertEqual((batch.token, batch.step), (token, 0))

    def test_memory_is_reused_only_without_views(self):
        stream = self.open(max_held_bytes=3 * 800000)
        held = [stream.next(harness.DEADLINE).tensor(0) for _ in range(3)]
        self.fails(FULL, stream.next, 1)
        self.assertEqual(stream.stats()["batches_held"], 3)
        held.pop()
        self.assertIsNotNone(stream.next(harness.DEADLINE))

    def test_memory_is_flat(self):
        def rss():
            gc.collect()
            return harness.memory_bytes(os.getpid(), "VmRSS")

        stream = self.open(fields=["label"])

        def take(number):
            for _ in range(number):
                batch = stream.next(harness.DEADLINE)
                numpy.from_dlpack(batch.tensor(0))
                numpy.asarray(batch.tensor(0))
                batch.tensor(0).__dlpack__(max_version=(1, 1))
                batch.capsule(0)
                batch.tensor(0).__dlpack__(copy=True)
                stream.stats()
                self.assertIn("fby1-", batch.token)
                with self.assertRaises(Failure):
                    batch.row_lengths(0)

        take(300)
        before = rss()
        take(2000)
        self.assertLess(rss() - before, 3e6 * harness.SLOW)


class Dlpack(ExtensionTest):
    def setUp(self):
        self.tensor = self.open().next(harness.DEADLINE).tensor(0)

    def test_the_version_is_at_most_the_consumers(self):
        for version, name in ((None, "dltensor"), ((0, 8), "dltensor"),
                              ((1, 0), "dltensor_versioned"),
                              ((2, 3), "dltensor_versioned")):
            capsule = self.tensor.__dlpack__(max_version=version)
            self.assertIn(f'"{name}"', repr(capsule))

    def test_a_capsule_of_the_batch_is_that_of_its_tensor(self):
        batch = self.open().next(harness.DEADLINE)
        tensor, capsule = batch.tensor(0), batch.capsule(0)
        self.assertIn('"dltensor"', repr(capsule))
        array = numpy.from_dlpack(CapsuleHolder(tensor, batch.capsule(0)))
        self.assertEqual(array.ctypes.data, numpy.asarray(tensor).ctypes.data)
        with self.assertRaisesRegex(IndexError, "tensor 9"):
            batch.capsule(9)

    def test_a_copy_is_the_consumers_own(self):
        array = numpy.asarray(self.tensor)
        copy = numpy.from_dlpack(Holder(self.tensor, {"copy": True}))
        numpy.testing.assert_array_equal(copy, array)
        array[:] = 0
        self.assertTrue(copy.any())
        same = numpy.from_dlpack(Holder(self.tensor, {"copy": False}))
        self.assertEqual(same.ctypes.data, array.ctypes.data)

    def test_other_devices_and_streams_are_refused(self):
        dlpack = self.tensor.__dlpack__
        dlpack(stream=None, dl_device=(1, 0), copy=None)
        dlpack(stream=-1, dl_device=None)
        with self.assertRaisesRegex(BufferError, r"not copied to \(2, 0\)"):
            dlpack(dl_device=(2, 0))
        for stream in (0, 1, 2, 77, -2):
            with self.assertRaisesRegex(ValueError, "stream"):
                dlpack(stream=stream)
        for wrong in ({"stream": "a"}, {"max_version": 1}, {"dl_device": 1},
                      {"max_version": ("a", 1)}, {"other": 1}):
            with self.assertRaises(TypeError):
                dlpack(**wrong)
        with self.assertRaises(TypeError):
            dlpack(None)


class Holder:
    """A tensor whose export has further arguments."""

    def __init__(self, tensor, more):
        self.tensor, self.more = tensor, more

    def __dlpack__(self, **given):
        return self.tensor.__dlpack__(**given, **self.more)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


class CapsuleHolder(Holder):
    """A tensor of which a capsule was made before."""

    def __dlpack__(self, **given):
        return self.more


# Makes a value of a DLManagedTensorVersioned: 0, or -1 with an exception.
TO_OBJECT = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Table(ctypes.Structure):
    """DLPackExchangeAPI."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                ("previous", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p),
                ("from_object", ctypes.c_void_p),
                ("to_object", TO_OBJECT),
                ("others", ctypes.c_void_p * 2)]


class Managed(ctypes.Structure):
    """DLManagedTensorVersioned, the type in one number."""
    _fields_ = [("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p),
                ("deleter", DELETER), ("flags", ctypes.c_uint64),
                ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2),
                ("n_dims", ctypes.c_int32), ("dtype", ctypes.c_uint32),
                ("shape", ctypes.POINTER(ctypes.c_int64))]


class Value:
    """A tensor of a framework."""

    def __init__(self, address):
        self.address, self.managed = address, Managed.from_address(address)
        self.data = self.managed.data
        self.shape = tuple(self.managed.shape[:self.managed.n_dims])

    def __del__(self):
        self.managed.deleter(self.address)


class Exchange(ExtensionTest):
    """A framework with a table of functions."""
    CAPSULE = b"dlpack_exchange_api"
    BOTH = (("image", 0), ("label", 1))

    def setUp(self):
        self.n_failing = -1  # how many tensors are made before one fails
        self.table = Table(major=1, minor=2, to_object=TO_OBJECT(self.make))
        self.stream = self.open()
        self.batch = self.stream.next(harness.DEADLINE)

    def make(self, address, out):
        value, self.n_failing = Value(address), self.n_failing - 1
        if self.n_failing == -1:
            return -1  # an exception cannot be set from here
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
        out[0] = id(value)
        return 0

    def api(self, table):
        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype = ctypes.py_object
        new_capsule.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        capsule = new_capsule(
            ctypes.addressof(table), self.CAPSULE, None)
        return _forebay.exchange_api(
            type("Array", (), {"__dlpack_c_exchange_api__": capsule}))

    def held(self):
        gc.collect()
        return self.stream.stats()["batches_held"]

    def test_values_are_the_tensors_and_keep_the_memory(self):
        values = self.batch.values(self.api(self.table), self.BOTH)
        self.assertEqual(list(values), ["image", "label"])
        for name, array in self.arrays(self.batch).items():
            self.assertEqual(values[name].data, array.ctypes.data)
            self.assertEqual(values[name].shape, array.shape)
        before = array.tobytes()
        self.batch.release()
        del array
        self.assertEqual(self.held(), 1)
        self.stream.next(harness.DEADLINE).release()
        self.assertEqual(
            ctypes.string_at(values["label"].data, len(before)), before)
        values.clear()
        self.assertEqual(self.held(), 0)

    def test_a_value_that_cannot_be_made_frees_the_others(self):
        self.n_failing = 1
        self.assertRaises(SystemError, self.batch.values,
                          self.api(self.table), self.BOTH)
        self.batch.release()
        self.assertEqual(self.held(), 0)

    def test_an_older_table_is_found_behind_a_newer_one(self):
        newer = Table(major=2, previous=ctypes.addressof(self.table))
        values = self.batch.values(self.api(newer), (("label", 1),))
        self.assertEqual(values["label"].shape, (16,))
        for unusable in (Table(major=2), Table(major=0)):
            self.assertIsNone(self.api(unusable))

    def test_types_without_a_table_have_none(self):
        class Other:
            __dlpack_c_exchange_api__ = 3

        for type_ in (None, int, Other):
            self.assertIsNone(_forebay.exchange_api(type_))

    def test_wrong_arguments_are_refused(self):
        api = self.api(self.table)
        for wrong in ((), (api,), (None, self.BOTH), (api, [("label", 1)]),
                      (api, (("label",),)), (api, ("ab",)),
                      (api, (("label", "x"),))):
            self.assertRaises(TypeError, self.batch.values, *wrong)
        self.assertRaises(
            IndexError, self.batch.values, api, (("label", 2),))
        self.batch.release()
        self.fails(USAGE, self.batch.values, api, self.BOTH)


class Positions(ExtensionTest):
    def test_the_stream_ends_and_goes_on_by_seek(self):
        stream = self.open(epochs=1)
        tokens = []
        while (batch := stream.next(harness.DEADLINE)) is not None:
            tokens.append(batch.token)
        self.assertEqual(len(tokens), stream.info["steps_per_epoch"])
        self.assertIsNone(stream.next(0))
        stream.seek(tokens[4])
        self.assertEqual(stream.next(harness.DEADLINE).step, 5)
        stream.seek_step(0, 2)
        self.assertEqual(stream.next(harness.DEADLINE).token, tokens[2])
        stream.seek_step(step=0, epoch=0)
        self.assertEqual(stream.next(harness.DEADLINE).token, tokens[0])

    def test_a_token_continues_the_stream(self):
        token = self.open().next(harness.DEADLINE).token
        self.assertEqual(
            self.open(token=token).next(harness.DEADLINE).step, 1)

    def test_a_seek_waits_for_no_other_process(self):
        stream = self.open()
        stopped = [self.cluster.server, self.cluster.daemons[-1]]
        for daemon in stopped:
            daemon.process.send_signal(signal.SIGSTOP)
        try:
            for epoch in range(20):
                stream.seek_step(epoch, epoch % 12)
        finally:
            for daemon in stopped:
                daemon.resume()
        self.assertEqual(stream.next(harness.DEADLINE).step, 19 % 12)

    def test_wrong_positions_are_refused(self):
        stream = self.open()
        self.assertIn("is not a token", self.fails(USAGE, stream.seek, "x").text)
        self.fails(USAGE, stream.seek_step, 0, 99)
        other = self.open(seed=7).next(harness.DEADLINE).token
        self.assertIn("seed", self.fails(CONFIG, stream.seek, other).text)
        self.assertEqual(stream.next(harness.DEADLINE).step, 0)

    def test_interrupt_ends_a_wait(self):
        stream = self.open(max_held_bytes=800000)
        stream.interrupt(True)
        self.fails(INTERRUPTED, self.drain, stream)
        stream.interrupt(False)
        self.assertIsNotNone(stream.next(harness.DEADLINE))

    @staticmethod
    def drain(stream):
        while True:
            stream.next(harness.DEADLINE).release()


class Errors(ExtensionTest):
    def test_an_error_in_the_file_has_its_line(self):
        path = self.cluster.pipeline(codec="none_such", name="wrong.yaml")
        error = self.fails(CONFIG, self.open, pipeline_path=path)
        lines = path.read_text().splitlines()
        self.assertEqual(error.parts["file"], str(path))
        self.assertIn("none_such", lines[error.parts["line"] - 1])
        self.assertGreater(error.parts["column"], 1)
        text = path.read_text()
        error = self.fails(
            CONFIG, self.open, pipeline_path=None, pipeline_text=text)
        self.assertGreater(error.parts["line"], 1)

    def other_cluster(self, root):
        """Another cluster, and the options of a stream from it."""
        other = harness.Cluster()
        self.addCleanup(other.close)
        other.root = root
        other.start(1)
        return {"server": other.server.endpoint, "roots": [("data", root)],
                "pipeline_path": other.pipeline(batch=4)}

    def test_a_bad_sample_is_named(self):
        root = self.cluster.path("bad")
        (root / "a").mkdir(parents=True)
        for i in range(8):
            (root / "a" / f"{i}.jpg").write_bytes(b"no picture")
        stream = self.open(**self.other_cluster(root))
        error = self.fails(DATA, stream.next, harness.DEADLINE)
        self.assertIn("Not a JPEG", error.text)
        self.assertRegex(error.parts["shard"], "^a/[0-7]$")
        self.assertIn(error.parts["sample"], range(8))
        self.assertIn("tcp://127.0.0.1:", error.parts["worker"])
        self.fails(DATA, stream.next, 0)  # the stream has failed

    def test_an_exception_of_on_scan_ends_the_opening(self):
        def fail(done, total):
            seen.append((done, total))
            raise KeyError("of on_scan")

        seen = []
        root = self.cluster.path("tars")  # enough to last for some callbacks
        self.cluster.tars(root, [{"cls": b"1"}] * 2000, each=1)
        options = self.other_cluster(root)
        options["pipeline_path"] = self.cluster.path("tars.yaml")
        options["pipeline_path"].write_text(
            f"forebay: 1\nsplits: {{train: {{shards: '{root}/*.tar'}}}}\n"
            "global_batch: 4\n"
            "fields: {label: {from: [cls], decode: label}}\n")
        with self.assertRaisesRegex(KeyError, "of on_scan"):
            self.open(on_scan=fail, **options)
        self.assertEqual([total for _, total in seen], [2000])

    def test_no_server_is_a_timeout(self):
        error = self.fails(TIMEOUT, self.open, server="tcp://127.0.0.1:1",
                           open_timeout=0.3)
        self.assertIn("0.3 s", error.text)

    def test_a_timeout_of_next_says_what_it_waits_for(self):
        stream = self.open()
        self.cluster.daemons[-1].process.send_signal(signal.SIGSTOP)
        try:
            begun = time.monotonic()
            error = self.fails(TIMEOUT, self.take_many, stream)
            self.assertGreaterEqual(time.monotonic() - begun, 0.3)
        finally:
            self.cluster.daemons[-1].resume()
        self.assertTrue(error.text)

    @staticmethod
    def take_many(stream):
        while True:
            stream.next(0.3).release()

    def test_wrong_arguments_are_named(self):
        for error, words, wrong in (
                (TypeError, "server: must be a str", {"server": 3}),
                (TypeError, "'workers' is not known", {"workers": 2}),
                (TypeError, "rank: must be an integer", {"rank": "a"}),
                (ValueError, r"rank: must be from 0", {"rank": -1}),
                (ValueError, r"rank: must be from 0", {"rank": 1 << 32}),
                (ValueError, r"seed: must be from 0", {"seed": 1 << 64}),
                (ValueError, "memory: must be own", {"memory": "x"}),
                (ValueError, "NUL", {"split": "a\0b"}),
                (TypeError, "fields: must be a list", {"fields": "image"}),
                (TypeError, "fields: must be a str", {"fields": [1]}),
                (TypeError, "list of tuples", {"roots": ["data"]}),
                (TypeError, "list of dicts", {"outputs": [1]}),
                (TypeError, "'dtyp' is not known", {"outputs": [{"dtyp": 1}]}),
                (TypeError, "pad: must be a number",
                 {"outputs": [{"field": "image", "pad": "x"}]}),
                (ValueError, "open_timeout", {"open_timeout": 0}),
                (TypeError, "on_scan", {"on_scan": 1})):
            with self.assertRaisesRegex(error, words):
                _forebay.Stream(**self.options(**wrong))
        with self.assertRaisesRegex(TypeError, "keyword"):
            _forebay.Stream("tcp://127.0.0.1:1")
        self.assertIn("no field x", self.fails(
            USAGE, self.open, fields=["x"]).text)
        stream = self.open()
        batch = stream.next(harness.DEADLINE)
        for wrong in (-1, 2, 1 << 70):
            self.assertRaises(IndexError, batch.tensor, wrong)
        self.assertRaises(TypeError, batch.tensor, "image")
        self.assertRaises(TypeError, stream.next, "now")
        self.assertRaises(ValueError, stream.next, float("nan"))
        self.assertRaises(TypeError, stream.next, 1, 2, 3, 4)
        self.assertRaises(TypeError, stream.next, 1, timeout=2)
        self.assertRaises(TypeError, stream.seek, 1)
        self.assertRaises(TypeError, stream.check_token, 1)
        self.assertRaises(TypeError, stream.seek_step, 1)
        self.fails(USAGE, stream.next, 1, memory=4096)
        self.fails(USAGE, stream.digest)
        for made_elsewhere in (_forebay.Batch, _forebay.Tensor):
            self.assertRaises(TypeError, made_elsewhere)

    def test_nothing_open_is_pickled(self):
        stream = self.open()
        batch = stream.next(harness.DEADLINE)
        for thing in (stream, batch, batch.tensor(0)):
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                pickle.dumps(thing)

    def test_log_lines_come_once(self):
        _forebay.log_lines()
        self.open()
        lines = _forebay.log_lines()
        self.assertTrue(any(line.startswith("JOINED ") for _, line in lines))
        self.assertTrue(all(0 <= level <= 3 for level, _ in lines))
        self.assertFalse(any(
            line.startswith("JOINED ") for _, line in _forebay.log_lines()))

    def test_dropped_log_lines_are_counted(self):
        self.open(job="one")
        _forebay.log_lines()

        def be_refused(_):  # which logs an error
            with self.assertRaises(Failure):
                self.open(job="one")

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(be_refused, range(300)))
        lines = _forebay.log_lines()
        self.assertEqual(len(lines), 257)
        self.assertRegex(lines[-1][1], r"^LOG-DROPPED \d+ further log lines")
        self.assertEqual(_forebay.log_lines(), [])


class Threads(ExtensionTest):
    def waiting(self, stream):
        """A thread that takes batches until it fails, and its exception."""
        failed = []

        def take():
            try:
                while True:
                    stream.next()
            except Failure as error:
                failed.append(error)

        thread = threading.Thread(target=take)
        thread.start()
        return thread, failed

    def test_close_ends_next_of_another_thread(self):
        for _ in range(10):
            stream = self.open()
            thread, failed = self.waiting(stream)
            until(lambda: stream.stats()["steps"] > 3, "some steps")
            closers = [threading.Thread(target=stream.close)
                       for _ in range(2)]
            for closer in closers:
                closer.start()
            for each in [*closers, thread]:
                each.join(harness.DEADLINE)
                self.assertFalse(each.is_alive())
            self.assertIn(failed[0].status, (USAGE, INTERRUPTED))
            self.assertIn("closed", failed[0].text)
            self.fails(USAGE, stream.next)
            self.fails(USAGE, stream.stats)
            stream.close()

    def test_other_threads_run_while_one_waits(self):
        stream = self.open()
        self.cluster.daemons[-1].process.send_signal(signal.SIGSTOP)
        try:
            thread, failed = self.waiting(stream)
            for _ in range(50):
                self.assertIn("steps", stream.stats())
            stream.interrupt(True)
            thread.join(harness.DEADLINE)
        finally:
            self.cluster.daemons[-1].resume()
        self.assertEqual(failed[0].status, INTERRUPTED)

    def test_many_threads_share_a_stream(self):
        stream = self.open(steps=60)
        seen, lock = [], threading.Lock()

        def take():
            while (batch := stream.next(harness.DEADLINE)) is not None:
                total = numpy.from_dlpack(batch.tensor(0)).sum()
                with lock:
                    seen.append((batch.epoch, batch.step, float(total)))

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(harness.DEADLINE)
        self.assertEqual(len(set(seen)), 60)

    def test_the_error_factory_may_change_while_others_fail(self):
        self.addCleanup(_forebay.set_error_factory, Failure)
        batch = self.open().next(harness.DEADLINE)
        batch.release()

        def fail():
            for _ in range(1000):
                self.fails(USAGE, batch.samples)

        def change():
            for _ in range(1000):
                _forebay.set_error_factory(
                    lambda *parts: Failure(*parts))  # a new object each time

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for done in [pool.submit(do) for do in (fail, fail, change)]:
                done.result()


class Processes(ExtensionTest):
    def interrupted(self, code, **more):
        """Interrupt a child once it has printed a line; assert that it reacts
        at once."""
        process = self.child(code, **more)
        self.assertEqual(process.stdout.readline(), "now\n",
                         process.poll() and process.stderr.read())
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=harness.DEADLINE)
        self.assertLess(time.monotonic() - begun, 2 * harness.SLOW)
        self.assertIn("KeyboardInterrupt", err)
        self.assertEqual(process.returncode, -signal.SIGINT, err)
        return out

    def test_ctrl_c_ends_an_opening(self):
        self.interrupted(
            "print('now', flush=True)\nopen_stream()\n",
            server="tcp://127.0.0.1:1")

    def test_ctrl_c_ends_a_wait(self):
        self.interrupted(
            "s = open_stream(steps=1 << 40)\n"
            "s.next()\nprint('now', flush=True)\n"
            "while True: s.next()\n")

    def test_a_signal_handler_may_close_the_stream(self):
        process = self.child(
            "s = open_stream(max_held_bytes=800000)\n"
            "def close(*_): s.close()\n"
            "signal.signal(signal.SIGINT, close)\n"
            "print('now', flush=True)\n"
            "try:\n"
            "    while True: s.next()\n"
            "except RuntimeError as e: print(e)\n")
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, _ = self.finish(process)
        self.assertIn("closed", out)

    def test_a_daemon_thread_in_next_may_be_left_at_the_end(self):
        for ending in ("", "sys.exit(0)\n"):
            self.finish(self.child(
                "s = open_stream()\n"
                "kept = [s.next(), s.next().tensor(0).__dlpack__(), s]\n"
                "ready = threading.Event()\n"
                "def take():\n"
                "    while True:\n"
                "        s.next()\n"
                "        ready.set()\n"
                "threading.Thread(target=take, daemon=True).start()\n"
                "ready.wait()\n" + ending))

    def test_a_daemon_thread_may_open_at_the_end(self):
        self.finish(self.child(
            "ready = threading.Event()\n"
            "def take():\n"
            "    ready.set()\n"
            "    open_stream()\n"
            "threading.Thread(target=take, daemon=True).start()\n"
            "ready.wait()\n", server="tcp://127.0.0.1:1"))

    def test_an_exception_ends_the_process_in_order(self):
        _, err = self.finish(self.child(
            "s = open_stream()\nb = s.next()\nt = b.tensor(0)\n"
            "c = t.__dlpack__()\nv = memoryview(t)\nraise ValueError('x')\n"),
            code=1)
        self.assertTrue(err.rstrip().endswith("ValueError: x"), err)

    def test_a_forked_child_is_refused_and_leaves_the_stream(self):
        out, _ = self.finish(self.child(
            "s = open_stream()\nb = s.next()\nt = b.tensor(0)\n"
            "def name(status, text, parts):\n"
            "    return RuntimeError(f'{status} {text}')\n"
            "_forebay.set_error_factory(name)\n"
            "stop = threading.Event()\n"
            "def take():\n"
            "    while not stop.is_set(): s.next()\n"
            "thread = threading.Thread(target=take, daemon=True)\n"
            "thread.start()\n"
            "for _ in range(5):\n"
            "    pid = os.fork()\n"
            "    if pid == 0:\n"
            "        for call in (s.next, s.stats, lambda: b.tensor(0),\n"
            "                     t.__dlpack__, lambda: s.seek('x'), b.release):\n"
            "            try: call()\n"
            "            except RuntimeError as e:\n"
            "                assert str(e).startswith('7 '), e\n"
            "            else: raise SystemExit(9)\n"
            "        assert len(memoryview(t)) == 16\n"
            "        _forebay.log_lines()\n"
            "        s.close()\n"
            "        del s, b, t\n"
            "        sys.exit(0)\n"
            "    _, status = os.waitpid(pid, 0)\n"
            "    assert status == 0, status\n"
            "stop.set()\n"
            "thread.join()\n"
            "print(s.next().rows)\n"))
        self.assertEqual(out, "16\n")

    def test_it_imports_in_time(self):
        out, _ = self.finish(self.child(
            "import subprocess, time\n"
            "code = 'import time; t = time.perf_counter(); '\n"
            "code += 'import forebay._forebay; '\n"
            "code += 'print(time.perf_counter() - t)'\n"
            "print(min(float(subprocess.check_output("
            "[sys.executable, '-c', code])) for _ in range(3)))\n"))
        self.assertLess(float(out), 0.5 * harness.SLOW)


if __name__ == "__main__":
    harness.main()
