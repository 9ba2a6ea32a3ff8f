/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - SIGINT (Ctrl-C) and SIGTERM as a flag that loops poll.
 *
 * The first signal requests an orderly end. A second one ends the process at
 * once, unless it comes within a second: timeout(1) signals the process and its
 * group, so one request arrives as two signals. A command that has nothing to
 * put in order ends at the first one. */
#ifndef FBY_CLI_SIGNALS_H
#define FBY_CLI_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

/* From now on the first SIGINT or SIGTERM only sets the flag.
 * Thread: main thread. */
void fby_signals_catch(void);

/* True if a signal at `now_ns` belongs to the request of that at `first_ns`. */
bool fby_signals_is_repetition(int64_t first_ns, int64_t now_ns);

/* From now on SIGINT and SIGTERM end the process at once, with exit code 128 +
 * the signal's number. For a command that has nothing to put in order. If
 * standard error is a terminal, its current line is erased.
 * Thread: main thread. */
void fby_signals_exit(void);

/* Block SIGINT and SIGTERM: an event loop receives them later. So a server or
 * worker ends in order even if the signal arrives during its start.
 * Thread: main thread, before other threads start. */
void fby_signals_block(void);

/* Returns the number of the signal that was caught; 0: none. */
int fby_signals_caught(void);

/* FBY_GONE if a signal was caught: a long computation calls it often, and ends
 * with this error. */
FBY_CHECKED fby_err fby_signals_check(struct fby_error_detail *why);

/* True if a signal was caught. The type is that of forebay_options.give_up;
 * `unused` may have any value. */
bool fby_signals_interrupted(void *unused);

/* Sleep for `timeout_ms`, or until a signal. Returns at once if a signal was
 * caught before. */
void fby_signals_wait(int timeout_ms);

#endif
