/* convert.h - the values of an array in a file, in the type they travel in.
 *
 * A whole number becomes exactly itself, in whichever type; a real one is
 * rounded to the nearest of a smaller type, ties to even, and becomes a whole
 * one only if it is one. What would not be so does not fit. Infinities stay;
 * NaN fits no type of whole numbers, and becomes the quiet one with its sign
 * (0x7e00, 0x7fc0, 0x7fc00000) where the type changes: bits that the hardware
 * has no say in. */
#ifndef FBY_WORKER_NPY_CONVERT_H
#define FBY_WORKER_NPY_CONVERT_H

#include "pipeline/types.h"
#include "worker/npy/npy.h"

/* A value that does not fit, for a person. */
enum { FBY_CONVERT_TEXT = 32 };

/* Write the values of `npy` to `out`, little-endian, fby_type_bytes(to) each,
 * in the order of the file; nothing need be aligned.
 *
 * Returns how many were written before one that does not fit (or a bool that
 * is neither 0 nor 1): npy->values when all do. Behind that `out` may hold
 * anything. */
uint64_t fby_convert(const struct fby_npy *npy, enum fby_type to, uint8_t *out);

/* Is it the same bits in the file and on the wire, in the same order? */
bool fby_convert_is_copy(const struct fby_npy *npy, enum fby_type to);

/* Refuse value i, which did not fit type `to`. */
fby_err fby_convert_refuse(const struct fby_npy *npy, uint64_t i,
    enum fby_type to, struct fby_why *why);

/* Value i as text, as it stands in the file; returns `out`. */
const char *fby_convert_text(
    const struct fby_npy *npy, uint64_t i, char out[FBY_CONVERT_TEXT]);

#endif
