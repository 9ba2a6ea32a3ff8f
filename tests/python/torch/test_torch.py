# SPDX-License-Identifier: Apache-2.0
"""The Loader with PyTorch, on the CPU. Needs PyTorch from PyPI."""

import io
import os
import pathlib
import pickle
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy  # noqa: E402
import torch  # noqa: E402

from package import STEPS, PackageTest, Script, digest  # noqa: E402
import harness  # noqa: E402

import forebay  # noqa: E402
import forebay.torch  # noqa: E402

# A loader and sockets of pyzmq, which has a libzmq of its own.
PYZMQ = """
loader = forebay.Loader(sys.argv[1], split="train", framework="numpy")
context = zmq.Context()
one, other = context.socket(zmq.PUSH), context.socket(zmq.PULL)
other.connect(f"tcp://127.0.0.1:{one.bind_to_random_port('tcp://127.0.0.1')}")
for _ in range(20):
    for batch in loader:
        for array in batch.values():
            one.send(array, copy=False)
            assert other.recv() == array.tobytes()
context.destroy()
say(len(list(loader)))
loader.close()
with zmq.Context() as context, context.socket(zmq.PAIR) as socket:
    socket.bind("inproc://end")
"""


class Plain(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index


class Wrapped(torch.utils.data.IterableDataset):
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        yield from self.loader


def spawned(index, loader, queue):
    queue.put([digest({name: tensor.numpy() for name, tensor in batch.items()})
               for batch in loader])
    loader.close()


def digests(loader):
    return [digest({name: tensor.numpy() for name, tensor in batch.items()})
            for batch in loader]


class Torch(PackageTest):
    def setUp(self):
        super().setUp()
        self.set_environment(OMP_NUM_THREADS="1")

    def loader(self, pipeline=None, **arguments):
        arguments.setdefault("framework", "torch")
        return super().loader(pipeline, **arguments)

    def test_tensors_are_those_of_numpy_and_writable(self):
        tensors, arrays = self.loader(), self.loader(framework="numpy")
        for batch, right in zip(tensors, arrays):
            for name, tensor in batch.items():
                self.assertIs(type(tensor), torch.Tensor)
                self.assert_equal(tensor.numpy(), right[name])
            batch["image"].mul_(2)
            self.assertTrue(torch.equal(
                batch["image"], torch.from_numpy(right["image"]) * 2))

    def test_a_tensor_keeps_its_memory(self):
        loader = self.loader()
        iterator = iter(loader)
        kept, freed = (next(iterator)["image"] for _ in range(2))
        before = kept.clone()
        for _ in range(170):  # 1,000 batches
            for batch in loader:
                pass
        self.assertTrue(torch.equal(kept, before))
        del batch
        self.assertEqual(loader.stats()["stream"]["batches_held"], 2)
        del freed
        self.assertEqual(loader.stats()["stream"]["batches_held"], 1)
        loader.close()
        self.assertTrue(torch.equal(kept, before))

    def test_the_table_and_capsules_give_the_same_values(self):
        by_table, by_capsules = self.loader(), self.loader()
        len(by_table), len(by_capsules)  # open them
        self.assertIsNotNone(by_table._open.adapter.exchange)
        by_capsules._open.adapter.exchange = None  # as before PyTorch 2.10
        self.assertEqual(digests(by_table), digests(by_capsules))

    def test_bf16_and_channels_last(self):
        loader = self.loader(output={"image": {"dtype": "bf16",
                                               "layout": "channels_last"}})
        image = next(iter(loader))["image"]
        self.assertEqual(image.dtype, torch.bfloat16)
        self.assertEqual(tuple(image.shape), (16, 3, 32, 32))
        self.assertTrue(image.is_contiguous(
            memory_format=torch.channels_last))

    def test_the_modules_have_the_same_loader(self):
        loader = forebay.torch.Loader(self.pipeline, split="train")
        self.addCleanup(loader.close)
        self.assertIsInstance(next(iter(loader))["label"], torch.Tensor)
        arrays = forebay.numpy.Loader(self.pipeline, split="train")
        self.addCleanup(arrays.close)
        self.assertIsInstance(next(iter(arrays))["label"], numpy.ndarray)

    def test_a_device_that_is_not_there(self):
        for device in ("cuda", "cuda:1", torch.device("cuda", 0)):
            with self.raises(forebay.ClusterError, "no GPU"):
                len(self.loader(device=device))
        for device in ("cpu", "auto", torch.device("cpu")):
            self.assertEqual(len(self.loader(device=device)), STEPS)
        with self.raises(forebay.UsageError, "cuda:N"):
            len(self.loader(device="tpu"))

    def test_a_state_is_loaded_with_weights_only(self):
        loader = self.loader()
        right = digests(loader)
        loader.set_epoch(0)
        next(iter(loader))
        file = io.BytesIO()
        torch.save(loader.state_dict(), file)
        file.seek(0)
        other = self.loader()
        other.load_state_dict(torch.load(file, weights_only=True))
        self.assertEqual(digests(other), right[1:])

    def test_dataloader_is_refused(self):
        DataLoader = torch.utils.data.DataLoader
        loader = self.loader()
        for number in (0, 2):
            for dataset in (loader, self.loader(), Wrapped(self.loader())):
                if number == 0 and isinstance(dataset, Wrapped):
                    continue  # one process: nothing comes twice
                with self.assertRaises(forebay.UsageError) as caught:
                    list(DataLoader(dataset, num_workers=number,
                                    batch_size=None))
                self.assertIn("use the loader itself", str(caught.exception))
        self.assertEqual(len(digests(loader)), STEPS)

    def test_dataloader_workers_fork_beside_an_open_loader(self):
        loader = self.loader()
        iterator = iter(loader)
        next(iterator)
        numbers = torch.utils.data.DataLoader(Plain(), num_workers=2)
        self.assertEqual(len(list(numbers)), 8)
        self.assertEqual(len(list(iterator)), STEPS - 1)
        self.assertEqual(len(list(numbers)), 8)

    def test_spawn_takes_a_loader_that_is_not_open(self):
        import torch.multiprocessing as mp
        queue = mp.get_context("spawn").SimpleQueue()
        self.set_environment(PYTHONPATH=os.pathsep.join(sys.path))
        process = mp.spawn(spawned, (self.loader(), queue), join=False)
        right = digests(self.loader())
        process.join()  # raises what the process has raised
        self.assertEqual(queue.get(), right)
        opened = self.loader()
        len(opened)
        with self.raises(forebay.UsageError, "pickled"):
            pickle.dumps(opened)

    def test_ragged_fields_as_nested_tensors(self):
        rows = [numpy.arange(i + 1, dtype="i4") for i in range(8)]
        self.cluster.table("day-0", {
            "ids.values": numpy.concatenate(rows),
            "ids.offsets": numpy.cumsum([0] + [len(row) for row in rows]),
            "x": numpy.arange(8, dtype="f4")})
        path = self.cluster.of_tables(
            "fields:\n  ids: {from: ids, decode: array, shape: [], "
            "max_length: 9, wire: i32}\n  x: {from: x, decode: number}\n"
            "global_batch: 8\n", keys="shuffle: none")
        loader = self.loader(path, output={"ids": {"as": "nested",
                                                   "dtype": "i64"}})
        [batch] = loader
        self.assertEqual(sorted(batch), ["ids", "x"])
        nested = batch["ids"]
        self.assertEqual(nested.layout, torch.jagged)
        self.assertEqual([row.tolist() for row in nested.unbind()],
                         [row.tolist() for row in rows])
        self.assertEqual(nested._get_max_seqlen(), 8)
        self.assertEqual(loader.fields["ids"].shape, (-1, -1))

    def test_sparse_fields_as_sparse_tensors(self):
        dense = (numpy.arange(80, dtype="f4") % 3 == 0) * numpy.arange(80)
        dense = dense.reshape(8, 10).astype("f4")
        self.write_csr(self.cluster.path("rec") / "day-0", "words", dense)
        path = self.cluster.of_tables(
            "fields:\n  words: {from: words, decode: sparse, shape: [10], "
            "max_length: 10, wire: f32}\nglobal_batch: 8\n",
            keys="shuffle: none")
        for form, layout in (("sparse", torch.sparse_coo),
                             ("sparse_csr", torch.sparse_csr)):
            loader = self.loader(path, output={"words": {"as": form}})
            self.assertEqual(loader.fields["words"].shape, (-1, 10))
            [batch] = loader
            self.assertEqual(list(batch), ["words"])
            self.assertEqual(batch["words"].layout, layout)
            self.assertTrue(numpy.array_equal(
                batch["words"].to_dense().numpy(), dense))
        with self.raises(forebay.Error, "label"):
            len(self.loader(output={"label": {"as": "sparse"}}))

    def write_csr(self, folder, name, dense):
        """A file as scipy.sparse.save_npz(compressed=False) writes it."""
        folder.mkdir(parents=True)
        rows, columns = numpy.nonzero(dense)
        numpy.savez(folder / f"{name}.npz", format=numpy.array(b"csr"),
                    shape=numpy.array(dense.shape),
                    data=dense[rows, columns],
                    indices=columns.astype("i4"),
                    indptr=numpy.searchsorted(
                        rows, numpy.arange(len(dense) + 1)).astype("i4"))

    def test_it_works_beside_pyzmq(self):
        ours, theirs = "import forebay._forebay\n", "import zmq\n"
        for imports in (ours + theirs, theirs + ours):
            run = Script(self, imports + PYZMQ, self.pipeline)
            self.assertEqual(run.finish().splitlines()[0], str(STEPS))

    def test_the_profiler_sees_next(self):
        loader = self.loader()
        with torch.profiler.profile() as profile:
            list(loader)
        self.assertIn("forebay.next",
                      [event.key for event in profile.key_averages()])


if __name__ == "__main__":
    harness.main()
