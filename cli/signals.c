/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <poll.h>
#include <signal.h>

static volatile sig_atomic_t caught_signal;

static void on_signal(int number)
{
    caught_signal = number;
}

void fby_signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    action.sa_flags = (int)SA_RESETHAND; /* a second signal ends the process */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void fby_signals_block(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int fby_signals_caught(void)
{
    return caught_signal;
}

bool fby_signals_interrupted(void *unused)
{
    (void)unused;
    return caught_signal != 0;
}

void fby_signals_wait(int timeout_ms)
{
    if (caught_signal == 0) {
        poll(NULL, 0, timeout_ms); /* a signal interrupts it */
    }
}
