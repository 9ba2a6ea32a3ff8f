/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/scale/program.h"

#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/option.h"
#include "cli/signals.h"
#include "common/clock.h"

enum { POLL_MS = 50 };

static const int64_t kill_after_ns = 5 * FBY_NS_PER_S;

/* Start it in its own process group, with no signal blocked or ignored. Returns
 * an errno; 0: it runs. */
static int spawn_in_own_group(char **argv, pid_t *pid)
{
    static const int  caught[] = {SIGINT, SIGTERM, SIGPIPE};
    posix_spawnattr_t attributes;
    sigset_t          none;
    sigset_t          defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
        sigaddset(&defaults, caught[i]);
    }
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
        POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    int error = posix_spawn(pid, "/bin/sh", NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static fby_err start(const char *command, const char *number, pid_t *pid,
    struct fby_error_detail *why)
{
    const char *const words[] = {"sh", "-c", command, "sh", number};
    struct fby_words  argv    = {0};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        fby_words_add(&argv, words[i]);
    }
    int error = spawn_in_own_group(argv.items, pid);
    fby_words_fini(&argv);
    return error == 0 ? FBY_OK
                      : fby_error_set(why, FBY_SYS, "cannot start /bin/sh: %s",
                            strerror(error));
}

/* Wait until the process has ended, `deadline_ns`, or a signal. Returns true if
 * it has ended; `status` is -1 if the system does not tell how. */
static bool wait_for_end(pid_t pid, int64_t deadline_ns, int *status)
{
    pid_t ended = 0;
    while ((ended = waitpid(pid, status, WNOHANG)) == 0) {
        if (fby_now_ns() >= deadline_ns || fby_signals_caught() != 0) {
            return false;
        }
        usleep(POLL_MS * 1000);
    }
    *status = ended == pid ? *status : -1;
    return true;
}

/* Wait until no process of the group is left, at most until `deadline_ns`. Those
 * that are children of this process, as all are if it is the first of a
 * container, are reaped here. */
static void wait_for_group(pid_t group, int64_t deadline_ns)
{
    while (kill(-group, 0) == 0 && fby_now_ns() < deadline_ns) {
        if (waitpid(-group, NULL, WNOHANG) <= 0) {
            usleep(POLL_MS * 1000);
        }
    }
}

/* A second signal would end this process before it has ended the group: it waits
 * until then. */
static void end_group(pid_t group)
{
    sigset_t before;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    kill(-group, SIGTERM);
    wait_for_group(group, fby_now_ns() + kill_after_ns);
    kill(-group, SIGKILL);
    wait_for_group(group, fby_now_ns() + kill_after_ns);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static fby_err judge(int status, struct fby_error_detail *why)
{
    if (status == -1) {
        return fby_error_set(why, FBY_SYS, "the system does not tell its end");
    }
    if (WIFSIGNALED(status)) {
        return fby_error_set(
            why, FBY_CONFIG, "it ended by signal %d", WTERMSIG(status));
    }
    return WEXITSTATUS(status) == 0
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG, "its exit code is %d",
                     WEXITSTATUS(status));
}

fby_err fby_scale_program_run(const char *command, uint32_t number,
    int64_t limit_ns, struct fby_error_detail *why)
{
    char  text[16];
    int   status = 0;
    pid_t pid    = 0;
    snprintf(text, sizeof(text), "%" PRIu32, number);
    FBY_TRY(start(command, text, &pid, why));
    if (wait_for_end(pid, fby_now_ns() + limit_ns, &status)) {
        return judge(status, why);
    }
    end_group(pid);
    if (fby_signals_caught() != 0) {
        return FBY_GONE;
    }
    return fby_error_set(why, FBY_TIMEOUT,
        "it still ran after %d s, and was ended",
        (int)(limit_ns / FBY_NS_PER_S));
}
