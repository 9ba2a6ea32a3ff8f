# SPDX-License-Identifier: Apache-2.0
"""The Loader in a notebook: a real kernel, which talks by pyzmq in the same
process. Needs ipykernel from PyPI."""

import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from jupyter_client.manager import KernelManager  # noqa: E402

from package import STEPS, PackageTest, is_running, wait_until  # noqa: E402
import harness  # noqa: E402

CELL = """
import logging
import forebay
logging.getLogger("forebay").setLevel(logging.ERROR)
loader = forebay.Loader({path!r}, split="train", framework="numpy")
print(len(list(loader)), loader._open.cluster.started.pid)
"""
WAIT = """
loader.timeout = float("inf")
print("begun", flush=True)
while True:
    list(loader)
"""


class Notebook(PackageTest):
    def setUp(self):
        super().setUp()
        self.manager = KernelManager(transport="ipc")
        self.manager.start_kernel()
        self.addCleanup(self.manager.shutdown_kernel, now=True)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.addCleanup(self.client.stop_channels)
        self.client.wait_for_ready(timeout=harness.DEADLINE)

    def run_cell(self, code, on_text=lambda text: None):
        """Run a cell; its output, and the name of its exception or None."""
        out, errors = [], []

        def hook(message):
            content = message["content"]
            if message["msg_type"] == "stream":
                out.append(content["text"])
                on_text(content["text"])
            elif message["msg_type"] == "error":
                errors.append(content["ename"])

        self.client.execute_interactive(
            code, timeout=harness.DEADLINE, output_hook=hook)
        return "".join(out), errors[0] if errors else None

    def test_a_cell_that_runs_again_leaves_one_cluster(self):
        cell, pids = CELL.format(path=str(self.pipeline)), []
        for _ in range(3):
            out, error = self.run_cell(cell)
            self.assertIsNone(error, out)
            number, pid = out.split()
            self.assertEqual(int(number), STEPS)
            pids.append(int(pid))
        wait_until(lambda: sum(map(is_running, set(pids))) == 1)
        self.assertEqual(len(self.clusters()), 1)
        self.manager.shutdown_kernel()
        wait_until(lambda: not any(map(is_running, pids)))
        self.assertEqual(self.clusters(), [])

    def test_interrupt_ends_a_wait_and_the_next_cell_goes_on(self):
        self.cluster.start_server()
        worker = self.cluster.start_worker()
        where = (f"server={self.cluster.server.endpoint!r}, data={{'data': "
                 f"{str(self.cluster.root)!r}}}, ")
        cell = CELL.format(path=str(self.pipeline)).replace(
            "framework", where + "framework").split("print")[0]
        self.assertEqual(self.run_cell(cell + "len(loader)")[1], None)
        worker.process.send_signal(signal.SIGSTOP)
        try:
            out, error = self.run_cell(
                WAIT, lambda text: self.manager.interrupt_kernel())
        finally:
            worker.resume()
        self.assertEqual((out, error), ("begun\n", "KeyboardInterrupt"))
        out, error = self.run_cell(
            "loader.timeout = 60; loader.set_epoch(3)\n"
            "print(len(list(loader)))")
        self.assertEqual((out, error), (f"{STEPS}\n", None))


if __name__ == "__main__":
    harness.main()
