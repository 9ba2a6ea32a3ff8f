/* SPDX-License-Identifier: Apache-2.0 */
/* convert.h - convert the values of a NumPy file to a wire type.
 *
 * An integer is converted exactly or does not fit. A floating-point number is
 * rounded to the nearest value of a smaller floating-point type, ties to even.
 * It fits an integer type only if it is an integer. Infinities are kept. NaN
 * fits no integer type. If the type changes, NaN becomes the quiet NaN with its
 * sign (f16: 0x7e00, bf16: 0x7fc0, f32: 0x7fc00000), so that its bits do not
 * depend on the hardware. */
#ifndef FBY_WORKER_NPY_CONVERT_H
#define FBY_WORKER_NPY_CONVERT_H

#include "pipeline/types.h"
#include "worker/npy/npy.h"

enum { FBY_CONVERT_TEXT = 32 }; /* bytes of a value as text, with NUL */

/* Write the values of `npy` to `out`, little-endian, fby_type_bytes(to) each,
 * in the order of the file. No pointer needs to be aligned.
 *
 * Returns the number of values before the first that does not fit, or that is a
 * bool other than 0 and 1; npy->n_values if there is none. From that value on,
 * `out` is undefined. */
uint64_t fby_convert(const struct fby_npy *npy, enum fby_type to, uint8_t *out);

/* Does fby_convert() copy the bytes of `npy` unchanged? */
bool fby_convert_is_copy(const struct fby_npy *npy, enum fby_type to);

/* Refuse value i, which does not fit type `to`. Returns FBY_BAD_SAMPLE. */
fby_err fby_convert_refuse(const struct fby_npy *npy, uint64_t i,
    enum fby_type to, struct fby_error_detail *why);

/* Convert all values, or refuse the first that does not fit.
 * Errors: FBY_BAD_SAMPLE as fby_convert_refuse. */
FBY_CHECKED fby_err fby_convert_all(const struct fby_npy *npy, enum fby_type to,
    uint8_t *out, struct fby_error_detail *why);

/* Write value i of the file as text. Returns `out`. */
const char *fby_convert_text(
    const struct fby_npy *npy, uint64_t i, char out[FBY_CONVERT_TEXT]);

#endif
