# SPDX-License-Identifier: Apache-2.0
"""One local cluster for all loaders of a user that read the same pipeline.

The first loader starts `forebay up --while-used FILE`. Each process that uses
the cluster keeps a read lock on FILE, which the kernel removes when the process
ends in any way. The cluster ends when no process has one: it then takes a write
lock, so that a lock taken too late fails, and writes into FILE, for locks taken
after its end. Such a late process starts another cluster.

The files of a cluster are in the user's runtime folder:
    KEY.used  the file with the locks         KEY.json  its address, pid
    KEY.log   standard error of the program   KEY.new   KEY.json while written
    lock      one byte for each KEY, locked while a process enters or leaves

A POSIX lock ends when its process closes any descriptor of the file. So a
process opens KEY.used once and counts its own users, and keeps `lock` open."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import select
import signal
import stat
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Mapping, NamedTuple, Optional

from forebay.errors import (
    ClusterError, PipelineError, Timeout, UsageError, in_python)
from forebay.log import logger
from forebay.pipeline import Pipeline, with_key

CORE_SHARE = 0.4
NICE = 10
POLITE_S = 1.2  # between signals to a cluster: two within 1 s count as one
STOP_S = 10.0
LOOK_S = 0.2            # between looks at a program that starts

_threads = threading.RLock()  # guards what follows, and the locks of files
_local: dict[str, "Cluster"] = {}
_entered: list[str] = []      # keys of nested uses of _excluding_others()
_lock_files: dict[Path, int] = {}


class Started(NamedTuple):
    """What KEY.json says of a running cluster."""
    server: str
    keys: str         # path of the trainer's key
    roots: Mapping[str, str]
    pid: int
    start_ticks: str  # when the process began: a later one may have its pid
    threads: int


class Cluster:
    """A local cluster that this process uses, with the count of its users."""

    def __init__(self, key: str, lock_fd: int, started: Started):
        self.key, self.lock_fd, self.started = key, lock_fd, started
        self.users = 0
        self.pid = os.getpid()

    def check(self) -> None:
        """Errors: ClusterError if the cluster has ended."""
        if not _is_alive(self.started):
            raise ClusterError(
                f"the local cluster at {self.started.server} has ended (it "
                "was killed, or it crashed): make another loader, which "
                "starts a new one")

    def release(self) -> None:
        """End one use. The last use of all processes ends the cluster. In a
        forked child it does nothing."""
        with _threads:
            if self.pid != os.getpid():
                return
            self.users -= 1
            if self.users == 0:
                if _local.get(self.key) is self:
                    del _local[self.key]
                _leave(self)


def use(pipeline: Pipeline, data: Mapping[str, str],
        threads: Optional[int], timeout: float) -> Cluster:
    """Start a cluster that serves the data of a pipeline, or share one that
    runs. Blocks: while another process starts or ends this one, or another
    thread any one; and until its workers are ready, at most `timeout` seconds.
    Errors: ClusterError, Timeout, PipelineError, UsageError (in a signal
    handler that interrupted such a call)."""
    with _threads:
        if _entered:
            raise UsageError("a local cluster is being started or left by the "
                             "call that this signal handler interrupted: open "
                             "the loader elsewhere")
        key = _key(pipeline, data)
        cluster = _local.get(key)
        if cluster is not None and not _is_alive(cluster.started):
            del _local[key]  # it crashed; its users keep their lock file
            cluster = None
        if cluster is None:
            try:
                cluster = _enter(key, pipeline, data, threads, timeout)
            except Timeout:
                raise
            except OSError as error:  # of the files in the runtime folder
                raise ClusterError(f"the local cluster: {error}") from None
            _local[key] = cluster
        if threads not in (None, cluster.started.threads):
            logger.warning(
                "threads=%s has no effect: the local cluster that runs has "
                "%d, and ends with its last loader", threads,
                cluster.started.threads)
        cluster.users += 1
        return cluster


def _forget() -> None:
    """In a forked child, which has none of the locks."""
    global _threads
    _threads = threading.RLock()
    _entered.clear()
    _local.clear()
    while _lock_files:
        os.close(_lock_files.popitem()[1])


os.register_at_fork(after_in_child=_forget)


def program() -> str:
    """The path of the program `forebay`."""
    import shutil
    beside = Path(__file__).parent / "bin" / "forebay"
    path = os.environ.get("FOREBAY_BIN") or (
        str(beside) if beside.exists() else shutil.which("forebay"))
    if not path:
        raise ClusterError("the program forebay is not installed: install the "
                           "wheel, or set FOREBAY_BIN to its path")
    return path


def usable_cores() -> float:
    """The cores that this process may use: its CPUs, and the quota of its
    control groups."""
    cores = float(len(os.sched_getaffinity(0)))
    try:
        path = Path("/proc/self/cgroup").read_text().split("::", 1)[1].strip()
    except (OSError, IndexError):
        return cores
    root = Path("/sys/fs/cgroup")
    group = root / path.lstrip("/")
    while True:
        try:
            quota, period = (group / "cpu.max").read_text().split()
            if quota != "max":
                cores = min(cores, int(quota) / int(period))
        except (OSError, ValueError):
            pass
        if group == root or root not in group.parents:
            return cores
        group = group.parent


def runtime_folder() -> Path:
    """The folder of this user's clusters, which no other user can enter."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    folder = (Path(base) / "forebay" if base and os.path.isdir(base) else
              Path(tempfile.gettempdir()) / f"forebay-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise ClusterError(f"{folder}: cannot make the folder for the files "
                           f"of a cluster: {error.strerror}") from None
    if (not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid()
            or status.st_mode & 0o077):
        raise ClusterError(f"{folder}: this must be a folder of yours with "
                           "mode 0700: remove it, or set XDG_RUNTIME_DIR")
    return folder


def _key(pipeline: Pipeline, data: Mapping[str, str]) -> str:
    facts = [program(), pipeline.text, pipeline.folder, sorted(data.items()),
             os.environ.get("FOREBAY_CACHE_DIR", "")]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


@contextmanager
def _excluding_others(key: str) -> Iterator[Path]:
    """Exclude all other processes that enter or leave this cluster. The
    garbage collector may close another loader inside the block. This nested
    call does not wait: BlockingIOError if another process has the byte."""
    folder = runtime_folder()
    fd = _lock_file(folder / "lock")
    offset = int(key[:15], 16)  # of this cluster's byte
    is_outermost = key not in _entered
    if is_outermost:
        fcntl.lockf(fd, fcntl.LOCK_EX | (fcntl.LOCK_NB if _entered else 0),
                    1, offset)
    _entered.append(key)
    try:
        yield folder
    finally:
        _entered.remove(key)
        if is_outermost:
            fcntl.lockf(fd, fcntl.LOCK_UN, 1, offset)


def _lock_file(path: Path) -> int:
    """A descriptor of `lock`, which stays open."""
    fd = _lock_files.pop(path, -1)
    if fd >= 0 and os.fstat(fd).st_nlink == 0:  # the folder was removed
        os.close(fd)
        fd = -1
    if fd < 0:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    _lock_files[path] = fd
    return fd


def _enter(key: str, pipeline: Pipeline, data: Mapping[str, str],
           threads: Optional[int], timeout: float) -> Cluster:
    with _excluding_others(key) as folder:
        used = folder / f"{key}.used"
        started = _read(folder / f"{key}.json")
        fd = _lock(used) if started and _is_alive(started) else None
        if fd is None:
            _remove_dead(folder, key)
            used.unlink(missing_ok=True)  # a cluster that ends has a lock on it
            fd = _lock(used)
            assert fd is not None
            try:
                started = _start(key, folder, pipeline, data, threads, timeout)
            except BaseException:
                os.close(fd)
                _remove(folder, key)
                raise
        else:
            assert started is not None
            logger.info("sharing the local cluster at %s", started.server)
        return Cluster(key, fd, started)


def _leave(cluster: Cluster) -> None:
    """Remove our lock. If no process has one, end the cluster now, and remove
    its files."""
    try:
        with _excluding_others(cluster.key) as folder:
            used = folder / f"{cluster.key}.used"
            try:
                fcntl.lockf(cluster.lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_last = os.path.samestat(os.fstat(cluster.lock_fd),
                                           used.stat())
            except OSError:  # others use it, or it was replaced
                is_last = False
            if is_last:
                _stop(cluster.started)
                _remove(folder, cluster.key)
    except BlockingIOError:
        pass  # another process enters or leaves it; it ends by itself
    finally:
        os.close(cluster.lock_fd)


def _lock(path: Path) -> Optional[int]:
    """A descriptor of the file with our read lock; None if its cluster ends
    or has ended."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.fstat(fd).st_size == 0:
            return fd
    except OSError:
        pass
    os.close(fd)
    return None


def _read(path: Path) -> Optional[Started]:
    try:
        return Started(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _remove(folder: Path, key: str) -> None:
    for end in ("json", "log", "new", "used"):
        (folder / f"{key}.{end}").unlink(missing_ok=True)


def _remove_dead(folder: Path, key: str) -> None:
    """Remove the files of other clusters whose users were all killed."""
    for used in folder.glob("*.used"):
        other = used.stem
        if other == key:
            continue
        try:
            with _excluding_others(other):
                started = _read(folder / f"{other}.json")
                if not started or not _is_alive(started):
                    _remove(folder, other)
        except (BlockingIOError, ValueError):
            pass  # it is being started or left; or no file of ours


def _start_ticks(pid: int) -> str:
    """When a process began, in the kernel's ticks; "" if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    words = text.rsplit(")", 1)[1].split()
    return "" if words[0] in "ZX" else words[19]


def _is_alive(started: Started) -> bool:
    ticks = started.start_ticks
    return bool(ticks) and _start_ticks(started.pid) == ticks


def _stop(started: Started) -> None:
    """Ask a cluster without users to end; it also ends by itself. Its workers
    may wait for a user that was killed: a second signal ends them at once. On
    a busy machine the first may be late, so that both count as one."""
    give_up = time.monotonic() + STOP_S
    while _is_alive(started) and time.monotonic() < give_up:
        try:
            os.kill(started.pid, signal.SIGTERM)
        except ProcessLookupError:
            break
        until = time.monotonic() + POLITE_S
        while _is_alive(started) and time.monotonic() < until:
            time.sleep(0.01)
    try:
        os.waitpid(started.pid, os.WNOHANG)
    except ChildProcessError:
        pass  # another process started it


def _start(key: str, folder: Path, pipeline: Pipeline,
           data: Mapping[str, str], threads: Optional[int],
           timeout: float) -> Started:
    cores = usable_cores()
    count = threads or max(1, int(cores * CORE_SHARE))
    command = [program(), "up", "--pipeline", pipeline.path or "-",
               "--listen", "tcp://127.0.0.1:*", "--json", "--workers", "1",
               "--threads", str(count), "--nice", str(NICE),
               "--while-used", str(folder / f"{key}.used")]
    for name, directory in sorted(data.items()):
        command += ["--data", f"{name}={directory}"]
    log = folder / f"{key}.log"
    answer = _run(command, pipeline, log, timeout)
    started = Started(answer["server"], answer["keys"], answer["roots"],
                      answer["pid"], _start_ticks(answer["pid"]), count)
    new = folder / f"{key}.new"
    new.write_text(json.dumps(started._asdict()))
    new.rename(folder / f"{key}.json")  # readers see all of it or none
    logger.info(
        "started a local cluster at %s: %d of %g cores, nice %d (threads= "
        "changes it); its log is %s", started.server, count, cores, NICE, log)
    return started


def _run(command: list[str], pipeline: Pipeline, log: Path,
         timeout: float) -> dict[str, Any]:
    """Start the program, in a session of its own: Ctrl-C is for the trainer.
    Returns its line of JSON."""
    read_end, write_end = os.pipe()
    with open(log, "wb") as errors, open(read_end, "rb") as ready, \
            tempfile.TemporaryFile() as text:
        text.write(b"" if pipeline.path else pipeline.text.encode())
        text.seek(0)
        try:
            process = subprocess.Popen(
                [*command, "--ready-fd", str(write_end)],
                stdin=text, stdout=subprocess.DEVNULL,
                stderr=errors, pass_fds=[write_end], start_new_session=True)
        except OSError as error:
            raise ClusterError(f"{command[0]}: cannot start the program: "
                               f"{error.strerror}") from None
        finally:
            os.close(write_end)
        try:
            line = _line(ready.fileno(), process, timeout)
        except BaseException:
            process.kill()
            process.wait()
            raise
    if not line:
        process.kill()
        process.wait()
        raise _failure(log, process.returncode, pipeline)
    process.returncode = 0  # it may outlive this process: nothing to wait for
    answer: dict[str, Any] = json.loads(line)
    return answer


def _line(fd: int, process: subprocess.Popen[bytes], timeout: float) -> bytes:
    """A line from a pipe; b"" if the program closes it or ends before. A child
    that another thread forks may keep the pipe open. Errors: Timeout."""
    line, until = b"", time.monotonic() + timeout
    ready = select.poll()
    ready.register(fd, select.POLLIN)
    while not line.endswith(b"\n"):
        left = until - time.monotonic()
        if left <= 0:
            raise Timeout(f"the local cluster was not ready in {timeout:g} s: "
                          "give a larger timeout=")
        has_ended = process.poll() is not None
        if ready.poll(0 if has_ended else 1000 * min(left, LOOK_S)):
            more = os.read(fd, 4096)
            has_ended = not more
            line += more
        if has_ended:
            return b""
    return line


def _failure(log: Path, code: int, source: Pipeline) -> Exception:
    """The error of a program that did not start. Its last line of its own
    name says why."""
    lines = log.read_text(errors="replace").strip().splitlines()
    said = [line.removeprefix("forebay up: ") for line in lines
            if line.startswith("forebay up: ")] or lines
    text = said[-1] if said else (
        f"the program ended with {code} and said nothing")
    if code not in (1, 2):
        return ClusterError(text)
    text = in_python(text)
    if source.path is None:
        text = text.replace("standard input: ", f"{source.name}: ", 1)
    error = PipelineError(text)
    place = re.match(r"(.+?):(\d+):(\d+): ", text)
    if place:
        error.file = place[1]
        error.line, error.column = int(place[2]), int(place[3])
    return with_key(error, source)
