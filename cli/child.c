/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "common/clock.h"

/* Start this executable in its own process group, with no signal blocked. It
 * keeps the descriptors `inherited`. Sets errno on failure. */
static fby_err spawn_in_own_group(
    struct fby_child *child, char **argv, const int inherited[2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t          attributes;
    sigset_t                   no_signals;
    sigemptyset(&no_signals);
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 2; i++) {
        if (inherited[i] >=
            0) { /* onto itself: clears FD_CLOEXEC in the child */
            posix_spawn_file_actions_adddup2(
                &actions, inherited[i], inherited[i]);
        }
    }
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &no_signals);
    int error = posix_spawn(
        &child->pid, "/proc/self/exe", &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        child->pid = 0;
        errno      = error;
        return FBY_SYS;
    }
    return FBY_OK;
}

static void build_argv(
    const struct fby_words *args, int ready_fd, struct fby_words *argv)
{
    char number[16];
    fby_words_add(argv, "forebay");
    for (unsigned i = 0; i < args->n; i++) {
        fby_words_add(argv, args->items[i]);
    }
    snprintf(number, sizeof(number), "%d", ready_fd);
    fby_words_add(argv, "--ready-fd");
    fby_words_add(argv, number);
    snprintf(number, sizeof(number), "%d", (int)getpid());
    fby_words_add(argv, "--parent");
    fby_words_add(argv, number);
}

/* `error`, from errno, with the limit that a user can raise. */
static fby_err refuse_start(
    const char *name, int error, struct fby_error_detail *why)
{
    struct rlimit limit;
    if (error == EAGAIN && getrlimit(RLIMIT_NPROC, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY) {
        return fby_error_set(why, FBY_SYS,
            "cannot start %s: %s: the limit on processes is %llu; raise it "
            "(ulimit -u)",
            name, strerror(error), (unsigned long long)limit.rlim_cur);
    }
    return fby_error_set(why, FBY_SYS, "cannot start %s: %s%s", name,
        strerror(error),
        error == ENOENT ? ": is /proc mounted? its file self/exe is started"
                        : "");
}

fby_err fby_child_start(struct fby_child *child, const char *name,
    const struct fby_child_program *program, struct fby_error_detail *why)
{
    int              pipe_fds[2]; /* read end, write end */
    struct fby_words argv = {0};
    *child                = (struct fby_child){.ready_fd = -1};
    snprintf(child->name, sizeof(child->name), "%s", name);
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
        return fby_error_set(
            why, FBY_SYS, "no pipe for %s: %s", name, strerror(errno));
    }
    fcntl(pipe_fds[1], F_SETFD, 0); /* the child inherits the write end */
    build_argv(&program->args, pipe_fds[1], &argv);
    fby_err err = spawn_in_own_group(child, argv.items, program->inherited);
    if (err != FBY_OK) {
        err = refuse_start(name, errno, why);
    }
    fby_words_fini(&argv);
    close(pipe_fds[1]); /* then only the child holds the write end */
    child->ready_fd = pipe_fds[0];
    return err;
}

/* Read once from the pipe. Returns FBY_AGAIN until the endpoint is complete. */
static fby_err read_endpoint(
    struct fby_child *child, size_t *n_read, int64_t deadline_ns)
{
    int64_t       left_ns  = deadline_ns - fby_now_ns();
    struct pollfd pipe_end = {.fd = child->ready_fd, .events = POLLIN};
    if (left_ns <= 0) {
        return FBY_TIMEOUT;
    }
    if (poll(&pipe_end, 1, (int)(left_ns / FBY_NS_PER_MS) + 1) <= 0) {
        return FBY_AGAIN; /* not ready yet, or a signal */
    }
    size_t  capacity = sizeof(child->endpoint) - 1;
    ssize_t bytes =
        read(child->ready_fd, child->endpoint + *n_read, capacity - *n_read);
    if (bytes < 0 && errno == EINTR) {
        return FBY_AGAIN;
    }
    if (bytes <= 0) {
        return FBY_GONE;
    }
    *n_read += (size_t)bytes;
    char *end = memchr(child->endpoint, '\n', *n_read);
    if (end == NULL) {
        return *n_read < capacity ? FBY_AGAIN : FBY_PROTO;
    }
    *end = '\0';
    return FBY_OK;
}

fby_err fby_child_wait_ready(
    struct fby_child *child, int64_t deadline_ns, struct fby_error_detail *why)
{
    size_t  n_read = 0;
    fby_err err    = FBY_AGAIN;
    while (err == FBY_AGAIN) {
        err = read_endpoint(child, &n_read, deadline_ns);
    }
    close(child->ready_fd);
    child->ready_fd = -1;
    if (err == FBY_OK && child->endpoint[0] == '!') {
        return fby_error_set(
            why, FBY_GONE, "%s: %s", child->name, child->endpoint + 1);
    }
    if (err == FBY_OK) {
        return FBY_OK;
    }
    return fby_error_set(why, err, "%s %s", child->name,
        err == FBY_TIMEOUT ? "did not start in time"
        : err == FBY_PROTO ? "has too long an endpoint; use a shorter --listen"
                           : "ended while it started; see its message above");
}

void fby_child_read_cause(
    struct fby_child *child, struct fby_error_detail *cause)
{
    char line[sizeof(cause->text) + 2] = "";
    *cause                             = (struct fby_error_detail){""};
    if (child->ready_fd >= 0) {
        ssize_t n = read(child->ready_fd, line, sizeof(line) - 1);
        close(child->ready_fd);
        child->ready_fd = -1;
        if (n > 1 && line[0] == '!') {
            fby_error_set(cause, FBY_GONE, "%.*s", (int)(n - 2), line + 1);
        }
    }
}

bool fby_child_reap(struct fby_child *child)
{
    if (child->pid != 0 &&
        waitpid(child->pid, &child->status, WNOHANG) == child->pid) {
        child->pid = 0;
    }
    return child->pid == 0;
}

/* Reap all children that have ended. Returns true if none is left. */
static bool reap_all(struct fby_child *children, unsigned count)
{
    bool all_ended = true;
    for (unsigned i = 0; i < count; i++) {
        all_ended = fby_child_reap(&children[i]) && all_ended;
    }
    return all_ended;
}

static void signal_all(struct fby_child *children, unsigned count, int signal)
{
    for (unsigned i = 0; i < count; i++) {
        if (!fby_child_reap(&children[i])) {
            kill(children[i].pid, signal);
        }
    }
}

static void wait_all_ended(
    struct fby_child *children, unsigned count, int64_t deadline_ns)
{
    while (!reap_all(children, count) && fby_now_ns() < deadline_ns) {
        poll(NULL, 0, 5); /* sleep for 5 ms */
    }
}

void fby_children_stop(
    struct fby_child *children, unsigned count, int64_t grace_ns)
{
    signal_all(children, count, SIGTERM);
    wait_all_ended(children, count, fby_now_ns() + grace_ns);
    signal_all(children, count, SIGKILL);
    wait_all_ended(children, count, INT64_MAX);
    for (unsigned i = 0; i < count; i++) {
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
    /* If the parent ended before the call, no signal will come. */
    return getppid() == parent ? FBY_OK : FBY_GONE;
}

struct fby_parent_pipe fby_parent_pipe(pid_t parent, int ready_fd)
{
    struct fby_parent_pipe pipe = {.fd = -1};
    if (parent != 0 && ready_fd >= 0 && fstat(ready_fd, &pipe.about) == 0) {
        pipe.fd = ready_fd;
    }
    return pipe;
}

/* The descriptor is closed after the endpoint, and its number may be used. */
static bool is_open(const struct fby_parent_pipe *pipe)
{
    struct stat now;
    return pipe->fd >= 0 && fstat(pipe->fd, &now) == 0 &&
           now.st_dev == pipe->about.st_dev && now.st_ino == pipe->about.st_ino;
}

int fby_child_end(const struct fby_parent_pipe *pipe, const char *name,
    fby_err err, const struct fby_error_detail *why)
{
    if (err != FBY_OK && is_open(pipe) &&
        dprintf(pipe->fd, "!%s\n", why->text) > 0) {
        return FBY_EXIT_FAILED;
    }
    return fby_command_end(name, err, why);
}
