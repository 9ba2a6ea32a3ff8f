/* pairs.h - do a picture and a field that labels its pixels move alike?
 *
 * Ops that draw where pixels go must stand in both fields and draw the same,
 * which fields of one group do. Two pictures may differ on purpose (two views
 * of one); masks and maps say of each pixel what it is, and may not. Pure. */
#ifndef FBY_CLI_LINT_PAIRS_H
#define FBY_CLI_LINT_PAIRS_H

#include "pipeline/types.h"

enum fby_lint_pair {
    FBY_LINT_ALIKE,
    FBY_LINT_OTHER_GROUP, /* the same ops, drawn apart */
    FBY_LINT_OTHER_OPS,   /* of the worker */
    FBY_LINT_OTHER_DEVICE /* flips of the device */
};

/* Of two fields of one sample. */
enum fby_lint_pair fby_lint_pair(const struct fby_field_content *picture,
    const struct fby_field_content                              *labels);

/* Does it label pixels? */
bool fby_lint_labels_pixels(const struct fby_field_content *field);

#endif
