/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files of each kind when the system returns few bytes at a time,
 * interrupts every other call, or fails. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "tests/test.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/cache.h"

enum how { WHOLE, PIECES, ENDED, BROKEN };

static _Atomic enum how how;
static atomic_uint      calls;

/* NOLINTBEGIN(readability-identifier-naming): what the linker calls them */
ssize_t __real_read(int fd, void *out, size_t size);
ssize_t __real_pread(int fd, void *out, size_t size, off_t offset);
ssize_t __wrap_read(int fd, void *out, size_t size);
ssize_t __wrap_pread(int fd, void *out, size_t size, off_t offset);
/* NOLINTEND(readability-identifier-naming) */

/* The result that a call must return; 1: call the real one for *size bytes. */
static ssize_t answer(size_t *size)
{
    switch (atomic_load(&how)) {
    case WHOLE:
        return 1;
    case PIECES:
        *size = *size < 7 ? *size : 7;
        errno = EINTR;
        return atomic_fetch_add(&calls, 1) % 2 == 0 ? -1 : 1;
    case ENDED:
        return 0;
    case BROKEN:
        errno = EIO;
        return -1;
    }
    return -1;
}

ssize_t __wrap_read(int fd, void *out, size_t size)
{
    ssize_t n = answer(&size);
    return n == 1 ? __real_read(fd, out, size) : n;
}

ssize_t __wrap_pread(int fd, void *out, size_t size, off_t offset)
{
    ssize_t n = answer(&size);
    return n == 1 ? __real_pread(fd, out, size, offset) : n;
}

/* How many calls of fstat succeed before one fails; -1: all of them. */
static atomic_int stats_left = -1;

/* NOLINTBEGIN(readability-identifier-naming): what the linker calls them */
int __real_fstat(int fd, struct stat *out);
int __wrap_fstat(int fd, struct stat *out);
/* NOLINTEND(readability-identifier-naming) */

int __wrap_fstat(int fd, struct stat *out)
{
    if (atomic_load(&stats_left) >= 0 &&
        atomic_fetch_sub(&stats_left, 1) == 0) {
        errno = EIO;
        return -1;
    }
    return __real_fstat(fd, out);
}

static int open_whole(void **state)
{
    atomic_store(&how, WHOLE);
    return sandbox_open(state);
}

static int close_whole(void **state)
{
    atomic_store(&how, WHOLE);
    return sandbox_close(state);
}

/* ---- sources ------------------------------------------------------------- */

static const struct fby_tokens token_file = {
    .format = FBY_TOKENS_MDS, .type = FBY_U8, .length = 4, .column = "tokens"};

static const char mds_config[] =
    "{\"column_encodings\": [\"bytes\"], \"column_names\": [\"tokens\"], "
    "\"column_sizes\": [12], \"format\": \"mds\", \"version\": 2}";

static void write_tokens(const struct sandbox *sb)
{
    struct fby_buffer file  = {0};
    uint32_t          begin = 12 + sizeof(mds_config) - 1;
    fby_put_u32(&file, 1);
    fby_put_u32(&file, begin);
    fby_put_u32(&file, begin + 12);
    fby_put_bytes(&file, mds_config, sizeof(mds_config) - 1);
    fby_put_bytes(&file, "twelve bytes", 12);
    sandbox_write(sb, "data/t.mds", file.data, file.size);
    fby_buffer_fini(&file);
}

static struct fby_dataset_spec source_of(
    const struct sandbox *sb, enum fby_source_kind kind)
{
    struct fby_dataset_spec spec = sandbox_shards(sb, "data:t.tar");
    spec.kind                    = kind;
    spec.cache_dir               = "";
    spec.hash                    = true;
    if (kind == FBY_SOURCE_SHARDS) {
        sandbox_shard(sb, "data/t.tar", 1, 2);
    } else if (kind == FBY_SOURCE_FOLDER) {
        sandbox_write_text(sb, "data/f/c/1.jpg", "the first of two files");
        sandbox_write_text(sb, "data/f/c/2.jpg", "the second of two files");
        spec.pattern = "data:f";
    } else if (kind == FBY_SOURCE_LIST) {
        sandbox_write_text(sb, "data/l.csv", "jpg,b\na value,another one\n");
        spec.pattern = "data:l.csv";
    } else {
        write_tokens(sb);
        spec.pattern = "data:t.mds";
        spec.tokens  = &token_file;
    }
    return spec;
}

static const enum fby_source_kind kinds[] = {
    FBY_SOURCE_SHARDS, FBY_SOURCE_FOLDER, FBY_SOURCE_LIST, FBY_SOURCE_TOKENS};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void find_first(struct fby_dataset *dataset, struct fby_member *out)
{
    static const char exts[][FBY_NAME_SIZE] = {"jpg"};
    assert_ok(fby_dataset_find_member(dataset, 0, exts, 1, out));
}

static void files_that_come_in_pieces_are_the_same(void **state)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct fby_dataset_spec spec = source_of(*state, kinds[i]);
        struct fby_digest       digests[2];
        char                    bytes[2][64] = {{0}};
        for (int in = WHOLE; in <= PIECES; in++) {
            struct fby_member member;
            atomic_store(&how, in);
            struct fby_dataset *dataset = sandbox_dataset(&spec);
            find_first(dataset, &member);
            assert_true(member.size < sizeof(bytes[0]));
            assert_ok(fby_dataset_read(
                dataset, &member, bytes[in], member.size, NULL));
            digests[in] = fby_dataset_digest(dataset);
            fby_dataset_destroy(&dataset);
            atomic_store(&how, WHOLE);
        }
        assert_true(fby_digest_equal(&digests[0], &digests[1]));
        assert_memory_equal(bytes[0], bytes[1], sizeof(bytes[0]));
        assert_int_not_equal(bytes[0][0], 0);
    }
}

static void what_cannot_be_read_says_why(void **state)
{
    static const struct {
        enum fby_source_kind kind;
        enum how             how;
        const char          *words;
    } rows[] = {
        {FBY_SOURCE_SHARDS, ENDED,
            "shard t.tar: offset 0: cannot read: the file became shorter"},
        {FBY_SOURCE_SHARDS, BROKEN,
            "shard t.tar: offset 0: cannot read: Input/output error"},
        {FBY_SOURCE_FOLDER, BROKEN,
            "file f/c/1.jpg: cannot read: Input/output error"},
        {FBY_SOURCE_LIST, ENDED, "l.csv: cannot read: the file became shorter"},
        {FBY_SOURCE_LIST, BROKEN, "l.csv: cannot read: Input/output error"},
        {FBY_SOURCE_TOKENS, ENDED,
            "shard t.mds: cannot read: the file became shorter"},
        {FBY_SOURCE_TOKENS, BROKEN,
            "shard t.mds: cannot read: Input/output error"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fby_dataset_spec spec    = source_of(*state, rows[i].kind);
        struct fby_dataset     *dataset = NULL;
        struct fby_error_detail why     = {{0}};
        atomic_store(&how, rows[i].how);
        assert_int_equal(
            fby_dataset_open(&spec, (struct fby_progress){0}, &dataset, &why),
            FBY_IO);
        atomic_store(&how, WHOLE);
        assert_string_equal(why.text, rows[i].words);
    }
}

/* Of all the calls that an open makes, one after another fails. */
static void no_file_is_used_whose_state_is_not_known(void **state)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct fby_dataset_spec spec = source_of(*state, kinds[i]);
        fby_err                 err  = FBY_IO;
        int                     n    = 0;
        for (; err != FBY_OK; n++) {
            struct fby_dataset     *dataset = NULL;
            struct fby_error_detail why     = {{0}};
            atomic_store(&stats_left, n);
            err = fby_dataset_open(
                &spec, (struct fby_progress){0}, &dataset, &why);
            assert_int_equal(
                err, atomic_load(&stats_left) < 0 ? FBY_IO : FBY_OK);
            atomic_store(&stats_left, -1);
            assert_int_equal(why.text[0] != '\0', err != FBY_OK);
            fby_dataset_destroy(&dataset);
        }
        assert_true(n > 3);
    }
}

static void a_member_that_cannot_be_read_says_why(void **state)
{
    struct fby_dataset_spec spec    = source_of(*state, FBY_SOURCE_SHARDS);
    struct fby_dataset     *dataset = sandbox_dataset(&spec);
    struct fby_member       member;
    struct fby_error_detail why = {{0}};
    char                    bytes[64];
    find_first(dataset, &member);
    atomic_store(&how, ENDED);
    assert_int_equal(
        fby_dataset_read(dataset, &member, bytes, member.size, &why),
        FBY_STALE);
    assert_string_equal(
        why.text, "was cut short to 512 bytes since it was indexed");
    atomic_store(&how, BROKEN);
    assert_int_equal(
        fby_dataset_read(dataset, &member, bytes, member.size, &why), FBY_IO);
    assert_string_equal(why.text, "cannot read: Input/output error");
    atomic_store(&how, WHOLE);
    assert_ok(fby_dataset_read(dataset, &member, bytes, member.size, &why));
    fby_dataset_destroy(&dataset);
}

static fby_err load(const char *path, enum how in, uint32_t *samples,
    struct fby_error_detail *why)
{
    struct fby_cached_manifest cached;
    atomic_store(&how, in);
    fby_err err = fby_cache_load(path, "source", &cached, why);
    atomic_store(&how, WHOLE);
    *samples = err == FBY_OK ? cached.shards[0].n_samples : 0;
    fby_cached_manifest_fini(&cached);
    return err;
}

static void a_manifest_that_comes_in_pieces_is_the_same(void **state)
{
    struct fby_shard           shard   = {0};
    struct fby_stamp           stamp   = {.size = 5};
    struct fby_cached_manifest what    = {.shards = &shard, .count = 1};
    struct fby_error_detail    why     = {{0}};
    uint32_t                   samples = 0;
    char                       path[128];
    snprintf(path, sizeof(path), "%s", sandbox_path(*state, "m.manifest"));
    fby_shard_init(&shard, "t.tar", FBY_SOURCE_SHARDS);
    assert_ok(fby_shard_add_sample(&shard, "0", 1, FBY_SHARD_NO_CLASS, NULL));
    assert_ok(fby_shard_add_member(&shard, "jpg", 512, 5, NULL));
    assert_ok(fby_shard_finish(&shard, NULL));
    shard.size   = 1024;
    shard.stamps = &stamp;
    assert_ok(fby_cache_store(path, "source", &what, NULL));
    shard.stamps = NULL;
    fby_shard_fini(&shard);
    assert_ok(load(path, PIECES, &samples, &why));
    assert_int_equal(samples, 1);
    assert_int_equal(load(path, ENDED, &samples, &why), FBY_IO);
    assert_string_equal(
        why.text, "manifest cache: cannot read: the file became shorter");
    assert_int_equal(load(path, BROKEN, &samples, &why), FBY_IO);
    assert_string_equal(
        why.text, "manifest cache: cannot read: Input/output error");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_whole, close_whole)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_that_come_in_pieces_are_the_same),
        TEST(what_cannot_be_read_says_why),
        TEST(no_file_is_used_whose_state_is_not_known),
        TEST(a_member_that_cannot_be_read_says_why),
        TEST(a_manifest_that_comes_in_pieces_is_the_same),
    };
    return cmocka_run_group_tests_name(
        "worker.source.short_reads", tests, NULL, NULL);
}
