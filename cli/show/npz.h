/* npz.h - a batch as numpy.load reads it: a zip of .npy arrays, stored.
 *
 * An array for each field, in its dtype and in the order of its shape; after
 * them `samples` (u64) and `valid` (bool), one number a row. numpy
 * has no bf16: such arrays hold the 16 bits as unsigned numbers. */
#ifndef FBY_CLI_SHOW_NPZ_H
#define FBY_CLI_SHOW_NPZ_H

#include <stdio.h>

#include "common/err.h"
#include "forebay/forebay.h"

/* Write the first `rows` rows. A field called `samples` keeps its name, the
 * numbers of samples are then `samples_`.
 * Errors: FBY_IO, with the cause. */
FBY_CHECKED fby_err fby_npz_write(const struct forebay_batch *batch,
    uint32_t rows, FILE *file, struct fby_why *why);

#endif
