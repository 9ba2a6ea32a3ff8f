/* tar_names.h - the pattern that names a run of tar files.
 *
 * Pure functions over file names in byte order: files that differ in their
 * last digits only are a run, "train-{0000..1023}.tar". */
#ifndef FBY_WORKER_SOURCE_SHARDS_TAR_NAMES_H
#define FBY_WORKER_SOURCE_SHARDS_TAR_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fby_tar_run {
    const char *first; /* borrowed names */
    const char *last;
    uint32_t    count;
    int         prefix; /* bytes before the digits */
    int         digits; /* of the first; 0: a name without digits */
    bool        even;   /* all have that many digits */
    bool        dense;  /* and no number is missing */
};

/* NAME.tar, with a NAME. */
bool fby_is_tar_name(const char *name);

/* A run of one file. */
struct fby_tar_run fby_tar_run_begin(const char *name);

/* Take in the next name, if it is one of the run; false when it is not. */
bool fby_tar_run_join(struct fby_tar_run *run, const char *name);

/* Write the run's pattern: a brace range, else wildcards. */
void fby_tar_run_pattern(const struct fby_tar_run *run, char *out, size_t size);

#endif
