/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/atomic_file.h"
#include "common/bytes.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/user_cache.h"
#include "worker/source/manifest.h"
#include "worker/source/object_file.h"

enum {
    VERSION         = 1,  /* of the format of cache files */
    SUM_SIZE        = 16, /* bytes of the checksum at the end */
    MIN_SHARD_BYTES = 64  /* each shard in a cache file has at least so many */
};

static const uint8_t magic[4] = {'F', 'B', 'Y', 'I'};

void fby_cached_manifest_fini(struct fby_cached_manifest *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        fby_shard_fini(&self->shards[i]);
    }
    free(self->shards);
    *self = (struct fby_cached_manifest){0};
}

static void read_stamps(struct fby_reader *r, struct fby_shard *shard)
{
    for (uint32_t i = 0; i < fby_shard_count_stamps(shard) && !r->bad; i++) {
        struct fby_stamp *out = &shard->stamps[i];
        out->device           = fby_read_u64(r);
        out->inode            = fby_read_u64(r);
        out->size             = fby_read_u64(r);
        out->mtime_ns         = (int64_t)fby_read_u64(r);
        out->ctime_ns         = (int64_t)fby_read_u64(r);
    }
}

static fby_err refuse_damaged(struct fby_error_detail *why, const char *fault)
{
    return fby_error_set(why, FBY_PROTO, "manifest cache: %s", fault);
}

static fby_err decode_shard(struct fby_reader *r,
    struct fby_cached_manifest *out, struct fby_error_detail *why)
{
    struct fby_shard *shard = &out->shards[out->count++];
    uint32_t          size  = fby_read_u32(r);
    const uint8_t    *bytes = fby_read_bytes(r, size);
    if (bytes == NULL) {
        return refuse_damaged(why, "ends within a shard");
    }
    FBY_TRY(fby_shard_decode(bytes, size, shard, why));
    read_stamps(r, shard);
    const struct fby_shard *previous = out->count > 1 ? shard - 1 : NULL;
    if (previous != NULL && strcmp(previous->name, shard->name) >= 0) {
        return refuse_damaged(why, "shards that are not in order");
    }
    return FBY_OK;
}

static fby_err decode_head(struct fby_reader *r, const char *source,
    uint32_t *n_shards, struct fby_cached_manifest *out,
    struct fby_error_detail *why)
{
    const uint8_t *stored_magic  = fby_read_bytes(r, sizeof(magic));
    uint32_t       version       = fby_read_u32(r);
    uint32_t       size          = fby_read_u32(r);
    const uint8_t *stored_source = fby_read_bytes(r, size);
    out->hashed                  = fby_read_u8(r) == 1;
    *n_shards                    = fby_read_u32(r);
    if (r->bad || memcmp(stored_magic, magic, sizeof(magic)) != 0 ||
        version != VERSION) {
        return refuse_damaged(why, "another version, or no manifest");
    }
    if (size != strlen(source) || memcmp(stored_source, source, size) != 0) {
        return fby_error_set(
            why, FBY_NOT_FOUND, "manifest cache: of another source");
    }
    /* The caller allocates memory for n_shards, so the file must be as large
     * as so many shards. */
    return *n_shards > r->left / MIN_SHARD_BYTES
               ? refuse_damaged(why, "more shards than its size allows")
               : FBY_OK;
}

/* Check the checksum at the end of `data`, and subtract its size from *size. */
static fby_err strip_checksum(
    const uint8_t *data, size_t *size, struct fby_error_detail *why)
{
    if (*size < SUM_SIZE) {
        return refuse_damaged(why, "too short");
    }
    *size -= SUM_SIZE;
    struct fby_checksum sum = fby_checksum_of(data, *size);
    return memcmp(sum.bytes, data + *size, SUM_SIZE) == 0
               ? FBY_OK
               : refuse_damaged(why, "wrong checksum");
}

fby_err fby_cache_decode(const uint8_t *data, size_t size, const char *source,
    struct fby_cached_manifest *out, struct fby_error_detail *why)
{
    uint32_t n_shards = 0;
    *out              = (struct fby_cached_manifest){0};
    FBY_TRY(strip_checksum(data, &size, why));
    struct fby_reader r = fby_reader(data, size);
    FBY_TRY(decode_head(&r, source, &n_shards, out, why));
    out->shards = fby_zalloc(n_shards * sizeof(*out->shards));
    for (uint32_t i = 0; i < n_shards; i++) {
        FBY_TRY(decode_shard(&r, out, why));
    }
    return r.bad || r.left != 0 ? refuse_damaged(why, "too short or too long")
                                : FBY_OK;
}

fby_err fby_cache_path(
    const char *dir, const char *source, char out[FBY_PATH_SIZE])
{
    char user_path[FBY_PATH_SIZE];
    char hex[33]; /* the first 16 bytes of the digest, and NUL */
    if (dir == NULL) {
        dir = fby_user_cache_dir(user_path, sizeof(user_path));
    }
    struct fby_digest digest = fby_digest_of(source, strlen(source));
    int               n    = snprintf(out, FBY_PATH_SIZE, "%s/%s.manifest", dir,
                         fby_hex(digest.bytes, 16, hex));
    bool              fits = n > 0 && n < FBY_PATH_SIZE;
    return dir[0] != '\0' && fits ? FBY_OK : FBY_NOT_FOUND;
}

fby_err fby_cache_load(const char *path, const char *source,
    struct fby_cached_manifest *out, struct fby_error_detail *why)
{
    struct stat st;
    *out   = (struct fby_cached_manifest){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return fby_error_set(why, errno == ENOENT ? FBY_NOT_FOUND : FBY_IO,
            "manifest cache %s: %s", path, strerror(errno));
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return fby_error_set(
            why, FBY_IO, "manifest cache %s: not a plain file", path);
    }
    size_t   size = (size_t)st.st_size;
    uint8_t *data = malloc(size > 0 ? size : 1);
    if (data == NULL) {
        close(fd);
        return fby_error_set(
            why, FBY_IO, "manifest cache %s: too large for memory", path);
    }
    struct fby_object file = {.ops = &fby_local_file_ops, .fd = fd};
    fby_err           err  = fby_object_read(&file, 0, data, size, why);
    close(fd);
    err = err == FBY_OK ? fby_cache_decode(data, size, source, out, why)
                        : fby_error_prefix(why, err, "manifest cache");
    free(data);
    return err;
}

struct cache_writer { /* a cache file that is being written */
    struct fby_atomic_file   *file;
    struct fby_checksum_state sum;     /* of all bytes written so far */
    struct fby_buffer         pending; /* bytes to write next */
};

static void write_pending(struct cache_writer *w)
{
    fby_checksum_add(&w->sum, w->pending.data, w->pending.size);
    fby_atomic_file_write(w->file, w->pending.data, w->pending.size);
    w->pending.size = 0;
}

static void write_shard(struct cache_writer *w, const struct fby_shard *shard)
{
    fby_put_u32(&w->pending, 0); /* the size, which is stored below */
    fby_shard_encode(shard, &w->pending);
    size_t shard_bytes = w->pending.size - sizeof(uint32_t);
    fby_store_le(w->pending.data, shard_bytes, sizeof(uint32_t));
    for (uint32_t i = 0; i < fby_shard_count_stamps(shard); i++) {
        const struct fby_stamp *s = &shard->stamps[i];
        fby_put_u64(&w->pending, s->device);
        fby_put_u64(&w->pending, s->inode);
        fby_put_u64(&w->pending, s->size);
        fby_put_u64(&w->pending, (uint64_t)s->mtime_ns);
        fby_put_u64(&w->pending, (uint64_t)s->ctime_ns);
    }
    write_pending(w);
}

static void write_all(struct fby_atomic_file *file, const char *source,
    const struct fby_cached_manifest *manifest)
{
    struct cache_writer w = {.file = file};
    fby_checksum_begin(&w.sum);
    fby_put_bytes(&w.pending, magic, sizeof(magic));
    fby_put_u32(&w.pending, VERSION);
    fby_put_u32(&w.pending, (uint32_t)strlen(source));
    fby_put_bytes(&w.pending, source, strlen(source));
    fby_put_u8(&w.pending, manifest->hashed ? 1 : 0);
    fby_put_u32(&w.pending, manifest->count);
    write_pending(&w);
    for (uint32_t i = 0; i < manifest->count; i++) {
        write_shard(&w, &manifest->shards[i]);
    }
    struct fby_checksum sum = fby_checksum_end(&w.sum);
    fby_atomic_file_write(file, sum.bytes, sizeof(sum.bytes));
    fby_buffer_fini(&w.pending);
}

static bool have_same_files(
    const struct fby_cached_manifest *a, const struct fby_cached_manifest *b)
{
    bool are_same = a->count == b->count;
    for (uint32_t i = 0; are_same && i < a->count; i++) {
        const struct fby_shard *x = &a->shards[i];
        const struct fby_shard *y = &b->shards[i];
        uint32_t                n = fby_shard_count_stamps(x);
        are_same                  = fby_shard_count_stamps(y) == n &&
                   strcmp(x->name, y->name) == 0 &&
                   fby_stamps_equal(x->stamps, y->stamps, n);
    }
    return are_same;
}

/* Would `manifest` replace a stored manifest that has checksums? Another
 * process may have stored one since this process loaded the cache. */
static bool would_lose_checksums(const char *path, const char *source,
    const struct fby_cached_manifest *manifest)
{
    struct fby_cached_manifest stored;
    if (manifest->hashed) {
        return false;
    }
    bool loses = fby_cache_load(path, source, &stored, NULL) == FBY_OK &&
                 stored.hashed && have_same_files(&stored, manifest);
    fby_cached_manifest_fini(&stored);
    return loses;
}

/* Lock the directory of `file`, so that only one process at a time replaces
 * files there. Closing the returned descriptor (-1: none) unlocks it. An error
 * is ignored: without the lock, the last of two processes wins. */
static int lock_dir_of(const char *file)
{
    char dir[FBY_PATH_SIZE];
    snprintf(dir, sizeof(dir), "%s", file);
    char *slash = strrchr(dir, '/');
    if (slash == NULL) {
        return -1;
    }
    slash[1] = '\0';
    int fd   = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR) {
        /* a signal interrupted flock(): call it again */
    }
    return fd;
}

/* Finish the file, unless it would replace one with checksums. */
static fby_err finish_or_drop(struct fby_atomic_file *file, const char *source,
    const struct fby_cached_manifest *manifest, struct fby_error_detail *why)
{
    int     lock  = lock_dir_of(file->path);
    bool    loses = would_lose_checksums(file->path, source, manifest);
    fby_err err   = loses ? FBY_OK : fby_atomic_file_finish(file, why);
    fby_atomic_file_close(file);
    if (lock >= 0) {
        close(lock);
    }
    return err;
}

fby_err fby_cache_store(const char *path, const char *source,
    const struct fby_cached_manifest *manifest, struct fby_error_detail *why)
{
    struct fby_atomic_file file;
    fby_make_dirs_of(path);
    fby_err err = fby_atomic_file_open(&file, path, 0600, why);
    if (err == FBY_OK) {
        write_all(&file, source, manifest);
        err = finish_or_drop(&file, source, manifest, why);
    }
    return fby_error_prefix(why, err, "cannot write %s", path);
}
