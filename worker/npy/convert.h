/* convert.h - convert the values of a NumPy file to a wire type.
 *
 * An integer is converted exactly or does not fit. A real is rounded to the
 * nearest value of a smaller real type, ties to even; it fits an integer type
 * only if it is an integer. Infinities stay. NaN fits no integer type; where
 * the type changes it becomes the quiet NaN with its sign (0x7e00, 0x7fc0,
 * 0x7fc00000), so that its bits do not depend on the hardware. */
#ifndef FBY_WORKER_NPY_CONVERT_H
#define FBY_WORKER_NPY_CONVERT_H

#include "pipeline/types.h"
#include "worker/npy/npy.h"

enum { FBY_CONVERT_TEXT = 32 }; /* bytes of a value as text, with NUL */

/* Write the values of `npy` to `out`, little-endian, fby_type_bytes(to) each,
 * in the order of the file. No pointer needs to be aligned.
 *
 * Returns the number of values before the first that does not fit (or a bool
 * that is neither 0 nor 1): npy->values if all fit. `out` after those is
 * undefined. */
uint64_t fby_convert(const struct fby_npy *npy, enum fby_type to, uint8_t *out);

/* Are the bytes on the wire the same as those in the file? */
bool fby_convert_is_copy(const struct fby_npy *npy, enum fby_type to);

/* Refuse value i, which does not fit type `to`. Returns FBY_BAD_SAMPLE. */
fby_err fby_convert_refuse(const struct fby_npy *npy, uint64_t i,
    enum fby_type to, struct fby_why *why);

/* Write value i of the file as text. Returns `out`. */
const char *fby_convert_text(
    const struct fby_npy *npy, uint64_t i, char out[FBY_CONVERT_TEXT]);

#endif
