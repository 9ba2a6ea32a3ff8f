# SPDX-License-Identifier: Apache-2.0
"""The ranks of a run under torchrun, with gloo."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from package import PYTHON, STEPS, PackageTest, Script  # noqa: E402
import harness  # noqa: E402

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
