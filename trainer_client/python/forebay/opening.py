# SPDX-License-Identifier: Apache-2.0
"""How a loader is opened: its place in the job, its cluster, its stream."""

from __future__ import annotations

import functools
import os
import sys
from typing import (
    TYPE_CHECKING, Any, Callable, Mapping, NamedTuple, Optional)

from forebay import errors, log, pipeline, ranks, state
from forebay.errors import (
    PipelineError, StateError, Timeout, UsageError)

if TYPE_CHECKING:
    from forebay._forebay import Batch, Stream
    from forebay.cluster import Cluster
    from forebay.adapters import Adapter, Reader

Options = Mapping[str, Any]  # arguments of the Loader, by name


CHECK_S = 1.0  # between looks at the local cluster, while waiting

Take = Callable[[float], "Optional[Batch]"]


class Open(NamedTuple):
    """What an open loader holds."""
    stream: Stream
    take: Take                  # the next batch, within a timeout
    cluster: Optional[Cluster]  # the local one, if it is used
    adapter: Adapter
    reader: Reader
    place: ranks.Place
    length: int                 # steps of an epoch
    pid: int                    # of the process that opened it


def open_stream(source: pipeline.Source, options: Options, place: ranks.Place,
                framework: str, timeout: float,
                loaded: Optional[Mapping[str, Any]]) -> Open:
    """Open a stream at the position of a state, if one was loaded."""
    from forebay import _forebay, adapters, cluster
    _forebay.set_error_factory(errors.from_status)
    text = pipeline.read(source)
    adapter = adapters.make(framework, options["device"], options["memory"])
    outputs = adapters.to_library(options["output"])
    local: Optional[Cluster] = None
    stream: Optional[Stream] = None
    if options["server"] is None:
        _check_folders(options["data"])
        local = cluster.use(text, options["data"], options["threads"], timeout)
    try:
        roots = local.started.roots if local else options["data"]
        stream = _connect(text, loaded, dict(
            job=place.job, rank=place.rank, world=place.world), dict(
            server=local.started.server if local else options["server"],
            keys=local.started.keys if local else options["keys"],
            roots=list(roots.items()), outputs=outputs, device=adapter.device,
            memory=adapter.stream_memory, open_timeout=timeout,
            window_batches=options["prefetch"] or 0,
            **{key: options[key] for key in ("split", "fields", "seed")}))
        adapter.opened(stream)
        reader = adapters.Reader(adapter, stream, options["output"])
    except BaseException:
        if stream is not None:
            stream.close()  # the traceback keeps it
        if local:
            local.release()
        raise
    finally:
        log.drain()
    take = _taker(stream, adapter, local)
    return Open(stream, take, local, adapter, reader, place,
                stream.info["steps_per_epoch"], os.getpid())


def close(opened: Open) -> None:
    """Close what a loader holds, if this process opened it."""
    if opened.pid != os.getpid():
        return
    opened.stream.close()  # ends the calls of other threads
    log.drain()
    if opened.cluster is not None:
        opened.cluster.release()


def find_place(options: Options) -> ranks.Place:
    """The place of this process, with the name of the loader's stream as job.
    Call it once for a loader."""
    place = ranks.find(
        os.environ, os.uname().nodename, distributed=_distributed(),
        **{key: options[key] for key in ("rank", "world", "job", "mesh")})
    if place.job is None:
        return place
    return place._replace(job=_job_of_loader(place.job, options["split"]))


def _connect(source: pipeline.Pipeline, loaded: Optional[Mapping[str, Any]],
             job: Options, options: dict[str, Any]) -> Stream:
    from forebay import _forebay
    progress = options["on_scan"] = log.ScanProgress()
    if source.path is None:
        options["pipeline_text"] = source.text
    else:
        options["pipeline_path"] = source.path
    try:
        if loaded is None:
            return _forebay.Stream(**options, **job)
        return _resume(loaded, job, options)
    except PipelineError as error:
        raise pipeline.with_key(error, source) from None
    finally:
        progress.end()


def _resume(loaded: Mapping[str, Any], job: Options,
            options: Options) -> Stream:
    """Open as without a state, so that a state of another stream is noticed,
    then move to its position."""
    from forebay import _forebay
    stream = _forebay.Stream(**options, **job)
    try:
        compare(stream, loaded)
        seek(stream, loaded["token"])
    except BaseException:
        stream.close()  # the traceback keeps it
        raise
    return stream


def _taker(stream: Stream, adapter: Adapter, local: Optional[Cluster]) -> Take:
    take: Take = functools.partial(adapter.next, stream)
    if local is None:
        return take

    def watch(timeout: float) -> Optional[Batch]:
        """Notice before the timeout that the cluster has ended."""
        while timeout > CHECK_S:
            try:
                return take(CHECK_S)
            except Timeout:
                local.check()
                timeout -= CHECK_S
        return take(timeout)
    return watch


def _check_folders(data: Mapping[str, str]) -> None:
    for name, path in data.items():
        if not os.path.isdir(path):
            raise UsageError(f"data: {name!r} is {path}: there is no such "
                             "directory")


def compare(stream: Stream, loaded: Mapping[str, Any]) -> None:
    """Check that a parsed state is of this stream. If only the data differs,
    the library tells what changed. Errors: StateError."""
    if state.is_of_other_data(loaded, stream.info):
        try:
            stream.check_token(loaded["token"])
        except PipelineError as error:
            raise StateError(str(error)) from None
    state.compare(loaded, stream.info)


def seek(stream: Stream, token: str) -> None:
    """Continue at the token of a state. Errors: StateError."""
    try:
        stream.seek(token)
    except ValueError as error:  # UsageError and PipelineError are below it
        raise StateError(f"the token of the state: {error}") from None


def _distributed() -> Any:
    """torch.distributed, if it is imported and initialised."""
    module = sys.modules.get("torch.distributed")
    if module is None or not module.is_available():
        return None
    return module if module.is_initialized() else None


_loaders_of_job: dict[str, int] = {}


def _job_of_loader(job: str, split: Optional[str]) -> str:
    """The name of a loader's stream within a job. All ranks open their loaders
    in the same order, so their counts agree."""
    name = f"{job}/{split}" if split else job
    count = _loaders_of_job.get(name, 0)
    _loaders_of_job[name] = count + 1
    return f"{name}/{count}" if count else name
