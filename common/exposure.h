/* SPDX-License-Identifier: Apache-2.0 */
/* exposure.h - without keys, a process listens only on loopback, unless its
 * user has said that the network is trusted. */
#ifndef FBY_COMMON_EXPOSURE_H
#define FBY_COMMON_EXPOSURE_H

#include <stdbool.h>

#include "common/err.h"

/* May a process listen on `endpoint`? `is_insecure` is its option --insecure.
 * Errors: FBY_USAGE  no; `why` has the remedy. */
FBY_CHECKED fby_err fby_exposure_check(const char *endpoint, bool has_keys,
    bool is_insecure, struct fby_error_detail *why);

#endif
