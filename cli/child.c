#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

static fby_err spawn_in_own_group(struct fby_child *child, char **argv)
{
    posix_spawnattr_t attributes;
    sigset_t          none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    int failed = posix_spawn(
        &child->pid, "/proc/self/exe", NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0) {
        child->pid = 0;
        errno      = failed;
        return FBY_SYS;
    }
    return FBY_OK;
}

static void build_argv(
    const struct fby_words *args, int ready_fd, struct fby_words *out)
{
    char number[16];
    fby_words_add(out, "forebay");
    for (unsigned i = 0; i < args->n; i++) {
        fby_words_add(out, args->words[i]);
    }
    snprintf(number, sizeof(number), "%d", ready_fd);
    fby_words_add(out, "--ready-fd");
    fby_words_add(out, number);
    snprintf(number, sizeof(number), "%d", (int)getpid());
    fby_words_add(out, "--parent");
    fby_words_add(out, number);
}

fby_err fby_child_start(struct fby_child *child, const char *name,
    const struct fby_words *args, struct fby_error_detail *why)
{
    int              ends[2];
    struct fby_words argv = {0};
    *child                = (struct fby_child){.ready_fd = -1};
    snprintf(child->name, sizeof(child->name), "%s", name);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return fby_error_set(
            why, FBY_SYS, "no pipe for %s: %s", name, strerror(errno));
    }
    fcntl(ends[1], F_SETFD, 0); /* the child inherits this end */
    build_argv(args, ends[1], &argv);
    fby_err err = spawn_in_own_group(child, argv.words);
    if (err != FBY_OK) {
        fby_error_set(why, err, "cannot start %s: %s", name, strerror(errno));
    }
    fby_words_fini(&argv);
    close(ends[1]);
    child->ready_fd = ends[0];
    return err;
}

static fby_err read_endpoint(
    struct fby_child *child, size_t *used, int64_t deadline_ns)
{
    int64_t       left_ns = deadline_ns - fby_now_ns();
    struct pollfd wait    = {.fd = child->ready_fd, .events = POLLIN};
    if (left_ns <= 0) {
        return FBY_TIMEOUT;
    }
    if (poll(&wait, 1, (int)(left_ns / FBY_NS_PER_MS) + 1) <= 0) {
        return FBY_AGAIN; /* not ready yet, or a signal */
    }
    ssize_t n = read(child->ready_fd, child->endpoint + *used,
        sizeof(child->endpoint) - 1 - *used);
    if (n < 0 && errno == EINTR) {
        return FBY_AGAIN;
    }
    if (n <= 0) {
        return FBY_GONE;
    }
    *used += (size_t)n;
    char *end = memchr(child->endpoint, '\n', *used);
    if (end == NULL) {
        return *used < sizeof(child->endpoint) - 1 ? FBY_AGAIN : FBY_PROTO;
    }
    *end = '\0';
    return FBY_OK;
}

fby_err fby_child_wait_ready(
    struct fby_child *child, int64_t deadline_ns, struct fby_error_detail *why)
{
    size_t  used = 0;
    fby_err err  = FBY_AGAIN;
    while (err == FBY_AGAIN) {
        err = read_endpoint(child, &used, deadline_ns);
    }
    close(child->ready_fd);
    child->ready_fd = -1;
    if (err == FBY_OK) {
        return FBY_OK;
    }
    return fby_error_set(why, err, "%s %s", child->name,
        err == FBY_TIMEOUT ? "did not start in time"
                           : "ended while it started; see its message above");
}

bool fby_child_ended(struct fby_child *child)
{
    if (child->pid != 0 &&
        waitpid(child->pid, &child->status, WNOHANG) == child->pid) {
        child->pid = 0;
    }
    return child->pid == 0;
}

static bool all_ended(struct fby_child *children, unsigned n)
{
    bool ended = true;
    for (unsigned i = 0; i < n; i++) {
        ended = fby_child_ended(&children[i]) && ended;
    }
    return ended;
}

static void signal_all(struct fby_child *children, unsigned n, int signal)
{
    for (unsigned i = 0; i < n; i++) {
        if (!fby_child_ended(&children[i])) {
            kill(children[i].pid, signal);
        }
    }
}

static void wait_all_ended(
    struct fby_child *children, unsigned n, int64_t deadline_ns)
{
    while (!all_ended(children, n) && fby_now_ns() < deadline_ns) {
        poll(NULL, 0, 5);
    }
}

void fby_children_stop(struct fby_child *children, unsigned n, int64_t grace_ns)
{
    signal_all(children, n, SIGTERM);
    wait_all_ended(children, n, fby_now_ns() + grace_ns);
    signal_all(children, n, SIGKILL);
    wait_all_ended(children, n, INT64_MAX);
    for (unsigned i = 0; i < n; i++) {
        if (children[i].ready_fd >= 0) {
            close(children[i].ready_fd);
            children[i].ready_fd = -1;
        }
    }
}

fby_err fby_child_end_with_parent(pid_t parent)
{
    if (parent == 0) {
        return FBY_OK;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return getppid() == parent ? FBY_OK : FBY_GONE;
}
