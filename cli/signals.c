/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t caught_signal;
static volatile sig_atomic_t has_terminal; /* on standard error */

static void on_signal(int number)
{
    caught_signal = number;
}

void fby_signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    /* Output goes on to be written; a second signal ends the process. */
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* Calls only functions that are safe in a signal handler. */
static void exit_on_signal(int number)
{
    static const char erase_line[] = "\r\033[K";
    if (has_terminal) {
        ssize_t n = write(STDERR_FILENO, erase_line, sizeof(erase_line) - 1);
        (void)n;
    }
    _exit(128 + number);
}

void fby_signals_exit(void)
{
    struct sigaction action = {.sa_handler = exit_on_signal};
    sigemptyset(&action.sa_mask);
    has_terminal = isatty(STDERR_FILENO);
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

fby_err fby_signals_check(struct fby_error_detail *why)
{
    return caught_signal == 0 ? FBY_OK
                              : fby_error_set(why, FBY_GONE, "ended by signal");
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
