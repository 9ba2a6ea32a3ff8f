# SPDX-License-Identifier: Apache-2.0
"""Our decoder of arrays against NumPy, on files that NumPy wrote.

usage: check_npy.py ARRAYS, the program made of arrays.c
"""
import io
import struct
import subprocess
import sys

import numpy
from numpy.lib import format as npy

DTYPES = ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4",
          "f8")
WIRES = {"u1": 1, "u2": 2, "i4": 3, "i8": 4, "f2": 5, "bf16": 6, "f4": 7,
         "u4": 8}
SHAPES = ((), (1,), (7,), (3, 5), (2, 1, 9), (1, 3, 2, 4), (513,), (40, 53))
VERSIONS = ((1, 0), (2, 0), (3, 0))


class Ours:
    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def decode(self, data, wire, shape):
        """The values as bytes, or why they are refused."""
        head = struct.pack(f"<{3 + len(shape)}I", WIRES[wire], len(shape),
                           *shape, len(data))
        self.process.stdin.write(head + data)
        self.process.stdin.flush()
        refused, size = struct.unpack("<2I", self.process.stdout.read(8))
        data = self.process.stdout.read(size)
        return data.decode() if refused else data

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def file_of(array, version=(1, 0)):
    out = io.BytesIO()
    npy.write_array(out, array, version)
    return out.getvalue()


def values_of(rng, dtype, shape):
    """Whole numbers that many types hold, or reals of all sizes."""
    if dtype == "b1":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype[0] in "iu":
        low = -128 if dtype[0] == "i" else 0
        return rng.integers(low, 128, shape).astype(dtype)
    with numpy.errstate(over="ignore"):
        size = 10.0 ** rng.uniform(-9, 4.5, shape)
        return (size * rng.choice((-1, 1), shape)).astype(dtype)


def to_bf16(values):
    """To nearest, ties to even: of what binary64 holds, in one rounding."""
    values = numpy.asarray(values, "f8")
    with numpy.errstate(divide="ignore"):
        exponent = numpy.floor(numpy.log2(numpy.abs(values)))
    step = numpy.exp2(numpy.where(values == 0, 0, exponent) - 7)
    near = (numpy.rint(values / step) * step).astype("f4")
    return (near.view("u4") >> 16).astype("u2")


def right_of(array, wire):
    return to_bf16(array) if wire == "bf16" else array.astype(f"<{wire}")


def holds_all(array, wire):
    """Must they be taken?"""
    if wire[0] in "bf" and wire != "b1":
        if array.dtype.kind == "f":
            return True
        most = {"f2": 2**11, "bf16": 2**8, "f4": 2**24}[wire]
        return numpy.abs(array.astype("i8")).max(initial=0) <= most
    return (array == array.astype(wire)).all()


def values_are_those_of_astype(ours, rng):
    taken = refused = 0
    for dtype in DTYPES:
        for shape in SHAPES:
            for order in "<>":
                array = values_of(rng, dtype, shape)
                array = array.astype(array.dtype.newbyteorder(order))
                version = VERSIONS[taken % 3]
                for wire in WIRES:
                    result = ours.decode(file_of(array, version), wire, shape)
                    name = f"{order}{dtype} {shape} as {wire}"
                    if not holds_all(array, wire):
                        assert isinstance(result, str), name
                        assert ", which wire type " in result, result
                        refused += 1
                        continue
                    right = right_of(array, wire)
                    assert result == right.tobytes(), f"{name}: {result}"
                    taken += 1
    print(f"npy: {taken} conversions as NumPy's, {refused} refused")


def all_halves(ours):
    """Every 16-bit float, and the numbers between two of them."""
    bits = numpy.arange(1 << 16, dtype="u2")
    halves = bits.view("f2")
    halves = halves[~numpy.isnan(halves)]
    got = ours.decode(file_of(halves), "f4", halves.shape)
    assert got == halves.astype("f4").tobytes()
    finite = numpy.sort(halves[numpy.isfinite(halves)].astype("f8"))
    middle = (finite[1:] + finite[:-1]) / 2
    for values in (middle, numpy.nextafter(middle, 1e9),
                   numpy.nextafter(middle, -1e9)):
        got = ours.decode(file_of(values), "f2", values.shape)
        assert got == values.astype("f2").tobytes()


def infinities_and_nan_stay(ours):
    odd = numpy.array([numpy.inf, -numpy.inf, numpy.nan, -0.0])
    for dtype in ("f2", "f4", "f8"):
        for wire in ("f2", "f4"):
            got = ours.decode(file_of(odd.astype(dtype)), wire, (4,))
            got = numpy.frombuffer(got, f"<{wire}")
            assert (got[:2] == odd[:2]).all() and numpy.isnan(got[2])
            assert got[3] == 0 and numpy.signbit(got[3])
        words = ours.decode(file_of(odd.astype(dtype)), "i4", (4,))
        assert "value 0 is inf" in words, words


def orders_and_other_files(ours):
    square = numpy.asfortranarray(numpy.arange(6, dtype="i4").reshape(2, 3))
    words = ours.decode(file_of(square), "i4", (2, 3))
    assert "Fortran" in words, words
    column = numpy.asfortranarray(square[:, :1])
    assert isinstance(ours.decode(file_of(column), "i4", (2, 1)), bytes)
    for other in (numpy.zeros(3, "c8"), numpy.array(["a", "b"]),
                  numpy.zeros(3, "M8[s]"), numpy.zeros(3, "f4,i4")):
        words = ours.decode(file_of(other), "f4", (3,))
        assert "dtype" in words, words
    assert "its shape is [0]" in ours.decode(
        file_of(numpy.zeros(0, "f4")), "f4", (3,))


def main():
    rng = numpy.random.default_rng(20250101)
    ours = Ours(sys.argv[1])
    values_are_those_of_astype(ours, rng)
    all_halves(ours)
    infinities_and_nan_stay(ours)
    orders_and_other_files(ours)
    ours.close()


if __name__ == "__main__":
    main()
