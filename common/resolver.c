/* SPDX-License-Identifier: Apache-2.0 */
/* A lookup is a heap block that belongs to the resolver and its thread. The
 * state says who frees it: the one that changes it from RUNNING decides. */
#include "common/resolver.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/signal_mask.h"
#include "common/wakeup.h"

enum lookup_state {
    RUNNING,
    ENDED,    /* the resolver joins the thread and frees the lookup */
    ABANDONED /* the thread frees the lookup */
};

struct lookup {
    atomic_int              state;
    char                   *text; /* NULL: read `file` */
    char                   *file;
    fby_resolve_function   *resolve;
    struct fby_wakeup       wakeup; /* borrowed; not used once ABANDONED */
    struct fby_endpoints    found;
    fby_err                 err;
    struct fby_error_detail why;
};

struct fby_resolver {
    char                 *text; /* NULL: read `file` */
    char                 *file;
    fby_resolve_function *resolve;
    struct fby_wakeup     wakeup;
    struct lookup        *lookup; /* NULL: none */
    pthread_t             thread; /* of `lookup` */
};

/* ---- The thread ---------------------------------------------------------- */

static void free_lookup(struct lookup *lookup)
{
    free(lookup->text);
    free(lookup->file);
    free(lookup);
}

/* Read the first line of the file, without white space around it. */
static fby_err read_address(
    const char *path, char out[FBY_ENDPOINT_SIZE], struct fby_error_detail *why)
{
    char  line[FBY_ENDPOINT_SIZE] = "";
    FILE *file                    = fopen(path, "re");
    errno                         = file != NULL ? 0 : errno;
    if (file == NULL || fgets(line, sizeof(line), file) == NULL) {
        (void)fby_error_set(why, FBY_NOT_FOUND, "server file %.200s: %s", path,
            errno != 0 ? strerror(errno) : "it is empty");
    }
    if (file != NULL) {
        fclose(file);
    }
    size_t start  = strspn(line, " \t\r\n");
    size_t length = strcspn(line + start, " \t\r\n");
    snprintf(out, FBY_ENDPOINT_SIZE, "%.*s", (int)length, line + start);
    return line[0] != '\0' ? FBY_OK : FBY_NOT_FOUND;
}

static fby_err look_up_file(struct lookup *lookup)
{
    char text[FBY_ENDPOINT_SIZE];
    FBY_TRY(read_address(lookup->file, text, &lookup->why));
    return fby_error_prefix(&lookup->why,
        lookup->resolve(text, &lookup->found, &lookup->why),
        "server file %.200s", lookup->file);
}

static void *run(void *opaque)
{
    struct lookup *lookup = opaque;
    int            state  = RUNNING;
    lookup->err           = lookup->text != NULL ? lookup->resolve(lookup->text,
                                                       &lookup->found, &lookup->why)
                                                 : look_up_file(lookup);
    if (atomic_compare_exchange_strong(&lookup->state, &state, ENDED)) {
        fby_wakeup_send(&lookup->wakeup);
    } else {
        free_lookup(lookup);
    }
    return NULL;
}

/* ---- The resolver -------------------------------------------------------- */

static char *copy(const char *text)
{
    return text != NULL ? fby_strdup(text) : NULL;
}

fby_err fby_resolver_create(const struct fby_resolver_source *source,
    struct fby_resolver **out, struct fby_error_detail *why)
{
    struct fby_wakeup wakeup = fby_wakeup_open();
    if (wakeup.fd < 0) {
        return fby_error_set(
            why, FBY_SYS, "cannot create an eventfd: %s", strerror(errno));
    }
    struct fby_resolver *self = fby_zalloc(sizeof(*self));
    self->wakeup              = wakeup;
    self->text                = copy(source->text);
    self->file                = copy(source->file);
    self->resolve =
        source->resolve != NULL ? source->resolve : fby_endpoint_resolve_all;
    *out = self;
    return FBY_OK;
}

static void end_lookup(struct fby_resolver *self)
{
    pthread_join(self->thread, NULL);
    free_lookup(self->lookup);
    self->lookup = NULL;
    fby_wakeup_clear(&self->wakeup);
}

void fby_resolver_destroy(struct fby_resolver **self_p)
{
    struct fby_resolver *self  = *self_p;
    int                  state = RUNNING;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    if (self->lookup != NULL && atomic_compare_exchange_strong(
                                    &self->lookup->state, &state, ABANDONED)) {
        pthread_detach(self->thread);
    } else if (self->lookup != NULL) {
        end_lookup(self);
    }
    fby_wakeup_close(&self->wakeup);
    free(self->text);
    free(self->file);
    free(self);
}

int fby_resolver_fd(const struct fby_resolver *self)
{
    return self->wakeup.fd;
}

bool fby_resolver_is_running(const struct fby_resolver *self)
{
    return self->lookup != NULL;
}

/* No signal is handled on the new thread. */
static int create_thread(struct fby_resolver *self)
{
    sigset_t before = fby_block_signals();
    int      error  = pthread_create(&self->thread, NULL, run, self->lookup);
    fby_restore_signals(before);
    return error;
}

fby_err fby_resolver_start(
    struct fby_resolver *self, struct fby_error_detail *why)
{
    if (self->lookup != NULL) {
        return FBY_OK;
    }
    self->lookup  = fby_zalloc(sizeof(*self->lookup));
    *self->lookup = (struct lookup){
        .text    = copy(self->text),
        .file    = copy(self->file),
        .resolve = self->resolve,
        .wakeup  = self->wakeup,
    };
    int error = create_thread(self);
    if (error != 0) {
        free_lookup(self->lookup);
        self->lookup = NULL;
        return fby_error_set(why, FBY_SYS,
            "cannot start a thread to look up the server: %s", strerror(error));
    }
    return FBY_OK;
}

fby_err fby_resolver_take(struct fby_resolver *self, struct fby_endpoints *out,
    struct fby_error_detail *why)
{
    if (self->lookup == NULL || atomic_load(&self->lookup->state) != ENDED) {
        return FBY_AGAIN;
    }
    fby_err err = self->lookup->err;
    if (err == FBY_OK) {
        *out = self->lookup->found;
    } else {
        *why = self->lookup->why;
    }
    end_lookup(self);
    return err;
}
