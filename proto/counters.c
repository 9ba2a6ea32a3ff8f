/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/counters.h"

#include <string.h>

_Static_assert(FBY_N_COUNTERS <= 64, "a bit each in fby_counter_values.known");

const char *fby_counter_name(enum fby_counter_id id)
{
    static const char *const names[FBY_N_COUNTERS] = {
#define X(NAME, name) name,
        FBY_COUNTER_MAP(X)
#undef X
    };
    return names[id];
}

size_t fby_counter_values_list(const struct fby_counter_values *values,
    struct fby_counter list[FBY_N_COUNTERS])
{
    size_t n = 0;
    for (uint32_t id = 0; id < FBY_N_COUNTERS; id++) {
        if (fby_counter_is_known(values, id)) {
            list[n++] =
                (struct fby_counter){fby_counter_name(id), values->at[id]};
        }
    }
    return n;
}

/* The id of a name; FBY_N_COUNTERS: none. `guess` is tried first. */
static uint32_t find(const char *name, uint32_t guess)
{
    for (uint32_t i = 0; i < FBY_N_COUNTERS; i++) {
        uint32_t id = (guess + i) % FBY_N_COUNTERS;
        if (strcmp(fby_counter_name(id), name) == 0) {
            return id;
        }
    }
    return FBY_N_COUNTERS;
}

void fby_counter_values_read(struct fby_counter_values *values,
    const struct fby_counter *counters, size_t n)
{
    uint32_t guess = 0; /* workers send counters in the order of their ids */
    *values        = (struct fby_counter_values){0};
    for (size_t i = 0; i < n; i++) {
        uint32_t id = find(counters[i].name, guess);
        if (id < FBY_N_COUNTERS) {
            values->known |= UINT64_C(1) << id;
            values->at[id] = counters[i].value;
            guess          = id + 1;
        }
    }
}
