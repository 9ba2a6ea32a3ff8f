/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - SIGINT (Ctrl-C) and SIGTERM as a flag that loops poll.
 *
 * The first signal requests an orderly end. A second signal ends the process at
 * once. */
#ifndef FBY_CLI_SIGNALS_H
#define FBY_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on the first SIGINT or SIGTERM only sets the flag.
 * Thread: main thread. */
void fby_signals_catch(void);

/* Block SIGINT and SIGTERM: an event loop receives them later. So a server or
 * worker ends in order even if the signal arrives during its start.
 * Thread: main thread, before other threads start. */
void fby_signals_block(void);

/* Returns the number of the signal that was caught; 0: none. */
int fby_signals_caught(void);

/* True if a signal was caught. The type is that of forebay_options.give_up;
 * `unused` may have any value. */
bool fby_signals_interrupted(void *unused);

/* Sleep for `timeout_ms`, or until a signal. Returns at once if a signal was
 * caught before. */
void fby_signals_wait(int timeout_ms);

#endif
