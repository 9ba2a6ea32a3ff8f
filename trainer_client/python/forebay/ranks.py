# SPDX-License-Identifier: Apache-2.0
"""Which rank of which job this process is.

The first of these that is given decides: the arguments, the data dimensions of
a DeviceMesh, torch.distributed, RANK and WORLD_SIZE, the variables of srun. All
functions are pure: the environment is an argument."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional

from forebay.errors import UsageError

# Names that dimensions of a mesh have when their ranks take other data.
DATA_DIMENSIONS = frozenset((
    "batch", "data", "data_parallel", "ddp", "dp", "dp_replicate", "dp_shard",
    "fsdp", "hsdp", "replicate", "shard"))

Environment = Mapping[str, str]


class Place(NamedTuple):
    """The place of a process in its job."""
    rank: int
    world: int
    job: Optional[str]  # None: a job of its own
    origin: str         # what says so, for messages


def number(env: Environment, name: str) -> int:
    """A variable that is a number from 0."""
    text = env[name]
    if not text.strip().isdecimal():
        raise UsageError(f"the environment variable {name} is {text!r}: it "
                         "must be a number from 0")
    return int(text)


def from_launcher(env: Environment) -> Optional[tuple[int, int, str]]:
    """Rank, world and what says so, from torchrun's or srun's variables."""
    if "RANK" in env and "WORLD_SIZE" in env:
        return (number(env, "RANK"), number(env, "WORLD_SIZE"),
                "RANK and WORLD_SIZE")
    if env.get("WORLD_SIZE", "1") != "1":
        raise UsageError("the environment has WORLD_SIZE but not RANK: set "
                         "both, or give rank= and world=")
    # Without SLURM_STEP_ID it is the script of sbatch, which is no task.
    if "SLURM_STEP_ID" in env and "SLURM_PROCID" in env:
        return (number(env, "SLURM_PROCID"),
                number(env, "SLURM_STEP_NUM_TASKS"), "srun")
    return None


def job_of(env: Environment, host: str) -> Optional[str]:
    """The name of the launcher's run, which all of its ranks agree on.

    It has no restart count: restarted ranks take the place of the old ones.
    `host` is the name of this host; a rendezvous on loopback means it."""
    run = env.get("TORCHELASTIC_RUN_ID", "none")
    if run != "none":
        return run
    address, port = env.get("MASTER_ADDR"), env.get("MASTER_PORT")
    if address and port:
        local = address == "localhost" or address.startswith(("127.", "::1"))
        return f"{host if local else address}:{port}"
    if "SLURM_JOB_ID" in env and "SLURM_STEP_ID" in env:
        return f"slurm-{env['SLURM_JOB_ID']}.{env['SLURM_STEP_ID']}"
    return None


def of_mesh(mesh: Any) -> tuple[int, int, int]:
    """Rank and world along the data dimensions of a DeviceMesh, and a number
    that is the same in this group only: ranks of several groups receive the
    same data, as a job of each group."""
    if not hasattr(mesh, "mesh_dim_names"):
        raise UsageError(f"mesh: give a DeviceMesh of torch.distributed, not "
                         f"{type(mesh).__name__}")
    names = mesh.mesh_dim_names or ()
    n_dims = mesh.ndim
    data = [i for i in range(n_dims) if n_dims == 1 or
            (i < len(names) and names[i] in DATA_DIMENSIONS)]
    if not data:
        raise UsageError(
            f"mesh: none of its dimensions {tuple(names)} has a name for data "
            "parallelism, such as 'dp': give the dimension, as in "
            "mesh=mesh['NAME']")
    here = mesh.get_coordinate()
    if here is None:
        raise UsageError("mesh: this process is not in it")
    rank, world = 0, 1
    for i in data:
        rank = rank * mesh.size(i) + here[i]
        world *= mesh.size(i)
    first = tuple(0 if i in data else here[i] for i in range(n_dims))
    return rank, world, int(mesh.mesh[first])


def find(env: Environment, host: str, *, rank: Optional[int] = None,
         world: Optional[int] = None, job: Optional[str] = None,
         mesh: Any = None, distributed: Any = None) -> Place:
    """The place of this process. `distributed` is the module
    torch.distributed if it is initialised."""
    if (rank is None) != (world is None):
        raise UsageError("rank and world: give both or none")
    group = 0
    launched = from_launcher(env)
    if rank is not None and world is not None:
        origin = "the arguments"
    elif mesh is not None:
        (rank, world, group), origin = of_mesh(mesh), "the mesh"
    elif distributed is not None:
        rank, world = distributed.get_rank(), distributed.get_world_size()
        origin = "torch.distributed"
    elif launched is not None:
        rank, world, origin = launched
    else:
        rank, world, origin = 0, 1, "no launcher"
    assert rank is not None and world is not None
    if not 0 <= rank < world:
        raise UsageError(f"rank {rank} of {world} (from {origin}): a rank is "
                         "at least 0 and below the world size")
    if job is None and (world > 1 or group > 0):
        job = job_of(env, host)
        if job is None:
            raise UsageError(
                f"rank {rank} of {world} (from {origin}): the launcher gives "
                "the job no name; give job='NAME', the same on every rank")
    if group > 0:
        job = f"{job}+{group}"
    return Place(rank, world, job, origin)
