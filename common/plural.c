/* SPDX-License-Identifier: Apache-2.0 */
#include "common/plural.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *plural_ending(const char *noun)
{
    size_t      length  = strlen(noun);
    const char *last    = length > 0 ? &noun[length - 1] : noun;
    bool        ends_ch = length > 1 && memcmp(last - 1, "ch", 2) == 0;
    return *last == 's' || ends_ch ? "es" : "s";
}

struct fby_plural fby_plural(uint64_t n, const char *noun)
{
    struct fby_plural out;
    snprintf(out.text, sizeof(out.text), "%" PRIu64 " %s%s", n, noun,
        n == 1 ? "" : plural_ending(noun));
    return out;
}
