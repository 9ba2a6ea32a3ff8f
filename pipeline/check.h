/* check.h - the rules of a content, for files and for strangers' bytes alike.
 *
 * Pure. All return FBY_OK or FBY_CONFIG, with what is wrong in `why`. */
#ifndef FBY_PIPELINE_CHECK_H
#define FBY_PIPELINE_CHECK_H

#include "common/err.h"
#include "pipeline/types.h"

/* Every rule between the parts of a content, shapes included (which it
 * computes and compares). `why` names the field. */
FBY_CHECKED fby_err fby_content_check(
    const struct fby_content *content, struct fby_why *why);

#endif
