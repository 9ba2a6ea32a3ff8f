/* options.h - what a caller says, who may be older or newer than this library.
 *
 * His structs are read as far as both know them, and what they say of fields is
 * checked against a pipeline's content. Pure. */
#ifndef FBY_CLIENT_SETUP_OPTIONS_H
#define FBY_CLIENT_SETUP_OPTIONS_H

#include "common/err.h"
#include "forebay/forebay.h"
#include "pipeline/types.h"

/* Copy options of any version into `out`.
 * Errors: FBY_USAGE when the struct is impossibly small, or sets an option
 *         that this library does not know. */
FBY_CHECKED fby_err fby_options_read(const struct forebay_options *from,
    struct forebay_options *out, struct fby_why *why);

/* Which are wanted: bit i, field i of the content.
 * Errors: FBY_USAGE  no such field, or none. */
FBY_CHECKED fby_err fby_options_fields(const struct forebay_options *options,
    const struct fby_content *content, uint64_t *out, struct fby_why *why);

/* Change in `out`, which is the pipeline's, what the outputs say otherwise.
 * Errors: FBY_USAGE  no such field, a number that means nothing, a struct that
 *                    sets what this library does not know. */
FBY_CHECKED fby_err fby_options_outputs(const struct forebay_options *options,
    const struct fby_content *content, struct fby_delivery *out,
    struct fby_why *why);

#endif
