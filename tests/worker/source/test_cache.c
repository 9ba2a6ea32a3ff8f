/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/descriptors.h"
#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/guard.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/cache.h"

/* One tar and its stamp. */
static struct fby_cached_manifest example(void)
{
    static const struct fby_stamp stamp = {1, 2, 5120, 4, 5};
    struct fby_shard             *shard = fby_zalloc(sizeof(*shard));
    fby_shard_init(shard, "t-0.tar", FBY_SOURCE_SHARDS);
    assert_ok(fby_shard_add_sample(shard, "0001", 4, FBY_SHARD_NO_CLASS, NULL));
    assert_ok(fby_shard_add_member(shard, "jpg", 512, 5, NULL));
    shard->size   = 5120;
    shard->stamps = fby_memdup(&stamp, sizeof(stamp));
    assert_ok(fby_shard_finish(shard, NULL));
    return (struct fby_cached_manifest){
        .shards = shard, .count = 1, .hashed = true};
}

/* The bytes of a manifest of these shards of "shards /a". */
static struct fby_buffer bytes_of(
    const struct sandbox *sb, const struct fby_cached_manifest *what)
{
    static uint8_t    room[4096];
    struct fby_buffer bytes = {0};
    const char       *path  = sandbox_path(sb, "deep/cache/z.manifest");
    assert_ok(fby_cache_store(path, "shards /a", what, NULL));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    fby_put_bytes(&bytes, room, (size_t)read(fd, room, sizeof(room)));
    close(fd);
    return bytes;
}

static struct fby_buffer example_bytes(const struct sandbox *sb)
{
    struct fby_cached_manifest what  = example();
    struct fby_buffer          bytes = bytes_of(sb, &what);
    fby_cached_manifest_fini(&what);
    return bytes;
}

/* Store an example with or without sums, whose file has this inode. */
static void store(const char *path, bool hashed, uint64_t inode)
{
    struct fby_cached_manifest what = example();
    what.hashed                     = hashed;
    what.shards[0].has_checksum     = hashed;
    what.shards[0].stamps[0].inode  = inode;
    assert_ok(fby_cache_store(path, "shards /a", &what, NULL));
    fby_cached_manifest_fini(&what);
}

static void assert_stored(const char *path, bool hashed, uint64_t inode)
{
    struct fby_cached_manifest back = {0};
    assert_ok(fby_cache_load(path, "shards /a", &back, NULL));
    assert_int_equal(back.hashed, hashed);
    assert_int_equal(back.shards[0].stamps[0].inode, inode);
    fby_cached_manifest_fini(&back);
}

static void sums_of_the_same_files_are_not_lost(void **state)
{
    const struct sandbox *sb   = *state;
    const char           *path = sandbox_path(sb, "deep/cache/y.manifest");
    store(path, false, 2);
    store(path, true, 2);
    assert_stored(path, true, 2);
    store(path, false, 2); /* as by a worker that began before it was hashed */
    assert_stored(path, true, 2);
    store(path, false, 3);
    assert_stored(path, false, 3);
}

static void nothing_is_left_beside_the_manifest(void **state)
{
    const struct sandbox *sb   = *state;
    const char           *path = sandbox_path(sb, "lone/y.manifest");
    store(path, true, 2);
    store(path, false, 2);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(sandbox_path(sb, "lone")), 0);
}

static void another_source_or_no_file_is_not_found(void **state)
{
    const struct sandbox      *sb    = *state;
    struct fby_cached_manifest back  = {0};
    struct fby_buffer          bytes = example_bytes(sb);
    assert_int_equal(
        fby_cache_decode(bytes.data, bytes.size, "shards /b", &back, NULL),
        FBY_NOT_FOUND);
    assert_int_equal(
        fby_cache_load(sandbox_path(sb, "deep/none"), "shards /a", &back, NULL),
        FBY_NOT_FOUND);
    fby_buffer_fini(&bytes);
}

static void every_damaged_byte_and_every_cut_is_refused(void **state)
{
    struct fby_cached_manifest back  = {0};
    struct fby_buffer          bytes = example_bytes(*state);
    uint8_t                   *data  = bytes.data;
    size_t                     size  = bytes.size;
    for (size_t i = 0; i < size; i++) {
        data[i] ^= 0x10;
        assert_int_equal(
            fby_cache_decode(data, size, "shards /a", &back, NULL), FBY_PROTO);
        data[i] ^= 0x10;
        fby_cached_manifest_fini(&back);
        assert_int_equal(
            fby_cache_decode(data, i, "shards /a", &back, NULL), FBY_PROTO);
        fby_cached_manifest_fini(&back);
    }
    assert_ok(fby_cache_decode(data, size, "shards /a", &back, NULL));
    fby_cached_manifest_fini(&back);
    fby_buffer_fini(&bytes);
}

static void the_directory_comes_from_the_environment_in_order(void **state)
{
    (void)state;
    char path[FBY_PATH_SIZE];
    setenv("HOME", "/home/u", 1);
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("FOREBAY_CACHE_DIR", "/own", 1);
    assert_ok(fby_cache_path("/given", "x", path));
    assert_int_equal(strncmp(path, "/given/", 7), 0);
    assert_ok(fby_cache_path(NULL, "x", path));
    assert_int_equal(strncmp(path, "/own/", 5), 0);
    unsetenv("FOREBAY_CACHE_DIR");
    assert_ok(fby_cache_path(NULL, "x", path));
    assert_int_equal(strncmp(path, "/xdg/forebay/", 13), 0);
    unsetenv("XDG_CACHE_HOME");
    assert_ok(fby_cache_path(NULL, "x", path));
    assert_int_equal(strncmp(path, "/home/u/.cache/forebay/", 23), 0);
    unsetenv("HOME");
    assert_int_equal(fby_cache_path(NULL, "x", path), FBY_NOT_FOUND);
    assert_int_equal(fby_cache_path("", "x", path), FBY_NOT_FOUND);
}

/* A folder of two files, which comes before the tar, and the tar. */
static struct fby_cached_manifest two_shards(void)
{
    struct fby_cached_manifest tar    = example();
    struct fby_cached_manifest both   = {.count = 2};
    struct fby_shard          *folder = fby_zalloc(2 * sizeof(*folder));
    both.shards                       = folder;
    fby_shard_init(folder, "part-0000000", FBY_SOURCE_FOLDER);
    assert_ok(fby_shard_add_sample(folder, "a/1", 3, 0, NULL));
    assert_ok(fby_shard_add_member(folder, "jpg", 0, 5, NULL));
    assert_ok(fby_shard_add_member(folder, "cls", 0, 6, NULL));
    folder->size      = 11;
    folder->stamps[0] = (struct fby_stamp){11, 12, 13, -14, 15};
    folder->stamps[1] = (struct fby_stamp){21, 22, 23, 24, -25};
    assert_ok(fby_shard_finish(folder, NULL));
    both.shards[1] = tar.shards[0];
    free(tar.shards);
    return both;
}

static void every_stamp_of_every_shard_comes_back(void **state)
{
    const struct sandbox      *sb   = *state;
    const char                *path = sandbox_path(sb, "c/y.manifest");
    struct fby_cached_manifest what = two_shards();
    struct fby_cached_manifest back = {0};
    assert_ok(fby_cache_store(path, "shards /a", &what, NULL));
    assert_ok(fby_cache_load(path, "shards /a", &back, NULL));
    assert_int_equal(back.count, 2);
    assert_false(back.hashed);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t n = fby_shard_count_stamps(&what.shards[i]);
        assert_string_equal(back.shards[i].name, what.shards[i].name);
        assert_int_equal(fby_shard_count_stamps(&back.shards[i]), n);
        assert_memory_equal(back.shards[i].stamps, what.shards[i].stamps,
            n * sizeof(struct fby_stamp));
    }
    fby_cached_manifest_fini(&what);
    fby_cached_manifest_fini(&back);
}

static void sum_again(struct fby_buffer *bytes)
{
    struct fby_checksum sum = fby_checksum_of(bytes->data, bytes->size - 16);
    memcpy(bytes->data + bytes->size - 16, sum.bytes, 16);
}

static void assert_damaged(struct fby_buffer *bytes, const char *words)
{
    struct fby_cached_manifest back = {0};
    struct fby_error_detail    why  = {0};
    sum_again(bytes);
    struct fby_guarded copy = fby_guarded_copy(bytes->data, bytes->size);
    assert_int_equal(
        fby_cache_decode(copy.bytes, copy.size, "shards /a", &back, &why),
        FBY_PROTO);
    assert_says(&why, words);
    fby_cached_manifest_fini(&back);
    fby_guarded_free(&copy);
}

enum { COUNT_AT = 4 + 4 + 4 + 9 + 1, FIRST_AT = COUNT_AT + 4 };

static void wrong_numbers_with_a_right_sum_are_refused(void **state)
{
    struct fby_cached_manifest what  = two_shards();
    struct fby_buffer          bytes = bytes_of(*state, &what);
    fby_store_le(bytes.data + COUNT_AT, 3, 4);
    assert_damaged(&bytes, "ends within a shard");
    fby_store_le(bytes.data + COUNT_AT, 1, 4);
    assert_damaged(&bytes, "too short or too long");
    uint64_t most = (bytes.size - 16 - FIRST_AT) / 64;
    fby_store_le(bytes.data + COUNT_AT, most, 4);
    assert_damaged(&bytes, "ends within a shard");
    fby_store_le(bytes.data + COUNT_AT, most + 1, 4);
    assert_damaged(&bytes, "more shards than its size allows");
    fby_store_le(bytes.data + COUNT_AT, 2, 4);
    fby_store_le(bytes.data + FIRST_AT, UINT32_MAX, 4);
    assert_damaged(&bytes, "ends within a shard");
    bytes.data[4]++;
    assert_damaged(&bytes, "another version, or no manifest");
    bytes.data[4]--;
    bytes.data[0] = 'G';
    assert_damaged(&bytes, "another version, or no manifest");
    fby_buffer_fini(&bytes);
    fby_cached_manifest_fini(&what);
}

static void stamps_are_not_cut_short(void **state)
{
    struct fby_cached_manifest what  = two_shards();
    struct fby_buffer          bytes = bytes_of(*state, &what);
    for (int i = 0; i < 40; i++) { /* of the last shard's one */
        bytes.size--;
        assert_damaged(&bytes, "too short or too long");
    }
    fby_put_bytes(&bytes, "0123456789012345678901234567890123456789", 40);
    fby_put_u8(&bytes, 0);
    assert_damaged(&bytes, "too short or too long");
    fby_buffer_fini(&bytes);
    fby_cached_manifest_fini(&what);
}

static void shards_are_in_order_and_different(void **state)
{
    struct fby_cached_manifest what = two_shards();
    what.shards[1].name[0]          = 'a';
    struct fby_buffer bytes         = bytes_of(*state, &what);
    assert_damaged(&bytes, "shards that are not in order");
    fby_buffer_fini(&bytes);
    free(what.shards[1].name);
    what.shards[1].name = fby_strdup(what.shards[0].name);
    bytes               = bytes_of(*state, &what);
    assert_damaged(&bytes, "shards that are not in order");
    fby_buffer_fini(&bytes);
    fby_cached_manifest_fini(&what);
}

/* Only a manifest with sums of the very same files is left as it is. */
static void sums_of_other_files_are_written_over(void **state)
{
    const struct sandbox *sb   = *state;
    const char           *path = sandbox_path(sb, "c/w.manifest");
    for (int differs = 0; differs < 5; differs++) {
        struct fby_cached_manifest with    = two_shards();
        struct fby_cached_manifest without = two_shards();
        struct fby_cached_manifest back    = {0};
        with.hashed                        = true;
        without.shards[0].stamps[1].inode += differs == 1;
        without.shards[1].stamps[0].size += differs == 2;
        without.shards[1].name[0] = differs == 3 ? 'u' : 't';
        assert_ok(fby_cache_store(path, "shards /a", &with, NULL));
        if (differs == 4) {
            fby_shard_fini(&without.shards[--without.count]);
        }
        assert_ok(fby_cache_store(path, "shards /a", &without, NULL));
        assert_ok(fby_cache_load(path, "shards /a", &back, NULL));
        assert_int_equal(back.hashed, differs == 0);
        assert_int_equal(back.count, without.count);
        fby_cached_manifest_fini(&back);
        fby_cached_manifest_fini(&with);
        fby_cached_manifest_fini(&without);
    }
}

static void a_cache_that_is_no_file_is_refused_and_closed(void **state)
{
    const struct sandbox      *sb     = *state;
    struct fby_cached_manifest what   = two_shards();
    struct fby_cached_manifest back   = {0};
    struct fby_error_detail    why    = {0};
    unsigned                   before = open_descriptors();
    assert_int_equal(fby_cache_load(sb->dir, "x", &back, &why), FBY_IO);
    assert_says(&why, "not a plain file");
    assert_int_equal(mkfifo(sandbox_path(sb, "pipe"), 0666), 0);
    assert_int_equal(
        fby_cache_load(sandbox_path(sb, "pipe"), "x", &back, &why), FBY_IO);
    sandbox_write(sb, "empty", "", 0);
    assert_int_equal(
        fby_cache_load(sandbox_path(sb, "empty"), "x", &back, &why), FBY_PROTO);
    assert_int_equal(
        fby_cache_load(sandbox_path(sb, "empty/x"), "x", &back, &why), FBY_IO);
    sandbox_mkdir(sb, "c/taken");
    assert_int_equal(
        fby_cache_store(sandbox_path(sb, "c/taken"), "x", &what, &why), FBY_IO);
    assert_says(&why, "c/taken: Is a directory");
    assert_int_equal(rmdir(sandbox_path(sb, "c/taken")), 0);
    assert_int_equal(rmdir(sandbox_path(sb, "c")), 0); /* nothing beside it */
    assert_int_equal(
        fby_cache_store(sandbox_path(sb, "empty/x"), "x", &what, &why), FBY_IO);
    assert_ok(fby_cache_store(sandbox_path(sb, "d/x"), "x", &what, &why));
    assert_int_equal(open_descriptors(), before);
    fby_cached_manifest_fini(&what);
}

static void relative_and_empty_directories_are_passed_over(void **state)
{
    (void)state;
    char path[FBY_PATH_SIZE];
    char other[FBY_PATH_SIZE];
    char dir[FBY_PATH_SIZE];
    setenv("FOREBAY_CACHE_DIR", "", 1);
    setenv("XDG_CACHE_HOME", "xdg", 1);
    setenv("HOME", "/home/u", 1);
    assert_ok(fby_cache_path(NULL, "x", path));
    assert_int_equal(strncmp(path, "/home/u/.cache/forebay/", 23), 0);
    setenv("HOME", "home", 1);
    assert_int_equal(fby_cache_path(NULL, "x", path), FBY_NOT_FOUND);
    assert_ok(fby_cache_path("/c", "x", path));
    assert_ok(fby_cache_path("/c", "y", other));
    assert_string_not_equal(path, other);
    assert_int_equal(strlen(path), 3 + 32 + 9);
    assert_string_equal(path + 3 + 32, ".manifest");
    memset(dir, 'd', sizeof(dir));
    dir[FBY_PATH_SIZE - 1 - 42] = '\0';
    assert_ok(fby_cache_path(dir, "x", path));
    assert_int_equal(strlen(path), FBY_PATH_SIZE - 1);
    dir[FBY_PATH_SIZE - 1 - 42]     = 'd';
    dir[FBY_PATH_SIZE - 1 - 42 + 1] = '\0';
    assert_int_equal(fby_cache_path(dir, "x", path), FBY_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(sums_of_the_same_files_are_not_lost),
        IN_SANDBOX(nothing_is_left_beside_the_manifest),
        IN_SANDBOX(another_source_or_no_file_is_not_found),
        IN_SANDBOX(every_damaged_byte_and_every_cut_is_refused),
        IN_SANDBOX(the_directory_comes_from_the_environment_in_order),
        IN_SANDBOX(every_stamp_of_every_shard_comes_back),
        IN_SANDBOX(wrong_numbers_with_a_right_sum_are_refused),
        IN_SANDBOX(stamps_are_not_cut_short),
        IN_SANDBOX(shards_are_in_order_and_different),
        IN_SANDBOX(sums_of_other_files_are_written_over),
        IN_SANDBOX(a_cache_that_is_no_file_is_refused_and_closed),
        IN_SANDBOX(relative_and_empty_directories_are_passed_over),
    };
    return cmocka_run_group_tests_name(
        "worker.source.cache", tests, NULL, NULL);
}
