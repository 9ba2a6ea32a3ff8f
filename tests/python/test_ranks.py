# SPDX-License-Identifier: Apache-2.0
"""Which rank a process is, as functions of an environment."""

import unittest

from forebay import ranks
from forebay.errors import UsageError

TORCHRUN = {"RANK": "3", "WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "none",
            "TORCHELASTIC_RESTART_COUNT": "0", "MASTER_ADDR": "10.0.0.1",
            "MASTER_PORT": "29500"}
SRUN = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "2", "SLURM_PROCID": "1",
        "SLURM_STEP_NUM_TASKS": "4"}


class Numbers:
    """Of a DeviceMesh: the global ranks of its places."""

    def __init__(self, sizes):
        self.sizes = sizes

    def __getitem__(self, place):
        number = 0
        for size, i in zip(self.sizes, place):
            number = number * size + i
        return number


class Mesh:
    """What ranks.of_mesh() uses of a DeviceMesh."""

    def __init__(self, names, sizes, here):
        self.mesh_dim_names, self.sizes, self.here = names, sizes, here
        self.ndim = len(sizes)
        self.mesh = Numbers(sizes)

    def size(self, i):
        return self.sizes[i]

    def get_coordinate(self):
        return self.here


class Distributed:
    @staticmethod
    def get_rank():
        return 1

    @staticmethod
    def get_world_size():
        return 2


class Ranks(unittest.TestCase):
    def find(self, env=None, **arguments):
        return ranks.find(env or {}, "host", **arguments)

    def test_without_a_launcher_it_is_alone(self):
        self.assertEqual(self.find()[:3], (0, 1, None))

    def test_torchrun(self):
        self.assertEqual(self.find(TORCHRUN)[:3], (3, 8, "10.0.0.1:29500"))

    def test_torchrun_with_a_run_id(self):
        env = dict(TORCHRUN, TORCHELASTIC_RUN_ID="run7")
        self.assertEqual(self.find(env).job, "run7")

    def test_a_restart_keeps_the_name(self):
        again = dict(TORCHRUN, TORCHELASTIC_RESTART_COUNT="2")
        self.assertEqual(self.find(again).job, self.find(TORCHRUN).job)

    def test_a_rendezvous_on_loopback_is_of_this_host(self):
        for address in ("127.0.0.1", "localhost", "::1"):
            env = dict(TORCHRUN, MASTER_ADDR=address)
            self.assertEqual(self.find(env).job, "host:29500")

    def test_srun(self):
        self.assertEqual(self.find(SRUN)[:3], (1, 4, "slurm-77.2"))

    def test_the_script_of_sbatch_is_alone(self):
        env = {"SLURM_JOB_ID": "77", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"}
        self.assertEqual(self.find(env)[:3], (0, 1, None))

    def test_the_order_of_what_decides(self):
        env = dict(SRUN, **TORCHRUN)
        mesh = Mesh(("dp",), (3,), [2])
        steps = [("RANK and WORLD_SIZE", {}),
                 ("torch.distributed", {"distributed": Distributed}),
                 ("the mesh", {"mesh": mesh}),
                 ("the arguments", {"rank": 0, "world": 2})]
        given = {}
        for origin, more in steps:
            given.update(more)
            self.assertEqual(self.find(env, **given).origin, origin)
        self.assertEqual(self.find(SRUN).origin, "srun")

    def test_an_argument_names_the_job(self):
        self.assertEqual(self.find(TORCHRUN, job="mine").job, "mine")

    def test_what_is_wrong_is_named(self):
        for words, env, arguments in (
                ("give both", {}, {"rank": 0}),
                ("rank 2 of 2", {}, {"rank": 2, "world": 2, "job": "j"}),
                ("rank 0 of 0", {}, {"rank": 0, "world": 0}),
                ("job='NAME'", {}, {"rank": 0, "world": 2}),
                ("RANK is 'x'", dict(TORCHRUN, RANK="x"), {}),
                ("WORLD_SIZE is ''", dict(TORCHRUN, WORLD_SIZE=""), {}),
                ("not RANK", {"WORLD_SIZE": "2"}, {})):
            with self.assertRaises(UsageError) as caught:
                self.find(env, **arguments)
            self.assertIn(words, str(caught.exception))


class Meshes(unittest.TestCase):
    def test_of_one_dimension_whatever_its_name(self):
        self.assertEqual(ranks.of_mesh(Mesh(("x",), (4,), [3]))[:2], (3, 4))
        self.assertEqual(ranks.of_mesh(Mesh(None, (4,), [3]))[:2], (3, 4))

    def test_model_parallel_ranks_share_a_place(self):
        places = [ranks.of_mesh(Mesh(("dp", "tp"), (2, 2), [d, t]))
                  for d in range(2) for t in range(2)]
        self.assertEqual(places, [(0, 2, 0), (0, 2, 1), (1, 2, 0), (1, 2, 1)])

    def test_groups_of_one_mesh_are_jobs_of_their_own(self):
        jobs = {ranks.find(TORCHRUN, "host", mesh=Mesh(
            ("dp", "tp"), (2, 2), [d, t])).job
            for d in range(2) for t in range(2)}
        self.assertEqual(jobs, {"10.0.0.1:29500", "10.0.0.1:29500+1"})

    def test_hybrid_shards_are_all_data(self):
        mesh = Mesh(("dp_replicate", "dp_shard", "tp"), (2, 3, 2), [1, 2, 1])
        self.assertEqual(ranks.of_mesh(mesh), (5, 6, 1))

    def test_without_a_dimension_of_data_it_is_refused(self):
        with self.assertRaises(UsageError) as caught:
            ranks.of_mesh(Mesh(("tp", "pp"), (2, 2), [0, 0]))
        self.assertIn("mesh=mesh['NAME']", str(caught.exception))

    def test_a_process_outside_is_refused(self):
        with self.assertRaises(UsageError):
            ranks.of_mesh(Mesh(("dp",), (2,), None))


if __name__ == "__main__":
    unittest.main(verbosity=2)
