/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/worker/source/sandbox.h"

#include "tests/test.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"

int sandbox_open(void **state)
{
    struct sandbox         *sb  = fby_zalloc(sizeof(*sb));
    struct fby_error_detail why = {0};
    char                    option[128];
    snprintf(sb->dir, sizeof(sb->dir), "/tmp/forebay-test-XXXXXX");
    assert_non_null(mkdtemp(sb->dir));
    sandbox_mkdir(sb, "data");
    snprintf(sb->cache, sizeof(sb->cache), "%s/cache", sb->dir);
    snprintf(option, sizeof(option), "data=%s/data", sb->dir);
    sb->roots = fby_roots_create();
    assert_ok(fby_roots_add(sb->roots, option, &why));
    *state = sb;
    return 0;
}

static int remove_one(
    const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

int sandbox_close(void **state)
{
    struct sandbox *sb = *state;
    fby_roots_destroy(&sb->roots);
    int failed = nftw(sb->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(sb);
    return failed;
}

const char *sandbox_path(const struct sandbox *sb, const char *path)
{
    static char     paths[4][4200];
    static unsigned turn;
    char           *out = paths[turn++ % 4];
    snprintf(out, sizeof(paths[0]), "%s/%s", sb->dir, path);
    return out;
}

void sandbox_mkdir(const struct sandbox *sb, const char *path)
{
    char whole[4200];
    snprintf(whole, sizeof(whole), "%s", sandbox_path(sb, path));
    for (char *at = whole + strlen(sb->dir) + 1;; at++) {
        char here = *at;
        if (here == '/' || here == '\0') {
            *at = '\0';
            (void)mkdir(whole, 0777);
            *at = here;
        }
        if (here == '\0') {
            break;
        }
    }
    struct stat st;
    assert_int_equal(stat(whole, &st), 0);
}

static void write_file(
    const char *path, int flags, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

void sandbox_write(
    const struct sandbox *sb, const char *path, const void *data, size_t size)
{
    char        parent[4200];
    const char *slash = strrchr(path, '/');
    if (slash != NULL) {
        snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
        sandbox_mkdir(sb, parent);
    }
    write_file(sandbox_path(sb, path), O_TRUNC, data, size);
}

void sandbox_write_text(
    const struct sandbox *sb, const char *path, const char *text)
{
    sandbox_write(sb, path, text, strlen(text));
}

void sandbox_append(
    const struct sandbox *sb, const char *path, const void *data, size_t size)
{
    write_file(sandbox_path(sb, path), O_APPEND, data, size);
}

void sandbox_link(
    const struct sandbox *sb, const char *target, const char *path)
{
    assert_int_equal(symlink(target, sandbox_path(sb, path)), 0);
}

void sandbox_remove(const struct sandbox *sb, const char *path)
{
    assert_int_equal(remove(sandbox_path(sb, path)), 0);
}

void tar_sum(uint8_t *header)
{
    unsigned sum = 0;
    memset(header + 148, ' ', 8);
    for (int i = 0; i < 512; i++) {
        sum += header[i];
    }
    char text[16];
    snprintf(text, sizeof(text), "%06o", sum);
    memcpy(header + 148, text, 7);
}

void tar_header(
    struct fby_buffer *tar, const char *name, char type, uint64_t size)
{
    static const uint8_t magic[8]    = {'u', 's', 't', 'a', 'r', 0, '0', '0'};
    uint8_t              header[512] = {0};
    char                 number[16];
    assert_true(strlen(name) <= 100);
    snprintf((char *)header, 101, "%s", name);
    snprintf(number, sizeof(number), "%011llo", (unsigned long long)size);
    memcpy(header + 124, number, 12);
    header[156] = (uint8_t)type;
    memcpy(header + 257, magic, sizeof(magic));
    tar_sum(header);
    fby_put_bytes(tar, header, sizeof(header));
}

void tar_payload(struct fby_buffer *tar, const void *data, size_t size)
{
    fby_put_bytes(tar, data, size);
    while (tar->size % 512 != 0) {
        fby_put_u8(tar, 0);
    }
}

void tar_file(struct fby_buffer *tar, const char *name, const char *text)
{
    tar_header(tar, name, '0', strlen(text));
    tar_payload(tar, text, strlen(text));
}

void tar_pax(struct fby_buffer *tar, const char *key, const char *value)
{
    size_t size   = strlen(key) + strlen(value) + 3;
    size_t digits = size + 1 < 10 ? 1 : size + 2 < 100 ? 2 : 3;
    char   text[1000];
    if (size + digits >= 1000) {
        digits = 4;
    }
    char *record = fby_zalloc(size + digits + 1);
    snprintf(
        record, size + digits + 1, "%zu %s=%s\n", size + digits, key, value);
    snprintf(text, sizeof(text), "PaxHeaders/next");
    tar_header(tar, text, 'x', size + digits);
    tar_payload(tar, record, size + digits);
    free(record);
}

void tar_end(struct fby_buffer *tar)
{
    static const uint8_t zeros[1024];
    fby_put_bytes(tar, zeros, sizeof(zeros));
}

void sandbox_tar(
    const struct sandbox *sb, const char *path, struct fby_buffer *tar)
{
    sandbox_write(sb, path, tar->data, tar->size);
    fby_buffer_fini(tar);
}

void sandbox_shard(
    const struct sandbox *sb, const char *path, unsigned first, unsigned n)
{
    struct fby_buffer tar = {0};
    for (unsigned i = first; i < first + n; i++) {
        char name[32];
        char text[32];
        snprintf(name, sizeof(name), "%04u.jpg", i);
        snprintf(text, sizeof(text), "image %u", i);
        tar_file(&tar, name, text);
        snprintf(name, sizeof(name), "%04u.cls", i);
        snprintf(text, sizeof(text), "%u", i % 10);
        tar_file(&tar, name, text);
    }
    tar_end(&tar);
    sandbox_tar(sb, path, &tar);
}

struct fby_dataset_spec sandbox_source(
    const struct sandbox *sb, enum fby_source_kind kind, const char *pattern)
{
    return (struct fby_dataset_spec){
        .roots     = sb->roots,
        .kind      = kind,
        .pattern   = pattern,
        .cache_dir = sb->cache,
        .threads   = 2,
    };
}

struct fby_dataset_spec sandbox_shards(
    const struct sandbox *sb, const char *pattern)
{
    return sandbox_source(sb, FBY_SOURCE_SHARDS, pattern);
}

struct fby_dataset_spec sandbox_folder(
    const struct sandbox *sb, const char *path)
{
    return sandbox_source(sb, FBY_SOURCE_FOLDER, path);
}

struct fby_dataset *sandbox_dataset(const struct fby_dataset_spec *spec)
{
    struct fby_dataset     *dataset = NULL;
    struct fby_error_detail why     = {0};
    fby_err                 err =
        fby_dataset_open(spec, (struct fby_progress){0}, &dataset, &why);
    if (err != FBY_OK) {
        fail_msg("%s: %s", fby_strerror(err), why.text);
    }
    return dataset;
}

void sandbox_refuses(
    const struct fby_dataset_spec *spec, fby_err err, const char *words)
{
    struct fby_dataset     *dataset = NULL;
    struct fby_error_detail why     = {0};
    assert_int_equal(
        fby_dataset_open(spec, (struct fby_progress){0}, &dataset, &why), err);
    assert_null(dataset);
    assert_says(&why, words);
}

uint32_t sandbox_reused(const struct fby_dataset_spec *spec)
{
    struct fby_dataset *dataset = sandbox_dataset(spec);
    uint32_t            n       = fby_dataset_reused_shard_count(dataset);
    fby_dataset_destroy(&dataset);
    return n;
}
