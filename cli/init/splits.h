/* SPDX-License-Identifier: Apache-2.0 */
/* splits.h - decide which splits of a guess one pipeline file can have.
 *
 * The fields of a pipeline file are those of its first split, so all other
 * splits must have what these fields read. The functions are pure. */
#ifndef FBY_CLI_INIT_SPLITS_H
#define FBY_CLI_INIT_SPLITS_H

#include "cli/init/guess.h"

/* Write why the fields of `first` cannot be read from `other`; "": they can. */
void fby_init_compare_splits(const struct fby_guess_split *first,
    const struct fby_guess_split *other, char reason[FBY_REASON_SIZE]);

/* Raise the largest lengths of values in `first` to those of `other`, add the
 * formats of its pictures, and compare the names of classes. */
void fby_init_merge_split(
    struct fby_guess_split *first, const struct fby_guess_split *other);

#endif
