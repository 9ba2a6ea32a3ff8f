/* SPDX-License-Identifier: Apache-2.0 */
/* tar_names.h - the pattern of tar files with consecutive names.
 *
 * Names that differ only in their last digits are a run, which is written as
 * "train-{0000..1023}.tar". The caller passes the names in byte order. */
#ifndef FBY_WORKER_SOURCE_SHARDS_TAR_NAMES_H
#define FBY_WORKER_SOURCE_SHARDS_TAR_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fby_tar_group { /* a run of file names */
    const char *first; /* borrowed names of the first and last file */
    const char *last;
    uint32_t    count;
    int         prefix;       /* bytes of a name before the digits */
    int         digits;       /* number of digits in the first name; may be 0 */
    bool        equal_digits; /* all names have the same number of digits */
    bool        no_gaps; /* equal_digits, and the numbers are consecutive */
};

/* Is `name` a file name NAME.tar? */
bool fby_is_tar_name(const char *name);

/* Begin a run with its first file. */
struct fby_tar_group fby_tar_group_begin(const char *name);

/* Add the next name to the run. Returns false if it does not belong there. */
bool fby_tar_group_join(struct fby_tar_group *run, const char *name);

/* Write the pattern of the run: a range in braces or, with gaps, wildcards. A
 * run of one file is written as its name. */
void fby_tar_group_pattern(
    const struct fby_tar_group *run, char *out, size_t size);

#endif
