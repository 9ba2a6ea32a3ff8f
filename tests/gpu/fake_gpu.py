# SPDX-License-Identifier: Apache-2.0
"""PyTorch's view of the fake GPU of tests/trainer_client/fake_cuda.h.

FOREBAY_FAKE_GPU is the extension module, linked with the fake. Its "device
memory" is host memory, so a tensor on this GPU is one on the host to PyTorch.
PyTorch's own work is done at once; the library's is late and in any order.
Reads and writes with the functions of fake_cuda.h are in the order of their
stream. Memory that PyTorch allocates for batches is never freed."""

import contextlib
import ctypes
import importlib.machinery
import importlib.util
import os
import sys

import forebay
import torch


def load_extension(path):
    """Load the module in place of the package's own, and its functions."""
    name = "forebay._forebay"
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_loader(name, loader, origin=path)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    # PyTorch's table of C functions would make tensors of a real GPU.
    module.exchange_api = lambda array_type: None
    sys.modules[name] = forebay._forebay = module
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    functions = ctypes.CDLL(path)
    functions.fake_cuda_begin.argtypes = [ctypes.c_uint64]
    functions.fake_cuda_read.argtypes = [pointer, pointer, pointer, size]
    functions.fake_cuda_fill.argtypes = [pointer, pointer, size]
    return functions


class DlTensor(ctypes.Structure):
    """The first members of DLTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32)]


def capsule_pointer(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object,
                                                  ctypes.c_char_p]
    return get(capsule, name)


def from_capsule(capsule):
    """Take a tensor of either device as one of the host."""
    tensor = DlTensor.from_address(capsule_pointer(capsule, b"dltensor"))
    tensor.device_type, tensor.device_id = 1, 0
    return torch._C._from_dlpack(capsule)


class Stream:
    def __init__(self, gpu, number):
        self.gpu, self.cuda_stream = gpu, number

    def wait_stream(self, other):
        """Waits now: work that is submitted later comes after it."""
        self.gpu.synchronize()


class Bytes(torch.Tensor):
    """Memory that PyTorch has allocated on a GPU."""

    def record_stream(self, stream):
        """It is never freed."""


class Cuda:
    """The functions of torch.cuda that forebay.torch calls."""
    Stream = Stream

    def __init__(self, gpu):
        self.current_stream = lambda device: gpu.stream

    def device(self, device):
        return contextlib.nullcontext()

    def is_available(self):
        return True

    def is_current_stream_capturing(self):
        return False


class Torch:
    """The module torch, for forebay.torch."""

    def __init__(self, gpu):
        self.cuda, self.kept = Cuda(gpu), []

    def __getattr__(self, name):
        return getattr(torch, name)

    def empty(self, size, dtype, device):
        made = torch.empty(size, dtype=dtype).as_subclass(
            Bytes if size else torch.Tensor)
        if size:
            self.kept.append(made)
        return made


def make(host):
    """The device of the tests, which inherits from that of the host."""
    functions = load_extension(os.environ["FOREBAY_FAKE_GPU"])
    functions.fake_cuda_begin(int(os.environ.get("FOREBAY_SEED", "7")))
    functions.fake_cuda_hurry()

    class FakeGpu(host):
        epochs = 3

        def __init__(self):
            self.name, self.of_tensors = "cuda:0", "cpu"
            self.stream, self.streams = Stream(self, 0), 0

        def about(self):
            return "a fake GPU"

        def new_stream(self):
            self.streams += 1
            return Stream(self, 4096 * self.streams)  # no stream of the fake

        @contextlib.contextmanager
        def on(self, stream):
            before, self.stream = self.stream, stream
            yield
            self.stream = before

        def current(self):
            return self.stream

        def synchronize(self):
            functions.fake_cuda_run()

        def taken(self, batch):
            if not self.counting:
                self.synchronize()

        counting = False

        def begin_count(self):
            self.counting, self.reads = True, []

        def count_wrong(self, batch, right, counter):
            """Read the values when the stream gets there."""
            for name, tensor in batch.items():
                assert tensor.is_contiguous()
                read = torch.empty_like(right[name])
                functions.fake_cuda_read(
                    self.stream.cuda_stream, read.data_ptr(),
                    tensor.data_ptr(), tensor.nbytes)
                self.reads.append((read, right[name]))

        def end_count(self):
            self.synchronize()
            wrong = sum((read != right).sum().item()
                        for read, right in self.reads)
            self.reads.clear()
            self.counting = False
            return wrong

        def overwrite(self, batch):
            for tensor in batch.values():
                functions.fake_cuda_fill(self.stream.cuda_stream,
                                         tensor.data_ptr(), tensor.nbytes)

        def poison(self, size):
            pass

    import forebay.torch
    gpu, adapter = FakeGpu(), forebay.torch.Adapter
    read_numbers = adapter.numbers

    def numbers(self, array):
        gpu.synchronize()  # as any read on the host
        return read_numbers(self, array)

    adapter.numbers = numbers
    forebay.torch.torch = Torch(gpu)
    forebay.torch._from_capsule = from_capsule
    forebay.torch.from_dlpack = lambda tensor: from_capsule(
        tensor.__dlpack__() if tensor.__dlpack_device__()[0] == 1
        else tensor.__dlpack__(stream=gpu.stream.cuda_stream or 1))
    return gpu
