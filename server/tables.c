/* tables.c - the hash tables of the directory; the only file that uses the
 * macros of uthash. */
#include <string.h>

#include "server/directory_state.h"

/* NOLINTBEGIN(bugprone-*,performance-*,readability-*): uthash's expansions */

struct fby_dir_worker *fby_table_worker(
    const struct fby_directory *self, uint64_t instance)
{
    struct fby_dir_worker *worker = NULL;
    HASH_FIND(hh, self->workers, &instance, sizeof(instance), worker);
    return worker;
}

struct fby_dir_worker *fby_table_newest_worker(const struct fby_directory *self)
{
    return self->workers == NULL ? NULL
                                 : ELMT_FROM_HH(self->workers->hh.tbl,
                                       self->workers->hh.tbl->tail);
}

struct fby_dir_session *fby_table_session(
    const struct fby_directory *self, uint64_t id)
{
    struct fby_dir_session *session = NULL;
    HASH_FIND(hh, self->sessions, &id, sizeof(id), session);
    return session;
}

struct fby_dir_job *fby_table_job(
    const struct fby_directory *self, const char *name)
{
    struct fby_dir_job *job = NULL;
    HASH_FIND_STR(self->jobs, name, job);
    return job;
}

void fby_table_add_worker(
    struct fby_directory *self, struct fby_dir_worker *worker)
{
    HASH_ADD(hh, self->workers, instance, sizeof(worker->instance), worker);
}

void fby_table_add_session(
    struct fby_directory *self, struct fby_dir_session *session)
{
    HASH_ADD(hh, self->sessions, id, sizeof(session->id), session);
}

void fby_table_add_job(struct fby_directory *self, struct fby_dir_job *job)
{
    HASH_ADD_KEYPTR(hh, self->jobs, job->name, strlen(job->name), job);
}

void fby_table_del_worker(
    struct fby_directory *self, struct fby_dir_worker *worker)
{
    HASH_DEL(self->workers, worker);
}

void fby_table_del_session(
    struct fby_directory *self, struct fby_dir_session *session)
{
    HASH_DEL(self->sessions, session);
}

void fby_table_del_job(struct fby_directory *self, struct fby_dir_job *job)
{
    HASH_DEL(self->jobs, job);
}

/* NOLINTEND(bugprone-*,performance-*,readability-*) */
