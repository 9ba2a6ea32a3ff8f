#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/cache.h"

/* One tar and its stamp. */
static struct fby_cached example(void)
{
    static const struct fby_stamp stamp = {1, 2, 5120, 4, 5};
    struct fby_shard             *shard = fby_zalloc(sizeof(*shard));
    fby_shard_init(shard, "t-0.tar", false);
    assert_ok(fby_shard_add_sample(shard, "0001", 4, FBY_SHARD_NO_CLASS, NULL));
    assert_ok(fby_shard_add_member(shard, "jpg", 512, 5, NULL));
    shard->size   = 5120;
    shard->stamps = fby_memdup(&stamp, sizeof(stamp));
    assert_ok(fby_shard_finish(shard, NULL));
    return (struct fby_cached){.shards = shard, .count = 1, .hashed = true};
}

static uint8_t *stored(const struct sandbox *sb, size_t *size)
{
    struct stat       st;
    struct fby_cached what = example();
    const char       *path = sandbox_path(sb, "deep/cache/x.manifest");
    assert_ok(fby_cache_store(path, "shards /a", &what, NULL));
    fby_cached_fini(&what);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    *size         = (size_t)st.st_size;
    uint8_t *data = fby_zalloc(*size);
    assert_int_equal(read(fd, data, *size), st.st_size);
    close(fd);
    return data;
}

static void what_is_stored_loads_with_its_stamps(void **state)
{
    const struct sandbox *sb   = *state;
    struct fby_cached     back = {0};
    size_t                size = 0;
    free(stored(sb, &size));
    assert_ok(fby_cache_load(
        sandbox_path(sb, "deep/cache/x.manifest"), "shards /a", &back, NULL));
    assert_int_equal(back.count, 1);
    assert_true(back.hashed);
    assert_string_equal(back.shards[0].name, "t-0.tar");
    assert_int_equal(back.shards[0].stamps[0].inode, 2);
    assert_int_equal(back.shards[0].stamps[0].ctime_ns, 5);
    fby_cached_fini(&back);
}

/* Of an example with or without sums, whose file has this inode. */
static void store(const char *path, bool hashed, uint64_t inode)
{
    struct fby_cached what         = example();
    what.hashed                    = hashed;
    what.shards[0].hashed          = hashed;
    what.shards[0].stamps[0].inode = inode;
    assert_ok(fby_cache_store(path, "shards /a", &what, NULL));
    fby_cached_fini(&what);
}

static void assert_stored(const char *path, bool hashed, uint64_t inode)
{
    struct fby_cached back = {0};
    assert_ok(fby_cache_load(path, "shards /a", &back, NULL));
    assert_int_equal(back.hashed, hashed);
    assert_int_equal(back.shards[0].stamps[0].inode, inode);
    fby_cached_fini(&back);
}

static void sums_of_the_same_files_are_not_lost(void **state)
{
    const struct sandbox *sb   = *state;
    const char           *path = sandbox_path(sb, "deep/cache/y.manifest");
    store(path, false, 2);
    store(path, true, 2);
    assert_stored(path, true, 2);
    store(path, false, 2); /* whoever began before there were any */
    assert_stored(path, true, 2);
    store(path, false, 3);
    assert_stored(path, false, 3);
}

static void nothing_is_left_beside_what_is_kept(void **state)
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
    const struct sandbox *sb   = *state;
    struct fby_cached     back = {0};
    size_t                size = 0;
    uint8_t              *data = stored(sb, &size);
    assert_int_equal(
        fby_cache_decode(data, size, "shards /b", &back, NULL), FBY_NOT_FOUND);
    assert_int_equal(
        fby_cache_load(sandbox_path(sb, "deep/none"), "shards /a", &back, NULL),
        FBY_NOT_FOUND);
    free(data);
}

static void every_damaged_byte_and_every_cut_is_refused(void **state)
{
    const struct sandbox *sb   = *state;
    struct fby_cached     back = {0};
    size_t                size = 0;
    uint8_t              *data = stored(sb, &size);
    for (size_t i = 0; i < size; i++) {
        data[i] ^= 0x10;
        assert_int_equal(
            fby_cache_decode(data, size, "shards /a", &back, NULL), FBY_PROTO);
        data[i] ^= 0x10;
        fby_cached_fini(&back);
        assert_int_equal(
            fby_cache_decode(data, i, "shards /a", &back, NULL), FBY_PROTO);
        fby_cached_fini(&back);
    }
    assert_ok(fby_cache_decode(data, size, "shards /a", &back, NULL));
    fby_cached_fini(&back);
    free(data);
}

static void a_wrong_version_with_a_right_sum_is_refused(void **state)
{
    const struct sandbox *sb   = *state;
    struct fby_cached     back = {0};
    struct fby_why        why  = {0};
    size_t                size = 0;
    uint8_t              *data = stored(sb, &size);
    data[4]                    = 2;
    struct fby_sum sum         = fby_sum_of(data, size - 16);
    memcpy(data + size - 16, sum.bytes, 16);
    assert_int_equal(
        fby_cache_decode(data, size, "shards /a", &back, &why), FBY_PROTO);
    assert_says(&why, "another version");
    free(data);
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_stored_loads_with_its_stamps),
        TEST(sums_of_the_same_files_are_not_lost),
        TEST(nothing_is_left_beside_what_is_kept),
        TEST(another_source_or_no_file_is_not_found),
        TEST(every_damaged_byte_and_every_cut_is_refused),
        TEST(a_wrong_version_with_a_right_sum_is_refused),
        TEST(the_directory_comes_from_the_environment_in_order),
    };
    return cmocka_run_group_tests_name(
        "worker.source.cache", tests, NULL, NULL);
}
