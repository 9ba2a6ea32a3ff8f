/* child.h - a part of an embedded cluster: this executable, started again.
 *
 * A child is a real `forebay server` or `forebay worker`; it says on a pipe
 * where it listens, has a process group of its own (so that Ctrl-C reaches the
 * parent alone, which then ends its children in order), and ends by itself
 * when its parent is gone. All calls come from the thread that started it. */
#ifndef FBY_CLI_CHILD_H
#define FBY_CLI_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/option.h"
#include "common/err.h"

struct fby_child {
    pid_t pid;           /* 0: not running */
    int   ready_fd;      /* the child writes its endpoint here; -1 afterwards */
    char  what[64];      /* "worker 2", for messages */
    char  endpoint[256]; /* "tcp://127.0.0.1:40123" once ready */
    int   status;        /* of waitpid, once it ended */
};

/* Start `forebay ARGS... --ready-fd N --parent PID`.
 * Errors: FBY_SYS with the cause. */
FBY_CHECKED fby_err fby_child_start(struct fby_child *child, const char *what,
    const struct fby_words *args, struct fby_why *why);

/* Wait until it listens. Errors: FBY_TIMEOUT, FBY_GONE when it ended. */
FBY_CHECKED fby_err fby_child_wait_ready(
    struct fby_child *child, int64_t deadline_ns, struct fby_why *why);

/* Has it ended? Never blocks; `status` says how. */
bool fby_child_ended(struct fby_child *child);

/* Ask them to stop (SIGTERM), wait up to `grace_ns` for all, kill the rest. */
void fby_children_stop(
    struct fby_child *children, unsigned n, int64_t grace_ns);

/* In the child: end with `parent`. Errors: FBY_GONE when it is gone already. */
FBY_CHECKED fby_err fby_child_follow(pid_t parent);

#endif
