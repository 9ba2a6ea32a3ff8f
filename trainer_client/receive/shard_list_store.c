/* SPDX-License-Identifier: Apache-2.0 */
/* shard_list_store.c - files with lists of shards. */
#include "trainer_client/receive/shard_list_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/atomic_file.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/user_cache.h"

#define FOLDER "shard-lists" /* in the user's cache directory */
#define SUFFIX ".shards"     /* behind the digits of the data digest */
enum {
    PATH_SIZE = 4096,
    N_DIGITS  = 2 * sizeof(struct fby_digest) /* in a name */
};

/* Write the path of a list. Returns false if it is too long. */
static bool write_path(
    const char *dir, const struct fby_digest *data, char out[PATH_SIZE])
{
    char hex[N_DIGITS + 1];
    int  n = snprintf(out, PATH_SIZE, "%s/" FOLDER "/%s" SUFFIX, dir,
         fby_hex(data->bytes, sizeof(data->bytes), hex));
    return dir[0] != '\0' && n > 0 && n < PATH_SIZE;
}

/* ---- storing ---- */

static fby_err encode(const struct fby_digest *data,
    const struct fby_shard_list *list, struct fby_buffer *out)
{
    const struct fby_message message = {
        .type   = FBY_MSG_OPENED,
        .opened = {.session = {1},
            .open_id        = {1},
            .data           = *data,
            .samples        = list->samples,
            .shards         = list->shards,
            .n_shards       = list->n_shards},
    };
    return fby_message_encode(&message, out, NULL);
}

/* Mark the file as used now. Returns false if there is none of this size. */
static bool touch(const char *path, size_t size)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           (size_t)st.st_size == size &&
           utimensat(AT_FDCWD, path, NULL, 0) == 0;
}

/* Make the directories of the file: the own folder is private, and those
 * above it are as a worker makes them, because workers of other users may keep
 * their manifests there. */
static void make_dirs(const char *path)
{
    char folder[PATH_SIZE];
    snprintf(
        folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
    fby_make_dirs_of(folder);
    (void)mkdir(folder, 0700);
}

static fby_err replace_file(const char *path, const struct fby_buffer *frame,
    struct fby_error_detail *why)
{
    struct fby_atomic_file file;
    make_dirs(path);
    FBY_TRY(fby_atomic_file_open(&file, path, 0600, why));
    fby_atomic_file_write(&file, frame->data, frame->size);
    return fby_atomic_file_finish(&file, why);
}

/* True for the names of lists and of their temporary files. Other files in
 * the folder are not ours. */
static bool is_own_name(const char *name)
{
    const char *end = name + N_DIGITS;
    if (strspn(name, "0123456789abcdef") != N_DIGITS ||
        strncmp(end, SUFFIX, strlen(SUFFIX)) != 0) {
        return false;
    }
    end += strlen(SUFFIX);
    return end[0] == '\0' || fby_atomic_file_is_part_suffix(end);
}

static bool is_older(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec ||
           (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Count the own files of the directory, and write the name of the one that was not
 * used for longest. */
static uint32_t find_oldest(DIR *dir, char oldest[NAME_MAX + 1])
{
    uint32_t             n    = 0;
    struct timespec      time = {0};
    const struct dirent *entry;
    rewinddir(dir);
    while ((entry = readdir(dir)) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
        struct stat st;
        if (!is_own_name(entry->d_name) ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode)) {
            continue;
        }
        if (n == 0 || is_older(&st.st_mtim, &time)) {
            time = st.st_mtim;
            snprintf(oldest, NAME_MAX + 1, "%s", entry->d_name);
        }
        n++;
    }
    return n;
}

/* Remove the oldest files beyond FBY_MAX_SHARD_LISTS. The temporary files of
 * killed processes are counted and removed as the others are. */
static void remove_old(const char *cache_dir)
{
    char oldest[NAME_MAX + 1];
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/" FOLDER, cache_dir);
    DIR *dir = opendir(path);
    while (dir != NULL && find_oldest(dir, oldest) > FBY_MAX_SHARD_LISTS &&
           unlinkat(dirfd(dir), oldest, 0) == 0) {
        /* the next one */
    }
    if (dir != NULL) {
        closedir(dir);
    }
}

void fby_shard_list_store(const char *dir, const struct fby_digest *data,
    const struct fby_shard_list *list)
{
    char                    path[PATH_SIZE];
    struct fby_buffer       frame = {0};
    struct fby_error_detail why;
    if (write_path(dir, data, path) && encode(data, list, &frame) == FBY_OK &&
        !touch(path, frame.size)) {
        if (replace_file(path, &frame, &why) == FBY_OK) {
            remove_old(dir);
        } else {
            fby_debug("NO-SHARD-LIST", "%s: %s", path, why.text);
        }
    }
    fby_buffer_fini(&frame);
}

/* ---- loading ---- */

bool fby_shard_list_decode(const void *bytes, size_t size,
    const struct fby_digest *data, struct fby_message *out)
{
    if (fby_message_decode(bytes, size, out, NULL) != FBY_OK) {
        return false;
    }
    bool is_list = out->type == FBY_MSG_OPENED &&
                   fby_digest_equal(&out->opened.data, data);
    if (!is_list) {
        fby_message_fini(out);
    }
    return is_list;
}

/* Read a plain file of at most FBY_MESSAGE_MAX bytes. NULL: failed. */
static uint8_t *read_file(int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
        st.st_size > FBY_MESSAGE_MAX) {
        return NULL;
    }
    uint8_t *bytes = fby_zalloc((size_t)st.st_size);
    ssize_t  n     = 1;
    for (*size = 0; n > 0 && *size < (size_t)st.st_size; *size += (size_t)n) {
        n = read(fd, bytes + *size, (size_t)st.st_size - *size);
        n = n < 0 ? 0 : n; /* what is missing fails the check of the hash */
    }
    return bytes;
}

bool fby_shard_list_load(
    const char *dir, const struct fby_digest *data, struct fby_message *out)
{
    char path[PATH_SIZE];
    if (!write_path(dir, data, path)) {
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    size_t   size  = 0;
    uint8_t *bytes = read_file(fd, &size);
    bool found = bytes != NULL && fby_shard_list_decode(bytes, size, data, out);
    close(fd);
    free(bytes);
    return found;
}

void fby_shard_list_describe(const char *dir, const struct fby_digest *then,
    const struct fby_shard_list *now, struct fby_error_detail *out)
{
    struct fby_message message;
    if (!fby_shard_list_load(dir, then, &message)) {
        fby_shard_list_diff(NULL, now, out);
        return;
    }
    const struct fby_shard_list list = {
        message.opened.samples, message.opened.shards, message.opened.n_shards};
    fby_shard_list_diff(&list, now, out);
    fby_message_fini(&message);
}
