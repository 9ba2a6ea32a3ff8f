/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - the rules that every content (types.h) must satisfy. Pure. */
#ifndef FBY_PIPELINE_CHECK_H
#define FBY_PIPELINE_CHECK_H

#include "common/err.h"
#include "pipeline/types.h"

/* Check every rule of a content.
 * Errors: FBY_CONFIG, with the field and the reason in `why`. */
FBY_CHECKED fby_err fby_content_check(
    const struct fby_content *content, struct fby_error_detail *why);

#endif
