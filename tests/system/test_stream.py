# SPDX-License-Identifier: Apache-2.0
"""The stream does not depend on the workers that make it (without faults)."""

import collections
import io
import json
import socket
import subprocess
import tarfile
import unittest

import harness
from harness import SystemTest

WORDS = """\
forebay: 1
splits: {{train: {{shards: "{root}/s-*.tar"}}}}
global_batch: 2
fields: {{word: {{from: txt, decode: text, max_length: 4}}}}
"""


class Stream(SystemTest):
    def run_alone(self, pipeline, *args, **options):
        pull = self.cluster.pull_alone(pipeline, *args, **options)
        return pull, pull.finish()

    def digest(self, pipeline, *args):
        return self.run_alone(pipeline, *args)[1]["digest"]

    def setUp(self):
        super().setUp()
        self.cluster.env.update(harness.PATIENT)
        self.cluster.photos()

    def test_workers_threads_and_codecs_do_not_change_it(self):
        pipeline = self.cluster.pipeline()
        first, result = self.run_alone(
            pipeline, "--workers", 1, "--epochs", 4)
        self.assert_sound(result)
        self.assertEqual(result["images"], 4 * 192)
        self.assertEqual(len(first.lines), 48)
        for args in (("--workers", 2), ("--workers", 4),
                     ("--workers", 1, "--threads", 1),
                     ("--workers", 2, "--threads", 3),
                     ("--window", "2M")):
            other, again = self.run_alone(pipeline, *args, "--epochs", 4)
            self.assertEqual(again["digest"], result["digest"], args)
            self.assertEqual(other.lines, first.lines, args)
            self.assert_sound(again)
        for codec in ("store", "lz4"):
            other = self.cluster.pipeline(name="c.yaml", codec=codec)
            again = self.run_alone(other, "--epochs", 4)[1]
            self.assertEqual(again["digest"], result["digest"], codec)
            self.assert_sound(again)

    def test_seed_op_epoch_and_input_change_it(self):
        pipeline = self.cluster.pipeline()
        digest = self.digest(pipeline)
        self.assertEqual(self.digest(pipeline), digest)
        self.assertNotEqual(self.digest(pipeline, "--seed", 43), digest)
        other = self.cluster.pipeline(
            harness.PIPELINE.replace("p: 0.5", "p: 0.4"), name="op.yaml")
        self.assertNotEqual(self.digest(other), digest)
        lines = self.run_alone(pipeline, "--epochs", 2)[0].lines
        sums = [line.split()[4] for line in lines]
        self.assertEqual(len(set(sums)), len(sums))
        victim = sorted(self.cluster.root.rglob("*.jpg"))[5]
        data = bytearray(victim.read_bytes())
        data[-20] ^= 1
        victim.write_bytes(data)
        self.assertNotEqual(self.digest(pipeline), digest)

    def test_delivery_does_not_change_it_but_choosing_fields_does(self):
        digest = self.digest(self.cluster.pipeline())
        for change in (("dtype: f32, layout: chw",
                        "dtype: bf16, layout: channels_last"),
                       ("dtype: f32, layout: chw", "dtype: f16, layout: hwc"),
                       ("wire: {{type: u8, codec: {codec}}}",
                        "wire: {{codec: lz4, type: u8, filter: delta}}"),
                       ("wire: {{type: u8, codec: {codec}}}",
                        "wire: {{type: u8, filter: photo}}")):
            text = harness.PIPELINE.replace(*change)
            self.assertNotEqual(text, harness.PIPELINE)
            other = self.cluster.pipeline(text, name="d.yaml")
            self.assertEqual(self.digest(other), digest, change[1])
        pipeline = self.cluster.pipeline()
        self.assertNotEqual(self.digest(pipeline, "--field", "label"), digest)

    def test_an_epoch_is_the_data_set(self):
        for shuffle in ("full", "none", "{block: 1}"):
            pipeline = self.cluster.pipeline(shuffle=shuffle, last="short",
                                             batch=40)
            pull = self.run_alone(pipeline, "--epochs", 2)[0]
            seen = collections.defaultdict(collections.Counter)
            for line in pull.lines:
                words = line.split()
                for pair in words[5:]:
                    seen[words[0]][int(pair.split(":")[0])] += 1
            self.assertEqual(set(seen), {"0", "1"})
            for epoch in seen.values():
                self.assertEqual(epoch, collections.Counter(range(192)))

    def test_steps_and_epochs_are_totals_and_the_first_reached_ends_it(self):
        pipeline = self.cluster.pipeline()
        whole = self.run_alone(pipeline, "--epochs", 2)[0].lines
        for steps, epochs, total in ((7, 2, 7), (100, 1, 12), (24, 3, 24)):
            pull, result = self.run_alone(
                pipeline, "--steps", steps, "--epochs", epochs)
            self.assertEqual(pull.lines, whole[:total])
            self.assertEqual(result["steps"], total)
        tail, result = self.run_alone(pipeline, "--steps", 15, "--epochs", 1,
                                      "--resume", result["token"])
        self.assertEqual((tail.lines, result["images"]), ([], 0))

    def test_resume_goes_on_where_it_was(self):
        pipeline = self.cluster.pipeline()
        whole = self.run_alone(pipeline, "--epochs", 3)[0].lines
        head, first = self.run_alone(pipeline, "--steps", 17)
        tail, _ = self.run_alone(pipeline, "--epochs", 3, "--workers", 1,
                                 "--resume", first["token"])
        self.assertEqual(head.lines + tail.lines, whole)

    def test_data_that_changed_says_what_changed(self):
        root = self.cluster.path("tars")
        for name, first in (("s-0.tar", 0), ("s-1.tar", 3)):
            self.tar_of_words(root / name, range(first, first + 3))
        pipeline = self.cluster.path("words.yaml")
        pipeline.write_text(WORDS.format(root=root))
        run = ("pull", "-p", pipeline, "--steps", 2, "--json")
        token = json.loads(self.forebay(*run))["token"]
        self.tar_of_words(root / "s-1.tar", range(3, 5))
        for said in ("6 samples in 2 shards then, 5 samples in 2 shards now; "
                     "first difference: shard s-1.tar (3 samples then, 2 now)",
                     "5 samples in 2 shards now"):
            done = self.run_forebay(*run, "--resume", token)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("the data changed since this state was saved: " +
                          said + ", at worker ", done.stderr)
            self.assertIn("bring the data back, or start a new run",
                          done.stderr)
            for path in self.cluster.path("cache/shard-lists").iterdir():
                path.write_bytes(b"damaged")
        self.cluster.env["FOREBAY_CACHE_DIR"] = "/proc/none"
        self.forebay(*run)

    def test_workers_with_another_shard_are_left_aside_with_its_name(self):
        roots = [self.cluster.path(name) for name in ("here", "there")]
        for root, count in zip(roots, (3, 2)):
            self.tar_of_words(root / "s-0.tar", range(3))
            self.tar_of_words(root / "s-1.tar", range(3, 3 + count))
        pipeline = self.cluster.path("words.yaml")
        pipeline.write_text(WORDS.format(root=roots[0]))
        self.cluster.root = roots[0]
        self.cluster.start_server()
        for root in (roots[0], roots[0], roots[1]):
            self.cluster.start_worker(root=root)
        pull = self.cluster.pull(
            pipeline, "--epochs", 1000000, "--step-ms", 1)
        for count in (1, 2):  # one that was there, and one that comes later
            pull.wait_for_text("first difference: shard s-1.tar (3 samples in "
                               "the stream, 2 at the worker)", times=count)
            if count == 1:
                self.cluster.start_worker(root=roots[1])
        self.assertEqual(pull.text().count(" WORKER-ASIDE "), 2)
        pull.kill()

    @staticmethod
    def tar_of_words(path, numbers):
        path.parent.mkdir(exist_ok=True)
        with tarfile.open(path, "w") as out:
            for number in numbers:
                member = tarfile.TarInfo(f"{number}.txt")
                member.size = 4
                out.addfile(member, io.BytesIO(b"word"))

    def test_a_split_is_picked_by_its_name(self):
        text = harness.PIPELINE.replace(
            "global_batch", '  val: {{folder: "{root}", shuffle: none, '
            'last: pad}}\nglobal_batch').replace(
                "{{size: 64}}", "{{size: 64, only: train}}").replace(
                "      - horizontal_flip: {{p: 0.5}}",
                "      - horizontal_flip: {{p: 0.5, only: train}}\n"
                "      - resize: {{size: 48, only: val}}")
        pipeline = self.cluster.pipeline(text, batch=40, name="two.yaml")
        train, _ = self.run_alone(pipeline)
        named, _ = self.run_alone(pipeline, "--split", "train")
        self.assertEqual(train.lines, named.lines)
        self.assertEqual(len(train.lines), 4)
        val, result = self.run_alone(pipeline, "--split", "val")
        self.assertEqual(result["images"], 192)  # without padding
        samples = [int(pair.split(":")[0]) for line in val.lines
                   for pair in line.split()[5:]]
        self.assertEqual(samples, [*range(192), *range(8)])
        other = self.cluster.pull_alone(pipeline, "--split", "vale")
        other.finish(code=2)
        self.assertIn("did you mean 'val'", other.error)

    def test_audits_compare_two_workers_and_change_nothing(self):
        pipeline = self.cluster.pipeline()
        calm, whole = self.run_alone(pipeline, "--epochs", 2)
        self.assertEqual(whole["audits"] + whole["audits_skipped"], 0)
        self.cluster.start(2)
        pull = self.cluster.pull(pipeline, "--epochs", 2, "--audit", 3)
        result = pull.finish()
        self.assertEqual(pull.lines, calm.lines)
        self.assertEqual(result["digest"], whole["digest"])
        self.assertGreater(result["audits"], 0)
        self.assertEqual(result["audits"] + result["audits_skipped"], 24 / 3)
        self.assert_sound(result)
        alone = self.run_alone(
            pipeline, "--epochs", 2, "--workers", 1, "--audit", 3)[1]
        self.assertEqual(alone["audits"], 0)
        self.assertEqual(alone["audits_skipped"], 24 / 3)
        self.assertEqual(alone["digest"], whole["digest"])

    def test_an_audit_finds_a_worker_that_makes_other_bytes(self):
        self.cluster.start_server()
        right = self.cluster.start_worker()
        wrong = self.cluster.start_worker(
            faults="worker.wrong_bytes:every_sample=5")
        pull = self.cluster.pull(self.cluster.pipeline(), "--epochs", 20,
                                 "--audit", 1)
        pull.finish(code=1)
        self.assertGreater(wrong.faults(), 0)
        self.assertIn("made different values of epoch", pull.error)
        for worker in (right, wrong):
            self.assertIn(worker.endpoint, pull.error)

    def test_ipv6_and_host_names_reach_the_same_stream(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("no IPv6 on this machine")
        pipeline = self.cluster.pipeline()
        digest = self.digest(pipeline)
        self.cluster.start_server(listen="tcp://[::1]:*")
        self.cluster.start_worker("--listen", "tcp://[::1]:*")
        pull = self.cluster.pull(pipeline)
        self.assertEqual(pull.finish()["digest"], digest)
        self.cluster.start(1)
        self.cluster.server.endpoint = f"localhost:{self.cluster.server.port}"
        pull = self.cluster.pull(pipeline)
        self.assertEqual(pull.finish()["digest"], digest)

    def test_tar_shards_are_streamed_as_folders_are(self):
        shards = self.cluster.path("shards")
        shards.mkdir()
        names = sorted(self.cluster.root.rglob("*.jpg"))
        for i in range(6):
            work = self.cluster.path(f"s{i}")
            work.mkdir()
            for j, name in enumerate(names[i::6]):
                (work / f"{j:04}.jpg").write_bytes(name.read_bytes())
                label = int(name.parent.name[1:])
                (work / f"{j:04}.cls").write_text(str(label))
            subprocess.run(["tar", "--sort=name", "-cf",
                            shards / f"t-{i:03}.tar", "-C", work, "."],
                           check=True)
        text = harness.PIPELINE.replace(
            'folder: "{root}"', 'shards: "' + str(shards) +
            '/t-{{000..005}}.tar"').replace("from: folder", "from: cls")
        results = []
        for workers in (1, 3):
            pipeline = self.cluster.pipeline(text, shuffle="{block: 2}")
            pull, result = self.run_alone(
                pipeline, "--workers", workers, "--epochs", 2)
            self.assertEqual(result["images"], 2 * 192)
            self.assert_sound(result)
            results.append(pull.lines)
        self.assertEqual(results[0], results[1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
