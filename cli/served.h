/* SPDX-License-Identifier: Apache-2.0 */
/* served.h - the roots of workers: named directories whose data they serve.
 *
 * Workers open only files below their roots. A pipeline names data as NAME:path
 * or by a plain path. An embedded cluster gets a root for the directory of each
 * plain path. With --server, --data names the roots of the running workers. */
#ifndef FBY_CLI_SERVED_H
#define FBY_CLI_SERVED_H

#include "cli/option.h"
#include "common/err.h"
#include "forebay/forebay.h"

struct fby_served_roots {
    struct fby_words     data_options; /* [i]: "NAME=DIR", for --data */
    struct forebay_root *roots;        /* the same roots, for forebay_open() */
    struct fby_words     root_texts;   /* the strings that `roots` points to */
    unsigned             n_roots;      /* number of roots */
    unsigned n_given; /* roots of --data; roots of plain paths follow them */
};

/* Check that `option` has the form NAME=DIR. Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_served_check(
    const char *option, struct fby_error_detail *why);

/* Collect the roots of --data and, unless `path` is NULL, one root for each
 * plain path in the splits of this pipeline file.
 * Errors: FBY_USAGE (a wrong --data, or no root at all);
 *         FBY_CONFIG, FBY_IO (the pipeline file or a directory). */
FBY_CHECKED fby_err fby_served_collect(struct fby_served_roots *self,
    const struct fby_words *data, const char *path,
    struct fby_error_detail *why);

/* Collect the roots of --data that the workers of a running server have. The
 * directories need not exist on this machine: they only say which plain paths of
 * a pipeline are NAME:path. Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_served_collect_of_server(struct fby_served_roots *self,
    const struct fby_words *data, struct fby_error_detail *why);

/* As fby_served_collect, for a pipeline file on standard input. Its relative
 * paths start at the current directory. Blocks: until the end of standard input. */
FBY_CHECKED fby_err fby_served_collect_from_stdin(struct fby_served_roots *self,
    const struct fby_words *data, struct fby_error_detail *why);

/* Free all roots. `self` is {0} afterwards. */
void fby_served_fini(struct fby_served_roots *self);

/* Complete the message of an error in opening data. The names that plain paths'
 * roots have in it ("data0:") become their directories. If the message has the
 * library's "options.roots", append that --data sets them. */
void fby_served_complete_error(
    const struct fby_served_roots *self, struct fby_error_detail *why);

#endif
