/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/temporary_keys.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "secure/allowed.h"
#include "secure/key_file.h"

/* Make a file in memory that only this user can open, with `text`, which is
 * wiped and freed. */
static fby_err make_file(const char *name, struct fby_buffer *text, int *out,
    struct fby_error_detail *why)
{
    int     fd      = memfd_create(name, MFD_CLOEXEC);
    ssize_t written = fd >= 0 && fchmod(fd, S_IRUSR) == 0
                          ? write(fd, text->data, text->size)
                          : -1;
    int     error   = written < 0 ? errno : EFBIG; /* if it is cut: ulimit -f */
    bool    done    = written == (ssize_t)text->size;
    sodium_memzero(text->data, text->size);
    fby_buffer_fini(text);
    *out = fd;
    return done ? FBY_OK
                : fby_error_set(why, FBY_SYS,
                      "cannot keep the keys of the cluster in memory: %s",
                      strerror(error));
}

static fby_err make_key_file(const char *name, const struct fby_key_file *key,
    int *out, struct fby_error_detail *why)
{
    struct fby_buffer text = {0};
    fby_key_file_format(key, &text);
    return make_file(name, &text, out, why);
}

static fby_err make_files(struct fby_temporary_keys *out,
    const struct fby_key_file *server, const struct fby_key_file *worker,
    const struct fby_key_file *trainer, struct fby_error_detail *why)
{
    struct fby_buffer list = {0};
    FBY_TRY(make_key_file("forebay-server.key", server, &out->server, why));
    FBY_TRY(make_key_file("forebay-worker.key", worker, &out->worker, why));
    FBY_TRY(make_key_file("forebay-trainer.key", trainer, &out->trainer, why));
    fby_allowed_put_line(&list, worker, NULL, NULL);
    fby_allowed_put_line(&list, trainer, NULL, NULL);
    return make_file("forebay-allowed", &list, &out->allowed, why);
}

fby_err fby_temporary_keys_create(
    struct fby_temporary_keys *out, struct fby_error_detail *why)
{
    struct fby_key_file server =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    struct fby_key_file worker =
        fby_key_file_generate(FBY_ROLE_WORKER, "worker", &server.public_key);
    struct fby_key_file trainer =
        fby_key_file_generate(FBY_ROLE_TRAINER, "trainer", &server.public_key);
    *out        = FBY_NO_TEMPORARY_KEYS;
    fby_err err = make_files(out, &server, &worker, &trainer, why);
    sodium_memzero(&server, sizeof(server));
    sodium_memzero(&worker, sizeof(worker));
    sodium_memzero(&trainer, sizeof(trainer));
    if (err != FBY_OK) {
        fby_temporary_keys_close(out);
    }
    return err;
}

static void close_file(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void fby_temporary_keys_close(struct fby_temporary_keys *self)
{
    close_file(self->server);
    close_file(self->worker);
    close_file(self->trainer);
    close_file(self->allowed);
    *self = FBY_NO_TEMPORARY_KEYS;
}

struct fby_temporary_key_path fby_temporary_key_path(int fd)
{
    struct fby_temporary_key_path path;
    snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
    return path;
}

struct fby_temporary_key_path fby_temporary_key_path_by_pid(int fd)
{
    struct fby_temporary_key_path path;
    snprintf(path.text, sizeof(path.text), "/proc/%d/fd/%d", (int)getpid(), fd);
    return path;
}
