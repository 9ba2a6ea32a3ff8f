#include "common/timer.h"

#include <stdlib.h>

#include "common/log.h"

int64_t fby_timer_ns(int64_t normal_ns)
{
    const char *text = getenv("FOREBAY_TIME_DIVISOR");
    if (text == NULL) {
        return normal_ns;
    }
    char *end     = NULL;
    long  divisor = strtol(text, &end, 10);
    if (end == text || *end != '\0' || divisor < 1 || divisor > 1000) {
        fby_warn(
            "TIME-DIVISOR", "FOREBAY_TIME_DIVISOR=%s is not 1 to 1000", text);
        return normal_ns;
    }
    return normal_ns / divisor;
}
