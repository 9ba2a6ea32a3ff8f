/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/log.h"
#include "common/mem.h"

struct fby_access {
    struct fby_key_file key;
    char               *list_path;
    struct stat         list_stat; /* when it was read last */
    pthread_mutex_t     lock;      /* of `list`: the loop replaces it */
    struct fby_allowed  list;
};

/* ---- the list ------------------------------------------------------------ */

static fby_err read_list(
    const char *path, struct fby_allowed *out, struct fby_error_detail *why)
{
    struct fby_buffer text = {0};
    fby_err err = fby_secret_file_read(path, FBY_ALLOWED_MAX_BYTES, &text, why);
    if (err == FBY_NOT_FOUND) {
        err = fby_error_set(why, FBY_CONFIG,
            "%s: there is no list of admitted keys; copy the file allowed that "
            "forebay keys wrote beside server.key, or name it: --allowed PATH",
            path);
    } else if (err == FBY_OK) {
        err = fby_allowed_parse((const char *)text.data, text.size, out, why);
        (void)fby_error_prefix(why, err, "%s", path);
    }
    fby_buffer_fini(&text);
    return err;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void fby_access_refresh(struct fby_access *self)
{
    struct stat             found = {0};
    struct fby_allowed      list  = {0};
    struct fby_error_detail why   = {""};
    /* A file that is missing has the zeros of `found`, and is read too. */
    if (stat(self->list_path, &found) == 0 &&
        is_same_file(&found, &self->list_stat)) {
        return;
    }
    bool is_news    = !is_same_file(&found, &self->list_stat);
    self->list_stat = found;
    if (read_list(self->list_path, &list, &why) != FBY_OK) {
        if (is_news) {
            fby_error(
                "KEYS", "%s; the keys read before stay admitted", why.text);
        }
        return;
    }
    pthread_mutex_lock(&self->lock);
    struct fby_allowed old = self->list;
    self->list             = list;
    pthread_mutex_unlock(&self->lock);
    fby_allowed_fini(&old);
    fby_info("KEYS", "%zu admitted, from %s", list.n, self->list_path);
}

const struct fby_allowed_key *fby_access_find(
    const struct fby_access *self, const struct fby_key *public_key)
{
    return fby_allowed_find(&self->list, public_key);
}

bool fby_access_knows(void *context, const struct fby_key *public_key)
{
    struct fby_access *self = context;
    pthread_mutex_lock(&self->lock);
    bool known = fby_allowed_find(&self->list, public_key) != NULL;
    pthread_mutex_unlock(&self->lock);
    return known;
}

bool fby_access_permits(enum fby_role role, enum fby_message_type type)
{
    bool of_worker = type >= FBY_MSG_REGISTER && type <= FBY_MSG_DEREGISTER;
    if (type == FBY_MSG_SCALE) {
        return role == FBY_ROLE_WORKER || role == FBY_ROLE_TRAINER;
    }
    return role == (of_worker ? FBY_ROLE_WORKER : FBY_ROLE_TRAINER);
}

/* ---- open and close ------------------------------------------------------ */

static char *path_of_list(const char *keys, const char *allowed)
{
    char        path[FBY_KEY_PATH_SIZE + sizeof("/allowed")];
    struct stat info;
    if (allowed != NULL) {
        return fby_strdup(allowed);
    }
    bool        is_folder = stat(keys, &info) == 0 && S_ISDIR(info.st_mode);
    const char *slash     = strrchr(keys, '/'); /* beside a key file */
    if (is_folder) {
        snprintf(path, sizeof(path), "%s/allowed", keys);
    } else {
        snprintf(path, sizeof(path), "%.*sallowed",
            slash != NULL ? (int)(slash + 1 - keys) : 0, keys);
    }
    return fby_strdup(path);
}

fby_err fby_access_open(const char *keys, const char *allowed,
    struct fby_access **out, struct fby_error_detail *why)
{
    struct fby_access *self = fby_zalloc(sizeof(*self));
    pthread_mutex_init(&self->lock, NULL);
    self->list_path = path_of_list(keys, allowed);
    fby_err err     = fby_key_file_load(keys, FBY_ROLE_SERVER, &self->key, why);
    if (err == FBY_OK) {
        (void)stat(self->list_path, &self->list_stat);
        err = read_list(self->list_path, &self->list, why);
    }
    if (err != FBY_OK) {
        fby_access_close(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

void fby_access_close(struct fby_access **self_p)
{
    struct fby_access *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    pthread_mutex_destroy(&self->lock);
    sodium_memzero(&self->key, sizeof(self->key));
    fby_allowed_fini(&self->list);
    free(self->list_path);
    free(self);
}

const uint8_t *fby_access_secret(const struct fby_access *self)
{
    return self->key.secret_key.bytes;
}
