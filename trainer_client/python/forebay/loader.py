# SPDX-License-Identifier: Apache-2.0
"""The Loader: epochs, positions and states over one stream of batches.

A loader stands at a position: `step` batches of `epoch` were delivered. Each
iteration belongs to one epoch. A new one finishes the epoch in which the loader
stands, if that was loaded or set; else it begins the next one. The stream
follows with a seek, which keeps its connections.

The stream is opened when it is first needed. Until then a loader can be
pickled, and a child process can open it."""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from typing import (
    TYPE_CHECKING, Any, Callable, Iterator, Mapping, NoReturn, Optional,
    Sequence, TypeVar, cast)

from forebay import arguments, log, opening, pipeline, ranks, state, stats
from forebay.errors import Error, UsageError
from forebay.opening import Open
from forebay.stats import now_ns

if TYPE_CHECKING:
    from forebay._forebay import Batch
    from forebay.adapters import Field

_MOST = 2**32 - 1      # of numbers that the library has as uint32_t
_MOST_PREFETCH = 4096  # batches in the library's window
_MOST_THREADS = 1024   # of a worker
_UNKNOWN = (-1, 0)     # the stream must be moved before its next batch


Method = TypeVar("Method", bound=Callable[..., Any])


def _exclusive(method: Method) -> Method:
    """A method that uses the stream or moves the loader: one call at a time.
    Errors: UsageError in a signal handler that interrupted such a call of the
    same thread: it would wait for itself."""
    @functools.wraps(method)
    def call(self: Loader, *args: Any) -> Any:
        caller = threading.get_ident()
        if self._user == caller and self._lock.locked():
            raise UsageError("the loader is in use by the call that this "
                             "signal handler interrupted: note the signal, "
                             "and act on it in the loop")
        with self._lock:
            self._user = caller
            try:
                return method(self, *args)
            finally:
                self._user = 0
    return cast(Method, call)


def _public(method: Method) -> Method:
    """A method whose errors show one frame of this package: their text says
    what to do, and the frames below say nothing to a caller."""
    @functools.wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return method(*args, **options)
        except Error as error:
            raise error.with_traceback(None) from None
    return cast(Method, call)


class Loader:
    """Batches of a pipeline, in order, each exactly once.

    pipeline   path of a pipeline file, or a dict with its keys
    split      name of the split; default: the only one, or `train`
    server     "tcp://HOST:PORT" of a cluster; default: a local one, which the
               loaders and ranks of this user on this machine share
    keys       of the server: path of a key file, or of a folder with one; default:
               the variable FOREBAY_KEYS
    data       {name: directory} of the pipeline's roots, on this machine
    job        name of the run, the same on all ranks; default: the launcher's
    rank, world  place of this process; default: mesh, torch.distributed, RANK
               and WORLD_SIZE, srun's variables
    mesh       DeviceMesh; ranks differ along its data dimensions only
    device     "cpu" (the default), "cuda", "cuda:N", "auto", torch.device
    fields     names of the fields to deliver; default: all
    output     {field: {dtype, layout, as, to, pad, offsets}}: another form of a
               field, with the keys of `out` in a pipeline; `as` is also
               "nested", "sparse", "sparse_csr" or "text"
    prefetch   batches to request ahead; default: 16, at most 256 MiB
    memory     on a GPU: "own", "ring" or "fixed", see forebay.torch; without
               effect on the CPU
    seed       instead of the pipeline's
    timeout    seconds to wait for the opening, and for a batch
    framework  "torch" (the default), "numpy" or "jax"
    threads    of the local cluster; default: 0.4 of the cores
    info       add the key "forebay" to each batch: epoch, step, token, samples
               (a number for each row), substitutions

    A batch is a dict of tensors. Tensors have the rows of this rank first:
    [global_batch / world, ...]; `fields` has their shapes. They are the
    caller's as long as they are referenced, and may be overwritten."""

    framework = "torch"

    @_public
    def __init__(
            self, pipeline: pipeline.Source, *, split: Optional[str] = None,
            server: Optional[str] = None, keys: Optional[str] = None,
            data: Optional[arguments.Folders] = None,
            job: Optional[str] = None, rank: Optional[int] = None,
            world: Optional[int] = None, mesh: Any = None,
            device: object = None, fields: Optional[Sequence[str]] = None,
            output: Optional[arguments.Output] = None,
            prefetch: Optional[int] = None, memory: Optional[str] = None,
            seed: Optional[int] = None, timeout: float = 300.0,
            framework: Optional[str] = None, threads: Optional[int] = None,
            info: bool = False, **unknown: NoReturn):
        undecorated = getattr(Loader.__init__, "__wrapped__")
        arguments.refuse(unknown, undecorated.__kwdefaults__)
        self._options: dict[str, Any] = dict(
            split=arguments.text("split", split),
            server=arguments.text("server", server),
            keys=arguments.text("keys", keys),
            job=arguments.text("job", job),
            rank=arguments.optional_count("rank", rank, 0, _MOST),
            world=arguments.optional_count("world", world, 1, _MOST),
            mesh=mesh, device=device, output=arguments.outputs(output),
            fields=arguments.names("fields", fields),
            prefetch=arguments.optional_count(
                "prefetch", prefetch, 1, _MOST_PREFETCH),
            memory=arguments.text("memory", memory),
            seed=arguments.optional_count("seed", seed, 0),
            threads=arguments.optional_count(
                "threads", threads, 1, _MOST_THREADS),
            data=arguments.folders(data))
        if server is not None and threads is not None:
            raise UsageError("threads= is for the local cluster: leave it out "
                             "with server=")
        self._pipeline = pipeline
        self._set(arguments.text("framework", framework) or self.framework,
                  arguments.seconds("timeout", timeout), bool(info))

    def _set(self, framework: str, timeout: float, info: bool) -> None:
        """The part of the construction that a copy repeats."""
        self.framework, self.timeout, self.info = framework, timeout, info
        self._open: Optional[Open] = None
        self._closed = False
        self._last_counts: Optional[Mapping[str, Any]] = None  # when closed
        self._loaded: Optional[dict[str, Any]] = None  # until it is opened
        self._renew_lock()
        _loaders.add(self)
        self._epoch = self._step = 0   # delivered
        self._token = ""               # of some position of the stream
        self._next_at = (0, 0)         # epoch, step: the stream's next batch
        self._begun = False            # an iteration has used this epoch
        self._again = False            # the next iteration begins it again
        self._iteration = 0            # the number of the newest one
        self._waits = stats.Waits()
        self._place: Optional[ranks.Place] = None

    def _renew_lock(self) -> None:
        """Also in a forked child, where no thread will release the old one."""
        self._lock = threading.Lock()  # while the stream is used
        self._user = 0                 # the thread that has the lock; or 0

    # ---- iteration ---------------------------------------------------------

    @_public
    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rest of this epoch, or over the next one."""
        _refuse_dataloader_worker()
        self._opened()
        return self._begin()

    @_public
    def __len__(self) -> int:
        """The batches of an epoch."""
        return self._opened().length

    @_exclusive
    def _begin(self) -> _Iteration:
        if self._begun:
            self._move_to(self._epoch + (0 if self._again else 1), 0)
        self._iteration += 1
        self._waits.pause()
        return _Iteration(self, self._iteration)

    @_exclusive
    def _next(self, iteration: _Iteration) -> Optional[dict[str, Any]]:
        """The next batch of the epoch of an iteration; None at its end."""
        opened = self._open
        assert opened is not None
        if iteration.ended:
            return None
        if iteration.number != self._iteration:
            raise UsageError("this iteration ended when the loader was moved "
                             "or iterated again: use the newest iterator")
        if self._step == opened.length:
            iteration.ended = True
            self._move_to(self._epoch + 1, 0)
            return None
        begin = now_ns()
        batch = self._take(opened)
        self._waits.add(begin, now_ns(), batch.rows)
        values = opened.reader.read(batch)
        if self.info:
            values["forebay"] = _info(batch)
        opened.adapter.release(batch)
        if self._waits.is_due():
            self._report(opened)
        self._delivered(batch, opened.length)
        return values

    def _take(self, opened: Open) -> Batch:
        """The batch at the loader's position. An interrupt at any line leaves
        the position of the stream unknown, or right."""
        at, before = (self._epoch, self._step), self._next_at
        self._next_at = _UNKNOWN
        if before != at:
            opened.stream.seek_step(*at)
        try:
            batch = opened.take(self.timeout)
        except Error:
            self._next_at = at  # none was taken
            log.drain()
            if self._closed:
                raise UsageError(_CLOSED) from None
            if opened.cluster is not None:
                opened.cluster.check()
            raise
        if batch is None:
            raise Error("the stream ended before the epoch did")
        return batch

    def _delivered(self, batch: Batch, length: int) -> None:
        self._epoch, self._step = batch.epoch, batch.step + 1
        self._begun = True
        self._next_at = ((self._epoch, self._step) if self._step < length
                         else (self._epoch + 1, 0))

    def _report(self, opened: Open) -> None:
        """Pass on the log, and say if the trainer waits too long."""
        log.drain()
        counts = opened.stream.stats()
        self._waits.warn(counts["stages"], counts["batches_ready"])

    # ---- positions ---------------------------------------------------------

    @property
    def epoch(self) -> int:
        """The epoch in which the loader stands. After a complete iteration it
        is the next one."""
        return self._epoch

    @property
    def step(self) -> int:
        """The batches of this epoch that were delivered."""
        return self._step

    @_public
    @_exclusive
    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration begin this epoch. A position that was loaded
        in it stays. If the loader stands in another epoch, it moves at once,
        and a running iteration ends. If it stands in this one, a running
        iteration and state_dict() keep their position."""
        wanted = arguments.count("set_epoch: epoch", epoch, 0)
        self._check_process()
        if wanted != self._epoch:
            self._move_to(wanted, 0)
            self._iteration += 1
        self._again = self._begun

    @_public
    def state_dict(self, after: Optional[Mapping[str, Any]] = None
                   ) -> dict[str, Any]:
        """The position after the last batch that was delivered, as a dict of
        strings and numbers below 400 bytes. It is the same on all ranks.

        after: the key "forebay" of a batch (see `info`): the position after
        this one, for callers that take batches ahead of their use."""
        info = self._opened().stream.info
        if after is not None:
            return state.make(state.after(after), info)
        return state.make(
            state.Position(self._epoch, self._step, self._token), info)

    @_public
    @_exclusive
    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue at a position. The next iteration finishes its epoch.
        Errors: StateError, which says how the states differ."""
        position = state.parse(state_dict)
        self._check_process()
        if self._open is None:
            self._loaded = dict(state_dict)
        else:
            opening.compare(self._open.stream, state_dict)
            self._next_at = _UNKNOWN
            opening.seek(self._open.stream, position.token)
        self._move_to(position.epoch, position.step)
        self._token = position.token
        self._iteration += 1

    def _move_to(self, epoch: int, step: int) -> None:
        self._epoch, self._step = epoch, step
        self._begun = self._again = False

    # ---- what is open ------------------------------------------------------

    @property
    @_public
    def fields(self) -> Mapping[str, Field]:
        """Name, dtype and shape of each entry of a batch; opens the loader."""
        return self._opened().reader.fields

    @property
    @_public
    def classes(self) -> Optional[tuple[str, ...]]:
        """The names of the ids, if the pipeline or the source has names; opens
        the loader."""
        return self._opened().stream.classes

    @_public
    def stats(self) -> dict[str, Any]:
        """Rates, waits and counters; see forebay.stats.summary(). After
        close() those of its time."""
        log.drain()
        if self._last_counts is not None:
            return stats.summary(self._waits, self._last_counts)
        return stats.summary(self._waits, self._opened().stream.stats())

    def close(self) -> None:
        """Close the stream, and leave the local cluster. Tensors stay."""
        if (self._open is not None and not self._closed
                and self._open.pid == os.getpid()):
            self._last_counts = self._open.stream.stats()
        self._closed = True
        if self._open is not None:
            self._finalize()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        source = self._pipeline
        name = "{...}" if isinstance(source, Mapping) else os.fspath(source)
        split = self._options["split"]
        opened = self._open
        where = ("closed" if self._closed else "not open" if opened is None
                 else f"rank {opened.place.rank} of {opened.place.world}, "
                      f"step {self._step} of {opened.length}")
        return (f"<forebay.Loader {name}{':' + split if split else ''}, "
                f"epoch {self._epoch}, {where}>")

    # ---- opening -----------------------------------------------------------

    def _opened(self) -> Open:
        opened = self._open
        if self._closed:
            raise UsageError(_CLOSED)
        self._check_process()
        return opened or self._open_once()

    def _check_process(self) -> None:
        if self._open is not None and self._open.pid != os.getpid():
            raise UsageError(
                f"the loader was opened in process {self._open.pid}, which is "
                "not this one: make it in the process that uses it")

    @_exclusive
    def _open_once(self) -> Open:
        if self._open is None:
            self._open = self._do_open()
            if self._closed:  # in the meantime
                self._finalize()
                raise UsageError(_CLOSED)
        return self._open

    def _do_open(self) -> Open:
        # A second attempt has the place, and so the job's name, of the first.
        self._place = self._place or opening.find_place(self._options)
        opened = opening.open_stream(
            self._pipeline, self._options, self._place, self.framework,
            self.timeout, self._loaded)
        self._finalize = weakref.finalize(self, opening.close, opened)
        info = opened.stream.info
        self._next_at = (_UNKNOWN if self._loaded else
                         (info["first_epoch"], info["first_step"]))
        self._token = self._token or info["first_token"]
        self._loaded = None
        return opened

    # ---- other processes ---------------------------------------------------

    def __getitem__(self, index: object) -> NoReturn:
        raise UsageError(_USE_ITSELF)

    def __getstate__(self) -> dict[str, Any]:
        if self._open is not None:
            raise UsageError("an open loader cannot be pickled: make it in "
                             "the process that uses it, or pickle it before "
                             "its first use")
        return dict(
            pipeline=self._pipeline, options=self._options,
            set=(self.framework, self.timeout, self.info),
            loaded=self._loaded, position=(self._epoch, self._step))

    def __setstate__(self, saved: Mapping[str, Any]) -> None:
        self._pipeline, self._options = saved["pipeline"], saved["options"]
        self._set(*saved["set"])
        self._loaded = saved["loaded"]
        if self._loaded is not None:
            self._token = self._loaded["token"]
        self._move_to(*saved["position"])


_loaders: weakref.WeakSet[Loader] = weakref.WeakSet()


def _renew_locks() -> None:
    for loader in list(_loaders):
        loader._renew_lock()


os.register_at_fork(after_in_child=_renew_locks)


class _Iteration:
    """An iteration over one epoch, until the next one of its loader."""

    def __init__(self, loader: Loader, number: int):
        self._loader, self.number = loader, number
        self.ended = False

    def __iter__(self) -> _Iteration:
        return self

    @_public
    def __next__(self) -> dict[str, Any]:
        values = self._loader._next(self)
        if values is None:
            raise StopIteration
        return values

    @_public
    def __len__(self) -> int:
        return len(self._loader)


_CLOSED = "the loader is closed: make another one"

_USE_ITSELF = (
    "a loader is not a dataset of torch.utils.data.DataLoader, whose workers "
    "would each receive everything: use the loader itself, which yields whole "
    "batches that other processes prepare")


def _info(batch: Batch) -> dict[str, Any]:
    samples: list[int] = memoryview(batch.samples()).cast("Q").tolist()
    return {"epoch": batch.epoch, "step": batch.step, "token": batch.token,
            "samples": samples, "substitutions": batch.substitutions()}


def _refuse_dataloader_worker() -> None:
    data = sys.modules.get("torch.utils.data")
    if data is not None and data.get_worker_info() is not None:
        raise UsageError(_USE_ITSELF)
