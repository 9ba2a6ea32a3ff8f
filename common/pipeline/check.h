/* check.h - the rules of a content, for files and for strangers' bytes alike.
 *
 * Pure. All return FBY_OK or FBY_CONFIG, with what is wrong in `why`. */
#ifndef FBY_COMMON_PIPELINE_CHECK_H
#define FBY_COMMON_PIPELINE_CHECK_H

#include "common/err.h"
#include "common/pipeline/types.h"

/* Every rule between the parts of a content, shapes included (which it
 * computes and compares). `why` names the field. */
FBY_CHECKED fby_err fby_content_check(
    const struct fby_content *content, struct fby_why *why);

/* Private to check*.c; here `why` does not name the field. */

/* All rules of a field that comes from such a source (check_field.c). */
FBY_CHECKED fby_err fby_check_field(const struct fby_field_content *field,
    enum fby_source_kind source, struct fby_why *why);

/* Its max_length and too_long, and then what its decoder asks
 * (check_decoded.c). */
FBY_CHECKED fby_err fby_check_varying(
    const struct fby_field_content *field, struct fby_why *why);
FBY_CHECKED fby_err fby_check_decoded(const struct fby_field_content *field,
    enum fby_source_kind source, struct fby_why *why);

#endif
