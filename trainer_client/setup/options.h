/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - reads the option structs of the application.
 *
 * The application may have been compiled for an older or newer version of this
 * library, so only members that both versions have are read. Pure: no I/O. */
#ifndef FBY_CLIENT_SETUP_OPTIONS_H
#define FBY_CLIENT_SETUP_OPTIONS_H

#include "common/err.h"
#include "forebay/forebay.h"
#include "pipeline/types.h"

/* Copy options of any version to `out`. Members that the caller's version does
 * not have get their defaults.
 * Errors: FBY_USAGE  struct_size is impossible, an unknown option is set, or an
 *                    array is NULL though its count is not 0 */
FBY_CHECKED fby_err fby_options_read(const struct forebay_options *from,
    struct forebay_options *out, struct fby_error_detail *why);

/* Set bit i of *out if `options` selects field i of `content`. Without a
 * selection set the bits of all fields.
 * Errors: FBY_USAGE  no such field, or none is selected */
FBY_CHECKED fby_err fby_options_select_fields(
    const struct forebay_options *options, const struct fby_content *content,
    uint64_t *out, struct fby_error_detail *why);

/* Change `out`, the pipeline's delivery (dtype, layout, padding ... of each
 * field), to what options->outputs asks for.
 * Errors: FBY_USAGE  no such field, a number that is no enumerator, padding of
 *                    a field that is not ragged, or an unknown member is set */
FBY_CHECKED fby_err fby_options_apply_outputs(
    const struct forebay_options *options, const struct fby_content *content,
    struct fby_delivery *out, struct fby_error_detail *why);

#endif
