/* served.h - which directories workers serve, and under which names.
 *
 * Workers open only what lies below their roots. An own cluster makes a root
 * of the directory of each plain path in its own pipeline; with --server the
 * caller may say which roots the workers have. */
#ifndef FBY_CLI_SERVED_H
#define FBY_CLI_SERVED_H

#include "cli/option.h"
#include "common/err.h"
#include "forebay/forebay.h"

struct fby_served {
    struct fby_words     words; /* "NAME=DIR", for --data */
    struct fby_words     names; /* the same, cut */
    struct fby_words     dirs;
    struct forebay_root *roots; /* the same, for forebay_open() */
    unsigned             n;
    unsigned given; /* of these, by --data; the rest got a name here */
};

/* Is it NAME=DIR? Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_served_check(const char *option, struct fby_why *why);

/* Collect the roots given as --data and, when `pipeline` is not NULL, one for
 * each plain path of its splits: then there is at least one.
 * Errors: FBY_USAGE (a wrong or missing --data), FBY_CONFIG, FBY_IO (the
 * file). */
FBY_CHECKED fby_err fby_served_collect(struct fby_served *self,
    const struct fby_words *data, const char *pipeline, struct fby_why *why);
void                fby_served_fini(struct fby_served *self);

/* Nobody chose the names of the roots made here: say after an error that tells
 * of one which directory it is. Of the library's options.roots it says how they
 * are given here. */
void fby_served_explain(const struct fby_served *self, struct fby_why *why);

#endif
