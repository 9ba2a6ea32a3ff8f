/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of shards in files: stored, loaded, damaged, of other data, too many. */
#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/descriptors.h"
#include "trainer_client/receive/shard_list_store.h"

static const struct fby_shard_info shards[] = {
    {.name = "a", .digest = {{1}}, .samples = 5},
    {.name = "b", .digest = {{2}}, .samples = 7},
};
static const struct fby_shard_list list = {12, shards, 2};

static char cache[] = "/tmp/forebay-lists-XXXXXX";

static int make_cache(void **state)
{
    (void)state;
    strcpy(cache + sizeof(cache) - 7, "XXXXXX");
    return mkdtemp(cache) != NULL ? 0 : -1;
}

static int remove_cache(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", cache);
    return system(command); /* NOLINT(cert-env33-c,concurrency-mt-unsafe) */
}

static struct fby_digest digest_of(uint8_t number)
{
    return (struct fby_digest){{number, 9}};
}

/* The path of the list with this number. */
static const char *path_of(uint8_t number)
{
    static char       path[256];
    char              hex[65];
    struct fby_digest digest = digest_of(number);
    snprintf(path, sizeof(path), "%s/shard-lists/%s.shards", cache,
        fby_hex(digest.bytes, 32, hex));
    return path;
}

static void store(uint8_t number)
{
    struct fby_digest digest = digest_of(number);
    fby_shard_list_store(cache, &digest, &list);
}

static bool loads(uint8_t number)
{
    struct fby_message message;
    struct fby_digest  digest = digest_of(number);
    if (!fby_shard_list_load(cache, &digest, &message)) {
        return false;
    }
    const struct fby_opened *opened = &message.opened;
    assert_int_equal(opened->samples, 12);
    assert_int_equal(opened->n_shards, 2);
    assert_string_equal(opened->shards[1].name, "b");
    assert_int_equal(opened->shards[1].samples, 7);
    assert_int_equal(opened->shards[1].digest.bytes[0], 2);
    fby_message_fini(&message);
    return true;
}

static uint32_t count_files(void)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/shard-lists", cache);
    uint32_t n   = 0;
    DIR     *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
        n++;
    }
    closedir(dir);
    return n - 2; /* . and .. */
}

static void a_stored_list_is_loaded(void **state)
{
    (void)state;
    struct stat st;
    unsigned    before = open_descriptors();
    assert_false(loads(1));
    store(1);
    assert_true(loads(1));
    assert_false(loads(2));
    assert_int_equal(stat(path_of(1), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    store(1);
    assert_int_equal(count_files(), 1);
    assert_int_equal(open_descriptors(), before);
}

static void damage(uint8_t number, off_t size, const char *bytes)
{
    int fd = open(path_of(number), O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(
        pwrite(fd, bytes, strlen(bytes), 40), (ssize_t)strlen(bytes));
    assert_int_equal(ftruncate(fd, size), 0);
    close(fd);
}

static void a_damaged_file_is_treated_as_missing(void **state)
{
    (void)state;
    struct stat st;
    store(1);
    assert_int_equal(stat(path_of(1), &st), 0);
    damage(1, st.st_size, "xx");
    assert_false(loads(1));
    damage(1, st.st_size - 1, "");
    assert_false(loads(1));
    damage(1, 0, "");
    assert_false(loads(1));
    damage(1, FBY_MESSAGE_MAX + 1, "");
    assert_false(loads(1));
    store(1); /* is replaced, because its size differs */
    assert_true(loads(1));
    assert_int_equal(unlink(path_of(1)), 0);
    assert_int_equal(mkdir(path_of(1), 0700), 0);
    assert_false(loads(1));
    store(1);
    assert_int_equal(rmdir(path_of(1)), 0);
    assert_int_equal(count_files(), 0); /* no temporary file is left */
}

static void a_file_of_other_data_is_not_used(void **state)
{
    (void)state;
    char other[256];
    store(1);
    snprintf(other, sizeof(other), "%s", path_of(2));
    assert_int_equal(rename(path_of(1), other), 0);
    assert_false(loads(2));
}

static void the_files_that_were_used_last_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < FBY_MAX_SHARD_LISTS; i++) {
        struct timespec times[2] = {{100 + i, 0}, {100 + i, 0}};
        store((uint8_t)i);
        assert_int_equal(utimensat(AT_FDCWD, path_of((uint8_t)i), times, 0), 0);
    }
    store(0); /* is used again */
    store(200);
    store(201);
    assert_int_equal(count_files(), FBY_MAX_SHARD_LISTS);
    assert_true(loads(0));
    assert_false(loads(1));
    assert_false(loads(2));
    assert_true(loads(3));
    assert_true(loads(201));
}

/* Create an empty file, so old that it would be the first to be removed. */
static void create_old_file(const char *path)
{
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    int                   fd = open(path, O_CREAT | O_WRONLY | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static void fill_folder(void)
{
    for (int i = 0; i < FBY_MAX_SHARD_LISTS; i++) {
        store((uint8_t)i);
    }
}

static void files_of_others_are_never_removed(void **state)
{
    (void)state;
    char path[320];
    static const struct {
        int         digits; /* of 64 */
        const char *end;
    } names[]        = {{3, ".tar"}, {3, ".shards"}, {64, ""}, {64, ".opened"},
               {63, ".shards"}, {64, "0.shards"}, {63, "G.shards"}, {63, "A.shards"},
               {64, ".shards."}, {64, ".shards.part"}, {64, ".shards.0123cde.part"},
               {64, ".shardsX0123cdef.part"}};
    const uint32_t n = sizeof(names) / sizeof(names[0]);
    fill_folder();
    for (uint32_t i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/shard-lists/%.*s%s", cache,
            names[i].digits,
            "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            names[i].end);
        create_old_file(path);
    }
    store(200);
    store(201);
    assert_int_equal(count_files(), FBY_MAX_SHARD_LISTS + n);
}

static void temporary_files_of_killed_processes_are_removed(void **state)
{
    (void)state;
    char path[320];
    fill_folder();
    snprintf(path, sizeof(path), "%s.0123cdef.part", path_of(77));
    create_old_file(path);
    store(200);
    assert_int_equal(count_files(), FBY_MAX_SHARD_LISTS);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_failed_write_removes_nothing(void **state)
{
    (void)state;
    char path[320];
    fill_folder();
    snprintf(path, sizeof(path), "%s.abcdef01.part", path_of(77));
    create_old_file(path);
    assert_int_equal(mkdir(path_of(200), 0700), 0);
    store(200); /* the file cannot replace the directory */
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(count_files(), FBY_MAX_SHARD_LISTS + 2);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 0777;
}

/* Workers of other users may keep their manifests in the same directory. */
static void only_the_own_folder_is_private(void **state)
{
    (void)state;
    char              path[64];
    struct fby_digest digest = digest_of(1);
    mode_t            mask   = umask(0002);
    snprintf(path, sizeof(path), "%s/shared/cache", cache);
    fby_shard_list_store(path, &digest, &list);
    umask(mask);
    assert_int_equal(mode_of(path), 0775);
    *strrchr(path, '/') = '\0';
    assert_int_equal(mode_of(path), 0775);
    snprintf(path, sizeof(path), "%s/shared/cache/shard-lists", cache);
    assert_int_equal(mode_of(path), 0700);
}

static void a_directory_that_cannot_be_written_is_ignored(void **state)
{
    (void)state;
    char              file[64];
    struct fby_digest digest = digest_of(1);
    snprintf(file, sizeof(file), "%s/file", cache);
    int fd = open(file, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    unsigned before = open_descriptors();
    fby_shard_list_store(file, &digest, &list);
    fby_shard_list_store("", &digest, &list);
    fby_shard_list_store("/proc/nothing", &digest, &list);
    assert_int_equal(open_descriptors(), before);
}

static void a_change_is_described_from_the_kept_list(void **state)
{
    (void)state;
    struct fby_error_detail     said;
    struct fby_digest           digest = digest_of(1);
    const struct fby_shard_list now    = {5, shards, 1};
    fby_shard_list_describe(cache, &digest, &now, &said);
    assert_null(strstr(said.text, "then"));
    store(1);
    fby_shard_list_describe(cache, &digest, &now, &said);
    assert_non_null(
        strstr(said.text, "12 samples in 2 shards then, 5 samples"));
}

#define IN_CACHE(test) \
    cmocka_unit_test_setup_teardown(test, make_cache, remove_cache)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CACHE(a_stored_list_is_loaded),
        IN_CACHE(a_damaged_file_is_treated_as_missing),
        IN_CACHE(a_file_of_other_data_is_not_used),
        IN_CACHE(the_files_that_were_used_last_are_kept),
        IN_CACHE(files_of_others_are_never_removed),
        IN_CACHE(temporary_files_of_killed_processes_are_removed),
        IN_CACHE(a_failed_write_removes_nothing),
        IN_CACHE(only_the_own_folder_is_private),
        IN_CACHE(a_directory_that_cannot_be_written_is_ignored),
        IN_CACHE(a_change_is_described_from_the_kept_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
