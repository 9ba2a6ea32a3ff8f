# SPDX-License-Identifier: Apache-2.0
"""The Loader with PyTorch, on the CPU. Needs PyTorch from PyPI."""

import io
import os
import pathlib
import pickle
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy  # noqa: E402
import torch  # noqa: E402

from package import PYTHON, STEPS, PackageTest, Script, digest  # noqa: E402
import harness  # noqa: E402

import forebay  # noqa: E402
import forebay.torch  # noqa: E402

TRAIN = """
import torch
from torch import nn

torch.manual_seed(3)
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)
model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 8), nn.ReLU(),
                      nn.Linear(8, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
loader = forebay.Loader(sys.argv[1], split="train", server=sys.argv[2],
                        data={"data": sys.argv[3]})
parts = dict(model=model, optimizer=optimizer, loader=loader)
if os.path.exists(sys.argv[4]):
    for name, state in torch.load(sys.argv[4], weights_only=True).items():
        parts[name].load_state_dict(state)
while loader.epoch < 3:
    for batch in loader:
        loss = nn.functional.cross_entropy(model(batch["image"]),
                                           batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.save({name: part.state_dict() for name, part in parts.items()},
                   sys.argv[4] + "~")
        os.replace(sys.argv[4] + "~", sys.argv[4])
        say(loader.epoch, loader.step, loss.item().hex())
"""

RANK = """
import torch.distributed as dist
dist.init_process_group("gloo")
loader = forebay.Loader(sys.argv[1], split=sys.argv[2], info=True)
for batch in loader:
    rows = batch["forebay"]["samples"]
    valid = batch["valid"].tolist() if "valid" in batch else [True] * len(rows)
    say("rank", dist.get_rank(), [s for s, v in zip(rows, valid) if v])
say("state", loader.state_dict()["check"], len(loader), loader._open.place.job)
dist.destroy_process_group()
"""


# Rank 1 ends in the first attempt. Keys in torchrun's store keep the ranks
# together, not gloo's barrier, whose ranks may miss each other after a restart.
RESTART = """
import datetime, json, torch.distributed as dist
rank, world, attempt = (int(os.environ[name]) for name in (
    "RANK", "WORLD_SIZE", "TORCHELASTIC_RESTART_COUNT"))
path = os.path.join(os.path.dirname(sys.argv[1]), "state.json")
store = dist.TCPStore(
    os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]),
    is_master=False, timeout=datetime.timedelta(seconds=120))

def barrier(name):
    key = f"{attempt}/{loader.epoch}/{loader.step}/{name}/"
    store.set(key + str(rank), "")
    store.wait([key + str(r) for r in range(world)])

loader = forebay.Loader(sys.argv[1], split="train", timeout=60)
if os.path.exists(path):
    loader.load_state_dict(json.load(open(path)))
while loader.epoch < 2:
    for batch in loader:
        say(rank, loader.epoch, loader.step, batch["label"].tolist())
        barrier("taken")
        if rank == 0:
            json.dump(loader.state_dict(), open(path + "~", "w"))
            os.replace(path + "~", path)
        barrier("saved")
        if attempt == 0 and rank == 1 and loader.step == 4:
            os._exit(3)
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
        kept = next(iter(loader))["image"]
        before = kept.clone()
        for _ in range(170):  # 1,000 batches
            for batch in loader:
                pass
        self.assertTrue(torch.equal(kept, before))
        self.assertLess(loader.stats()["stream"]["batches_held"], 4)
        del batch
        loader.close()
        self.assertTrue(torch.equal(kept, before))

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

    def test_a_killed_training_resumes_to_the_bit(self):
        self.cluster.start_server()
        workers = [self.cluster.start_worker() for _ in range(2)]
        where = (self.pipeline, self.cluster.server.endpoint,
                 self.cluster.root)
        whole = Script(self, TRAIN, *where,
                       self.cluster.path("a")).finish().splitlines()
        self.assertEqual(len(whole), 3 * STEPS)
        lines, kills = [], 0
        while len(lines) < len(whole):
            script = Script(self, TRAIN, *where, self.cluster.path("b"))
            for _ in range(random.randrange(2, 6)):
                if len(lines) < len(whole):
                    lines.append(script.line())
            script.kill()
            # The step after the last line may be in the checkpoint already.
            lines += script.process.stdout.read().splitlines()
            saved = torch.load(self.cluster.path("b"), weights_only=True)
            at = saved["loader"]["epoch"] * STEPS + saved["loader"]["step"]
            lines += ["?"] * (at - len(lines))
            kills += 1
            if kills == 2:
                workers[0].kill()
                self.cluster.start_worker()
        self.assertGreater(kills, 2)
        for line, right in zip(lines, whole):
            self.assertIn(line, (right, "?"))

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
        self.assertEqual(queue.get(), right)
        process.join()
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
            loader = self.loader(path, output={"words": {
                "as": form, "shape": [10]}})
            [batch] = loader
            self.assertEqual(list(batch), ["words"])
            self.assertEqual(batch["words"].layout, layout)
            self.assertTrue(numpy.array_equal(
                batch["words"].to_dense().numpy(), dense))
        with self.raises(forebay.UsageError, "shape"):
            len(self.loader(path, output={"words": {"as": "sparse"}}))

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

    def test_the_profiler_sees_next(self):
        loader = self.loader()
        with torch.profiler.profile() as profile:
            list(loader)
        self.assertIn("forebay.next",
                      [event.key for event in profile.key_averages()])


class Ranks(PackageTest):
    """torchrun with gloo."""

    def run_ranks(self, world, split, pipeline, *options, code=RANK):
        script = self.cluster.path("rank.py")
        script.write_text(
            f"import os, sys\nsys.path.insert(0, {PYTHON!r})\nimport forebay\n"
            "def say(*words):\n    os.write(1, (' '.join(map(str, words)) + "
            "'\\n').encode())\n" + code)
        run = Script(self, """
from torch.distributed.run import main
main(sys.argv[1:])
""", *options, "--nproc-per-node", world, script, pipeline, split,
                     env={"OMP_NUM_THREADS": "1"})
        out = run.process.communicate(timeout=harness.DEADLINE * 2)
        self.assertEqual(run.process.returncode, 0, out[1])
        return out[0].splitlines()

    def test_every_sample_once_and_equal_steps(self):
        text = self.pipeline.read_text().replace("batch: 16", "batch: 36")
        path = self.cluster.path("ranks.yaml")
        path.write_text(text.replace("last: drop", "last: pad"))
        for world in (2, 3):
            lines = self.run_ranks(world, "val", path)
            rows = [line.split(" ", 2) for line in lines
                    if line.startswith("rank")]
            steps = [sum(row[1] == str(rank) for row in rows)
                     for rank in range(world)]
            self.assertEqual(steps, [3] * world)
            samples = sum((eval(row[2]) for row in rows), [])
            self.assertEqual(sorted(samples), list(range(16 * STEPS)))
            states = {line for line in lines if line.startswith("state")}
            self.assertEqual(len(states), 1)  # one state and one job
        self.assertEqual(self.clusters(), [])

    def test_restarted_ranks_come_back(self):
        begin = time.monotonic()
        lines = self.run_ranks(2, "train", self.pipeline, "--max-restarts", 1,
                               code=RESTART)
        self.assertLess(time.monotonic() - begin, 60 * harness.SLOW)
        labels = {}
        for line in lines:
            rank, epoch, step, values = line.split(" ", 3)
            labels.setdefault((rank, epoch, step), set()).add(values)
        self.assertEqual(len(labels), 2 * 2 * STEPS)
        self.assertTrue(all(len(values) == 1 for values in labels.values()))

    def test_the_run_id_names_the_job(self):
        lines = self.run_ranks(2, "train", self.pipeline, "--rdzv-id", "run7",
                               "--rdzv-backend", "c10d", "--rdzv-endpoint",
                               "localhost:0")
        self.assertIn("run7/train", lines[-1])


class Meshes(PackageTest):
    """Ranks of one model-parallel group have the same bytes."""

    def test_four_ranks_in_two_dimensions(self):
        script = self.cluster.path("mesh.py")
        script.write_text(f"""
import os, sys
sys.path.insert(0, {PYTHON!r})
import forebay, torch.distributed as dist
dist.init_process_group("gloo")
whole = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
for mesh in (whole, whole["dp"]):
    loader = forebay.Loader(sys.argv[1], split="train", mesh=mesh,
                            fields=["label"], info=True)
    samples = next(iter(loader))["forebay"]["samples"]
    os.write(1, f"{{whole.get_local_rank('dp')}} {{samples}}\\n".encode())
dist.destroy_process_group()
""")
        run = Script(self, """
from torch.distributed.run import main
main(sys.argv[1:])
""", "--nproc-per-node", 4, script, self.pipeline,
                     env={"OMP_NUM_THREADS": "1"})
        out, errors = run.process.communicate(timeout=harness.DEADLINE * 2)
        self.assertEqual(run.process.returncode, 0, errors)
        self.assertEqual(len(out.splitlines()), 8, out)
        self.assertEqual(len(set(out.splitlines())), 2, out)


if __name__ == "__main__":
    harness.main()
