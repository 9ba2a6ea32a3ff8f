/* SPDX-License-Identifier: Apache-2.0 */
/* users.c - the count of calls that use a stream. In a forked child the lock
 * may be held by a thread that does not exist there, so the process is compared
 * first. */
#include "trainer_client/python/_forebay/users.h"

#include <unistd.h>

void fby_py_users_init(struct fby_py_users *self, struct forebay *stream)
{
    (void)pthread_mutex_init(&self->lock, NULL);
    (void)pthread_cond_init(&self->changed, NULL);
    self->stream = stream;
    self->pid    = getpid();
}

enum forebay_status fby_py_users_enter(struct fby_py_users *self)
{
    if (self->pid != getpid()) {
        return FOREBAY_FORKED;
    }
    pthread_mutex_lock(&self->lock);
    bool open = self->stream != NULL && !self->closing;
    self->n += open ? 1 : 0;
    pthread_mutex_unlock(&self->lock);
    return open ? FOREBAY_OK : FOREBAY_USAGE;
}

bool fby_py_users_leave(struct fby_py_users *self)
{
    pthread_mutex_lock(&self->lock);
    self->n--;
    bool closing = self->closing;
    if (closing && self->n == 0) {
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return closing;
}

static void wait_closed(struct fby_py_users *self)
{
    while (self->stream != NULL) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
}

/* End the calls that wait, and wait until the last one has left. */
static void wait_unused(struct fby_py_users *self)
{
    self->closing = true;
    (void)forebay_interrupt(self->stream, true);
    while (self->n > 0) {
        pthread_cond_wait(&self->changed, &self->lock);
    }
}

void fby_py_users_close(struct fby_py_users *self)
{
    if (self->pid != getpid()) {
        self->stream = NULL;
        return;
    }
    pthread_mutex_lock(&self->lock);
    if (self->closing) {
        wait_closed(self);
    } else if (self->stream != NULL) {
        wait_unused(self);
        struct forebay *stream = self->stream;
        pthread_mutex_unlock(&self->lock);
        forebay_close(&stream);
        pthread_mutex_lock(&self->lock);
        self->stream = NULL;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
}
