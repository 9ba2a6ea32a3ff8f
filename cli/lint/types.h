/* types.h - the narrowest type that whole numbers fit. */
#ifndef FBY_CLI_LINT_TYPES_H
#define FBY_CLI_LINT_TYPES_H

#include <stdbool.h>

#include "pipeline/types.h"

struct fby_narrow_type {
    enum fby_type type;
    const char   *name;
    double        least, most;
    bool          of_labels; /* labels may travel so */
};

/* For numbers from `least` to `most`; NULL when none but i64 holds them. */
const struct fby_narrow_type *fby_narrowest_type(
    bool label, double least, double most);

#endif
