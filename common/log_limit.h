/* log_limit.h - how often one kind of event may be logged.
 *
 * A peer that misbehaves makes an event of every message it sends; the log must
 * neither fill the disk nor, where it is a pipe that is read slowly, hold up
 * the thread that writes it. So of each word at most FBY_LOG_BURST lines are
 * written in FBY_LOG_SPAN_NS, and the next one says how many were left out.
 * Pure; not for several threads at a time. */
#ifndef FBY_COMMON_LOG_LIMIT_H
#define FBY_COMMON_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"

enum { FBY_LOG_BURST = 100, FBY_LOG_WORDS = 64 };
#define FBY_LOG_SPAN_NS (10 * FBY_NS_PER_S)

struct fby_log_limit { /* starts zeroed */
    struct fby_log_word {
        const char *word; /* borrowed; NULL: free */
        int64_t     since_ns;
        uint32_t    lines;    /* of this span */
        uint64_t    left_out; /* since the last line written */
    } words[FBY_LOG_WORDS];
};

/* May a line that begins with `word`, which must outlive `self`, be written at
 * `now_ns`? If so, *left_out is the number of lines that were not since the
 * last. Words beyond FBY_LOG_WORDS are not limited. */
bool fby_log_limit_admit(struct fby_log_limit *self, const char *word,
    int64_t now_ns, uint64_t *left_out);

#endif
