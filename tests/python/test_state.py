# SPDX-License-Identifier: Apache-2.0
"""The state of a loader: small, checked, and refused when damaged."""

import json
import pickle
import random
import unittest

from forebay import state
from forebay.errors import StateError

INFO = {"content_digest": "a" * 64, "data_digest": "b" * 64, "seed": 42,
        "global_batch": 1024, "steps_per_epoch": 1000}
TOKEN = "fby1-" + "x" * 172


def damaged(good, rng):
    """A copy of a state with one random change."""
    bad = dict(good)
    key = rng.choice(list(bad))
    kind = rng.randrange(6)
    if kind == 0:
        del bad[key]
    elif kind == 1:
        bad[rng.choice(["x", "Token", ""])] = 1
    elif kind == 2:
        bad[key] = rng.choice([None, 1.5, [], {}, b"", "", -1, True, 2**70])
    elif isinstance(bad[key], int):
        bad[key] ^= 1 << rng.randrange(40)
    elif kind == 3:
        bad[key] = bad[key][:rng.randrange(len(bad[key]))]
    else:
        text = bytearray(bad[key].encode())
        text[rng.randrange(len(text))] ^= 1 << rng.randrange(7)
        bad[key] = text.decode()
    return bad


class State(unittest.TestCase):
    def make(self, epoch=3, step=17, **info):
        return state.make(state.Position(epoch, step, TOKEN),
                          dict(INFO, **info))

    def refused(self, given, info=None):
        with self.assertRaises(StateError) as caught:
            state.parse(given)
            state.compare(given, info or INFO)
        return str(caught.exception)

    def test_a_position_comes_back(self):
        made = self.make()
        self.assertEqual(state.parse(made), (3, 17, TOKEN))
        state.compare(made, INFO)

    def test_it_is_small_and_plain(self):
        made = self.make(2**40, 2**40, seed=2**63 - 1, global_batch=65536)
        self.assertLess(len(json.dumps(made)), 400)
        self.assertLess(len(pickle.dumps(made)), 400)
        self.assertTrue(all(type(v) in (int, str) for v in made.values()))

    def test_it_survives_json(self):
        made = json.loads(json.dumps(self.make()))
        self.assertEqual(state.parse(made), (3, 17, TOKEN))

    def test_what_differs_is_named_with_both_values(self):
        for key, other, words in (
                ("seed", 7, ("seed", "42", "7")),
                ("global_batch", 32, ("global batch", "1024", "32")),
                ("content_digest", "c" * 64, ("pipeline", "a" * 16, "c" * 16)),
                ("data_digest", "d" * 64, ("data", "b" * 16, "d" * 16)),
                ("steps_per_epoch", 16, ("17", "16"))):
            text = self.refused(self.make(), dict(INFO, **{key: other}))
            for word in words:
                self.assertIn(word, text)

    def test_what_differs_is_said_in_words_first(self):
        for key, other, words in (
                ("seed", 7, "the seed is 42 in the state and 7 here:"),
                ("content_digest", "c" * 64, "the split or its definition in "
                 "the pipeline differs (content"),
                ("data_digest", "d" * 64,
                 "the data has other samples, names or sizes (data")):
            text = self.refused(self.make(), dict(INFO, **{key: other}))
            self.assertTrue(text.startswith(
                f"the state is of another stream: {words}"), text)

    def test_a_difference_in_the_data_alone_is_told_apart(self):
        other = {"data_digest": "d" * 64}
        for changed, alone in (({}, False), (other, True),
                               (dict(other, seed=7), False),
                               ({"seed": 7}, False)):
            self.assertEqual(state.is_of_other_data(
                self.make(), dict(INFO, **changed)), alone)

    def test_a_newer_format_is_refused(self):
        text = self.refused(dict(self.make(), forebay=2, more=1))
        self.assertIn("format 2", text)
        self.assertIn("format 1", text)

    def test_what_is_no_state_is_refused(self):
        for given in (None, 1, "", [], {}, {"epoch": 1}):
            self.assertIn("state_dict()", self.refused(given))

    def test_a_number_of_thousands_of_digits_is_refused(self):
        for key in ("forebay", "epoch", "step", "seed", "check"):
            for number in (10**5000, -10**5000):
                self.refused(dict(self.make(), **{key: number}))

    def test_a_number_that_no_stream_has_is_refused(self):
        for key in ("epoch", "step", "seed", "global_batch"):
            made = dict(self.make(), **{key: 2**63})
            made["check"] = state._checksum(made)
            self.refused(made)

    def test_random_damage_is_refused(self):
        seed = random.randrange(2**32)
        rng, good = random.Random(seed), self.make()
        for _ in range(5000):
            bad = damaged(good, rng)
            if bad == good and all(type(bad[k]) is type(good[k])
                                   for k in good):
                continue
            with self.subTest(seed=seed, bad=bad):
                self.refused(bad)


if __name__ == "__main__":
    unittest.main(verbosity=2)
