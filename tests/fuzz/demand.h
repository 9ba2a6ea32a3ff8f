/* SPDX-License-Identifier: Apache-2.0 */
/* demand.h - how a fuzz target ends when a property does not hold. */
#ifndef FBY_TESTS_FUZZ_DEMAND_H
#define FBY_TESTS_FUZZ_DEMAND_H

#include <stdbool.h>
#include <stdlib.h>

static inline void demand(bool truth)
{
    if (!truth) {
        abort();
    }
}

#endif
