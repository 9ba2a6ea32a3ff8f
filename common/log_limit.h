/* log_limit.h - rate limit of the log, per kind of event.
 *
 * A faulty peer may cause one log line for every message that it sends. These
 * must not fill the disk, nor block the writing thread when the log is a pipe
 * that is read slowly. So at most FBY_LOG_BURST lines of each word are written
 * in FBY_LOG_SPAN_NS, and the next line tells how many were left out.
 * Pure; the caller serialises its calls. */
#ifndef FBY_COMMON_LOG_LIMIT_H
#define FBY_COMMON_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

enum { FBY_LOG_BURST = 100, FBY_LOG_WORDS = 64 };
#define FBY_LOG_SPAN_NS (10 * FBY_NS_PER_S)

struct fby_log_limit { /* starts zeroed */
    struct fby_log_word {
        const char *word;     /* borrowed; NULL: unused entry */
        int64_t     since_ns; /* start of the current span */
        uint32_t    lines;    /* written in this span */
        uint64_t    left_out; /* since the last line that was written */
    } words[FBY_LOG_WORDS];
};

/* Whether a line that begins with `word` may be written at `now_ns`. If so,
 * *left_out is the number of its lines left out since the last one, else 0.
 * Words beyond the first FBY_LOG_WORDS are not limited. `word` must outlive
 * `self`. */
bool fby_log_limit_admit(struct fby_log_limit *self, const char *word,
    int64_t now_ns, uint64_t *left_out);

#endif
