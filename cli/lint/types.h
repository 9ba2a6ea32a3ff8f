/* types.h - the narrowest wire type for a range of whole numbers. */
#ifndef FBY_CLI_LINT_TYPES_H
#define FBY_CLI_LINT_TYPES_H

#include <stdbool.h>

#include "pipeline/types.h"

struct fby_narrow_type {
    enum fby_type type;
    const char   *name;
    double        least, most;
    bool          for_labels; /* a wire type of labels */
};

/* The narrowest type for numbers from `least` to `most`; NULL if only i64 holds
 * them. */
const struct fby_narrow_type *fby_narrowest_type(
    bool label, double least, double most);

#endif
