/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/own_keys.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "secure/allowed.h"
#include "secure/key_file.h"

/* A file in memory that only this user can open, with `text`, which is wiped and
 * freed. Returns -1, with errno, if there is none. */
static int make_file(const char *name, struct fby_buffer *text)
{
    int     fd      = memfd_create(name, MFD_CLOEXEC);
    ssize_t written = fd >= 0 && fchmod(fd, S_IRUSR) == 0
                          ? write(fd, text->data, text->size)
                          : -1;
    int     error   = written < 0 ? errno : EFBIG; /* if it is cut: ulimit -f */
    if (fd >= 0 && written != (ssize_t)text->size) {
        close(fd);
        fd = -1;
    }
    sodium_memzero(text->data, text->size);
    fby_buffer_fini(text);
    errno = error;
    return fd;
}

static int make_key_file(const char *name, const struct fby_key_file *key)
{
    struct fby_buffer text = {0};
    fby_key_file_format(key, &text);
    return make_file(name, &text);
}

static int make_list(
    const struct fby_key_file *worker, const struct fby_key_file *trainer)
{
    struct fby_buffer text = {0};
    fby_allowed_put_line(&text, worker, NULL, NULL);
    fby_allowed_put_line(&text, trainer, NULL, NULL);
    return make_file("forebay-allowed", &text);
}

fby_err fby_own_keys_create(
    struct fby_own_keys *out, struct fby_error_detail *why)
{
    struct fby_key_file server =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    struct fby_key_file worker =
        fby_key_file_generate(FBY_ROLE_WORKER, "worker", &server.public_key);
    struct fby_key_file trainer =
        fby_key_file_generate(FBY_ROLE_TRAINER, "trainer", &server.public_key);
    *out = (struct fby_own_keys){
        .server  = make_key_file("forebay-server.key", &server),
        .worker  = make_key_file("forebay-worker.key", &worker),
        .trainer = make_key_file("forebay-trainer.key", &trainer),
        .allowed = make_list(&worker, &trainer),
    };
    int error = errno;
    sodium_memzero(&server, sizeof(server));
    sodium_memzero(&worker, sizeof(worker));
    sodium_memzero(&trainer, sizeof(trainer));
    if (out->server >= 0 && out->worker >= 0 && out->trainer >= 0 &&
        out->allowed >= 0) {
        return FBY_OK;
    }
    fby_own_keys_close(out);
    return fby_error_set(why, FBY_SYS,
        "cannot keep the keys of the cluster in memory: %s", strerror(error));
}

static void close_file(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void fby_own_keys_close(struct fby_own_keys *self)
{
    close_file(self->server);
    close_file(self->worker);
    close_file(self->trainer);
    close_file(self->allowed);
    *self = FBY_NO_OWN_KEYS;
}

struct fby_own_key_path fby_own_key_path(int fd)
{
    struct fby_own_key_path path;
    snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
    return path;
}

struct fby_own_key_path fby_own_key_path_for_others(int fd)
{
    struct fby_own_key_path path;
    snprintf(path.text, sizeof(path.text), "/proc/%d/fd/%d", (int)getpid(), fd);
    return path;
}
