/* signals.h - Ctrl-C and SIGTERM as a flag that loops look at.
 *
 * The first signal asks for an orderly end; a second one ends at once. */
#ifndef FBY_CLI_SIGNALS_H
#define FBY_CLI_SIGNALS_H

/* From here on SIGINT and SIGTERM only raise the flag. Main thread. */
void fby_signals_catch(void);

/* From here on they wait until a loop takes them, so that one who serves leaves
 * in order even when told to while it starts. Main thread, before others. */
void fby_signals_hold(void);

/* The signal that came, 0 before. */
int fby_signals_caught(void);

/* Wait up to `timeout_ms`, less when a signal comes. */
void fby_signals_wait(int timeout_ms);

#endif
