/* SPDX-License-Identifier: Apache-2.0 */
/* ask.h - ask a server how many workers are wanted.
 *
 * The connection stays open between questions, and follows a server that moves
 * to another address of its name. Thread: one. */
#ifndef FBY_CLI_ASK_H
#define FBY_CLI_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option.h"
#include "common/err.h"
#include "secure/key_file.h"

struct fby_ask;

struct fby_ask_answer { /* as struct fby_scaled; free `reasons` */
    uint32_t         wanted, workers, jobs;
    struct fby_words reasons;
};

/* Prepare to ask `server`, "HOST:PORT", which is borrowed. `key` is of a trainer
 * or a worker; NULL: none. It is copied.
 * Errors: FBY_USAGE  `server` is no address
 *         FBY_SYS    the system gives no socket. */
FBY_CHECKED fby_err fby_ask_open(const char *server,
    const struct fby_key_file *key, struct fby_ask **out,
    struct fby_error_detail *why);
/* *self_p becomes NULL; NULL is allowed. */
void fby_ask_close(struct fby_ask **self_p);

/* Ask, and again every second until the answer has a number. A server that has
 * just started names the time after which it has one. If `waits_for_start`, the
 * deadline is then at least 5 s after that time.
 *
 * Blocks: until the answer, the deadline, or a signal (cli/signals.h).
 * Errors: FBY_AGAIN    the server has just started, and gives no number yet
 *         FBY_TIMEOUT  no answer; `why` has what to look at
 *         FBY_CONFIG   the server refuses the key
 *         FBY_GONE     a signal was caught. */
FBY_CHECKED fby_err fby_ask_workers(struct fby_ask *self, int64_t deadline_ns,
    bool waits_for_start, struct fby_ask_answer *out,
    struct fby_error_detail *why);

/* Keep the number from `min` to `max`, and add the reason. */
void fby_ask_limit(struct fby_ask_answer *answer, uint32_t min, uint32_t max);

#endif
