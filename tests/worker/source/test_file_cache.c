/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are read: the number of open files, the file that is closed for
 * another one, and that all are closed at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/descriptors.h"
#include "tests/test.h"
#include "tests/worker/source/sandbox.h"
#include "worker/source/file_cache.h"

enum { FILES = 5 };

/* Files 0 .. FILES - 1 of the root, whose bytes are "file 0" and so on. */
struct some_files {
    const struct fby_root *root;
    char                   paths[FILES][16];
    struct fby_stamp       stamps[FILES];
};

static void stamp(const struct sandbox *sb, struct some_files *some, int i)
{
    struct stat st;
    char        path[32];
    snprintf(path, sizeof(path), "data/%s", some->paths[i]);
    assert_int_equal(stat(sandbox_path(sb, path), &st), 0);
    some->stamps[i] = fby_stamp_of(&st);
}

static void make_files(const struct sandbox *sb, struct some_files *some)
{
    assert_ok(fby_roots_find(sb->roots, "data", &some->root, NULL));
    for (int i = 0; i < FILES; i++) {
        char path[32];
        char text[16];
        snprintf(some->paths[i], sizeof(some->paths[i]), "f%d", i);
        snprintf(path, sizeof(path), "data/f%d", i);
        snprintf(text, sizeof(text), "file %d", i);
        sandbox_write_text(sb, path, text);
        stamp(sb, some, i);
    }
}

static struct fby_file file(const struct some_files *some, int i)
{
    return (struct fby_file){.id = (uint64_t)i,
        .root                    = some->root,
        .path                    = some->paths[i],
        .stamp                   = &some->stamps[i]};
}

static void read_file(
    struct fby_file_cache *files, const struct some_files *some, int i)
{
    struct fby_file   one      = file(some, i);
    char              bytes[8] = "??????";
    char              right[8];
    struct fby_extent part = {.offset = 1, .size = 5};
    snprintf(right, sizeof(right), "ile %d?", i);
    assert_ok(fby_file_cache_read(files, &one, part, bytes, NULL));
    assert_string_equal(bytes, right);
}

/* Is file i among those that are open? */
static bool is_open(const struct some_files *some, int i)
{
    bool found = false;
    for (int fd = 3; fd < 256; fd++) {
        struct stat st;
        found = found ||
                (fstat(fd, &st) == 0 && st.st_ino == some->stamps[i].inode);
    }
    return found;
}

static void the_file_that_was_read_longest_ago_is_closed(void **state)
{
    struct some_files      some;
    unsigned               before = open_descriptors();
    struct fby_file_cache *files  = fby_file_cache_create(3);
    make_files(*state, &some);
    for (int i = 0; i < 3; i++) {
        read_file(files, &some, i);
        assert_int_equal(open_descriptors(), before + (unsigned)i + 1);
    }
    read_file(files, &some, 0);
    read_file(files, &some, 3); /* in place of 1 */
    assert_int_equal(open_descriptors(), before + 3);
    assert_true(is_open(&some, 0) && is_open(&some, 2) && is_open(&some, 3));
    assert_false(is_open(&some, 1));
    read_file(files, &some, 4); /* in place of 2 */
    assert_true(is_open(&some, 0) && !is_open(&some, 2));
    fby_file_cache_destroy(&files);
    assert_null(files);
    assert_int_equal(open_descriptors(), before);
}

static void a_file_that_failed_is_closed_and_looked_at_anew(void **state)
{
    struct some_files       some;
    struct fby_error_detail why = {0};
    char                    bytes[16];
    unsigned                before = open_descriptors();
    struct fby_file_cache  *files  = fby_file_cache_create(2);
    make_files(*state, &some);
    struct fby_file   one  = file(&some, 0);
    struct fby_extent past = {.offset = 3, .size = 4};
    assert_int_equal(
        fby_file_cache_read(files, &one, past, bytes, &why), FBY_STALE);
    assert_says(&why, "was cut short to 6 bytes since it was indexed");
    assert_int_equal(open_descriptors(), before);
    read_file(files, &some, 0);
    sandbox_append(*state, "data/f0", "!", 1);
    struct fby_extent all = {.size = 6};
    assert_int_equal(
        fby_file_cache_read(files, &one, all, bytes, &why), FBY_STALE);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(
        fby_file_cache_read(files, &one, all, bytes, &why), FBY_STALE);
    assert_says(&why, "was appended to: 6 bytes when it was indexed, 7 now");
    assert_int_equal(open_descriptors(), before);
    stamp(*state, &some, 0);
    read_file(files, &some, 0);
    fby_file_cache_destroy(&files);
    assert_int_equal(open_descriptors(), before);
}

static void a_file_that_is_gone_is_stale(void **state)
{
    struct some_files       some;
    struct fby_error_detail why    = {0};
    unsigned                before = open_descriptors();
    struct fby_file_cache  *files  = fby_file_cache_create(0);
    char                    bytes[8];
    make_files(*state, &some);
    sandbox_remove(*state, "data/f2");
    struct fby_file   one = file(&some, 2);
    struct fby_extent all = {.size = 6};
    assert_int_equal(
        fby_file_cache_read(files, &one, all, bytes, &why), FBY_STALE);
    assert_says(
        &why, "was removed or replaced since it was indexed: it is not there");
    assert_int_equal(open_descriptors(), before);
    fby_file_cache_destroy(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(the_file_that_was_read_longest_ago_is_closed),
        IN_SANDBOX(a_file_that_failed_is_closed_and_looked_at_anew),
        IN_SANDBOX(a_file_that_is_gone_is_stale),
    };
    return cmocka_run_group_tests_name(
        "worker.source.file_cache", tests, NULL, NULL);
}
