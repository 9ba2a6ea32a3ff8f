# SPDX-License-Identifier: Apache-2.0
"""Trainings with PyTorch that are killed and resumed, and whose workers are
killed: their losses are those of a training that runs through."""

import os
import pathlib
import random
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from package import STEPS, PackageTest, Script  # noqa: E402
import harness  # noqa: E402

# A process that forks trainings, since the import of PyTorch takes longer than
# a training. It reads numbers of 8 bytes: each begins a training, which pauses
# after this step until it has read another number. It writes the training's
# process, a line for each step, and how the process ended.
TRAININGS = """
import torch
from torch import nn

def read_number():
    return int(os.read(0, 8) or sys.exit())

torch.manual_seed(3)
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)
model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 8), nn.ReLU(),
                      nn.Linear(8, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

def train(pause, pipeline, server, root, checkpoint, epochs):
    loader = forebay.Loader(pipeline, split="train", server=server,
                            data={"data": root})
    parts = dict(model=model, optimizer=optimizer, loader=loader)
    if os.path.exists(checkpoint):
        for name, state in torch.load(checkpoint, weights_only=True).items():
            parts[name].load_state_dict(state)
    while loader.epoch < int(epochs):
        for batch in loader:
            loss = nn.functional.cross_entropy(model(batch["image"]),
                                               batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch.save({name: part.state_dict()
                        for name, part in parts.items()}, checkpoint + "~")
            os.replace(checkpoint + "~", checkpoint)
            step = loader.epoch * len(loader) + loader.step
            say(step, loss.item().hex())
            if step == pause:
                pause = read_number()

while True:
    pause = read_number()
    process = os.fork()
    if process == 0:
        say("began", os.getpid())
        train(pause, *sys.argv[1:])
        os._exit(0)  # the end of an interpreter with PyTorch takes seconds
    say("ended", os.waitpid(process, 0)[1])
"""


class Trainings(Script):
    """Trainings that can be killed, one at a time: see TRAININGS."""

    def begin(self, pause):
        self.losses = {}  # by step, from 1 over all epochs
        self.pause(pause)
        self.training = int(self.line().split()[1])

    def pause(self, step):
        """Let the training go on until this step is done."""
        self.process.stdin.write(f"{step:8}")
        self.process.stdin.flush()

    def step(self):
        """The next step's number, or None if the training ended."""
        number, loss = self.line().split()
        if number == "ended":
            self.check_end(int(loss))
            return None
        self.losses[int(number)] = loss
        return int(number)

    def check_end(self, status):
        if status not in (0, signal.SIGKILL):
            self.process.kill()
            raise AssertionError(self.process.communicate()[1])

    def run_to(self, last):
        """Let it reach this step; a resumed one may begin behind it."""
        while (step := self.step()) is None or step < last:
            if step is None:
                raise AssertionError(f"ended before step {last}")

    def kill_training(self):
        os.kill(self.training, signal.SIGKILL)

    def finish(self):
        """The losses up to the end of the training."""
        while self.step() is not None:
            pass
        return self.losses


class Killed(PackageTest):
    EPOCHS = 26
    LAST = EPOCHS * STEPS

    def setUp(self):
        super().setUp()
        self.cluster.start_server()
        self.checkpoint = self.cluster.path("checkpoint")
        self.trainings = Trainings(
            self, TRAININGS, self.pipeline, self.cluster.server.endpoint,
            self.cluster.root, self.checkpoint, self.EPOCHS,
            env={"OMP_NUM_THREADS": "1"})

    def train(self, *kills):
        """The losses of a training that is killed soon after these steps."""
        self.checkpoint.unlink(missing_ok=True)
        for step in kills:
            self.trainings.begin(step + 2)
            self.trainings.run_to(step)
            self.trainings.kill_training()
            yield self.trainings.finish()
        self.trainings.begin(0)
        yield self.trainings.finish()

    def train_while_workers_are_killed(self, workers):
        self.checkpoint.unlink()
        self.trainings.begin(52)
        for step in range(50, self.LAST, 50):
            self.trainings.run_to(step)
            workers.pop(0).kill()
            self.trainings.pause(step + 52)
            workers.append(self.cluster.start_worker())
        return self.trainings.finish()

    def test_the_losses_are_those_of_an_uninterrupted_training(self):
        workers = [self.cluster.start_worker()]
        [whole] = self.train()
        self.assertEqual(list(whole), list(range(1, self.LAST + 1)))
        self.assertEqual(len(set(whole.values())), self.LAST)
        seed = int(os.environ.get("FOREBAY_SEED") or random.randrange(1 << 32))
        for number in 1, 2, 3:
            kills = sorted(random.Random(seed + number).sample(
                range(1, self.LAST - 2), 20))
            with self.subTest(workers=number, FOREBAY_SEED=seed):
                for losses in self.train(*kills):
                    self.assertLessEqual(losses.items(), whole.items())
                self.assertIn(self.LAST, losses)
            workers.append(self.cluster.start_worker())
        with self.subTest("a worker is killed every 50 steps"):
            self.assertEqual(
                self.train_while_workers_are_killed(workers), whole)


if __name__ == "__main__":
    harness.main()
