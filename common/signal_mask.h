/* SPDX-License-Identifier: Apache-2.0 */
/* signal_mask.h - start threads that handle no signal of the process.
 *
 * A thread begins with the mask of the thread that starts it. So a function
 * blocks all signals, starts its threads, and restores the mask: signals then
 * go to the threads of the application, which wait for them. */
#ifndef FBY_COMMON_SIGNAL_MASK_H
#define FBY_COMMON_SIGNAL_MASK_H

#include <signal.h>

/* Block all signals on this thread. Returns the mask before. */
static inline sigset_t fby_block_signals(void)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

/* Set the mask of this thread to that which fby_block_signals() returned. */
static inline void fby_restore_signals(sigset_t before)
{
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#endif
