# SPDX-License-Identifier: Apache-2.0
"""A network learns as much from a loader as from DataLoader and torchvision,
which it needs."""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import torch  # noqa: E402
from torchvision import datasets, transforms  # noqa: E402

from package import ROOT, PackageTest  # noqa: E402
import harness  # noqa: E402

sys.path.insert(0, str(ROOT / "examples"))

import train_photos  # noqa: E402

EPOCHS, BATCH, PICTURES = 6, 32, 960  # one of six is for validation


class Folders:
    """Batches of the same pictures by DataLoader and torchvision."""

    def __init__(self, folder, *ops, **options):
        pictures = datasets.ImageFolder(folder, transforms.Compose([
            *ops, transforms.ToTensor(), transforms.Normalize(
                [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]))
        self.classes = pictures.classes
        self.batches = torch.utils.data.DataLoader(pictures, BATCH, **options)

    def set_epoch(self, epoch):
        pass  # of the validation: always the same

    def __len__(self):
        return len(self.batches)

    def __iter__(self):
        for image, label in self.batches:
            yield {"image": image, "label": label,
                   "valid": torch.ones(len(label), dtype=torch.bool)}


def reached(train, val):
    """The share of `val` that a network recognizes after a training."""
    model = train_photos.network(train.classes)
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 1e-2, total_steps=EPOCHS * len(train))
    for _ in range(EPOCHS):
        for batch in train:
            loss = torch.nn.functional.cross_entropy(
                model(batch["image"]), batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return train_photos.accuracy(model, val)


class Photos(PackageTest):
    def setUp(self):
        super().setUp()
        torch.set_num_threads(1)
        self.data = self.cluster.path("data")
        for number, file in enumerate(sorted(self.cluster.photos(
                number=PICTURES, name="all", classes=6).rglob("*.jpg"))):
            split = "val" if number % 6 == 0 else "train"
            folder = self.data / split / file.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            shutil.move(file, folder / file.name)

    def folders(self):
        crop = transforms.RandomResizedCrop(48, scale=(0.4, 1))
        return (Folders(self.data / "train", crop,
                        transforms.RandomHorizontalFlip(), shuffle=True,
                        drop_last=True),
                Folders(self.data / "val", transforms.Resize((48, 48))))

    def test_a_network_recognizes_as_many_as_with_torchvision(self):
        pipeline = train_photos.pipeline(self.data)
        ours = reached(*(self.loader(pipeline, split=split, framework="torch")
                         for split in ("train", "val")))
        torch.manual_seed(1)
        theirs = reached(*self.folders())
        self.assertGreaterEqual(ours, 0.98)
        self.assertGreaterEqual(theirs, 0.98)
        self.assertLessEqual(abs(ours - theirs), 0.02)


if __name__ == "__main__":
    harness.main()
