/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "common/clock.h"

static volatile sig_atomic_t caught_signal;
static _Atomic int64_t       caught_ns;    /* its time; 0: none */
static volatile sig_atomic_t has_terminal; /* on standard error */

bool fby_signals_is_repetition(int64_t first_ns, int64_t now_ns)
{
    return now_ns - first_ns < FBY_NS_PER_S;
}

/* Calls only functions that are safe in a signal handler. */
static void on_signal(int number)
{
    int64_t now_ns   = fby_now_ns();
    int64_t first_ns = 0;
    if (atomic_compare_exchange_strong(&caught_ns, &first_ns, now_ns)) {
        caught_signal = number;
    } else if (!fby_signals_is_repetition(first_ns, now_ns)) {
        (void)signal(number, SIG_DFL);
        (void)raise(number); /* takes effect when the handler returns */
    }
}

void fby_signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART; /* output goes on to be written */
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
