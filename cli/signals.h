/* signals.h - SIGINT (Ctrl-C) and SIGTERM as a flag that loops poll.
 *
 * The first signal asks for an orderly end; a second one ends the process at
 * once. */
#ifndef FBY_CLI_SIGNALS_H
#define FBY_CLI_SIGNALS_H

/* From now on the first SIGINT or SIGTERM only sets the flag.
 * Thread: main thread. */
void fby_signals_catch(void);

/* Block SIGINT and SIGTERM until an event loop takes them, so that a server or
 * worker ends in order even if the signal comes while it starts.
 * Thread: main thread, before other threads start. */
void fby_signals_block(void);

/* The signal that was caught; 0: none yet. */
int fby_signals_caught(void);

/* Sleep for `timeout_ms`, or until a signal. Returns at once after one. */
void fby_signals_wait(int timeout_ms);

#endif
