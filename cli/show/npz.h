/* SPDX-License-Identifier: Apache-2.0 */
/* npz.h - write a batch for numpy.load: an uncompressed zip of .npy arrays.
 *
 * There is an array for each field, in its dtype and in the order of its shape.
 * The arrays `samples` (u64) and `valid` (bool) follow, with one value per row.
 * numpy has no bf16: such arrays contain the 16 bits as unsigned numbers. */
#ifndef FBY_CLI_SHOW_NPZ_H
#define FBY_CLI_SHOW_NPZ_H

#include <stdio.h>

#include "common/err.h"
#include "forebay/forebay.h"

/* Write the first `rows` rows. If a field is called `samples`, the array of
 * sample numbers is called `samples_`.
 * Errors: FBY_IO, with the cause; FBY_GONE after a signal. */
FBY_CHECKED fby_err fby_npz_write(const struct forebay_batch *batch,
    uint32_t rows, FILE *file, struct fby_error_detail *why);

#endif
