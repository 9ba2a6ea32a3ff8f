/* SPDX-License-Identifier: Apache-2.0 */
/* log_limit.h - rate limit of the log, per kind of event.
 *
 * A faulty peer may cause a log line with each of its messages. These lines
 * must not fill the disk, nor block a thread when the log is a pipe that is
 * read slowly. So at most FBY_LOG_BURST lines with the same word are written in
 * FBY_LOG_SPAN_NS, and the next line says how many were omitted. No clock and
 * no lock: the caller passes the time, and makes one call at a time. */
#ifndef FBY_COMMON_LOG_LIMIT_H
#define FBY_COMMON_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

enum { FBY_LOG_BURST = 100 /* lines */, FBY_LOG_WORDS = 64 };
#define FBY_LOG_SPAN_NS (10 * FBY_NS_PER_S)

struct fby_log_limit { /* starts zeroed */
    struct fby_log_word {
        const char *word;          /* borrowed; NULL: unused entry */
        int64_t     span_start_ns; /* start of the current span */
        uint32_t    lines;         /* written since span_start_ns */
        uint64_t    n_omitted; /* lines omitted since the last written one */
    } words[FBY_LOG_WORDS];
};

/* True if a line with `word` may be written at `now_ns`. If so, *n_omitted is
 * the number of its lines that were omitted since the last written one, else 0.
 * Only the first FBY_LOG_WORDS different words are limited. `word` must outlive
 * `self`. */
bool fby_log_limit_admit(struct fby_log_limit *self, const char *word,
    int64_t now_ns, uint64_t *n_omitted);

#endif
