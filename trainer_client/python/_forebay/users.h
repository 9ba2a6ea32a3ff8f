/* SPDX-License-Identifier: Apache-2.0 */
/* users.h - calls that use a stream, and its end.
 *
 * Any thread may call a method of a Stream at any time, also while another one
 * closes it. A call takes part with fby_py_users_enter(). The thread that
 * closes ends the calls that wait, and closes when all have left. No function
 * here needs the GIL, and those that wait must not have it. */
#ifndef FBY_PYTHON_USERS_H
#define FBY_PYTHON_USERS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "forebay/forebay.h"

struct fby_py_users {
    pthread_mutex_t lock;
    pthread_cond_t  changed;
    struct forebay *stream;  /* `lock`; NULL: closed */
    unsigned        n;       /* `lock`; calls that use `stream` */
    bool            closing; /* `lock` */
    pid_t           pid;     /* the process that opened it */
};

/* Takes the stream, which may not be NULL. */
void fby_py_users_init(struct fby_py_users *self, struct forebay *stream);
/* Errors: FOREBAY_USAGE: it is closed; FOREBAY_FORKED. */
enum forebay_status fby_py_users_enter(struct fby_py_users *self);
/* Returns whether the stream is being closed. */
bool fby_py_users_leave(struct fby_py_users *self);
/* Close the stream once; later calls wait until it is closed. In a forked child
 * it only forgets the stream. Blocks: until all calls have left. */
void fby_py_users_close(struct fby_py_users *self);

#endif
