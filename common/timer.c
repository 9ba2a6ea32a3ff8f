/* SPDX-License-Identifier: Apache-2.0 */
/* The divisor is read from the environment once, at the first call. */
#include "common/timer.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/log.h"

enum { MAX_DIVISOR = 1000 };

static long           divisor   = 1; /* FOREBAY_TIME_DIVISOR */
static pthread_once_t read_once = PTHREAD_ONCE_INIT;

static void read_environment(void)
{
    const char *text = getenv("FOREBAY_TIME_DIVISOR");
    if (text == NULL) {
        return;
    }
    char *end   = NULL;
    long  value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 1 || value > MAX_DIVISOR) {
        fby_warn("TIME-DIVISOR",
            "FOREBAY_TIME_DIVISOR='%s' is not used: write 1 to %d", text,
            MAX_DIVISOR);
        return;
    }
    divisor = value;
}

int64_t fby_scaled_timeout_ns(int64_t normal_ns)
{
    pthread_once(&read_once, read_environment);
    return normal_ns / divisor;
}
