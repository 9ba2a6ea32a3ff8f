/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - a server or worker process of an embedded cluster.
 *
 * A child is this executable, run as `forebay server` or `forebay worker`. It
 * writes its endpoint to a pipe once it listens, or else '!' and the cause. It
 * has its own process group, so Ctrl-C reaches only the parent, which then stops
 * its children in order. When the parent ends in any other way, the kernel ends
 * the child.
 * Thread: all calls come from the thread that started the child. */
#ifndef FBY_CLI_CHILD_H
#define FBY_CLI_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "cli/option.h"
#include "common/err.h"

struct fby_child {
    pid_t pid;           /* 0: not running */
    int   ready_fd;      /* read end of the endpoint pipe; -1: closed */
    char  name[64];      /* "worker 2", for messages */
    char  endpoint[520]; /* "tcp://127.0.0.1:40123" once ready; fits a cause */
    int   status;        /* wait status, once the child has ended */
};

struct fby_child_program {
    struct fby_words args;
    int              inherited[2]; /* descriptors that it keeps; -1: none */
};

/* Start `forebay ARGS... --ready-fd N --parent PID`; messages call it `name`.
 * Errors: FBY_SYS with the cause. */
FBY_CHECKED fby_err fby_child_start(struct fby_child *child, const char *name,
    const struct fby_child_program *program, struct fby_error_detail *why);

/* Wait until the child listens and `endpoint` is set.
 * Errors: FBY_TIMEOUT at the deadline; FBY_GONE when the child has ended, with
 *         the cause that it told; FBY_PROTO when its endpoint is too long. */
FBY_CHECKED fby_err fby_child_wait_ready(
    struct fby_child *child, int64_t deadline_ns, struct fby_error_detail *why);

/* The cause that an ended child told, if fby_child_wait_ready() was not called
 * for it; else "". Closes `ready_fd`. */
void fby_child_read_cause(
    struct fby_child *child, struct fby_error_detail *cause);

/* Reap the child if it has ended, and set `status`. Returns true once it has
 * ended. Blocks: never. */
bool fby_child_reap(struct fby_child *child);

/* Send SIGTERM to all children and wait for at most `grace_ns` in total. Then
 * send SIGKILL to the children that still run, and wait for their end. */
void fby_children_stop(
    struct fby_child *children, unsigned count, int64_t grace_ns);

/* Called in the child: let the kernel send it SIGTERM when `parent` ends. Does
 * nothing if `parent` is 0. Errors: FBY_GONE: the parent has already ended. */
FBY_CHECKED fby_err fby_child_end_with_parent(pid_t parent);

/* Called in the child: the pipe to the parent, as it is at the start. */
struct fby_parent_pipe {
    int         fd; /* -1: there is none */
    struct stat about;
};
struct fby_parent_pipe fby_parent_pipe(pid_t parent, int ready_fd);

/* As fby_command_end(). But if the endpoint was not written to the pipe, so that
 * the parent waits, tell the cause to the parent, which reports it. */
int fby_child_end(const struct fby_parent_pipe *pipe, const char *name,
    fby_err err, const struct fby_error_detail *why);

#endif
