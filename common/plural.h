/* SPDX-License-Identifier: Apache-2.0 */
/* plural.h - amounts with their noun, for messages: "1 step", "2 steps". */
#ifndef FBY_COMMON_PLURAL_H
#define FBY_COMMON_PLURAL_H

#include <stdint.h>

struct fby_plural {
    char text[48];
};

/* `n`, a blank, and `noun`. Unless n is 1, the noun gets an "s", or "es" if it
 * ends with "s" or "ch". */
struct fby_plural fby_plural(uint64_t n, const char *noun);

#endif
